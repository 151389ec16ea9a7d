import Files
import ManagedModel
import Reports
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import StoreTables

/// A demo store in which a test deletes or changes steps, and what they were.
struct Deleted {
  let demo: DamagedDemo
  /// Every step's values by key, before.
  let before: [Int64: [Value]]

  init(
    objects: Int = 2_000, secure: String = "OFF", isLogged: Bool = false, _ sql: String...
  ) throws {
    demo = try DamagedDemo(objects: objects)
    before = try Self.steps(demo.path)
    let path = demo.path
    let copy = path + ".open"
    if isLogged { try FileSystem.copyOver(path, to: copy) }
    let connection = try Connection(path: isLogged ? copy : path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA secure_delete = \(secure)")
    try connection.execute(
      isLogged
        ? "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL"
        : "PRAGMA journal_mode = DELETE")
    for sql in sql { try connection.execute(sql) }
    if isLogged {
      try FileSystem.write(FileSystem.read(copy + "-wal"), to: path + "-wal")
      try FileSystem.write(FileSystem.read(copy), to: path)
    }
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
  }

  static func steps(_ path: String) throws -> [Int64: [Value]] {
    let connection = try Store(path: path).connection
    return Dictionary(
      try connection.rows("SELECT * FROM ZSTEP").map { ($0[0].integer ?? 0, Array($0.dropFirst())) }
    ) { first, _ in first }
  }

  func search() throws -> Undeletion { try Undeletion(of: demo.path) }

  /// The store with all that was found back in it.
  func restored(
    _ choice: Restoration.Choice = .all(entity: nil)
  ) throws -> (
    report: Restoration.Report, steps: [Int64: [Value]], path: String
  ) {
    let output = demo.folder.path("Restored.sqlite")
    let report = try Restoration(search()).run(choice, output: output)
    return (report, try Self.steps(output), output)
  }
}

@Suite("What was deleted from a store")
struct UndeleteTests {
  @Test("a store in which nothing was deleted has nothing to give")
  func healthy() throws {
    let demo = try DamagedDemo()
    let before = try demo.bytes()
    let found = try Undeletion(of: demo.path)
    #expect(found.entities.isEmpty)
    #expect(try demo.bytes() == before)
  }

  /// Every ninth leaves its pages as they are; every third makes SQLite write some of them anew.
  @Test(
    "rows deleted here and there come back with their values and keys",
    arguments: TestScale.some(1, of: [(9, 100), (3, 75)]))
  func scattered(step: Int64, least: Int) throws {
    let deleted = try Deleted("DELETE FROM ZSTEP WHERE Z_PK % \(step) = 0")
    let gone = deleted.before.filter { $0.key % step == 0 }
    let found = try #require(try deleted.search().entities.first { $0.name == "Step" })
    #expect(found.deleted * 100 >= gone.count * least, "\(found.deleted) of \(gone.count)")
    #expect(found.inferred * 2 > gone.count, "few keys were inferred: \(found.inferred)")
    let (report, steps, path) = try deleted.restored()
    #expect(report.restored == ["Step": found.deleted])
    #expect(!report.salvage.isLossy && report.refused.isEmpty)
    // What lives is as it was, and nothing that was never there has come in.
    let values = Set(gone.values.map { "\($0)" })
    for (key, row) in steps {
      if let old = deleted.before[key], key % step != 0 || "\(old)" == "\(row)" {
        #expect(row == old)
      } else {
        #expect(values.contains("\(row)"), "p\(key)")
        #expect(deleted.before[key] == nil, "p\(key) has another's key")
      }
    }
    #expect(
      try Connection(path: path, mode: .readOnly).value("PRAGMA integrity_check") == .text("ok"))
    #expect(try Diagnosis(of: path).count(.error) == 0)
  }

  @Test("a deletion that is only in the -wal is taken back wholly")
  func logged() throws {
    let deleted = try Deleted(secure: "FAST", isLogged: true, "DELETE FROM ZSTEP")
    let bytes = try deleted.demo.bytes()
    let (report, _, path) = try deleted.restored()
    #expect(report.restored == ["Step": deleted.before.count])
    #expect(report.emptied.isEmpty)
    #expect(try StoreDump.lines(at: path) == deleted.demo.lines)
    var after = try deleted.demo.bytes()
    after["Restored.sqlite"] = nil
    #expect(after == bytes)
  }

  @Test("links of objects that are back come with them out of freed room, and none that never was")
  func links() throws {
    let keys = "20, 21, 60, 90, 120, 150, 151, 200"
    let deleted = try Deleted(
      "BEGIN", "DELETE FROM Z_8TAGS WHERE Z_8RECIPES IN (\(keys))",
      "DELETE FROM ZRECIPE WHERE Z_PK IN (\(keys))", "COMMIT")
    let model = try Store(path: deleted.demo.path).schema
    let join = try #require(model.joins.first { $0.name == "Z_8TAGS" })
    let fresh = try DamagedDemo()
    func links(_ path: String) throws -> Set<[Value]> {
      let connection = try Connection(path: path, mode: .immutable)
      return Set(
        try connection.rows(
          "SELECT \(quoted(join.first)), \(quoted(join.second)) FROM \(quoted(join.name))"))
    }
    let (before, now) = (try links(fresh.path), try links(deleted.demo.path))
    #expect(now.count < before.count)
    let (report, _, path) = try deleted.restored()
    #expect(report.restored == ["Recipe": 8])
    let after = try links(path)
    #expect(after.isSubset(of: before) && after.isSuperset(of: now))
    #expect(report.freedLinks == after.count - now.count)
    // Of a row that was alone in its block the first key may be gone.
    #expect(report.freedLinks * 2 > before.count - now.count, "\(report.freedLinks)")
    #expect(report.unset.contains("Step.recipe") == false)
  }

  @Test(
    "references to objects that are back are counted where they are still there, and else said to be empty",
    arguments: [true, false])
  func references(areWhole: Bool) throws {
    let empties = "UPDATE ZRECIPE SET ZAUTHOR = NULL WHERE ZAUTHOR IN (5, 6)"
    let authors = "SELECT count(*) FROM ZRECIPE WHERE ZAUTHOR IN (5, 6)"
    let deleted = try Deleted(
      areWhole ? "" : empties, "DELETE FROM ZPERSON WHERE Z_PK IN (5, 6)")
    let store = try Connection(path: deleted.demo.path, mode: .immutable)
    let count = Int(try #require(try store.value(authors)?.integer))
    store.close()
    try #require(areWhole == (count > 1))
    let (report, _, _) = try deleted.restored()
    #expect(report.restored == ["Person": 2])
    #expect(report.referenced["Recipe.author"] == (areWhole ? count : nil))
    #expect(report.unset.contains("Recipe.author") == !areWhole)
    let text = Report(report, seconds: 0).sections.flatMap(\.lines).map(\.text.typed)
    #expect(text.contains { $0.contains("emptied") && $0.contains("Recipe.author") } == !areWhole)
    #expect(text.contains { $0.contains("\(count) references") } == areWhole)
  }

  @Test("pages that were freed give their rows, with the keys that they had")
  func freed() throws {
    let deleted = try Deleted("DELETE FROM ZSTEP")
    let found = try #require(try deleted.search().entities.first { $0.name == "Step" })
    #expect(found.deleted * 2 > deleted.before.count)
    let (_, steps, _) = try deleted.restored()
    for (key, row) in steps where key <= deleted.before.keys.max() ?? 0 {
      #expect(row == deleted.before[key])
    }
  }

  @Test("what secure_delete wiped is said to be")
  func wiped() throws {
    let deleted = try Deleted(secure: "ON", "DELETE FROM ZSTEP WHERE Z_PK % 3 = 0")
    let found = try deleted.search()
    #expect(found.entities.isEmpty)
    #expect(found.isWiped == true)
  }

  @Test("nothing is said to be wiped where all that was deleted is found")
  func nothingWiped() throws {
    let deleted = try Deleted(
      secure: "ON", "UPDATE ZSTEP SET ZTEXT = ZTEXT || ' for a while longer' WHERE Z_PK = 5",
      "PRAGMA secure_delete = OFF", "DELETE FROM ZTAG WHERE Z_PK > 0")
    let found = try deleted.search()
    let tags = try #require(found.entities.first { $0.name == "Tag" })
    #expect(tags.deleted > 0 && !found.missed.contains { $0.least > 0 }, "\(found.missed)")
    #expect(found.isWiped == nil)
    // One of which nothing is left makes the difference.
    let wiped = try Deleted(
      secure: "ON", "DELETE FROM ZSTEP WHERE Z_PK = 5", "PRAGMA secure_delete = OFF",
      "DELETE FROM ZTAG WHERE Z_PK > 0")
    #expect(try wiped.search().isWiped == true)
  }

  @Test("earlier states of objects that live are no deleted objects")
  func updated() throws {
    let deleted = try Deleted(
      "UPDATE ZSTEP SET Z_OPT = Z_OPT + 1, ZTEXT = ZTEXT || ' and stir it for a while longer' WHERE Z_PK % 4 = 0"
    )
    let found = try deleted.search()
    let steps = try #require(found.entities.first { $0.name == "Step" })
    #expect(found.entities.allSatisfy { $0.deleted == 0 }, "\(found.entities)")
    #expect(steps.older > 0)
    // None is put back in the place of what lives.
    let (report, after, _) = try deleted.restored()
    #expect(report.restored.isEmpty)
    #expect(after == (try Deleted.steps(deleted.demo.path)))
  }

  @Test("room that was used again gives nothing that was never there")
  func reused() throws {
    let deleted = try Deleted(
      "DELETE FROM ZSTEP WHERE Z_PK BETWEEN 200 AND 700",
      """
      INSERT INTO ZSTEP SELECT NULL, Z_ENT, Z_OPT, \(Self.rest) FROM ZSTEP WHERE Z_PK < 200
      """)
    let (report, steps, _) = try deleted.restored()
    let known = Set(deleted.before.values.map { "\($0)" })
    #expect(report.restored["Step"] ?? 0 > 0)
    #expect(steps.values.allSatisfy { known.contains("\($0)") })
  }

  private static let rest = "ZMINUTES, ZRECIPE, Z_FOK_RECIPE, ZTEXT"

  @Test("only what is chosen comes back, and what lives cannot be chosen")
  func chosen() throws {
    let deleted = try Deleted(
      isLogged: true, "DELETE FROM ZSTEP WHERE Z_PK IN (10, 11, 12)",
      "UPDATE ZSTEP SET Z_OPT = Z_OPT + 1, ZTEXT = 'changed' WHERE Z_PK = 20")
    let found = try deleted.search()
    let steps = try #require(found.entities.first { $0.name == "Step" })
    #expect(steps.deleted == 3)
    let (report, after, path) = try deleted.restored(.only([ObjectID(entity: "Step", key: 11)]))
    #expect(report.restored == ["Step": 1])
    #expect(after[11] == deleted.before[11] && after[10] == nil && after[12] == nil)
    #expect(report.first.map(\.id) == [ObjectID(entity: "Step", key: 11)])
    #expect(report.first.first?.origin.certainty == .certain)
    #expect(FileSystem.isFile(path))
    let filter = try RowFilter("SELF == \"Step/p12\"", entity: "Step", store: found.store)
    let second = deleted.demo.folder.path("Second.sqlite")
    #expect(try Restoration(found).run(.matching(filter), output: second).restored == ["Step": 1])
    let third = deleted.demo.folder.path("Third.sqlite")
    let older = try found.store.rows(RowQuery(entity: "Step", limit: 100, properties: [])).rows
      .first { try found.origin(of: $0.id)?.state == .older }
    let id = try #require(older?.id)
    #expect(try found.origin(of: id)?.key == 20)
    #expect(throws: CoreDataError.self) {
      _ = try Restoration(found).run(.only([id]), output: third)
    }
    #expect(throws: CoreDataError.self) {
      _ = try Restoration(found).run(.only([ObjectID(entity: "Step", key: 5)]), output: third)
    }
    #expect(FileSystem.status(third) == nil)
  }

  @Test("what was never committed is told apart, and not restored unasked")
  func uncommitted() throws {
    let deleted = try Deleted(
      isLogged: true,
      "INSERT INTO ZSTEP (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT 900000, Z_ENT, 1, 'never saved at all' FROM ZSTEP LIMIT 1"
    )
    // The last frame is the one that commits.
    try deleted.demo.change("-wal") { bytes in
      let frame = 24 + 4096
      let last = 32 + ((bytes.count - 32) / frame - 1) * frame
      bytes.replaceSubrange(last + 4..<last + 8, with: [0, 0, 0, 0])
    }
    let found = try deleted.search()
    let steps = found.entities.first { $0.name == "Step" }
    // The checksum of that frame does not fit any more: a save may have been lost, nobody deleted anything.
    #expect(steps?.unsaved == 1 && steps?.lost == 1 && steps?.deleted == 0, "\(found.entities)")
    #expect(try deleted.restored().report.restored.isEmpty)
  }

  @Test("a reference to what is not there is emptied, and told")
  func emptied() throws {
    let deleted = try Deleted(
      isLogged: true, "DELETE FROM ZSTEP WHERE ZRECIPE = (SELECT ZRECIPE FROM ZSTEP LIMIT 1)",
      "DELETE FROM ZRECIPE WHERE Z_PK NOT IN (SELECT ZRECIPE FROM ZSTEP WHERE ZRECIPE NOT NULL)")
    let (report, _, _) = try deleted.restored(.all(entity: "Step"))
    #expect(report.restored["Step"] ?? 0 > 0)
    #expect(report.emptied["Step.recipe"] == report.restored["Step"])
  }

  @Test("what history says was deleted and nothing is left of is told")
  func history() throws {
    let deleted = try Deleted(
      secure: "ON",
      """
      CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
      ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB ); \
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 2, Z_ENT, Z_PK, 1, NULL FROM ZSTEP WHERE Z_PK IN (7, 8); \
      INSERT INTO ACHANGE SELECT 9, 16001, 1, 1, Z_ENT, Z_PK, 1, NULL FROM ZSTEP WHERE Z_PK = 9; \
      INSERT INTO ACHANGE SELECT 10, 16001, 1, 2, Z_ENT, 11, 1, NULL FROM ZSTEP WHERE Z_PK = 11
      """, "DELETE FROM ZSTEP WHERE Z_PK IN (7, 8)")
    let found = try deleted.search()
    #expect(found.entities.isEmpty)
    // The one that lives again is not among them.
    #expect(
      found.notes.contains(
        "History records 2 deleted Step of which nothing was found: p7, p8."),
      "\(found.notes)")
  }

  @Test("what an app's triggers do with a save is not done when a row is put back")
  func triggers() throws {
    let deleted = try Deleted(
      """
      CREATE TRIGGER counting AFTER INSERT ON ZSTEP BEGIN \
      UPDATE ZPERSON SET Z_OPT = Z_OPT + 1000; END; \
      CREATE TRIGGER calling AFTER INSERT ON ZSTEP BEGIN \
      SELECT NSCoreDataTriggerUpdateAffectedObjectValue('a', NEW.Z_PK); END
      """, "DELETE FROM ZSTEP WHERE Z_PK % 9 = 0")
    let (report, _, path) = try deleted.restored()
    #expect(report.restored["Step"] ?? 0 > 0)
    let saved = try Connection(path: path, mode: .readOnly)
    #expect(try saved.value("SELECT count(*) FROM ZPERSON WHERE Z_OPT >= 1000") == .integer(0))
    #expect(
      try saved.value("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == .integer(2))
  }

  @Test("an object that names one which has another by now is put back without")
  func taken() throws {
    let deleted = try Deleted(
      isLogged: true, "DELETE FROM ZPROFILE WHERE Z_PK = 5",
      """
      INSERT INTO ZPROFILE (Z_PK, Z_ENT, Z_OPT, ZPERSON) SELECT 100, Z_ENT, 1, 5 FROM ZPROFILE LIMIT 1; \
      UPDATE ZPERSON SET ZPROFILE = 100 WHERE Z_PK = 5
      """)
    let (report, _, path) = try deleted.restored()
    #expect(report.restored == ["Profile": 1])
    #expect(report.emptied == ["Profile.person": 1])
    let saved = try Connection(path: path, mode: .readOnly)
    #expect(try saved.value("SELECT ZPERSON FROM ZPROFILE WHERE Z_PK = 5") == .null)
    #expect(try saved.value("SELECT ZPROFILE FROM ZPERSON WHERE Z_PK = 5") == .integer(100))
    #expect(
      try saved.value("SELECT count(*) FROM ZPROFILE WHERE ZPERSON = 5") == .integer(1))
  }

  @Test("rows that were moved and never changed are no earlier states of themselves")
  func moved() throws {
    let deleted = try Deleted(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
      INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOLOUR) SELECT 1000 + (i * 7919) % 2003, \
      (SELECT Z_ENT FROM ZTAG LIMIT 1), 1, 'com.example.measurement ' || i, i FROM n; \
      DELETE FROM ZTAG WHERE Z_PK > 1000 AND Z_PK % 2 = 0
      """)
    let found = try deleted.search()
    let tags = try #require(found.entities.first { $0.name == "Tag" })
    #expect(tags.older == 0 && tags.deleted > 0, "\(tags)")
  }
}

@Suite("Undelete on stores that Apple's engine made")
struct UndeleteFixtureTests {
  private static let stores = Fixtures.paths(endingWith: "").filter { path in
    guard !path.hasPrefix("expected/"), !path.hasSuffix("-wal"), !path.hasSuffix("-shm") else {
      return false
    }
    return (try? FileSystem.read(Fixtures.path(path), limit: 15)) == Array("SQLite format 3".utf8)
  }

  private static func attributes(_ store: Store) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        found["\(entity.name)/p\(object.key)"] = object.attributes.map(StoreDump.text)
      }
    }
    return found
  }

  @Test(
    "what was deleted is back in a new store, and every live object is as it was",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: TestScale.some(8, of: stores))
  func restore(_ name: String) throws {
    let path = Fixtures.path(name)
    let folder = try TemporaryFolder()
    let output = folder.path("Back.sqlite")
    do {
      let undeletion = try Undeletion(of: path)
      let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
      #expect(!report.salvage.isLossy, "\(report.salvage.remarks)")
      let (before, after) = try (
        Self.attributes(Store(path: path)), Self.attributes(Store(path: output))
      )
      let changed = before.filter { after[$0.key] != $0.value }
      #expect(changed.isEmpty, "\(changed.keys.sorted().prefix(5))")
      #expect(after.count == before.count + report.restored.values.reduce(0, +))
    } catch let error as CoreDataError {
      // Without a model there are no entities to tell apart: then it is asked for.
      #expect(error.advice?.names(.model) == true, "\(error)")
      #expect((try? Store(path: path).modelSource) != .store)
    }
  }
}
