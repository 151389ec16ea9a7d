import ManagedModel
import SQLite

/// The columns that fetch some properties of a row, and how to read them back.
struct Selection {
  /// To be put behind other columns: begins with a comma unless empty.
  let sql: String
  private let readers: [(Statement, Int) -> PropertyValue]
  /// Columns that each reader takes.
  private let widths: [Int]

  /// - Parameter summary: most bytes of a blob to read.
  /// - Parameter longestText: most characters of a text to read; `nil` for all.
  init(
    store: Store, table: EntityTable, columns: [RowColumn], summary: Int, longestText: Int? = nil
  ) {
    var parts: [String] = []
    var readers: [(Statement, Int) -> PropertyValue] = []
    var widths: [Int] = []
    let decoder = ValueDecoder(files: store.files, limit: summary)
    for column in columns {
      if let entry = table.attributes.first(where: { $0.attribute.name == column.name }) {
        let name = "t." + quoted(entry.column)
        let attribute = entry.attribute
        // Long text and bytes stay in the file: a page needs their size and their beginning. One
        // byte more than the summary leaves room for the mark of external storage.
        parts.append(
          "CASE typeof(\(name)) WHEN 'blob' THEN substr(\(name), 1, \(max(summary + 1, 300))) "
            + (longestText.map {
              // Of text with a NUL in it, substr knows only what is before.
              """
              WHEN 'text' THEN CASE WHEN length(CAST(\(name) AS BLOB)) > \(4 * $0) \
              THEN substr(\(name), 1, \($0)) ELSE \(name) END
              """ + " "
            } ?? "")
            + "ELSE \(name) END"
        )
        // The length of a text is known only by reading all of it.
        parts.append("CASE typeof(\(name)) WHEN 'blob' THEN length(\(name)) END")
        widths.append(2)
        readers.append { statement, index in
          decoder.decode(statement.stored(at: index, sizeAt: index + 1), of: attribute)
        }
      } else if let entry = table.relationships.first(where: { $0.relationship.name == column.name }
      ) {
        let destination = entry.relationship.destination
        switch entry.storage {
        case .toOne(let name, let entityColumn):
          parts.append("t." + quoted(name))
          parts.append(
            store.entityExpression(
              key: "t." + quoted(name), entityColumn: entityColumn.map { "t." + quoted($0) },
              destination: destination))
          widths.append(2)
          readers.append { statement, index in
            guard !statement.isNull(at: index) else { return .toOne(nil) }
            let entity = store.entityNames[statement.integer(at: index + 1)] ?? destination
            return .toOne(ObjectID(entity: entity, key: statement.integer(at: index)))
          }
        case .foreignKey(let other, let name, _):
          parts.append(
            "(SELECT count(*) FROM \(quoted(other)) o WHERE o.\(quoted(name)) = t.Z_PK)")
          widths.append(1)
          readers.append(Self.count)
        case .join(let other, let owner, _, _):
          parts.append(
            "(SELECT count(*) FROM \(quoted(other)) o WHERE o.\(quoted(owner)) = t.Z_PK)")
          widths.append(1)
          readers.append(Self.count)
        case .reflexive(let other, let first, let second):
          parts.append(
            """
            (SELECT count(*) FROM (SELECT \(quoted(second)) FROM \(quoted(other)) WHERE \(quoted(first)) = t.Z_PK
            UNION SELECT \(quoted(first)) FROM \(quoted(other)) WHERE \(quoted(second)) = t.Z_PK))
            """)
          widths.append(1)
          readers.append(Self.count)
        case .none:
          widths.append(0)
          readers.append { _, _ in .value(.null) }
        }
      }
    }
    sql = parts.map { ", " + $0 }.joined()
    self.readers = readers
    self.widths = widths
  }

  private static func count(_ statement: Statement, _ index: Int) -> PropertyValue {
    .toMany(ToMany(count: Int(statement.integer(at: index))))
  }

  func values(of statement: Statement, from start: Int) -> [PropertyValue] {
    var index = start
    return zip(readers, widths).map { reader, width in
      defer { index += width }
      return reader(statement, index)
    }
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
    if table.numbers.count == 1 { return String(table.number) }
    let lookup = "(SELECT d.Z_ENT FROM \(quoted(table.table)) d WHERE d.Z_PK = \(key))"
    return entityColumn.map { "coalesce(\($0), \(lookup))" } ?? lookup
  }

  /// The first objects that a to-many of one object leads to.
  func related(
    to key: Int64, _ storage: RelationshipStorage, destination: String, limit: Int
  ) throws
    -> [ObjectID]
  {
    let sql: String
    var values: [Value] = [.integer(key)]
    switch storage {
    case .toOne, .none: return []
    case .foreignKey(let table, let column, let order):
      sql = """
        SELECT Z_PK, Z_ENT FROM \(quoted(table)) WHERE \(quoted(column)) = ?
        ORDER BY \(order.map { quoted($0) + ", " } ?? "Z_ENT, ")Z_PK LIMIT \(limit)
        """
    case .join(let table, let owner, let other, let order):
      let entity = entityExpression(
        key: quoted(other), entityColumn: nil, destination: destination)
      sql = """
        SELECT \(quoted(other)), \(entity) FROM \(quoted(table)) WHERE \(quoted(owner)) = ?
        ORDER BY \(order.map { quoted($0) + ", " } ?? "2, ")1 LIMIT \(limit)
        """
    case .reflexive(let table, let first, let second):
      values.append(.integer(key))
      let entity = entityExpression(key: "k", entityColumn: nil, destination: destination)
      sql = """
        SELECT k, \(entity) FROM (SELECT \(quoted(second)) k FROM \(quoted(table))
        WHERE \(quoted(first)) = ? UNION SELECT \(quoted(first)) FROM \(quoted(table))
        WHERE \(quoted(second)) = ?) ORDER BY 2, 1 LIMIT \(limit)
        """
    }
    return try connection.rows(sql, values).compactMap { row in
      guard row.count == 2, let key = row[0].integer else { return nil }
      let entity = row[1].integer.flatMap { entityNames[$0] }
      return ObjectID(entity: entity ?? destination, key: key)
    }
  }
}
