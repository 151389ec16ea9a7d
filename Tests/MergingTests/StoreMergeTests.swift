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

  @Test("objects that need one of another entity stay out with it, and lost references are counted")
  func someWithReferences() throws {
    let number = try #require(
      try Store(path: library.base).table(of: "Pass")?.storage(of: "owner")?.entityColumn)
    let key = try library.add(library.old, "A book")
    try Library.change(
      library.old,
      """
      INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 5, Z_ENT, 1, 'New shelf' FROM ZSHELF LIMIT 1;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Shelf';
      UPDATE ZTHING SET ZSHELF = 5 WHERE Z_PK IN (1, \(key));
      INSERT INTO ZPASS (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZOWNER, \(number))
      SELECT 6, Z_ENT, 1, 60, \(key), (SELECT Z_ENT FROM ZTHING WHERE Z_PK = \(key)) FROM ZPASS LIMIT 1;
      UPDATE ZTHING SET ZPASS = 6 WHERE Z_PK = \(key);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Pass'
      """)
    let report = try library.merge { $0.entities = ["Pass"] }
    #expect(report.added == 0 && report.leftOut == 1 && report.losses.map(\.reason) == [.dependent])
    let place = library.folder.path("Things.sqlite")
    let things = try library.merge(to: place) { $0.entities = ["Thing"] }
    #expect(things.added == 1 && things.lostLinks == 3)
    #expect(
      try library.texts("SELECT ZSHELF, ZPASS FROM ZTHING WHERE Z_PK IN (1, 21)", place)
        == ["1 1", "– –"])
    try library.expectSound()
  }

  @Test("entities may have other numbers in the two stores")
  func numbers() throws {
    try Library.change(
      library.old,
      """
      UPDATE ZNOTE SET Z_ENT = 50; UPDATE Z_PRIMARYKEY SET Z_ENT = 50, Z_MAX = 5 WHERE Z_NAME = 'Note';
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (5, 50, 1, 'A new note')
      """)
    #expect(try library.merge().added == 1)
    let note = try #require(try Store(path: library.new).table(of: "Note")).entityID
    #expect(try library.texts("SELECT DISTINCT Z_ENT FROM ZNOTE") == [String(note)])
    #expect(try library.texts("SELECT ZTEXT FROM ZNOTE WHERE Z_PK = 5") == ["A new note"])
    try library.expectSound()
  }

  @Test("R-trees have the objects that came in and the values that came along")
  func trees() throws {
    var place = Entity("Place")
    place.attributes = [Attribute("x", .float), Attribute("placeID", .string)]
    place.fetchIndexes = [
      FetchIndex("byX", elements: [.init(property: "x", kind: .rtree, isAscending: true)])
    ]
    let paths = ["Tree0", "Tree1", "Tree2"].map { library.folder.path($0 + ".sqlite") }
    let model = try Model(entities: [place])
    let writer = try StoreWriter(creating: paths[0], model: model)
    for number in 0..<3 {
      try writer.insert(
        "Place", attributes: ["x": .double(Double(number)), "placeID": .string("P\(number)")])
    }
    try writer.finish()
    for path in paths.dropFirst() { try FileSystem.copyOver(paths[0], to: path) }
    let connection = try Connection(path: paths[1], mode: .readWrite)
    // Its triggers keep the tree.
    try connection.execute(
      """
      INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZX, ZPLACEID) VALUES (4, 1, 1, 40, 'P4');
      UPDATE Z_PRIMARYKEY SET Z_MAX = 4; UPDATE ZPLACE SET ZX = 20 WHERE Z_PK = 2
      """)
    connection.close()
    let report = try StoreMerge.run(
      Store(path: paths[1]), Store(path: paths[2]), base: Store(path: paths[0]),
      to: library.output)
    #expect(report.added == 1)
    #expect(
      try library.texts("SELECT Z_PK, ZX_MIN, ZX_MAX FROM Z_Place_byX ORDER BY 1")
        == ["1 0.0 0.0", "2 20.0 20.0", "3 2.0 2.0", "4 40.0 40.0"])
    #expect(try library.texts("PRAGMA integrity_check") == ["ok"])
  }

  @Test("with keys alone it is told where they belong to different objects")
  func keysAlone() throws {
    try library.add(library.old, "Of the old one", code: "O", shelf: 2)
    try library.add(library.new, "Of the new one", code: "N", entity: "Film")
    let report = try library.merge(withBase: false) { $0.matches = [.key] }
    #expect(
      report.added == 1
        && report.notes.contains { $0.hasPrefix("Book may have grown apart: 1 key") })
    #expect(try library.texts("SELECT count(*) FROM ZTHING") == ["22"])
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
