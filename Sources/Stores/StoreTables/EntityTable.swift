import ManagedModel
import SQLite

/// Where a store keeps the objects of one entity: its table, its numbers, a column a property.
public struct EntityTable: Sendable, Equatable {
  /// An attribute and the column that holds it.
  public struct AttributeColumn: Sendable, Equatable {
    /// The attribute; an element of a composite one is named by its path, `composite.element`.
    public var attribute: Attribute
    /// Name of the column, as it is in this store.
    public var column: String
    /// From the attribute's name down to the element's.
    public var path: [String]

    init(attribute: Attribute, column: String, path: [String]? = nil) {
      self.attribute = attribute
      self.column = column
      self.path = path ?? [attribute.name]
    }
  }

  /// A relationship and how the store keeps it.
  public struct RelationshipColumns: Sendable, Equatable {
    /// The relationship as the model has it.
    public var relationship: Relationship
    /// Where its links are in this store; `nil` where it has no place for them.
    public var storage: RelationshipStorage?
  }

  /// Name of the entity.
  public var entity: String
  /// Z_ENT of the entity's own rows.
  public var entityID: Int64
  /// The table of the whole hierarchy.
  public var table: String
  /// Z_ENT of the entity and of everything below it, in pre-order.
  public var numbers: [Int64]
  /// Whether every row of the table is of this entity or one below it.
  public var isWholeTable: Bool
  /// Stored attributes, inherited ones included, sorted by name in byte order.
  public var attributes: [AttributeColumn]
  /// Relationships that are not transient, inherited ones included, sorted by name in byte order.
  public var relationships: [RelationshipColumns]

  /// An attribute, own or inherited, or an element by its path; `nil` where the store has no column
  /// for it.
  public func attribute(named name: String) -> AttributeColumn? {
    attributes.first { $0.attribute.name == name }
  }

  /// The column of an attribute, own or inherited; `nil` where the store has none.
  public func column(of attribute: String) -> String? { self.attribute(named: attribute)?.column }

  /// A relationship, own or inherited; `nil` for an unknown name.
  public func relationship(named name: String) -> RelationshipColumns? {
    relationships.first { $0.relationship.name == name }
  }

  /// How a relationship is kept, own or inherited; `nil` for an unknown name, and for one that the
  /// store has no place for.
  public func storage(of relationship: String) -> RelationshipStorage? {
    self.relationship(named: relationship)?.storage
  }

  /// The column of a to-one, own or inherited.
  package func toOneColumn(of relationship: String) -> String? {
    storage(of: relationship)?.toOneColumn
  }

  /// The same without what the database does not have; ``StoreDrift`` shows it.
  func fitted(to database: DatabaseTables) -> EntityTable {
    let columns = database.columns(of: table)
    var copy = self
    copy.attributes = attributes.filter { columns.contains($0.column) }
    for (index, entry) in relationships.enumerated() {
      copy.relationships[index].storage = entry.storage.flatMap { storage in
        columns.isEmpty
          ? nil
          : storage.fitted(
            to: storage.table == table ? columns : database.columns(of: storage.table))
      }
    }
    return copy
  }
}

/// Which rows of the table are the entity's, as SQL.
extension EntityTable {
  /// True of rows of exactly this entity; `nil` where the table has no others.
  package func ownRows(_ row: String? = nil) -> String? {
    isWholeTable && numbers.count == 1 ? nil : "\(Self.column(row)) = \(entityID)"
  }

  /// True of rows of this entity and those below it; `nil` where the table has no others.
  package func kindRows(_ row: String? = nil) -> String? {
    guard !isWholeTable else { return nil }
    let test = numbers.count == 1 ? "= \(numbers.list)" : "IN (\(numbers.list))"
    return "\(Self.column(row)) \(test)"
  }

  private static func column(_ row: String?) -> String { row.map { $0 + ".Z_ENT" } ?? "Z_ENT" }
}

/// Which number in Z_PRIMARYKEY belongs to which entity of a model.
package enum EntityNumbering {
  /// Numbers from here on are Core Data's own: history from 16001, CloudKit mirroring from 17001.
  package static let firstReserved: Int64 = 16001

  /// Refuses a model that has more entities than a new store has numbers for.
  ///
  /// A store in which the numbers of two entities are the same could not be distinguished from a sound one, and
  /// history would be attributed to the wrong entity. Every store that is made, and every migration,
  /// numbers the entities of its model from 1.
  ///
  /// - Parameter path: the store that was to be made.
  /// - Throws: ``CoreDataError`` of kind refused.
  package static func requireRoom(for model: Model, path: String) throws {
    guard model.entities.count >= firstReserved else { return }
    let most = Int(firstReserved - 1)
    throw CoreDataError(
      .refused,
      "the model has \(model.entities.count) entities; a store has numbers for \(most), since Core Data numbers its persistent history from \(firstReserved) on",
      path: path,
      hint: "Divide the model: a store of a configuration holds the entities of that configuration."
    )
  }

  /// Entity name to Z_ENT.
  ///
  /// Names decide. A store that was migrated in place can keep a renamed entity's old name, so what
  /// is left over is matched by renaming identifier, and then by the number that a fresh store
  /// would give.
  package static func match(model: Model, rows: [(number: Int64, name: String)]) -> [String: Int64]
  {
    let own = rows.filter { $0.number < firstReserved }
    var free = Dictionary(own.map { ($0.name, $0.number) }) { first, _ in first }
    var numbers: [String: Int64] = [:]
    for entity in model.entities {
      if let number = free.removeValue(forKey: entity.name) { numbers[entity.name] = number }
    }
    for entity in model.entities where numbers[entity.name] == nil {
      guard let former = entity.renamingIdentifier, let number = free.removeValue(forKey: former)
      else { continue }
      numbers[entity.name] = number
    }
    let fresh = StoreSchema.freshNumbers(of: model)
    var left = Set(free.values)
    for entity in model.entities where numbers[entity.name] == nil {
      guard let number = fresh[entity.name], left.remove(number) != nil else { continue }
      numbers[entity.name] = number
    }
    return numbers
  }

  /// Numbers of entities that have no row: those that a fresh store would give, where the objects in
  /// the tables have them.
  package static func told(
    byRowsOf model: Model, besides known: [String: Int64], _ database: DatabaseTables,
    _ connection: Connection
  ) throws -> [String: Int64] {
    let missing = model.entities.filter { known[$0.name] == nil }
    guard !missing.isEmpty else { return [:] }
    let fresh = StoreSchema.freshNumbers(of: model)
    var result: [String: Int64] = [:]
    for root in Set(missing.map { model.root(of: $0.name) }) {
      let table = StoreSchema.tableName(root: root)
      guard database.columns(of: table).contains("Z_ENT") else { continue }
      let found = Set(
        try connection.rows(
          "SELECT DISTINCT Z_ENT FROM \(quoted(table)) NOT INDEXED LIMIT 1000"
        ).compactMap { $0.first?.integer })
      let members = model.subtree(of: root)
      let numbers = members.compactMap { known[$0] ?? fresh[$0] }
      for name in members where known[name] == nil {
        guard let number = fresh[name], !known.values.contains(number), found.isSubset(of: numbers)
        else { continue }
        result[name] = number
      }
    }
    return result
  }
}

/// The keys that a store gave out, as Z_PRIMARYKEY counts them (Z_MAX), and those that its rows have.
///
/// No key that was ever given out is given out again: links, history and other devices may name it.
package struct PrimaryKeys {
  private let connection: Connection
  private let schema: String

  /// - Parameter schema: which database on the connection, such as `src.`; the main one without it.
  package init(_ connection: Connection, in schema: String = "main.") {
    self.connection = connection
    self.schema = schema
  }

  /// The last key that was given out in a hierarchy; `nil` where no row says so, or it is none.
  package func given(_ number: Int64) throws -> Int64? {
    try connection.value(
      "SELECT Z_MAX FROM \(schema)Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])?.integer
  }

  /// The last key that was given out; 0 where it is none, `nil` where no row is there for it.
  package func counter(_ number: Int64) throws -> Int64? {
    try connection.value(
      "SELECT coalesce(Z_MAX, 0) FROM \(schema)Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])?
      .integer
  }

  /// The greatest key in a table; `nil` where it has no row.
  package func used(in table: String) throws -> Int64? {
    try connection.value("SELECT max(Z_PK) FROM \(schema)\(quoted(table))")?.integer
  }

  /// The greatest key that was given out or is in use; 0 if there is none.
  package func last(_ number: Int64, in table: String) throws -> Int64 {
    max(try given(number) ?? 0, try used(in: table) ?? 0, 0)
  }

  /// Notes that a key was given out.
  package func raise(_ number: Int64, to key: Int64) throws {
    try connection.run(
      "UPDATE \(schema)Z_PRIMARYKEY SET Z_MAX = max(ifnull(CAST(Z_MAX AS INTEGER), 0), ?) WHERE Z_ENT = ?",
      [.integer(key), .integer(number)])
  }

  /// The key after the last one.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where none is left.
  package static func next(after last: Int64, of entity: String) throws -> Int64 {
    let (key, isTooLarge) = last.addingReportingOverflow(1)
    guard !isTooLarge else { throw exhausted(entity) }
    return key
  }

  /// The refusal of further objects.
  package static func exhausted(_ entity: String) -> CoreDataError {
    CoreDataError(
      .refused, code: .migration, "there are no keys left for further objects", entity: entity,
      hint: "An object in the store has nearly the greatest possible key.")
  }
}

/// The bytes of a column whose attribute may be kept in files of their own: a mark, and behind it the
/// value itself or the name of its file, which ends with a NUL.
package enum MarkedBytes: Sendable, Equatable {
  /// In the row; bytes that have no mark are as they are.
  case row([UInt8])
  /// In a file of that name in the folder of external data.
  case file(name: String)

  private static let inRow: UInt8 = 1
  /// The first byte of a column that names a file.
  package static let fileMark: UInt8 = 2
  /// As many bytes of a column as a file's name takes, with the mark.
  package static let mostOfName = 257

  /// Takes apart what a column holds, or the first few hundred bytes of it.
  package init(_ column: [UInt8]) {
    switch column.first {
    case Self.inRow: self = .row(Array(column.dropFirst()))
    case Self.fileMark:
      self = .file(
        name: String(decoding: column.dropFirst().prefix { $0 != 0 }.prefix(256), as: UTF8.self))
    default: self = .row(column)
    }
  }

  /// What the column holds.
  package var column: [UInt8] {
    switch self {
    case .row(let bytes): [Self.inRow] + bytes
    case .file(let name): [Self.fileMark] + Array(name.utf8) + [0]
    }
  }

  /// True of a column that names a file.
  package static func isFile(_ column: String) -> String { "substr(\(column), 1, 1) = x'02'" }

  /// As much of a column as a file's name takes.
  package static func reference(_ column: String) -> String {
    "substr(\(column), 1, \(mostOfName))"
  }
}

/// SQL of what an attribute's column holds.
extension EntityTable.AttributeColumn {
  /// The column in a row of that alias.
  package func place(in row: String) -> String { "\(row).\(quoted(column))" }

  /// The value wherever it is kept; where it may be in a file, the connection needs
  /// `strata_content`.
  package func content(in row: String) -> String { attribute.content(of: place(in: row)) }

  /// FROM and WHERE of the entity's own rows whose value is in a file.
  package func rowsInFiles(of table: EntityTable) -> String {
    let conditions = [table.ownRows(), MarkedBytes.isFile(quoted(column))].compactMap { $0 }
    return "FROM \(quoted(table.table)) WHERE \(conditions.joined(separator: " AND "))"
  }
}

extension Attribute {
  /// The value that a column of the attribute holds, wherever it is kept.
  package func content(of column: String) -> String {
    allowsExternalBinaryDataStorage ? "strata_content(\(column))" : column
  }

  /// What the attribute's column holds for a value.
  package func stored(_ value: String) -> String {
    allowsExternalBinaryDataStorage ? "strata_inline(\(value))" : value
  }

  /// What the attribute's column holds for the column of another: a value that begins to allow a
  /// file is marked, one that ceases to is taken in. A column of Double or Float keeps whole numbers as
  /// SQLite's real numbers, with no more digits than these have.
  package func stored(_ column: String, of former: Attribute?) -> String {
    if type == .double || type == .float, former?.type == .integer64 || former?.type == .decimal {
      return "CAST(\(column) AS REAL)"
    }
    let wasMarked = former?.allowsExternalBinaryDataStorage ?? false
    guard wasMarked != allowsExternalBinaryDataStorage else { return column }
    return former?.content(of: stored(column)) ?? stored(column)
  }
}
