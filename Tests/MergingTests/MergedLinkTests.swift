import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Merging

@Suite("What is linked, unique or deleted in one of two stores")
struct MergedLinkTests {
  private let library: Library

  init() throws { library = try Library() }

  @Test(
    "what was deleted in the newer store comes back with its links, or stays deleted on request")
  func deletions() throws {
    try library.delete([1, 20], in: library.new)
    let report = try library.merge()
    #expect(report.deletionSource == .base)
    #expect(report.entities.reduce(0) { $0 + $1.returned } == 3 && report.added == 3)
    #expect(try library.names(of: "Thing 2", "likes") == ["Thing 1", "Thing 0"])
    #expect(
      try library.texts(
        "SELECT t.ZTITLE, t.Z_PK > 20, p.ZNUMBER FROM ZTHING t JOIN ZPASS p ON p.ZOWNER = t.Z_PK AND t.ZPASS = p.Z_PK WHERE t.ZTITLE = 'Thing 0'"
      ) == ["Thing 0 1 0"])
    try library.expectSound()
    let place = library.folder.path("Kept.sqlite")
    let kept = try library.merge(to: place) { $0.keepsDeleted = true }
    #expect(kept.added == 0 && kept.leftOut == 3 && kept.losses.count == 3)
    #expect(try library.texts("SELECT count(*) FROM ZTHING", place) == ["18"])
  }

  @Test(
    "without the common copy, history tells what was deleted, and keys that were given out twice do not"
  )
  func deletionsByHistory() throws {
    for path in [library.old, library.new] {
      try Library.change(
        path,
        """
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        INSERT INTO ATRANSACTION VALUES (1, 16002, 1, \(path == library.old ? 5 : 6));
        """)
    }
    let film = try #require(try Store(path: library.base).table(of: "Film")).entityID
    let book = try #require(try Store(path: library.base).table(of: "Book")).entityID
    let key = try library.add(library.old, "Another")
    try library.delete([20], in: library.new)
    try Library.change(
      library.new,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, 1, 2, \(film), 20, 1, NULL), (2, 16001, 1, 0, \(book), \(key), 1, NULL),
        (3, 16001, 1, 2, \(book), \(key), 1, NULL)
      """)
    let report = try library.merge(withBase: false) {
      $0.matches = [.key]
      $0.keepsDeleted = true
    }
    #expect(report.deletionSource == .history && report.leftOut == 1 && report.added == 1)
    #expect(try library.texts("SELECT ZTITLE FROM ZTHING WHERE Z_PK >= 20") == ["Another"])
  }

  @Test(
    "a unique value is one object's: two new ones with it become one, and a value that is taken is named"
  )
  func uniqueness() throws {
    try library.add(library.old, "Both", code: "X")
    try library.add(library.new, "Both", code: "X")
    try Library.change(library.old, "UPDATE ZTHING SET ZCODE = 'Y' WHERE Z_PK = 2")
    try Library.change(
      library.new, "UPDATE ZTHING SET ZCODE = 'Y', ZTITLE = 'Thing Y' WHERE Z_PK = 4")
    try library.add(library.old, "Film X", code: "Z", entity: "Film")
    try library.add(library.new, "Book Z", code: "Z", entity: "Book")
    // Two that swap their values.
    try Library.change(library.old, "UPDATE ZTHING SET ZCODE = NULL WHERE Z_PK IN (6, 8)")
    try Library.change(
      library.old,
      "UPDATE ZTHING SET ZCODE = CASE Z_PK WHEN 6 THEN 'C7' ELSE 'C5' END WHERE Z_PK IN (6, 8)")
    let report = try library.merge { $0.preferences = [.new] }
    #expect(try library.texts("SELECT count(*) FROM ZTHING WHERE ZTITLE = 'Both'") == ["1"])
    #expect(
      try library.texts("SELECT ZCODE, ZTITLE FROM ZTHING WHERE ZCODE = 'Y'") == ["Y Thing Y"])
    #expect(
      try library.texts(
        "SELECT ZTITLE, ZCODE FROM ZTHING WHERE ZTITLE IN ('Film X', 'Book Z') ORDER BY 1")
        == ["Book Z Z", "Film X –"])
    #expect(
      try library.texts("SELECT ZCODE FROM ZTHING WHERE Z_PK IN (6, 8) ORDER BY Z_PK") == [
        "C7", "C5",
      ])
    let lost = report.losses.filter { $0.reason == .uniqueness }.compactMap { $0.change.a?.key }
    #expect(Set(lost) == [2, 22])
    #expect(
      try library.rows(
        "SELECT 1 FROM ZTHING WHERE ZCODE IS NOT NULL GROUP BY ZCODE HAVING count(*) > 1"
      )
      .isEmpty)
    try library.expectSound()
  }

  @Test(
    "a one-to-one is never broken: what is taken stays the newer store's, and the loss is named")
  func oneToOne() throws {
    let owner = try Store(path: library.base).table(of: "Pass")?.storage(of: "owner")
    let number = try #require(owner?.entityColumn)
    try Library.change(
      library.old,
      "INSERT INTO ZPASS (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZOWNER, \(number)) SELECT 6, Z_ENT, 1, 60, 10, (SELECT Z_ENT FROM ZTHING WHERE Z_PK = 10) FROM ZPASS LIMIT 1; UPDATE ZTHING SET ZPASS = 6 WHERE Z_PK = 10; UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Pass'"
    )
    try Library.change(
      library.new,
      "INSERT INTO ZPASS (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZOWNER, \(number)) SELECT 6, Z_ENT, 1, 61, 10, (SELECT Z_ENT FROM ZTHING WHERE Z_PK = 10) FROM ZPASS LIMIT 1; UPDATE ZTHING SET ZPASS = 6 WHERE Z_PK = 10; UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Pass'"
    )
    let report = try library.merge { $0.preferences = [.new] }
    #expect(try library.texts("SELECT ZNUMBER FROM ZPASS WHERE ZOWNER = 10") == ["61"])
    // It cannot be without its owner.
    #expect(report.losses.map(\.reason) == [.oneToOne] && report.leftOut == 1)
    #expect(report.losses.first?.change.kind == .delete)
    #expect(
      try library.rows(
        "SELECT 1 FROM ZPASS p WHERE (SELECT ZPASS FROM ZTHING WHERE Z_PK = p.ZOWNER) IS NOT p.Z_PK"
      )
      .isEmpty)
    try library.expectSound()
  }

  @Test(
    "a one-to-one that one store changed is that store's; if both did, --prefer decides, and no side is left over",
    arguments: [
      ([1: 3, 2: 2], [1: 1, 2: 2], 0, ["1 3", "2 2"], ["1 3", "2 2"]),
      ([1: 1, 2: 2], [1: 2], 0, ["1 2"], ["1 2"]),
      ([2: 2], [1: 1, 2: 2, 3: 4], 0, ["2 2", "3 4"], ["2 2", "3 4"]),
      ([1: 3, 2: 2], [1: 4, 2: 2], 1, ["1 4", "2 2"], ["1 3", "2 2"]),
      ([1: 2], [1: 1, 2: 2], 0, ["1 2"], ["1 2"]),
      (
        [1: 1, 2: 2, 4: 4], [1: 1, 2: 2, 3: 3], 0, ["1 1", "2 2", "3 3", "4 4"],
        ["1 1", "2 2", "3 3", "4 4"]
      ),
    ])
  func partners(
    old: [Int: Int], new: [Int: Int], conflicts: Int, ifNew: [String], ifOld: [String]
  ) throws {
    try Library.hang(library.old, old)
    try Library.hang(library.new, new)
    for (preference, expected) in [(MergeOptions.Preference.new, ifNew), (.old, ifOld)] {
      let place = library.folder.path("\(preference == .new).sqlite")
      let report = try library.merge(to: place) { $0.preferences = [preference] }
      #expect(report.conflictCount == conflicts)
      #expect(try library.signs(place) == expected, "\(preference)")
    }
  }

  @Test(
    "with what was deleted, new objects that cannot be without it stay out, and links that were taken away"
  )
  func dependents() throws {
    try library.delete([20], in: library.new)
    // A new pass of what is deleted there, and a link that the newer store took away.
    let number = try #require(
      try Store(path: library.base).table(of: "Pass")?.storage(of: "owner")?.entityColumn)
    try Library.change(
      library.old,
      """
      INSERT INTO ZPASS (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZOWNER, \(number))
      SELECT 6, Z_ENT, 1, 60, 20, (SELECT Z_ENT FROM ZTHING WHERE Z_PK = 20) FROM ZPASS LIMIT 1;
      UPDATE ZTHING SET ZPASS = 6 WHERE Z_PK = 20;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Pass'
      """)
    let tags = try library.join("tags")
    try Library.change(library.new, "DELETE FROM \(tags.table) WHERE \(tags.owner) = 1")
    let kept = try library.merge { $0.keepsDeleted = true }
    #expect(Set(kept.losses.map(\.reason)) == [.deleted, .dependent] && kept.leftOut == 2)
    let of = "SELECT count(*) FROM \(tags.table) WHERE \(tags.owner) = 1"
    #expect(try library.texts(of) == ["0"])
    try library.expectSound()
    let place = library.folder.path("All.sqlite")
    #expect(try library.merge(to: place).added == 2)
    #expect(try library.texts(of, place) == ["1"])
    #expect(
      try library.texts(
        "SELECT ZNUMBER FROM ZPASS p JOIN ZTHING t ON t.Z_PK = p.ZOWNER WHERE t.ZTITLE = 'Thing 19'",
        place)
        == ["60"])
  }

  @Test("to-manys are united; ordered ones keep the newer store's order, with the others behind")
  func links() throws {
    let likes = try library.join("likes")
    let place = try #require(likes.position)
    let inverse = try #require(likes.inversePosition)
    func like(_ path: String, _ one: Int, _ other: Int, at position: Int) throws {
      let columns = [likes.owner, likes.destination, place, inverse]
      try Library.change(
        path,
        "INSERT INTO \(likes.table) (\(columns.joined(separator: ", "))) VALUES (\(one), \(other), \(position), \(position))"
      )
    }
    // 3 likes 2 and 1. In the old store 9 comes before and 8 behind, in the new one 7 between.
    try like(library.old, 3, 9, at: 1)
    try like(library.old, 3, 8, at: 900_000)
    try Library.change(
      library.new,
      "UPDATE \(likes.table) SET \(place) = 9000 WHERE \(likes.owner) = 3 AND \(likes.destination) = 1"
    )
    try like(library.new, 3, 7, at: 8000)
    let tags = try library.join("tags")
    try Library.change(
      library.old, "INSERT INTO \(tags.table) (\(tags.owner), \(tags.destination)) VALUES (15, 1)")
    try Library.change(
      library.new, "INSERT INTO \(tags.table) (\(tags.owner), \(tags.destination)) VALUES (15, 2)")
    let report = try library.merge()
    #expect(report.links == 3)
    #expect(
      try library.names(of: "Thing 2", "likes")
        == ["Thing 1", "Thing 6", "Thing 0", "Thing 8", "Thing 7"])
    #expect(
      try library.texts(
        "SELECT \(tags.destination) FROM \(tags.table) WHERE \(tags.owner) = 15 ORDER BY 1")
        == ["1", "2"])
    try library.expectSound()
  }

  @Test(
    "a to-one that one store has is kept without the common copy; a to-many without an inverse too")
  func references() throws {
    let notes = try #require(try Store(path: library.base).table(of: "Shelf")?.storage(of: "notes"))
    try Library.change(library.old, "UPDATE ZNOTE SET \(notes.owner) = 2 WHERE Z_PK = 1")
    try Library.change(
      library.new, "UPDATE ZTHING SET ZSHELF = NULL, Z_FOK_SHELF = NULL WHERE Z_PK = 1")
    let report = try library.merge(withBase: false) { $0.matches = [.key] }
    #expect(report.conflictCount == 0)
    #expect(try library.texts("SELECT \(notes.owner) FROM ZNOTE WHERE Z_PK = 1") == ["2"])
    #expect(try library.texts("SELECT ZSHELF FROM ZTHING WHERE Z_PK = 1") == ["1"])
    #expect(
      try library.texts("SELECT Z_PK FROM ZTHING WHERE ZSHELF = 1 ORDER BY Z_FOK_SHELF").last == "1"
    )
    try library.expectSound()
  }

  @Test("external files come along under new names, and all of the newer store stay")
  func files() throws {
    let data = StoreFiles(path: library.old).externalDataFolder
    let name = "11111111-2222-4333-8444-555555555555"
    try FileSystem.create(data + "/" + name, holding: Library.content + [99])
    let column = ByteText.hex(MarkedBytes.file(name: name).column)
    let key = try library.add(library.old, "With a file")
    try Library.change(
      library.old, "UPDATE ZTHING SET ZCOVER = x'\(column)' WHERE Z_PK IN (4, \(key))")
    let report = try library.merge()
    #expect(report.files == 2 && report.missingFiles == 0 && report.conflictCount == 0)
    let store = try Store(path: library.output)
    let found = try store.externalData()
    #expect(found.referenced == 5 && found.missing.isEmpty && found.orphaned.isEmpty)
    let made = StoreFiles(path: library.output).externalDataFolder
    #expect(try !FileSystem.list(made).contains(name))
    let contents = try FileSystem.list(made).filter {
      try FileSystem.read(made + "/" + $0) == Library.content + [99]
    }
    #expect(contents.count == 2)
    try library.expectSound()
  }
}
