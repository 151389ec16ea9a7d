import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Statements that Apple's engine wrote")
struct SchemaVectorTests {
  private static func schema(_ vector: SchemaVector) throws -> StoreSchema {
    StoreSchema(model: try vector.entities.model(), numbers: vector.entities.numbers)
  }

  @Test("there are vectors of each kind")
  func number() throws {
    let vectors = try Vectors.load("schemas", SchemaVector.self)
    #expect(vectors.count >= 21)
    let tables = vectors.flatMap { $0.tables ?? [:] }
    #expect(tables.filter { $0.key.hasPrefix("Z_") }.count >= 15, "join tables")
    #expect(tables.filter { !$0.key.hasPrefix("Z_") }.count >= 25, "tables")
    #expect(tables.contains { $0.value.contains("REFLEXIVE") }, "a relationship its own inverse")
    #expect(tables.filter { $0.value.contains(" Z_FOK_") }.count >= 4, "order keys")
    let indexes = vectors.flatMap { $0.indexes ?? [:] }
    #expect(indexes.count >= 100)
    for kind in ["CREATE UNIQUE INDEX", " DESC", " WHERE ", "Z_ENT COLLATE", "(Z_ENT)"] {
      #expect(indexes.contains { $0.value.contains(kind) }, "\(kind)")
    }
    #expect(vectors.flatMap { $0.triggers ?? [:] }.count >= 5)
    #expect(vectors.flatMap { $0.columns ?? [:] }.contains { $0.value == "ZTEXT1" })
    #expect(Set(vectors.map(\.framework)).count >= 9)
  }

  @Test(
    "tables and join tables have the names and columns that a model gives, to the byte",
    arguments: Vectors.schemas)
  func tables(_ vector: SchemaVector) throws {
    let schema = try Self.schema(vector)
    var made: [String: String] = [:]
    for table in schema.tables { made[table.name] = table.sql }
    for join in schema.joins { made[join.name] = join.sql }
    for (name, sql) in vector.tables ?? [:] { #expect(made[name] == sql) }
    for (property, column) in vector.columns ?? [:] {
      let names = property.split(separator: ".").map(String.init)
      guard let entity = names.first, let attribute = names.last else { continue }
      #expect(schema.column(of: attribute, in: entity) == column, "\(property)")
    }
  }

  @Test("each index is made as it was, and no other", arguments: Vectors.schemas)
  func indexes(_ vector: SchemaVector) throws {
    let style = IndexStyle(frameworkVersion: vector.framework)
    var made: [String: String] = [:]
    for index in try Self.schema(vector).indexStatements(style)
    where vector.tables?[index.table] != nil || vector.indexes?[index.name] != nil {
      // Up to 851 a constraint was written into the table: strata does not write that form.
      if vector.framework <= 851, index.sql.hasPrefix("CREATE UNIQUE INDEX") { continue }
      made[index.name] = index.sql
    }
    #expect(made == vector.indexes ?? [:])
  }

  @Test("each trigger is made as it was, and no other", arguments: Vectors.schemas)
  func triggers(_ vector: SchemaVector) throws {
    let made = try Self.schema(vector).triggerStatements.map { ($0.name, $0.sql) }
    #expect(Dictionary(made) { first, _ in first } == vector.triggers ?? [:])
  }

  @Test("bookkeeping and history have the tables of their framework", arguments: Vectors.statements)
  func statements(_ vector: StatementVector) throws {
    var made: [String: String] = [:]
    for (name, sql) in StoreSchema.bookkeepingStatements { made[name] = sql }
    for table in HistoryTable.allCases {
      guard let length = vector.columns?[table.name],
        let statements = table.statements(length: length, tombstones: 0)
      else { continue }
      made[table.name] = statements.table
      for (name, sql) in statements.indexes { made[name] = sql }
    }
    #expect(made == vector.statements)
    guard let tree = vector.tree else { return }
    let index = RTreeIndex(
      name: tree.name, table: tree.table, columns: tree.columns, isOfLocation: true)
    var statements = [tree.name: index.sql]
    for trigger in index.triggers { statements[trigger.name] = trigger.sql }
    #expect(statements == vector.treeStatements)
  }

  @Test("there are statements of five frameworks, with history and with an R-tree")
  func statementNumber() throws {
    let vectors = try Vectors.load("statements", StatementVector.self)
    #expect(Set(vectors.map(\.framework)).count == 5)
    #expect(vectors.filter { $0.statements["ACHANGE"] != nil }.count == 3)
    #expect(vectors.compactMap(\.treeStatements).map(\.count) == [4])
  }
}

@Suite("Bitmaps that Apple's engine wrote")
struct BitmapVectorTests {
  @Test("there are some of several entities, with to-ones, attributes and to-manys")
  func number() throws {
    let vectors = try Vectors.load("bitmaps", BitmapVector.self)
    #expect(vectors.count >= 4)
    let bitmaps = vectors.flatMap(\.bitmaps)
    #expect(bitmaps.count >= 19)
    #expect(bitmaps.contains { $0.toManys > 1 } && bitmaps.contains { $0.properties.count > 3 })
  }

  @Test(
    "a bitmap has a bit a column and a to-many, and names what was written",
    arguments: Vectors.bitmaps)
  func bitmaps(_ vector: BitmapVector) throws {
    let model = try vector.entities.model()
    let walk = ModelWalk(model, numbers: vector.entities.numbers)
    let properties = ChangedProperties(walk, entity: vector.entity, model: model)
    for bitmap in vector.bitmaps {
      let names = ByteText.bytes(hex: bitmap.bits).flatMap { properties.names(in: $0) }
      let certain = names?.filter { $0.last != ChangedProperties.doubt }
      #expect(certain?.sorted() == bitmap.properties, "\(bitmap.bits)")
      #expect(
        (names?.count ?? 0) - (certain?.count ?? 0) == bitmap.toManys, "\(bitmap.bits)")
    }
  }
}
