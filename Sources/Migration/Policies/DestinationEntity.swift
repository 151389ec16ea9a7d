import ManagedModel
import ManagedStore
import SQLite

/// How objects of one destination entity are written, by compiled statements.
final class DestinationEntity {
  let name: String
  let model: Model
  let entityID: Int64
  let root: String
  let attributes: [EntityTable.AttributeColumn]
  let columns: [String]
  private let indexes: [String: Int]
  private let table: String
  private let connection: Connection
  private let external: ExternalFolder
  private let insertion: Statement
  private var byKey: Statement?
  private var update: Statement?
  /// Objects made so far.
  var made = 0
  /// What a new object starts with.
  let initial: [Value]

  init(_ entity: String, schema: StoreSchema, connection: Connection, files: StoreFiles) throws {
    let place = try schema.knownTable(of: entity)
    name = entity
    model = schema.model
    entityID = place.entityID
    root = schema.model.root(of: entity)
    attributes = place.attributes
    table = place.table
    self.connection = connection
    external = ExternalFolder(files)
    columns = ["Z_PK", "Z_ENT", "Z_OPT"] + place.attributes.map(\.column)
    indexes = Dictionary(
      first: place.attributes.enumerated().map { ($0.element.attribute.name, $0.offset + 3) })
    let marks = [String](repeating: "?", count: columns.count).joined(separator: ", ")
    insertion = try connection.prepare(
      """
      INSERT INTO main.\(quoted(table)) (\(columns.map { quoted($0) }.joined(separator: ", ")))
      VALUES (\(marks))
      """)
    let defaults = place.attributes.map {
      $0.attribute.defaultValue?.constant(for: $0.attribute).sql ?? "NULL"
    }
    let row =
      try connection.rows("SELECT " + (defaults + ["0"]).joined(separator: ", ")).first ?? []
    initial = [.null, .integer(place.entityID), .integer(1)] + row.dropLast()
  }

  func index(of attribute: String) throws -> Int {
    guard let index = indexes[attribute] else {
      throw CoreDataError(
        unknown: "attribute", attribute, of: name, known: indexes.keys.sorted())
    }
    return index
  }

  func insert(_ values: [Value]) throws { try insertion.run(values) }

  /// Writes all attributes of an object that is in the file.
  func update(_ values: [Value]) throws {
    guard !attributes.isEmpty, let key = values.first else { return }
    if update == nil {
      let sets = attributes.map { "\(quoted($0.column)) = ?" }.joined(separator: ", ")
      update = try connection.prepare("UPDATE main.\(quoted(table)) SET \(sets) WHERE Z_PK = ?")
    }
    try update?.run(Array(values.dropFirst(3)) + [key])
  }

  func values(of key: Int64) throws -> [Value] {
    let statement =
      try byKey
      ?? connection.prepare(
        """
        SELECT \(columns.map { quoted($0) }.joined(separator: ", ")) FROM main.\(quoted(table))
        WHERE Z_PK = ?
        """)
    byKey = statement
    return try statement.firstRow([.integer(key)])
  }

  /// What a column's value means.
  ///
  /// - Throws: ``CoreDataError`` for a file of external data that is there and cannot be read.
  func value(_ value: Value, at index: Int) throws -> AttributeValue {
    let attribute = attributes[index - 3].attribute
    return AttributeValue(
      column: attribute.allowsExternalBinaryDataStorage
        ? try RecipeFunctions.content(value, external) : value, of: attribute)
  }

  /// A value as its column holds it.
  func column(_ value: AttributeValue, at index: Int) throws -> Value {
    let attribute = attributes[index - 3].attribute
    switch (attribute.type, value) {
    case (_, .null): return .null
    case (.integer16, .integer(let number)) where Int16(exactly: number) != nil,
      (.integer32, .integer(let number)) where Int32(exactly: number) != nil,
      (.integer64, .integer(let number)):
      return .integer(number)
    case (.boolean, .boolean(let flag)): return .integer(flag ? 1 : 0)
    case (.double, .double(let number)), (.float, .double(let number)): return .real(number)
    case (.double, .integer(let number)), (.float, .integer(let number)):
      return .real(Double(number))
    case (.decimal, .decimal(let digits)): return .text(digits)
    case (.decimal, .integer(let number)): return .integer(number)
    case (.string, .string(let text)), (.uri, .uri(let text)), (.uri, .string(let text)):
      return .text(text)
    case (.date, .date(let seconds)): return .real(seconds)
    case (.uuid, .uuid(let bytes)) where bytes.count == 16: return .blob(bytes)
    case (.binary, .bytes(let bytes)), (.transformable, .bytes(let bytes)):
      return .blob(
        attribute.allowsExternalBinaryDataStorage ? MarkedBytes.row(bytes).column : bytes)
    default:
      throw CoreDataError(
        .usage, "the value does not fit the type \(attribute.type.name)", entity: name,
        property: attribute.name)
    }
  }
}
