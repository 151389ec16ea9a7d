import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

/// What an independent script makes of two dumps, beside what `compare` says.
@Suite(
  "compare, beside a comparison of dumps",
  .enabled(if: Tool.python3.isAvailable, "python3 is missing"))
struct CompareDumpTests {
  private static let script =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    .joined(separator: "/") + "/Independent/compare.py"

  /// Whether the script finds the same changes.
  private func agrees(
    _ a: String, _ b: String, _ options: [String] = [], in folder: TemporaryFolder
  ) throws -> Bool {
    var paths: [String] = []
    for (name, words) in [
      ("a", ["dump", a]), ("b", ["dump", b]),
      ("told", ["compare", a, b, "--format", "ndjson"] + options),
    ] {
      let told = Captured(words)
      let path = folder.path(name + ".ndjson")
      FileSystem.remove(path)
      try FileSystem.write(Array(told.out.utf8), to: path)
      paths.append(path)
    }
    return OtherProgram.run(Tool.python3.path, ["-B", Self.script] + paths) == 0
  }

  @Test("generated changes of one store", arguments: TestScale.some(6, of: Array(0..<40)))
  func generated(seed: Int) throws {
    let place = try StoreFolder()
    let (a, b) = (try place.add("A.sqlite"), try place.add("B.sqlite"))
    var generator = SeededGenerator(seed: UInt64(seed))
    let store = try Store(path: b)
    let connection = try Connection(path: b, mode: .readWrite)
    let tables = store.entityTables.filter { !$0.attributes.isEmpty }
    for _ in 0..<(1 + seed % 12) {
      let table = try #require(tables.randomElement(using: &generator))
      let name = quoted(table.table)
      let some =
        "Z_PK % \(Int.random(in: 2...40, using: &generator)) = 0 AND Z_ENT = \(table.entityID)"
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: try connection.execute("DELETE FROM \(name) WHERE \(some)")
      case 1:
        let columns = table.relationships.compactMap { $0.storage?.toOneColumn }
        guard let column = columns.randomElement(using: &generator) else { continue }
        try connection.execute("UPDATE \(name) SET \(column) = NULL WHERE \(some)")
      case 2:
        let joins = table.relationships.compactMap(\.storage).filter(\.isJoin)
        guard let join = joins.randomElement(using: &generator) else { continue }
        try connection.execute("DELETE FROM \(join.table) WHERE \(join.owner) % 3 = 0")
      default:
        let columns = table.attributes.filter { $0.attribute.type == .string }
        guard let column = columns.randomElement(using: &generator)?.column else { continue }
        try connection.execute("UPDATE \(name) SET \(column) = 'new' || Z_PK WHERE \(some)")
      }
    }
    connection.close()
    #expect(try agrees(a, b, in: place.folder), "seed \(seed)")
    #expect(try agrees(b, a, in: place.folder), "seed \(seed)")
    // Of a step and an amount nothing tells which it is in the other store: references to them differ.
    #expect(try agrees(a, b, ["--match", "unique"], in: place.folder), "seed \(seed)")
  }

  @Test("the script finds what compare would leave out")
  func script() throws {
    let shelves = try Shelves()
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
    let told = shelves.folder.path("told.ndjson")
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    let dump = shelves.folder.path("b.ndjson")
    FileSystem.remove(dump)
    try FileSystem.write(Array(Captured("dump", shelves.b).out.utf8), to: dump)
    #expect(
      OtherProgram.run(
        Tool.python3.path, ["-B", Self.script, shelves.folder.path("a.ndjson"), dump, told]) != 0)
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
  }

  @Test("stores of two UUIDs, paired by values")
  func values() throws {
    let shelves = try Shelves()
    FileSystem.remove(shelves.b)
    try Shelves.write(
      shelves.b, uuid: "AAAAAAAA-6A59-4B37-9D4F-0C5A3E1F2D3C", order: [3, 4, 1, 2, 0])
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK > 3; DELETE FROM ZTAG WHERE Z_PK = 1")
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
  }

  @Test("two copies of one demo with a new object each: an insertion and a deletion, not a change")
  func grownApart() throws {
    let place = try StoreFolder()
    let (a, b) = (try place.add("A.sqlite"), try place.add("B.sqlite"))
    let table = try #require(try Store(path: a).table(of: "Recipe"))
    for (path, title) in [(a, "Pie"), (b, "Tea")] {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        """
        UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(table.entityID);
        INSERT INTO ZRECIPE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZIDENTIFIER)
        SELECT Z_MAX, Z_ENT, 1, '\(title)', randomblob(16) FROM Z_PRIMARYKEY WHERE Z_ENT = \(table.entityID)
        """)
      connection.close()
    }
    let lines = try Captured("compare", a, b, "--format", "ndjson").lines.map {
      try Captured.decoded(DumpFixtureTests.JSON.self, from: Array($0.utf8))
    }
    #expect(lines.compactMap { $0["change"] } == [.string("delete"), .string("insert")])
    #expect(try agrees(a, b, in: place.folder))
  }

  @Test(
    "fixtures of one model, each with each",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func fixtures() throws {
    let folder = try TemporaryFolder()
    var stores: [[String: VersionHash]: [String]] = [:]
    let names = Fixtures.paths(endingWith: ".ndjson").map {
      String(FileSystem.name(of: $0).dropLast(".ndjson".count)).replacing("__", with: "/")
    }
    for (number, name) in names.enumerated() where FileSystem.isFile(Fixtures.path(name)) {
      // Two can have one name.
      let path = try folder.copy(fixture: name, as: "\(number)-\(FileSystem.name(of: name))")
      guard let store = try? Store(path: path), store.modelSource == .store else { continue }
      stores[store.metadata.versionHashes, default: []].append(path)
    }
    for paths in stores.values {
      for a in paths {
        for b in paths where a != b || paths.count == 1 {
          #expect(try agrees(a, b, in: folder), "\(a) \(b)")
        }
      }
    }
  }
}
