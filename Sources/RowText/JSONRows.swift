import JSON
import ManagedStore

/// Rows as an array of objects, or an object a line.
struct JSONRows: RowWriter {
  let isArray: Bool
  let out: ([UInt8]) throws -> Void
  var isFirst = true

  func begin(_ page: RowPage) throws { if isArray { try out(Array("[".utf8)) } }

  mutating func write(_ page: RowPage) throws {
    var bytes: [UInt8] = []
    for row in page.rows {
      if isArray { bytes.append(contentsOf: (isFirst ? "\n" : ",\n").utf8) }
      bytes += JSONRows.object(row, page.columns)
      if !isArray { bytes.append(UInt8(ascii: "\n")) }
      isFirst = false
    }
    try out(bytes)
  }

  func end() throws { if isArray { try out(Array((isFirst ? "]\n" : "\n]\n").utf8)) } }

  /// The shape of a dump's line; a to-many is its number, and bytes are their size.
  static func object(_ row: RowPage.Row, _ columns: [RowColumn]) -> [UInt8] {
    var line = JSONWriter()
    line.object { $0.members(of: row.id, columns, row.values) { $0.summary($1) } }
    return line.bytes
  }
}

extension JSONWriter {
  /// The members of an object's line, as a dump has them.
  ///
  /// - Parameter besides: writes what comes before the relationships.
  package mutating func members(
    of id: ObjectID, _ columns: [RowColumn], _ values: [PropertyValue],
    besides: (inout JSONWriter) -> Void = { _ in },
    _ write: (inout JSONWriter, PropertyValue) -> Void
  ) {
    key("attributes")
    attributes(columns, values, write)
    field("entity", id.entity)
    field("pk", id.key)
    besides(&self)
    object("relationships") { json in
      for (column, value) in zip(columns, values) {
        if case .attribute = column.kind { continue }
        json.key(column.name)
        write(&json, value)
      }
    }
  }

  /// A value as a page knows it: the size of bytes, the number of related objects.
  package mutating func summary(_ value: PropertyValue) {
    switch value {
    case .data(let data) where data.isReadable: object { $0.field("bytes", data.count) }
    case .toMany(let many): object { $0.field("count", many.count) }
    default: self.value(value, blobs: false)
    }
  }
}
