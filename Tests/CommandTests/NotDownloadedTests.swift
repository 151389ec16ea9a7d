import Files
import ManagedStore
import TestSupport
import Testing

@testable import Commands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("What iCloud Drive has not downloaded is named")
struct NotDownloadedTests {
  private static func demo(_ folder: TemporaryFolder) throws -> (store: String, models: String) {
    let made = Captured("demo", folder.path("demo"), "--objects", "400", "--no-open")
    try #require(made.status == .done)
    let place = folder.path("demo")
    return (place + "/Recipes.sqlite", place + "/Recipes.xcdatamodeld")
  }

  /// Every file below a folder.
  private static func names(_ path: String) throws -> [String] {
    try FileSystem.list(path).sorted()
  }

  @Test("a store of which only the placeholder is there is refused by every command on it")
  func store() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    try FileSystem.evict(path)
    let before = try Self.names(folder.path("demo"))
    let output = folder.path("New.sqlite")
    let runs = [
      ["info", path], ["dump", path], ["rows", path, "Tag"], ["object", path, "Tag/p1"],
      ["search", path, "soup"], ["history", path], ["doctor", path], ["doctor", path, "--json"],
      ["repair", path], ["explain", path, models], ["plan", path, "--to", models],
      ["migrate", path, "--to", models], ["verify", path, path], ["undelete", path],
      ["salvage", path, "--output", output], ["reset", path, "--model", models],
      ["rehearse", path, "--to", models], ["info", folder.path("demo")],
    ]
    for words in runs {
      let run = Captured(words)
      #expect(run.status != .done, "\(words)")
      let text = run.out + run.err
      #expect(text.contains("not downloaded from iCloud"), "\(words): \(text)")
      #expect(text.contains(".Recipes.sqlite.icloud"), "\(words): \(text)")
      #expect(text.contains("brctl download"), "\(words): \(text)")
      #expect(!text.contains("nothing is wrong"), "\(words)")
    }
    #expect(Captured("info", path).status == .unreadable)
    #expect(try Self.names(folder.path("demo")) == before)
    #expect(!FileSystem.isFile(output))
  }

  private struct Listing: Decodable {
    struct Store: Decodable {
      var name: String
      var problem: String?
    }
    var stores: [Store]
  }

  @Test("stores lists one that is not downloaded, and one whose -wal is not")
  func listed() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder)
    try FileSystem.copyOver(path, to: folder.path("demo/Whole.sqlite"))
    try FileSystem.evict(path)
    try FileSystem.evict(folder.path("demo/Whole.sqlite-wal"))
    let stores = try Captured("stores", folder.path("demo"), "--json").decoded(Listing.self).stores
    #expect(stores.map(\.name) == ["Recipes.sqlite", "Whole.sqlite"])
    #expect(stores.first?.problem?.contains("not downloaded from iCloud") == true)
    #expect(stores.last?.problem?.contains("Whole.sqlite-wal") == true)
    let text = Captured("stores", folder.path("demo")).out
    #expect(text.contains("! Recipes.sqlite: not downloaded from iCloud"))
    #expect(text.contains("strata info \(folder.path("demo"))//Whole.sqlite"))
  }

  @Test("without its -wal a store is read, with a warning and status 4, and nothing writes to it")
  func log() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    try FileSystem.evict(path + "-wal")
    let bytes = try FileSystem.read(path)
    for words in [
      ["info", path], ["info", path, "--json"], ["dump", path], ["rows", path, "Tag"],
      ["rows", folder.path("demo"), "Tag"],
    ] {
      let run = Captured(words)
      #expect(run.status == .unreadable, "\(words)")
      #expect((run.out + run.err).contains(".Recipes.sqlite-wal.icloud"), "\(words)")
      #expect(!run.out.isEmpty, "\(words)")
    }
    let doctor = Captured("doctor", path)
    #expect(doctor.status == .no)
    #expect(doctor.out.contains("[not-downloaded]") && doctor.out.contains("brctl download"))
    #expect(!doctor.out.contains("[wal-missing]"))
    let plan = Captured("plan", path, "--to", models)
    #expect(plan.status == .refused)
    #expect(plan.out.contains("not downloaded from iCloud"))
    #expect(Captured("migrate", path, "--to", models).status == .refused)
    #expect(Captured("repair", path).status == .unreadable)
    #expect(try FileSystem.read(path) == bytes)
    let undelete = Captured("undelete", path)
    #expect(undelete.status == .no && undelete.err.contains(".Recipes.sqlite-wal.icloud"))
    let saved = Captured("salvage", path, "--output", folder.path("Saved.sqlite"))
    #expect(saved.flat.contains("without what is in Recipes.sqlite-wal"))
    #expect(saved.status == .no && saved.err.contains(".Recipes.sqlite-wal.icloud"))
  }

  @Test("a folder of stores names the one that is not downloaded")
  func several() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    try FileSystem.copyOver(path, to: folder.path("demo/Whole.sqlite"))
    try FileSystem.evict(path)
    let run = Captured("rehearse", folder.path("demo"), "--to", models)
    #expect(run.status != .done)
    #expect((run.out + run.err).contains("not downloaded from iCloud"))
  }
}
