import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("What history says, through a migration")
struct HistoryFollowingTests {
  /// A store of a model with one object of each entity, and history's tables in the form of today or of 2018.
  static func store(
    _ model: Model, in folder: TemporaryFolder, tombstones: Int = 0, isOld: Bool = false,
    _ rows: String
  ) throws -> String {
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: model)
    for entity in model.entities where !entity.isAbstract { try writer.insert(entity.name) }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    let columns = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
    let texts =
      isOld
      ? ""
      : "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
    try connection.execute(
      """
      CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(columns) );
      CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(texts)ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
      CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (1, 16002, 700000000);
      \(rows)
      """)
    if !isOld {
      try connection.execute(
        """
        CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
        CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
        INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'app');
        INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 90), (16002, 'TRANSACTION', 0, 40), (16003, 'TRANSACTIONSTRING', 0, 7);
        """)
    }
    connection.close()
    return path
  }

  @discardableResult static func migrate(
    _ path: String, to model: Model, _ way: Way = .inPlace,
    breaking: @escaping (Connection) throws -> Void = { _ in }
  ) throws -> MigrationReceipt {
    let plan = try way.plan(Store(path: path), to: model)
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.keepsBackup = false
    return try MigrationRun(plan: plan, options: options, beforeVerification: breaking).run(
      isCancelled: { false }, progress: { _ in })
  }

  static func text(_ sql: String, _ path: String) throws -> [String] {
    try HistoryTests.text(sql, path)
  }

  private static func kept(_ name: String, formerly: String? = nil) -> Attribute {
    var attribute = Attribute(name, .string, optional: true)
    attribute.preservesValueInHistoryOnDeletion = true
    attribute.renamingIdentifier = formerly
    return attribute
  }

  private static func plain(_ name: String, formerly: String? = nil) -> Attribute {
    var attribute = Attribute(name, .string, optional: true)
    attribute.renamingIdentifier = formerly
    return attribute
  }

  private static func entity(_ name: String, _ attributes: Attribute...) -> Entity {
    var entity = Entity(name)
    entity.attributes = attributes
    return entity
  }

  // MARK: Tombstones

  @Test(
    "history gets the columns that the new model needs for deleted objects", arguments: Way.allCases
  )
  func tombstonesAdded(way: Way) throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.plain("a"))])
    let after = try Model(entities: [Self.entity("E", Self.plain("a"), Self.kept("b"))])
    let path = try Self.store(
      before, in: folder, "INSERT INTO ACHANGE VALUES (1, 16001, NULL, 2, 1, 9, 1, NULL);")
    try Self.migrate(path, to: after, way)
    let sql = try Self.text("SELECT sql FROM sqlite_master WHERE name = 'ACHANGE'", path)
    #expect(sql.first?.hasSuffix(", ZTOMBSTONE0 BLOB)") == true, "\(sql)")
    // As Core Data writes a deletion: it names all the columns.
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE0)
      VALUES (91, 16001, NULL, 2, 1, 1, 1, NULL, 'b')
      """)
    connection.close()
    let kept = try #require(try Store(path: path).changes(of: 1).last?.tombstones)
    #expect(kept.map(\.property) == ["b"])
    #expect(kept.map(\.value) == [.value(.string("b"))])
  }

  @Test(
    "values of deleted objects go with their attributes, renamed ones too", arguments: Way.allCases)
  func tombstonesMoved(way: Way) throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [
      Self.entity("E", Self.kept("a"), Self.kept("c"), Self.kept("d")),
      Self.entity("F", Self.kept("x")),
    ])
    let after = try Model(entities: [
      Self.entity(
        "E", Self.kept("b"), Self.kept("c"), Self.plain("d"), Self.kept("z", formerly: "a")),
      Self.entity("F", Self.kept("x")),
    ])
    let path = try Self.store(
      before, in: folder, tombstones: 3,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 2, 1, 9, 1, NULL, 'A', 'C', 'D'),
        (2, 16001, NULL, 2, 2, 9, 1, NULL, 'X', NULL, NULL), (3, 16001, NULL, 0, 1, 1, 1, NULL, NULL, NULL, NULL);
      """)
    let receipt = try Self.migrate(path, to: after, way)
    #expect(
      try Self.text("SELECT Z_PK, ZTOMBSTONE0, ZTOMBSTONE1, ZTOMBSTONE2 FROM ACHANGE", path) == [
        "1||C|A", "2|X||", "3|||",
      ])
    #expect(
      receipt.notes.contains { $0.contains("1 value of deleted objects") && $0.contains("E.d") })
  }

  @Test("an older list of attributes goes before marks, the entity's own before its parent's")
  func lists() throws {
    var parent = Self.entity("P", Self.plain("a"), Self.plain("b"), Self.kept("k"))
    parent.userInfo["NSPersistentHistoryTombstoneAttributes"] = "b, a"
    var child = Entity("Q", parent: "P")
    child.attributes = [Self.plain("c")]
    child.userInfo["NSPersistentHistoryTombstoneAttributes"] = "c,a"
    let model = try Model(entities: [
      parent, child, Self.entity("R", Self.kept("z"), Self.kept("y")),
    ])
    #expect(model.tombstoneAttributes(of: "P") == ["b", "a"])
    #expect(model.tombstoneAttributes(of: "Q") == ["c", "a", "b"])
    #expect(model.tombstoneAttributes(of: "R") == ["y", "z"])
    #expect(Tombstones.count(for: model) == 3)
  }

  // MARK: Bitmaps

  /// Bits of Garnish: its attribute, then the many-to-many.
  private static func bar(_ attributes: Attribute...) throws -> Model {
    var garnish = Entity("Garnish")
    garnish.attributes = attributes
    garnish.relationships = [
      Relationship("cocktails", to: "Cocktail", inverse: "garnishes", toMany: true, optional: true)
    ]
    var cocktail = Self.entity("Cocktail", Self.plain("name"))
    cocktail.relationships = [
      Relationship("garnishes", to: "Garnish", inverse: "cocktails", toMany: true, optional: true)
    ]
    return try Model(entities: [cocktail, garnish])
  }

  @Test(
    "a bitmap of a SwiftData store names the same properties in a longer one",
    arguments: Way.allCases)
  func bitmap(way: Way) throws {
    let folder = try TemporaryFolder()
    let before = try Self.bar(Self.plain("name"))
    // Bits 0x40 cocktails, 0x80 name.
    let path = try Self.store(
      before, in: folder,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 2, 1, 1, x'40'), (2, 16001, NULL, 1, 2, 1, 1, x'80'),
        (3, 16001, NULL, 1, 2, 1, 1, x'C0'), (4, 16001, NULL, 0, 2, 1, 1, NULL), (5, 16001, NULL, 2, 2, 1, 1, NULL),
        (6, 16001, NULL, 1, 1, 1, 1, x'40');
      """)
    #expect(
      try Store(path: path).changes(of: 1).map(\.properties) == [
        ["cocktails"], ["name"], ["name", "cocktails"], nil, nil, ["garnishes"],
      ])
    let more = (0..<8).map { Self.plain("a\($0)") }
    var after = try Self.bar(Self.plain("title", formerly: "name"))
    var entities = after.entities
    for index in entities.indices where entities[index].name == "Garnish" {
      entities[index].attributes += more
    }
    after = try Model(entities: entities)
    let receipt = try Self.migrate(path, to: after, way)
    #expect(
      try Store(path: path).changes(of: 1).map(\.properties) == [
        ["cocktails"], ["title"], ["title", "cocktails"], nil, nil, ["garnishes"],
      ])
    #expect(
      try Self.text("SELECT ZCOLUMNS FROM ACHANGE WHERE Z_PK IN (1, 2, 6) ORDER BY 1", path)
        .sorted() == ["0040", "0080", "40"])
    #expect(receipt.verified.contains { $0.what == "changes of history" && $0.count == 6 })
  }

  @Test("bits follow a property into another block, and an ordered to-many's positions")
  func blocks() throws {
    func model(
      _ pets: (inout Relationship) -> Void, _ owner: (inout Relationship) -> Void
    ) throws
      -> Model
    {
      var one = Relationship("owner", to: "Person", inverse: "pets", optional: true)
      owner(&one)
      var many = Relationship("pets", to: "Pet", inverse: "owner", toMany: true, optional: true)
      pets(&many)
      var pet = Self.entity("Pet", Self.plain("name"))
      pet.relationships = [one]
      var person = Self.entity("Person", Self.plain("name"))
      person.relationships = [many]
      var child = Entity("Child", parent: "Person")
      child.attributes = [Self.plain("toy")]
      return try Model(entities: [pet, person, child])
    }
    // Pet: owner, its entity ID, its position, name.
    let before = try model({ $0.isOrdered = true }, { _ in })
    let after = try model(
      {
        $0.renamingIdentifier = "pets"; $0.name = "animals"
      },
      { $0.inverse = "animals" })
    let folder = try TemporaryFolder()
    let pet = try #require(StoreSchema(model: before).numbers["Pet"])
    let path = try Self.store(
      before, in: folder,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, \(pet), 1, 1, x'20'), (2, 16001, NULL, 1, \(pet), 1, 1, x'C0'),
        (3, 16001, NULL, 1, \(pet), 1, 1, x'10');
      """)
    #expect(
      try Store(path: path).changes(of: 1).map(\.properties) == [["owner"], ["owner"], ["name"]])
    try Self.migrate(path, to: after)
    // Owner, its entity ID, name: a position that is no longer kept is the relationship's own bit.
    let bitmaps = try Self.text("SELECT ZCOLUMNS FROM ACHANGE ORDER BY Z_PK", path)
    #expect(bitmaps == ["80", "c0", "20"])
  }

  @Test("a bitmap that fits no entity is NULL where the entity changes, else it stays")
  func strange() throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [
      Self.entity("E", Self.plain("a")), Self.entity("F", Self.plain("a")),
    ])
    let after = try Model(entities: [
      Self.entity("E", Self.plain("a"), Self.plain("b")), Self.entity("F", Self.plain("a")),
    ])
    let path = try Self.store(
      before, in: folder,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1, 1, 1, x'8000'), (2, 16001, NULL, 1, 2, 1, 1, x'8000'),
        (3, 16001, NULL, 1, 77, 1, 1, x'FF'), (4, 16001, NULL, 1, 1, 1, 1, x'40'), (5, 16001, NULL, 1, 1, 1, 1, 'text'),
        (6, 16001, NULL, 1, NULL, 1, 1, x'40');
      """)
    try Self.migrate(path, to: after)
    #expect(
      try Self.text("SELECT ZCOLUMNS FROM ACHANGE ORDER BY Z_PK", path) == [
        "", "8000", "ff", "", "text", "40",
      ])
  }

  // MARK: The migrator's transaction

  @Test("an empty transaction names the model that the store had", arguments: Way.allCases)
  func transaction(way: Way) throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.plain("a"))])
    let after = try Model(entities: [Self.entity("E", Self.plain("a"), Self.plain("b"))])
    let path = try Self.store(before, in: folder, "")
    let digest = try #require(try Store(path: path).metadata.digest)
    try Self.migrate(path, to: after, way)
    let kind =
      way.isMapped
      ? "strata: migration" : "com.apple.coredata.schemamigrator: lightweight migration"
    let author = "\(kind) from model with digest { \(digest) }"
    // No key that was given out is given out again; all texts are in the table of texts.
    #expect(
      try Self.text("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ATRANSACTIONSTRING ORDER BY 1", path)
        == [
          "1|16003||app", "8|16003||\(author)", "9|16003||strata",
        ])
    #expect(
      try Self.text(
        """
        SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZAUTHOR, ZBUNDLEID,
        ZPROCESSID, ZQUERYGEN, ZTIMESTAMP > 780000000 FROM ATRANSACTION ORDER BY Z_PK
        """, path) == ["1|16002||||||||||0", "41|16002||8|9||9|||||1"])
    #expect(
      try Self.text("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1", path)
        == ["16001|90", "16002|41", "16003|9"])
    let versions = try #require(try Store(path: path).formerVersions())
    #expect(versions.map(\.digest) == [digest])
    #expect(versions.first?.migrator == (way.isMapped ? .mapping : .lightweight))
    #expect(versions.first?.process == "strata")
  }

  @Test("texts are used again, and each step leaves its own transaction")
  func steps() throws {
    let folder = try TemporaryFolder()
    let models = try (0..<3).map { count in
      var entity = Self.entity("E", Self.plain("a"))
      entity.attributes += (0..<count).map { Self.plain("b\($0)") }
      return try Model(entities: [entity])
    }
    let path = try Self.store(models[0], in: folder, "")
    for model in models.dropFirst() { try Self.migrate(path, to: model) }
    #expect(
      try Store(path: path).formerVersions()?.map(\.digest)
        == models.dropLast().map(\.versionHashesDigest))
    #expect(
      try Self.text("SELECT count(*) FROM ATRANSACTIONSTRING WHERE ZNAME = 'strata'", path) == ["1"]
    )
    #expect(try Self.text("SELECT count(*) FROM ATRANSACTIONSTRING", path) == ["4"])
  }

  @Test("history in the form of 2018 has the author in the row itself")
  func older() throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.plain("a"))])
    let after = try Model(entities: [Self.entity("E", Self.kept("b"))])
    let path = try Self.store(before, in: folder, isOld: true, "")
    try Self.migrate(path, to: after)
    let author = MigratorAuthor(.lightweight, digest: before.versionHashesDigest).text
    #expect(
      try Self.text("SELECT Z_PK, Z_ENT, ZAUTHOR, ZBUNDLEID, ZPROCESSID FROM ATRANSACTION", path)
        == ["1|16002|||", "2|16002|\(author)|strata|strata"])
    #expect(try Store(path: path).formerVersions()?.map(\.transaction) == [2])
  }

  @Test("a stage's label is in the author, and is read from before and after the brace")
  func stages() throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.plain("a"))])
    let after = try Model(entities: [Self.entity("E", Self.plain("a"), Self.plain("b"))])
    let path = try Self.store(before, in: folder, "")
    var stage = MigrationStage.lightweight(to: [
      .model(before, name: "1"), .model(after, name: "2"),
    ])
    stage.label = "add b (at last)"
    let plan = try Store(path: path).plan(stages: StagedMigration(stages: [stage]))
    _ = try StoreMigration.run(plan)
    let version = try #require(try Store(path: path).formerVersions()?.first)
    #expect(version.stage == "add b (at last)")
    #expect(version.digest == before.versionHashesDigest)
    let text = MigratorAuthor(.lightweight, digest: "x==", stage: "one").text
    #expect(text.hasSuffix("{ x== (stage: one) }"))
    #expect(
      MigratorAuthor(text.replacing(" (stage: one) }", with: " } (stage: one)"))
        == MigratorAuthor(.lightweight, digest: "x==", stage: "one"))
    #expect(MigratorAuthor("someone: migration from model with digest { x }") == nil)
  }

  // MARK: Verification

  @Test(
    "what history must not say is found",
    arguments: [
      "UPDATE ACHANGE SET ZCOLUMNS = x'4000' WHERE ZCHANGETYPE = 1",
      "UPDATE ACHANGE SET ZCOLUMNS = x'80' WHERE ZCHANGETYPE = 1",
      "UPDATE ACHANGE SET ZCOLUMNS = NULL WHERE ZCHANGETYPE = 1",
      "UPDATE ACHANGE SET ZCOLUMNS = x'80' WHERE ZCHANGETYPE = 0",
      "UPDATE ACHANGE SET ZTOMBSTONE0 = ZTOMBSTONE1, ZTOMBSTONE1 = ZTOMBSTONE0",
      "UPDATE ACHANGE SET ZENTITYPK = 77 WHERE ZCHANGETYPE = 0",
      "UPDATE ACHANGE SET ZENTITY = 2 WHERE ZCHANGETYPE = 0", "DELETE FROM ACHANGE WHERE Z_PK = 1",
      "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE) VALUES (16001, 0)",
      "ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE1", "ALTER TABLE ACHANGE ADD COLUMN ZMORE",
      "DELETE FROM ATRANSACTION WHERE Z_PK > 1", "DELETE FROM ATRANSACTION WHERE Z_PK = 1",
      "UPDATE ATRANSACTIONSTRING SET ZNAME = 'x' WHERE ZNAME LIKE 'com.apple%'",
      "DROP TABLE ACHANGE",
    ])
  func verified(damage: String) throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.kept("a")), Self.entity("F")])
    var after = Self.entity("E", Self.plain("a1"), Self.kept("a"), Self.kept("b"))
    after.attributes += (2..<9).map { Self.plain("a\($0)") }
    let path = try Self.store(
      before, in: folder, tombstones: 1,
      """
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1, 1, 1, x'80', NULL), (2, 16001, NULL, 0, 1, 1, 1, NULL, NULL),
        (3, 16001, NULL, 2, 1, 9, 1, NULL, 'a');
      """)
    let model = try Model(entities: [after, Self.entity("F")])
    let error = #expect(throws: CoreDataError.self) {
      try Self.migrate(path, to: model) { try $0.execute(damage) }
    }
    #expect(
      error?.message.hasPrefix("verification failed: ") == true, "\(String(describing: error))")
    try Self.migrate(path, to: model)
    #expect(try Self.text("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE Z_PK = 1", path) == ["8000"])
  }

  @Test("two stores: bitmaps and columns that the later model cannot use are differences")
  func compared() throws {
    let folder = try TemporaryFolder()
    let before = try Model(entities: [Self.entity("E", Self.plain("a"))])
    let after = try Model(entities: [
      Self.entity("E", Self.plain("a"), Self.kept("b"), Self.plain("c"))
    ])
    let path = try Self.store(
      before, in: folder, "INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1, 1, 1, x'80');")
    let copy = folder.path("Before.sqlite")
    try FileSystem.create(copy, holding: FileSystem.read(path, limit: 1 << 24))
    try Self.migrate(path, to: after)
    func differences() throws -> [String] {
      try StoreVerification.compare(
        before: Store(path: copy), after: Store(path: path),
        mapping: MappingInference.mapping(from: before, to: after)
      ).differences.map(\.message)
    }
    #expect(try differences() == [])
    // As Core Data drops the bit of what was renamed, and as strata 1 left the bitmaps.
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ACHANGE SET ZCOLUMNS = x'00'")
    #expect(try differences() == [])
    try connection.execute("UPDATE ACHANGE SET ZCOLUMNS = x'8000'")
    #expect(try differences().contains { $0.contains("do not fit the properties") })
    try connection.execute(
      "UPDATE ACHANGE SET ZCOLUMNS = x'80'; ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE0")
    connection.close()
    #expect(try differences().contains { $0.contains("the model needs 1") })
  }

  // MARK: Real stores

  @Test(
    "real bitmaps and tombstones say the same when an attribute comes first",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: TestScale.isFull
      ? ["system/Photos-10.15.7.sqlite", "system/knowledgec-10.13.db"]
      : ["system/knowledgec-10.13.db"],
    [Way.inPlace, .copying])
  func real(fixture: String, way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: fixture)
    let store = try Store(path: path)
    var entities = store.model.entities
    for index in entities.indices where entities[index].parent == nil {
      // Sorts before all others, and is kept of deleted objects: all places move.
      entities[index].attributes.insert(Self.kept("aaa"), at: 0)
    }
    let model = try Model(entities: entities)
    func changes(_ store: Store) throws -> [HistoryChange] {
      let numbers = try store.transactions(limit: 10_000)?.map(\.number) ?? []
      return try numbers.sorted().flatMap { try store.changes(of: $0, limit: 10_000) }
    }
    let before = try changes(store)
    #expect(before.contains { $0.properties?.isEmpty == false })
    #expect(before.contains { !$0.tombstones.isEmpty })
    try Self.migrate(path, to: model, way)
    let after = try changes(Store(path: path))
    #expect(after.count == before.count)
    for (one, other) in zip(before, after) {
      // To-manys of one group may come in another order.
      #expect(one.properties.map(Set.init) == other.properties.map(Set.init), "\(one.object)")
      #expect(one.tombstones == other.tombstones, "\(one.object)")
      #expect((one.object, one.kind) == (other.object, other.kind))
    }
  }
}
