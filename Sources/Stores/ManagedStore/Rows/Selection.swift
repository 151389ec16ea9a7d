import ManagedModel
import SQLite
import StoreTables

/// The columns that fetch some properties of a row, and how to read them back.
struct Selection {
  /// To be put behind other columns: begins with a comma unless empty.
  let sql: String
  private let readers: [(Statement, Int) throws -> PropertyValue]
  /// Columns that each reader takes.
  private let widths: [Int]

  /// - Parameter summary: most bytes of a blob to read.
  /// - Parameter longestText: most characters of a text to read; `nil` for all.
  init(
    store: Store, table: EntityTable, columns: [RowColumn], summary: Int, longestText: Int? = nil
  ) throws {
    var parts: [String] = []
    var readers: [(Statement, Int) throws -> PropertyValue] = []
    var widths: [Int] = []
    let decoder = ValueDecoder(files: store.files, limit: summary)
    for column in columns {
      if let entry = table.attribute(named: column.name) {
        let attribute = entry.attribute
        parts += Self.parts(of: entry.place(in: "t"), summary: summary, longestText: longestText)
        widths.append(2)
        readers.append { statement, index in
          decoder.decode(statement.stored(at: index, sizeAt: index + 1), of: attribute)
        }
      } else if let entry = table.relationship(named: column.name) {
        guard let storage = entry.storage else {
          widths.append(0)
          readers.append { _, _ in .value(.null) }
          continue
        }
        if let toOne = store.toOneColumns(of: entry) {
          parts += toOne
          let destination = entry.relationship.destination
          readers.append { .toOne(store.toOne(destination, $0, at: $1)) }
          widths.append(2)
        } else {
          parts.append(storage.count(of: "t.Z_PK").sql)
          readers.append { .toMany(ToMany(count: Int($0.integer(at: $1)))) }
          widths.append(1)
        }
      } else {
        let path = try KeyPathColumn(column.name, of: table, in: store.layout)
        let own = path.parts(of: "t.Z_PK") {
          Self.parts(of: $0, summary: summary, longestText: longestText)
        }
        let reader = try path.reader(
          decoder, in: store, most: longestText == nil ? nil : ToMany.mostShown)
        parts += own
        readers.append(reader)
        widths.append(own.count)
      }
    }
    sql = parts.map { ", " + $0 }.joined()
    self.readers = readers
    self.widths = widths
  }

  func values(of statement: Statement, from start: Int) throws -> [PropertyValue] {
    var index = start
    return try zip(readers, widths).map { reader, width in
      defer { index += width }
      return try reader(statement, index)
    }
  }

  /// What is selected of an attribute's column: its content, and the size of bytes that are cut.
  private static func parts(of name: String, summary: Int, longestText: Int?) -> [String] {
    // Long text and bytes stay in the file: a page needs their size and their beginning. One
    // byte more than the summary leaves room for the mark of external storage.
    let text = longestText.map {
      // Of text with a NUL in it, substr knows only what is before.
      """
      WHEN 'text' THEN CASE WHEN length(CAST(\(name) AS BLOB)) > \(4 * $0) \
      THEN substr(\(name), 1, \($0)) ELSE \(name) END
      """ + " "
    }
    return [
      "CASE typeof(\(name)) WHEN 'blob' THEN substr(\(name), 1, \(max(summary + 1, 300))) "
        + (text ?? "") + "ELSE \(name) END",
      // The length of a text is known only by reading all of it.
      "CASE typeof(\(name)) WHEN 'blob' THEN length(\(name)) END",
    ]
  }
}

extension Statement {
  /// A column with the full size of its content, from another column where it is cut off here.
  func stored(at column: Int, sizeAt size: Int? = nil) -> StoredColumn {
    switch value(at: column) {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text):
      brokenText(at: column, decodedAs: text).map { .brokenText($0) } ?? .text(text)
    case .blob(let bytes): .blob(bytes, count: size.map { Int(integer(at: $0)) } ?? bytes.count)
    }
  }
}

extension Store {
  /// SQL for the Z_ENT of a relationship's destination: a constant where it has no subentities,
  /// the column that Core Data keeps for it, else a look at the destination's row.
  func entityExpression(key: String, entityColumn: String?, destination: String) -> String {
    guard let table = layout.table(of: destination) else { return "NULL" }
    if table.numbers.count == 1 { return String(table.entityID) }
    let lookup = "(SELECT d.Z_ENT FROM \(quoted(table.table)) d WHERE d.Z_PK = \(key))"
    return entityColumn.map { "coalesce(\($0), \(lookup))" } ?? lookup
  }

  /// SQL for the key and the Z_ENT of what a to-one of a row `t` references; `nil` for a to-many.
  func toOneColumns(of entry: EntityTable.RelationshipColumns) -> [String]? {
    guard let storage = entry.storage, let column = storage.toOneColumn else { return nil }
    let key = "t." + quoted(column)
    return [
      key,
      entityExpression(
        key: key, entityColumn: storage.entityColumn.map { "t." + quoted($0) },
        destination: entry.relationship.destination),
    ]
  }

  /// Reads what ``toOneColumns(of:)`` select.
  func toOne(_ destination: String, _ statement: Statement, at index: Int) -> ObjectID? {
    guard !statement.isNull(at: index) else { return nil }
    return ObjectID(
      entity: entityNames[statement.integer(at: index + 1)] ?? destination,
      key: statement.integer(at: index))
  }

  /// SQL for the Z_ENT of what a to-many's link, as a row of that alias, references.
  func destinationEntity(
    of entry: EntityTable.RelationshipColumns, _ storage: RelationshipStorage, row: String,
    key: String
  ) -> String {
    storage.isInDestinationRow
      ? "\(row).Z_ENT"
      : entityExpression(
        key: key, entityColumn: nil, destination: entry.relationship.destination)
  }

  /// The first objects that a to-many of one object references.
  func related(
    to key: Int64, _ entry: EntityTable.RelationshipColumns, limit: Int
  ) throws -> [ObjectID] {
    guard let storage = entry.storage, storage.kind != .toOne else { return [] }
    let destination = entry.relationship.destination
    let other = "l." + quoted(storage.destination)
    let entity = destinationEntity(of: entry, storage, row: "l", key: other)
    let sql = """
      SELECT \(other), \(entity) \(storage.links(of: "?1", as: "l").sql)
      ORDER BY \(storage.position.map { "l." + quoted($0) } ?? "2"), 1 LIMIT \(limit)
      """
    return try connection.rows(sql, [.integer(key)]).compactMap { id($0, else: destination) }
  }

  /// The object of a row of key and Z_ENT; an unknown number is of the entity that is named.
  package func id(_ row: [Value], else entity: String) -> ObjectID? {
    guard row.count == 2, let key = row[0].integer else { return nil }
    return ObjectID(entity: row[1].integer.flatMap { entityNames[$0] } ?? entity, key: key)
  }
}
