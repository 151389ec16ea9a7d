import ManagedModel
import SQLite

extension StoreSchema {
  /// CREATE TABLE of every table, in the order in which Core Data makes them.
  package var tableStatements: [String] {
    statements.map {
      switch $0 {
      case .table(let place): tables[place].sql
      case .join(let place): joins[place].sql
      }
    }
  }

  /// The column of an attribute, an element by its path, or a to-one relationship, own or inherited.
  package func column(of property: String, in entity: String) -> String? {
    guard let table = table(of: entity),
      let declarer = model.declaringEntity(of: property, in: entity)
    else { return nil }
    return
      (table.column(.attribute(entity: declarer, name: property))
      ?? table.column(.toOne(entity: declarer, name: property)))?.name
  }

  /// A name as Core Data writes it: bare where that is sound SQL, else in quotes.
  package static func name(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy {
      $0.isOfWord && $0 < 0x80
    }
    return isPlain ? name : quoted(name)
  }

  /// The bookkeeping tables of every store, by name.
  package static let bookkeepingStatements = [
    (
      name: "Z_PRIMARYKEY",
      sql:
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
    ),
    (
      name: "Z_METADATA",
      sql:
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"
    ),
    (name: "Z_MODELCACHE", sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"),
  ]

  /// Rows of Z_PRIMARYKEY: number, name, parent's number or 0.
  package var primaryKeyRows: [(number: Int64, name: String, parent: Int64)] {
    model.entitiesInStoreOrder.compactMap { entity in
      guard let number = numbers[entity.name] else { return nil }
      return (number, entity.name, entity.parent.flatMap { numbers[$0] } ?? 0)
    }
  }
}

extension StoreSchema.Table {
  /// CREATE TABLE with the spaces where Core Data puts them.
  package var sql: String { sql(named: name) }

  func sql(named name: String) -> String {
    let columns =
      ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
      + columns.map { "\(StoreSchema.name($0.name)) \($0.type)" }
    return "CREATE TABLE \(StoreSchema.name(name)) ( \(columns.joined(separator: ", ")) )"
  }
}

extension StoreSchema.JoinTable {
  /// CREATE TABLE of the two columns of keys and those of order, with a primary key over both keys.
  package var sql: String {
    let keys = [first, second].map { "\(StoreSchema.name($0)) INTEGER" }
    let orders = [firstOrder, secondOrder].compactMap { $0 }.map {
      "\(StoreSchema.name($0)) INTEGER"
    }
    let columns = keys + orders
    return """
      CREATE TABLE \(StoreSchema.name(name)) ( \(columns.joined(separator: ", ")), \
      PRIMARY KEY (\(StoreSchema.name(first)), \(StoreSchema.name(second))) )
      """
  }
}
