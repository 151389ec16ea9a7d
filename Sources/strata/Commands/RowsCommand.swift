import ManagedModel
import ManagedStore
import Terminal

/// `strata rows`: objects of one entity, page by page, in memory that does not grow with them.
enum RowsCommand {
  private static let page = 500

  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let format =
      arguments.flag("json") ? "json" : arguments.value("format") ?? "table"
    let store = try StoreOpening.open(arguments[0], model: arguments.value("model"))
    let known = try store.columns(of: arguments[1]).map(\.name)
    // Every row begins with its key: naming it is no mistake, and adds nothing.
    let columns = arguments.value("columns").map { text in
      text.split(separator: ",").map(String.init).filter { $0 != "key" || known.contains($0) }
    }
    var query = RowQuery(
      entity: arguments[1], sort: sort(arguments.value("sort")), limit: page, properties: columns)
    if let text = arguments.value("where") {
      query.filter = try RowFilter(text, entity: arguments[1], store: store)
    }
    let limit: Int?
    if arguments.value("limit") == "all" {
      limit = nil
    } else {
      limit = try arguments.number("limit") ?? (format == "table" ? 100 : nil)
    }
    var left = limit ?? .max
    var isPast = false
    if let offset = try arguments.number("offset"), offset > 0 {
      // The row before the first one; where there is none, no rows are left to print.
      if let last = try store.cursor(at: offset - 1, in: query) {
        query.anchor = .after(last)
      } else {
        left = 0
        isPast = true
      }
    }
    var printer: any RowPrinter =
      switch format {
      case "csv": CSVPrinter(console: console)
      case "json": JSONPrinter(console: console, isArray: true)
      case "ndjson": JSONPrinter(console: console, isArray: false)
      default: TablePrinter(console: console)
      }
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = try bar?.isVisible == true ? Self.total(query, in: store, limit: limit) : nil
    var count = 0
    defer { bar?.clear() }
    var isFirst = true
    while left > 0 || isFirst {
      query.limit = min(page, left)
      let found = try store.rows(query)
      if isFirst { printer.begin(found) }
      isFirst = false
      printer.print(found)
      left -= found.rows.count
      count += found.rows.count
      bar?.show("rows", count, of: total, "rows")
      guard found.rows.count == query.limit, let last = found.rows.last else { break }
      query.anchor = .after(last.cursor)
    }
    printer.end()
    if left == 0, !isPast, format == "table", arguments.value("limit") == nil {
      console.note("\(limit ?? 0) rows; --limit all prints every one")
    }
    return .done
  }

  /// How many rows will come at most; `nil` where a filter makes that unknown.
  private static func total(_ query: RowQuery, in store: Store, limit: Int?) throws -> Int? {
    guard query.filter == nil else { return limit }
    let all = try store.counts().reduce(0) { sum, next in
      store.model.lineage(of: next.key).contains { $0.name == query.entity }
        ? sum + next.value : sum
    }
    return min(all, limit ?? all)
  }

  private static func sort(_ text: String?) -> RowQuery.Sort {
    guard let text else { return RowQuery.Sort() }
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    let isDescending = parts.count == 2 && parts[1] == "desc"
    let isPlain = parts.count == 1 || parts[1] == "desc" || parts[1] == "asc"
    return RowQuery.Sort(property: isPlain ? parts.first : text, descending: isDescending)
  }
}

/// Prints pages of rows in one format.
private protocol RowPrinter {
  mutating func begin(_ page: RowPage)
  mutating func print(_ page: RowPage)
  mutating func end()
}

private struct TablePrinter: RowPrinter {
  let console: Console
  private var table = TextTable([], fitting: [])

  init(console: Console) { self.console = console }

  mutating func begin(_ page: RowPage) {
    let header = ["key"] + page.columns.map(\.name)
    let kinds = page.columns.map { column -> TextTable.Alignment in
      switch column.kind {
      case .attribute(let type):
        switch type {
        case .integer16, .integer32, .integer64, .double, .float, .decimal: .right
        default: .left
        }
      default: .left
      }
    }
    table = TextTable(
      [.right] + kinds, fitting: [header] + page.rows.map { cells($0, page.columns) }, limit: 40)
    console.heading(table.line(header))
  }

  func print(_ page: RowPage) {
    console.write(page.rows.map { table.line(cells($0, page.columns)) + "\n" }.joined())
  }

  func end() {}

  private func cells(_ row: RowPage.Row, _ columns: [RowColumn]) -> [String] {
    [String(row.id.key)]
      + zip(row.values, columns).map { CellText.broken($0, in: $1) ?? CellText.table($0) }
  }
}

private struct CSVPrinter: RowPrinter {
  let console: Console

  func begin(_ page: RowPage) {
    console.write(line(["entity", "key"] + page.columns.map(\.name)))
  }

  func print(_ page: RowPage) {
    console.write(
      page.rows.map { line([$0.id.entity, String($0.id.key)] + $0.values.map(CellText.csv)) }
        .joined())
  }

  func end() {}

  private func line(_ cells: [String]) -> String {
    cells.map { cell in
      let safe = cell.split(separator: "\n", omittingEmptySubsequences: false)
        .map { Sanitize.text($0) }.joined(separator: "\n")
      let isPlain = !safe.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A }
      return isPlain
        ? safe
        : "\""
          + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
          + "\""
    }.joined(separator: ",") + "\r\n"
  }
}

private struct JSONPrinter: RowPrinter {
  let console: Console
  let isArray: Bool
  private var isFirst = true

  init(console: Console, isArray: Bool) {
    self.console = console
    self.isArray = isArray
  }

  func begin(_ page: RowPage) { if isArray { console.write("[") } }

  mutating func print(_ page: RowPage) {
    var json = JSONWriter()
    for row in page.rows {
      var line = JSONWriter()
      line.object { write(row, page.columns, to: &$0) }
      let text = String(decoding: line.bytes, as: UTF8.self)
      if isArray {
        console.write((isFirst ? "\n" : ",\n") + text)
      } else {
        json.raw(text)
        json.newline()
      }
      isFirst = false
    }
    console.write(json.bytes)
  }

  func end() { if isArray { console.write(isFirst ? "]\n" : "\n]\n") } }

  /// The shape of a dump's line; a to-many is its number, and bytes are their size.
  private func write(_ row: RowPage.Row, _ columns: [RowColumn], to json: inout JSONWriter) {
    let pairs = Array(zip(columns, row.values))
    json.key("attributes")
    json.object { json in
      for (column, value) in pairs {
        guard case .attribute = column.kind else { continue }
        json.key(column.name)
        json.summary(value)
      }
    }
    json.key("entity")
    json.string(row.id.entity)
    json.key("pk")
    json.number(row.id.key)
    json.key("relationships")
    json.object { json in
      for (column, value) in pairs {
        if case .attribute = column.kind { continue }
        json.key(column.name)
        json.summary(value)
      }
    }
  }
}

extension JSONWriter {
  /// A value as a page knows it: the size of bytes, the number of related objects.
  mutating func summary(_ value: PropertyValue) {
    switch value {
    case .data(let data) where !data.isMissing: numbers([("bytes", data.count)])
    case .toMany(let many): numbers([("count", many.count)])
    default: self.value(value, blobs: false)
    }
  }
}

/// A value as one line of text.
enum CellText {
  static func table(_ value: PropertyValue) -> String {
    switch value {
    case .value(.null): "∅"
    case .toOne(let id): id.map { "→ \($0)" } ?? "∅"
    case .toMany(let many): "(\(many.count))"
    case .data(let data) where !data.isMissing:
      kind(data).map { "\($0), " + csv(value) } ?? csv(value)
    default: csv(value)
    }
  }

  /// Text that is no UTF-8, with U+FFFD for what is broken; `nil` for anything else.
  static func broken(_ value: PropertyValue, in column: RowColumn) -> String? {
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

  static func csv(_ value: PropertyValue) -> String {
    switch value {
    case .value(let plain): text(plain)
    case .data(let data):
      switch data.location {
      case .row: "\(data.count) bytes"
      case .file: "\(data.count) bytes ext"
      case .missing: "! file missing"
      }
    case .toOne(let id): id?.description ?? ""
    case .toMany(let many): String(many.count)
    }
  }

  static func text(_ value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .double(let number): number.description
    case .decimal(let digits): digits
    case .string(let text), .uri(let text): text
    case .date(let seconds): CoreDataDate.text(seconds)
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }
}
