import JSON
import ManagedModel
import ManagedStore
import Terminal

/// Rows for a person: as aligned columns, or a property a line.
struct TableRows: RowWriter {
  let layout: RowLayout
  let width: Int?
  let heading: (String) -> String
  let out: ([UInt8]) throws -> Void
  private var table = TextTable([], fitting: [])
  private var isLong = false
  private(set) var leftOut: [String] = []

  init(
    layout: RowLayout, width: Int?, heading: @escaping (String) -> String,
    out: @escaping ([UInt8]) throws -> Void
  ) {
    (self.layout, self.width, self.heading, self.out) = (layout, width, heading, out)
  }

  mutating func begin(_ page: RowPage) throws {
    var header = ["key"] + page.columns.map(\.name)
    var alignments = [.right] + page.columns.map { $0.isNumber ? .right : TextTable.Alignment.left }
    let rows = page.rows.map { cells($0, page.columns) }
    table = TextTable(alignments, fitting: [header] + rows, limit: 40)
    let room = width.map(table.columns) ?? header.count
    isLong = layout == .long || layout == .auto && room < header.count
    if isLong {
      let names = page.columns.map { [$0.name] }
      table = TextTable([.left], fitting: names)
      return
    }
    if room < header.count {
      leftOut = Array(header[room...])
      (header, alignments) = (Array(header[..<room]), Array(alignments[..<room]))
      table = TextTable(alignments, fitting: [header] + rows, limit: 40)
    }
    try out(Array((heading(table.line(header)) + "\n").utf8))
  }

  func write(_ page: RowPage) throws {
    let lines =
      isLong
      ? page.rows.flatMap { long($0, page.columns) }
      : page.rows.map { table.line(cells($0, page.columns)) + "\n" }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  /// An object with a line a property.
  private func long(_ row: RowPage.Row, _ columns: [RowColumn]) -> [String] {
    let names = table.widths.first ?? 0
    let room = width.map { max(1, $0 - names - 4) } ?? .max
    return [heading(row.id.description) + "\n"]
      + zip(columns, cells(row, columns).dropFirst()).map { column, cell in
        let name = Sanitize.text(column.name, limit: names)
        let space = String(repeating: " ", count: max(0, names - TextWidth.of(name)))
        return "  \(name)\(space)  \(Sanitize.text(cell, limit: room))\n"
      }
  }

  private func cells(_ row: RowPage.Row, _ columns: [RowColumn]) -> [String] {
    [String(row.id.key)]
      + zip(row.values, columns).map { CellText.broken($0, in: $1) ?? CellText.table($0) }
  }
}

extension RowColumn {
  /// Whether its values are numbers, which stand at the right.
  var isNumber: Bool {
    if case .attribute(let type) = kind { type.isNumber } else { false }
  }
}

/// A value as one line of text.
package enum CellText {
  /// For a table: what bytes are is reported, too.
  package static func table(_ value: PropertyValue) -> String {
    switch value {
    case .value(.null): "∅"
    case .toOne(let id): id.map { "→ \($0)" } ?? "∅"
    case .toMany(let many): many.values == nil ? "(\(many.count))" : line(value)
    case .data(let data) where data.isReadable:
      kind(data).map { "\($0), " + line(value) } ?? line(value)
    default: line(value)
    }
  }

  /// Text that is no UTF-8, with U+FFFD for what is broken; `nil` for anything else.
  package static func broken(_ value: PropertyValue, in column: RowColumn) -> String? {
    guard case .data(let data) = value, column.kind == .attribute(.string) else { return nil }
    return "! not UTF-8: " + String(decoding: data.bytes, as: UTF8.self)
  }

  /// `JPEG`, `keyed archive`; `nil` where bytes are only bytes.
  private static func kind(_ data: DataValue) -> String? {
    switch DataKind(data.bytes, isWhole: data.bytes.count == data.count) {
    case .empty, .bytes: nil
    case let kind: kind.description
    }
  }

  /// In a line, for people as for CSV: without what a table adds.
  package static func line(_ value: PropertyValue) -> String {
    switch value {
    case .value(let plain): plain.line
    case .data(let data):
      switch data.location {
      case .row: "\(data.count) bytes"
      case .file: "\(data.count) bytes ext"
      case .missing: "! file missing"
      case .unreadable: "! file unreadable"
      }
    case .toOne(let id): id?.description ?? ""
    case .toMany(let many):
      many.values == nil
        ? String(many.count)
        : String(decoding: JSONWriter.text { $0.value(value, blobs: true) }, as: UTF8.self)
    }
  }
}
