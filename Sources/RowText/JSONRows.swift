import JSON
import ManagedStore

/// Rows as an array of objects, or an object a line.
struct JSONRows: RowWriter {
  private let out: ([UInt8]) throws -> Void
  private let isArray: Bool
  private var isFirst = true

  init(isArray: Bool, _ out: @escaping ([UInt8]) throws -> Void) {
    self.isArray = isArray
    self.out = out
  }

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
    let pairs = Array(zip(columns, row.values))
    var line = JSONWriter()
    line.object { json in
      json.key("attributes")
      json.attributes(columns, row.values) { $0.summary($1) }
      json.field("entity", row.id.entity)
      json.field("pk", row.id.key)
      json.object("relationships") { json in
        for (column, value) in pairs {
          if case .attribute = column.kind { continue }
          json.key(column.name)
          json.summary(value)
        }
      }
    }
    return line.bytes
  }
}

extension JSONWriter {
  /// A value as a page knows it: the size of bytes, the number of related objects.
  package mutating func summary(_ value: PropertyValue) {
    switch value {
    case .data(let data) where !data.isMissing: object { $0.field("bytes", data.count) }
    case .toMany(let many): object { $0.field("count", many.count) }
    default: self.value(value, blobs: false)
    }
  }
}
