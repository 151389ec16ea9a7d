import ExportText
import Interface
import JSON
import ManagedModel
import ManagedStore
import Terminal

/// Values and objects as text for the clipboard, read in full.
struct CopyText {
  let store: Store

  func text(_ form: CopyForm, of subject: CopySubject) throws -> String {
    switch subject {
    case .text(let text): return text
    case .receipt(let receipt):
      return String(decoding: JSONWriter.line { $0.receipt(receipt) }, as: UTF8.self)
    case .value(let id, let property): return try value(of: property, in: id)
    case .object(let id, let columns):
      switch form {
      case .reference: return id.description
      case .uri: return id.uri(store: store.metadata.uuid)
      case .sql: return try store.insertStatement(for: id)
      case .json: return try json(id)
      case .markdown: return Self.harmless(try table(id, columns, .markdown))
      case .tsv, .value, .command: return Self.harmless(try tsv(id, columns))
      }
    }
  }

  /// A row that is pasted into a shell must not run anything: control characters are shown instead.
  private static func harmless(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { text, scalar in
      text += isControl(scalar) ? Sanitize.standIn(for: scalar) ?? "" : String(scalar)
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isControl && scalar != "\t" && scalar != "\n"
  }

  private func object(_ id: ObjectID) throws -> StoredObject {
    guard let object = try store.object(id, related: 1_000) else {
      throw CoreDataError(.usage, "there is no object \(id)")
    }
    return object
  }

  /// Text as it is; bytes that are no text in Base64.
  private func value(of property: String, in id: ObjectID) throws -> String {
    let object = try object(id)
    guard let index = object.columns.firstIndex(where: { $0.name == property }),
      index < object.values.count
    else { return "" }
    guard case .data = object.values[index] else { return CellText.line(object.values[index]) }
    guard
      let content = try store.content(of: property, in: object.id, count: CopyLayer.limit + 1)
    else { return "" }
    if let problem = content.location.problem { throw CoreDataError(.unreadable, problem) }
    guard content.total <= CopyLayer.limit else {
      throw CoreDataError(
        .refused,
        "\(NumberText.bytes(content.total)) is too much for a terminal's clipboard (100 kB)")
    }
    return String(validating: content.bytes, as: UTF8.self) ?? ByteText.base64(content.bytes)
  }

  private func json(_ id: ObjectID) throws -> String {
    let object = try object(id)
    var writer = JSONWriter()
    writer.object { json in
      json.members(of: object.id, object.columns, object.values) { json, value in
        // Long bytes were cut: their sum would be that of a part.
        if case .data(let data) = value, data.bytes.count < data.count {
          json.summary(value)
        } else {
          json.value(value, blobs: false)
        }
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The object as a page of one row, with the columns that are shown.
  private func page(_ id: ObjectID, _ columns: [String]) throws -> RowPage {
    let object = try object(id)
    let all = zip(object.columns, object.values)
    let pairs =
      columns.isEmpty
      ? Array(all) : columns.compactMap { name in all.first { $0.0.name == name } }
    return RowPage(
      entity: object.id.entity, columns: pairs.map(\.0),
      rows: [
        RowPage.Row(id: object.id, values: pairs.map(\.1), cursor: RowCursor(key: object.id.key))
      ])
  }

  private func table(_ id: ObjectID, _ columns: [String], _ format: RowFormat) throws -> String {
    let page = try page(id, columns)
    var bytes: [UInt8] = []
    var writer = format.writer(isExact: true) { bytes += $0 }
    try writer.begin(page)
    try writer.write(page)
    try writer.end()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Cells with tabs between them, as spreadsheets take a row: what would end a cell is a space.
  private func tsv(_ id: ObjectID, _ columns: [String]) throws -> String {
    let page = try page(id, columns)
    let values = page.rows.first?.values ?? []
    return ([String(id.key)] + values.map(CellText.line)).map { cell in
      cell.split(omittingEmptySubsequences: false) { $0 == "\t" || $0.isNewline }
        .joined(separator: " ")
    }.joined(separator: "\t")
  }
}
