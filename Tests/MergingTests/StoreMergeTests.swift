import Comparison
import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Merging

@Suite("Two stores into one")
struct StoreMergeTests {
  private let library: Library

  init() throws { library = try Library() }

  @Test("a store and its copy become a store that is equal to both, and neither is changed")
  func equal() throws {
    let before = try [library.old, library.new].map { try FileSystem.read($0) }
    let report = try library.merge()
    #expect(report.conflictCount == 0 && report.losses.isEmpty && report.added == 0)
    #expect(report.entities.allSatisfy { $0.changed == 0 && $0.paired == $0.new })
    let comparison = try StoreComparison(
      Store(path: library.new), Store(path: library.output))
    let summary = try comparison.run { _ in }
    #expect(summary.isEqual && summary.bookkeeping.isEmpty, "\(summary.bookkeeping)")
    #expect(try [library.old, library.new].map { try FileSystem.read($0) } == before)
    try library.expectSound()
  }

  @Test(
    "new objects under one key are two objects; those of the older store get keys above all others")
  func grownApart() throws {
    for number in 0..<6 { try library.add(library.old, "Old \(number)", code: "O\(number)") }
    for number in 0..<4 {
      try library.add(library.new, "New \(number)", code: "N\(number)", entity: "Film")
    }
    let report = try library.merge()
    #expect(report.added == 6 && report.conflictCount == 0)
    let things = try #require(report.entities.first { $0.entity == "Book" })
    #expect(things.added == 6 && things.renumbered == 4 && things.total == 16)
    #expect(
      try library.texts("SELECT Z_PK, ZTITLE FROM ZTHING WHERE Z_PK > 20 ORDER BY 1") == [
        "21 New 0", "22 New 1", "23 New 2", "24 New 3", "25 Old 4", "26 Old 5", "27 Old 0",
        "28 Old 1", "29 Old 2", "30 Old 3",
      ])
    #expect(
      try library.texts("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'") == ["30"])
    // Those of the newer store keep their places, and the others come behind them.
    let places = try library.texts(
      "SELECT ZTITLE FROM ZTHING WHERE ZSHELF = 1 AND Z_PK > 20 ORDER BY Z_FOK_SHELF")
    #expect(
      places == ["New 0", "New 1", "New 2", "New 3"] + (0..<6).map { "Old \($0)" })
    try library.expectSound()
  }

  @Test("with the copy that both come from, a value that one store changed is that store's")
  func threeWays() throws {
    try Library.change(library.old, "UPDATE ZTHING SET ZTITLE = 'by old', ZX = 77 WHERE Z_PK = 2")
    try Library.change(library.new, "UPDATE ZTHING SET ZRATING = 99 WHERE Z_PK = 2")
    try Library.change(library.new, "UPDATE ZTHING SET ZTITLE = 'by new' WHERE Z_PK = 4")
    try Library.change(library.old, "UPDATE ZTHING SET ZSHELF = 3 WHERE Z_PK = 5")
    let report = try library.merge()
    #expect(report.conflictCount == 0)
    #expect(
      try library.texts(
        "SELECT ZTITLE, ZRATING, ZX, ZSHELF FROM ZTHING WHERE Z_PK IN (2, 4, 5)")
        == ["by old 99 77.0 2", "by new 3 1.5 4", "Thing 4 4 2.0 3"])
    #expect(
      try library.texts("SELECT Z_OPT FROM ZTHING WHERE Z_PK IN (2, 4, 5)") == ["2", "1", "2"])
    try library.expectSound()
  }

  @Test("values that both changed are refused with their number, and decided by a preference")
  func conflicts() throws {
    for (path, word, day) in [(library.old, "old", 10), (library.new, "new", 20)] {
      try Library.change(
        path,
        """
        UPDATE ZTHING SET ZTITLE = '\(word) ' || Z_PK, ZEDITED = CASE Z_PK WHEN 3 THEN -\(day) ELSE \(day) END
        WHERE Z_PK IN (2, 3)
        """)
    }
    let refusal = #expect(throws: CoreDataError.self) { try library.merge() }
    #expect(refusal?.kind == .refused && refusal?.message.contains("2 objects differ") == true)
    #expect(FileIdentity(of: library.output) == nil)
    let rehearsal = try library.merge(isRehearsal: true)
    #expect(rehearsal.undecided == 2 && rehearsal.conflicts.count == 2 && !rehearsal.canRun)
    let first = try #require(rehearsal.conflicts.first { $0.change.b?.key == 2 }).change
    let title = try #require(first.attributes.first { $0.path == ["title"] })
    #expect(title.old?.value == .value(.string("old 2")))
    #expect(title.new?.value == .value(.string("new 2")))
    for (preferences, expected) in [
      ([MergeOptions.Preference.new], ["new 2", "new 3"]), ([.old], ["old 2", "old 3"]),
      ([.newest(entity: "Thing", attribute: "edited")], ["new 2", "old 3"]),
      ([.newest(entity: "Book", attribute: "edited"), .old], ["old 2", "old 3"]),
    ] {
      let place = library.folder.path("\(expected.joined()).\(preferences.count).sqlite")
      let report = try library.merge(to: place) { $0.preferences = preferences }
      #expect(report.conflictCount == 2 && report.undecided == 0)
      #expect(
        try library.texts("SELECT ZTITLE FROM ZTHING WHERE Z_PK IN (2, 3)", place) == expected)
    }
  }

  @Test("entities that nothing pairs are refused with their numbers, and nothing is made")
  func unpaired() throws {
    let refusal = #expect(throws: CoreDataError.self) { try library.merge(withBase: false) }
    #expect(refusal?.kind == .refused)
    #expect(
      refusal?.message.contains("Note (4 objects in the older store, 4 in the newer one)") == true)
    #expect(
      refusal?.advice?.names(.mergeBase) == true && refusal?.advice?.names(.mergeMatch) == true)
    #expect(FileIdentity(of: library.output) == nil)
    let rehearsal = try library.merge(withBase: false, isRehearsal: true)
    #expect(rehearsal.unpaired.map(\.entity) == ["Note", "Pass", "Shelf"] && !rehearsal.canRun)
    let report = try library.merge(withBase: false) {
      $0.matches = [
        .attributes(entity: "Note", names: ["text"]), .attributes(entity: "Shelf", names: ["name"]),
        .attributes(entity: "Pass", names: ["number"]),
      ]
    }
    #expect(report.conflictCount == 0 && report.added == 0)
  }

  @Test("keys that history or the mirror names are not given out again; a mirrored store is told")
  func mirrored() throws {
    let thing = try #require(try Store(path: library.base).table(of: "Book")).entityID
    try Library.change(
      library.new,
      """
      CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER);
      INSERT INTO ANSCKRECORDMETADATA VALUES (1, 17001, 1, \(thing), 500, 0, 0)
      """)
    try library.add(library.old, "Under another key")
    let report = try library.merge()
    #expect(report.isMirrored)
    #expect(try library.texts("SELECT Z_PK FROM ZTHING WHERE ZTITLE LIKE 'Under%'") == ["501"])
    #expect(
      try library.texts("SELECT * FROM ANSCKRECORDMETADATA") == ["1 17001 1 \(thing) 500 0 0"])
  }

  private static let fixtures =
    Fixtures.isAvailable
    ? [
      "bookmarks/Bookmarks_V5.sqlite", "cartkit/CartStorage_v1.sqlite",
      "coredataplus/SampleModel2/SampleModel2_V2.sqlite", "system/Photos-10.15.7.sqlite",
      "system/netusage.sqlite",
    ] : []

  @Test("real stores are merged with changed copies of themselves", arguments: Self.fixtures)
  func fixture(_ name: String) throws {
    let folder = try TemporaryFolder()
    let paths = ["Base", "Old", "New"].map { folder.path($0 + ".sqlite") }
    for path in paths {
      try Store(path: Fixtures.path(name)).connection.run("VACUUM INTO ?", [.text(path)])
    }
    var added = 0
    for (index, path) in paths.dropFirst().enumerated() {
      let store = try Store(path: path)
      let connection = try Connection(path: path, mode: .readWrite)
      connection.fireTriggers(false)
      for table in store.schema.tables where store.model.entity(named: table.root) != nil {
        guard let root = store.schema.numbers[table.root],
          try connection.rows("PRAGMA index_list(\(quoted(table.name)))").allSatisfy({
            $0[2].integer == 0
          })
        else { continue }
        // Both sides give the same keys to copies of other rows.
        let columns = table.columns.map { quoted($0.name) }.joined(separator: ", ")
        let last = try PrimaryKeys(connection).last(root, in: table.name)
        try connection.execute(
          """
          INSERT INTO \(quoted(table.name)) (Z_PK, Z_ENT, Z_OPT, \(columns))
          SELECT \(last) + row_number() OVER (ORDER BY Z_PK), Z_ENT, 1, \(columns)
          FROM \(quoted(table.name)) WHERE Z_PK % 2 = \(1 - index)
          """)
        if index == 0 { added += connection.changes }
        try PrimaryKeys(connection).raise(
          root, to: PrimaryKeys(connection).used(in: table.name) ?? last)
      }
      connection.close()
    }
    let report = try StoreMerge.run(
      Store(path: paths[1]), Store(path: paths[2]), base: Store(path: paths[0]),
      to: folder.path("Both.sqlite"))
    #expect(added > 0 && report.conflictCount == 0)
    #expect(report.added + report.leftOut == added, "\(report.entities) \(report.losses)")
    let (one, both) = (
      try Store(path: paths[2]).counts(), try Store(path: folder.path("Both.sqlite")).counts()
    )
    #expect(both.values.reduce(0, +) == one.values.reduce(0, +) + report.added)
  }

  @Test("stores of two text encodings are merged")
  func encodings() throws {
    let other = library.folder.path("Other.sqlite")
    try library.add(library.old, "Größe in UTF-16")
    try Connection.transcode(library.old, to: other, "UTF-16le")
    let report = try StoreMerge.run(
      Store(path: other), Store(path: library.new), base: Store(path: library.base),
      to: library.output)
    #expect(report.added == 1)
    #expect(try library.texts("SELECT ZTITLE FROM ZTHING WHERE Z_PK > 20") == ["Größe in UTF-16"])
    try library.expectSound()
  }

  @Test("what an interrupted merge left is removed by the next one")
  func leftovers() throws {
    let before = try FileSystem.list(library.folder.path)
    let left = library.folder.path(".strata-new-Both.sqlite-0000000000abcdefg")
    try FileSystem.makeDirectory(left)
    for name in [".strata-lock", "Both.sqlite"] {
      try FileSystem.create(left + "/" + name, holding: [1, 2, 3])
    }
    try library.merge()
    let more = try FileSystem.list(library.folder.path).filter { !before.contains($0) }
    #expect(more.sorted() == [".Both_SUPPORT", "Both.sqlite"])
  }

  @Test("only some entities: objects of others are left out, and named")
  func some() throws {
    try library.add(library.old, "A book")
    try library.add(library.old, "A film", entity: "Film")
    let report = try library.merge { $0.entities = ["Film"] }
    #expect(report.entities.map(\.entity) == ["Film"] && report.added == 1)
    #expect(report.notes.contains { $0.hasPrefix("Book: 11 objects") })
    #expect(try library.texts("SELECT ZTITLE FROM ZTHING WHERE Z_PK > 20") == ["A film"])
    try library.expectSound()
  }

  @Test("history and an app's own tables are the newer store's")
  func others() throws {
    for (path, word) in [(library.old, "old"), (library.new, "new")] {
      try Library.change(path, "CREATE TABLE Own (t TEXT); INSERT INTO Own VALUES ('\(word)')")
    }
    try library.add(library.old, "A book")
    try library.merge()
    #expect(try library.texts("SELECT t FROM Own") == ["new"])
    #expect(try Store(path: library.output).metadata.uuid == Library.uuid)
  }
}
