import JSON
import ManagedStore
import Terminal

/// The forms in which rows leave the program: printed by `strata rows`, written by an export.
package enum RowFormat: String, CaseIterable {
  /// By the words that name them.
  case table, json, ndjson, csv, markdown

  /// Writes pages of rows through `out`.
  ///
  /// - Parameters:
  ///   - isExact: whether CSV and Markdown keep text as it is, for a file or another program; else
  ///     what could steer a terminal is replaced.
  ///   - layout: how a table is laid out.
  ///   - width: cells that a line of a table may take; `nil` for any number.
  ///   - quotesFormulas: whether CSV has an apostrophe before text that a spreadsheet would run.
  ///   - blobs: whether JSON has bytes as Base64; else their number.
  ///   - heading: what the line of a table's column names is to look like.
  package func writer(
    isExact: Bool = false, layout: RowLayout = .auto, width: Int? = nil,
    quotesFormulas: Bool = false, blobs: Bool = false,
    heading: @escaping (String) -> String = { $0 }, _ out: @escaping ([UInt8]) throws -> Void
  ) -> any RowWriter {
    switch self {
    case .table: TableRows(layout: layout, width: width, heading: heading, out: out)
    case .json: JSONRows(isArray: true, blobs: blobs, out: out)
    case .ndjson: JSONRows(isArray: false, blobs: blobs, out: out)
    case .csv: CSVRows(isExact: isExact, quotesFormulas: quotesFormulas, out: out)
    case .markdown: MarkdownRows(isExact: isExact, out: out)
    }
  }
}

/// How a table of rows is laid out.
package enum RowLayout: String, CaseIterable, Sendable {
  /// An object a line where all columns fit, else a property a line.
  case auto
  /// An object a line; columns that do not fit are left out.
  case wide
  /// A property a line.
  case long
}

/// Writes pages of rows in one format.
package protocol RowWriter {
  /// Takes the first page, before any is written: its columns, and rows to judge widths by.
  mutating func begin(_ page: RowPage) throws
  /// Writes a page, the first one too.
  mutating func write(_ page: RowPage) throws
  /// Writes what comes after the last page.
  mutating func end() throws
  /// Names of the columns for which there is no room.
  var leftOut: [String] { get }
  /// Cells written so far whose text a spreadsheet would take for a formula, and run.
  var formulas: Int { get }
}

extension RowWriter {
  package var leftOut: [String] { [] }
  package var formulas: Int { 0 }
}

/// Rows as a table of Markdown, for an issue or a pull request.
///
/// A cell is one line, so that what ends a line becomes `<br>`; other text is kept unless it goes to
/// a terminal.
struct MarkdownRows: RowWriter {
  let isExact: Bool
  let out: ([UInt8]) throws -> Void

  func begin(_ page: RowPage) throws {
    let rules = ["--:"] + page.columns.map { $0.isNumber ? "--:" : "---" }
    let head = line(["key"] + page.columns.map(\.name))
    try out(Array((head + "| " + rules.joined(separator: " | ") + " |\n").utf8))
  }

  func write(_ page: RowPage) throws {
    let lines = page.rows.map { row in
      line([String(row.id.key)] + row.values.map(CellText.line))
    }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  /// `| a | b |`, with what would end a cell or begin a tag escaped.
  private func line(_ cells: [String]) -> String {
    "| "
      + cells.map { cell in
        cell.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          .map { Self.escaped(isExact ? String($0) : Sanitize.text(String($0))) }
          .joined(separator: "<br>")
      }.joined(separator: " | ") + " |\n"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\|`*_<[".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}

/// Rows as an array of objects, or an object a line.
struct JSONRows: RowWriter {
  let isArray: Bool
  let blobs: Bool
  let out: ([UInt8]) throws -> Void
  var isFirst = true

  func begin(_ page: RowPage) throws { if isArray { try out(Array("[".utf8)) } }

  mutating func write(_ page: RowPage) throws {
    var bytes: [UInt8] = []
    for row in page.rows {
      if isArray { bytes.append(contentsOf: (isFirst ? "\n" : ",\n").utf8) }
      bytes += JSONRows.object(row, page.columns, blobs: blobs)
      if !isArray { bytes.append(UInt8(ascii: "\n")) }
      isFirst = false
    }
    try out(bytes)
  }

  func end() throws { if isArray { try out(Array((isFirst ? "]\n" : "\n]\n").utf8)) } }

  /// The shape of a dump's line; a to-many is its number, and bytes are their size.
  static func object(
    _ row: RowPage.Row, _ columns: [RowColumn], blobs: Bool = false
  ) -> [UInt8] {
    JSONWriter.text { json in
      json.object {
        $0.members(of: row.id, columns, row.values) { json, value in
          if blobs { json.value(value, blobs: true) } else { json.summary(value) }
        }
      }
    }
  }
}

extension JSONWriter {
  /// What is written on a writer of its own.
  package static func text(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes
  }

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
    case .toMany(let many) where many.values == nil: object { $0.field("count", many.count) }
    default: self.value(value, blobs: false)
    }
  }
}
