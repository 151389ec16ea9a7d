import Demo
import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import strata

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Each thing that a command writes, with something else in its place.
@Suite("An output with a link or something else in its place")
struct OutputObstacleTests {
  enum Obstacle: String, CaseIterable, Sendable {
    case link, dangling, hardLink, fifo, folder
  }

  /// A command's words, and the place that it writes to.
  private struct Output: Sendable {
    let name: String
    let words: @Sendable (_ demo: Demo, _ path: String) -> [String]
    /// What it makes beside that place, under names that can be guessed.
    var besides: [String] = []
  }

  private struct Demo {
    let folder: TemporaryFolder
    let store: String
    let model: String

    init() throws {
      folder = try TemporaryFolder()
      let written = try DemoCommand.write(to: folder.path("in"), objects: 60)
      (store, model) = (written.store, written.model)
      try FileSystem.makeDirectory(folder.path("out"))
      for (name, text) in [("secret", "secret"), ("other", "other")] {
        try FileSystem.write(Array(text.utf8), to: folder.path("out/" + name))
      }
    }

    func outside() throws -> [String: [UInt8]] {
      var found: [String: [UInt8]] = [:]
      for name in try FileSystem.list(folder.path("out")) {
        found[name] = try FileSystem.read(folder.path("out/" + name))
      }
      return found
    }
  }

  private static let outputs: [Output] = [
    Output(
      name: "migrate --output",
      words: { ["migrate", $0.store, "--to", $0.model + "@Recipes 2", "--output", $1] },
      besides: ["-wal", "-journal", "-shm"]),
    Output(
      name: "migrate --receipt",
      words: { ["migrate", $0.store, "--to", $0.model + "@Recipes 2", "--receipt", $1] },
      besides: [".strata-receipt", ".new"]),
    Output(
      name: "plan --write-recipe",
      words: { ["plan", $0.store, "--to", $0.model + "@Recipes 3", "--write-recipe", $1] },
      besides: [".new"]),
    Output(
      name: "repair --receipt", words: { ["repair", $0.store, "--receipt", $1] },
      besides: [".strata-receipt"]),
    Output(
      name: "salvage --output", words: { ["salvage", $0.store, "--output", $1] },
      besides: [".salvaging", "-wal", "-journal"]),
    Output(
      name: "seed", words: { ["seed", $0.model, $1, "--objects", "20"] },
      besides: [".writing", "-wal", "-journal"]),
    Output(
      name: "undelete --output",
      words: { ["undelete", $0.store, "--entity", "Tag", "--output", $1] }, besides: [".salvaging"]),
  ]

  @Test(
    "nothing outside the folder is created, changed or removed",
    arguments: TestScale.pairs(Array(outputs.indices), Obstacle.allCases))
  func outside(index: Int, obstacle: Obstacle) throws {
    let output = Self.outputs[index]
    for suffix in [""] + output.besides {
      let demo = try Demo()
      if output.name.hasPrefix("repair") {
        let connection = try Connection(path: demo.store, mode: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Recipe'")
      }
      let before = try demo.outside()
      // A store has its own ending; what is none is not read as one.
      let isStore = !output.name.contains("--receipt") && !output.name.contains("recipe")
      let place = demo.folder.path(isStore ? "in/Out.store" : "in/Out.json")
      let path = place + suffix
      switch obstacle {
      case .link: #expect(symbolicLink(path, to: "../out/secret"))
      case .dangling: #expect(symbolicLink(path, to: "../out/created"))
      case .hardLink: #expect(FileSystem.link(demo.folder.path("out/secret"), to: path))
      case .fifo: #expect(mkfifo(path, 0o600) == 0)
      case .folder: try FileSystem.makeDirectory(path)
      }
      let identity = FileIdentity(of: path)
      let run = Captured(output.words(demo, place))
      let words: Comment = "\(output.name) \(obstacle) \(suffix): \(run.err) \(run.out.prefix(200))"
      #expect(try demo.outside() == before, words)
      // What was in the way is there still, but for a file that a receipt replaces.
      let isReplaced = suffix.isEmpty && obstacle == .hardLink && output.name.hasSuffix("--receipt")
      #expect(isReplaced || FileIdentity(of: path) == identity, words)
      // A leftover is removed, whatever became of the run.
      #expect(
        try !FileSystem.list(demo.folder.path("in")).contains {
          $0.hasPrefix(".strata-new-") || $0.hasPrefix(".strata-migrating-")
        }, words)
    }
  }

  @Test("a folder is migrated without the stores that links in it lead to")
  func linkedStores() throws {
    let demo = try Demo()
    let elsewhere = try Demo()
    let before = try FileSystem.sha256(elsewhere.store)
    #expect(symbolicLink(demo.folder.path("in/Linked.sqlite"), to: elsewhere.store))
    #expect(symbolicLink(demo.folder.path("in/deeper"), to: elsewhere.folder.path("in")))
    let run = Captured("migrate", demo.folder.path("in"), "--to", demo.model + "@Recipes 2")
    #expect(run.status == .done, "\(run.err)")
    #expect(run.err.contains("Linked.sqlite is a symbolic link and was skipped"), "\(run.err)")
    #expect(try FileSystem.sha256(elsewhere.store) == before)
    #expect(
      try FileSystem.list(elsewhere.folder.path("in")).contains { $0.contains("backup") } == false)
    FileSystem.remove(demo.store)
    for name in try FileSystem.list(demo.folder.path("in")) where name.hasPrefix("Recipes.backup") {
      FileSystem.remove(demo.folder.path("in/" + name))
    }
    let none = Captured("migrate", demo.folder.path("in"), "--to", demo.model + "@Recipes 2")
    #expect(none.status == .unreadable && none.err.contains("Linked.sqlite is not followed"))
  }
}
