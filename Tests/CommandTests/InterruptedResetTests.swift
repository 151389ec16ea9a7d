import Demo
import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import Mapping
@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A reset moves the log of a store that SQLite cannot read away with it. Between two renames no file has the
/// store's name, and every command said that there is no such file.
@Suite("A reset that was killed while no file had the store's name")
struct InterruptedResetTests {
  private let folder: TemporaryFolder
  private let store: String
  private let models: String
  /// The files of the store before the reset.
  private let before: [String: [UInt8]]

  init() async throws {
    folder = try TemporaryFolder()
    let made = Captured("demo", folder.path("demo"), "--objects", "300", "--no-open")
    try #require(made.status == .done)
    (store, models) = (folder.path("demo/Recipes.sqlite"), folder.path("demo/Recipes.xcdatamodeld"))
    // The list of tables is gone, and a log lies beside the store.
    var bytes = try FileSystem.read(store)
    for place in 100..<4096 { bytes[place] = 0 }
    try FileSystem.write(bytes, to: store)
    try FileSystem.write(Array(repeating: 7, count: 5000), to: store + "-wal")
    before = try Self.files(store)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = store as String] in
      let model = try #require(DemoModels.versions().last?.model)
      _ = try StoreReset.run(path: path, model: model, options: StoreReset.Options()) {
        if $0 == .rename { kill(getpid(), SIGKILL) }
      }
    }
    try #require(FileIdentity(of: store) == nil, "The store still has its name")
  }

  private static func files(_ store: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for suffix in ["", "-wal"] where FileSystem.isFile(store + suffix) {
      files[suffix] = try FileSystem.read(store + suffix)
    }
    return files
  }

  @Test("every command says what happened and which command goes on, and leaves all as it is")
  func told() throws {
    let output = folder.path("Out.sqlite")
    let names = try FileSystem.list(folder.path("demo")).sorted()
    let runs = [
      ["info", store], ["rows", store, "Tag"], ["object", store, "Tag/p1"],
      ["search", store, "soup"], ["frequencies", store, "Recipe", "title"], ["history", store],
      ["dump", store], ["cloudkit", store], ["doctor", store], ["plan", store, "--to", models],
      ["export", store, "--output", output], ["anonymize", store, "--output", output],
      ["compare", store, models], ["explain", store, models], ["find-model", store, models],
      ["verify", store, store], ["salvage", store, "--output", output], ["undelete", store],
      ["convert", store, "--output", output], ["repair", store, "--dry-run"],
      ["edit", store, "--delete", "Tag/p1", "--dry-run"],
      ["merge", store, store, "--output", output],
      ["rehearse", store, "--to", models], ["info", store, "--json"], ["--plain", store],
    ]
    for words in runs {
      let run = Captured(words)
      let text = run.flat + run.err.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(run.status == .unreadable || run.status == .failed, "\(words): \(run.status)")
      #expect(text.contains("was interrupted during the cut-over"), "\(words): \(text)")
      #expect(text.contains("strata \(store) offers"), "\(words): \(text)")
    }
    #expect(try FileSystem.list(folder.path("demo")).sorted() == names)
  }

  @Test(
    "whatever works on the store restores it first",
    arguments: [
      ["repair"], ["edit", "--delete", "Tag/p1"], ["migrate", "--to"], ["rollback"],
      ["reset", "--model"],
    ])
  func restored(words: [String]) throws {
    let own = words.dropFirst() + (["--to", "--model"].contains(words.last) ? [models] : [])
    let run = Captured([words[0], store] + own)
    let text = run.out + run.err
    #expect(text.contains("interrupted"), "\(text)")
    guard words[0] == "reset" else {
      #expect(try Self.files(store) == before, "\(words): \(text)")
      #expect(StoreMigration.leftovers(of: store).isEmpty)
      return
    }
    #expect(run.status == .done, "\(text)")
    let backup = folder.path("demo/Recipes-backup-1.sqlite")
    #expect(try Self.files(backup) == before)
    #expect(try Store(path: store).modelSource != .raw)
    #expect(StoreMigration.leftovers(of: store).isEmpty)
  }
}
