import JSON
import ManagedStore
import Terminal

/// Rows as RFC 4180 has them: commas, quotes where needed, CR LF.
///
/// NULL is an empty cell and an empty text is `""`. A list is a JSON array. Text is kept to the last character
/// unless it goes to a terminal, or a spreadsheet would run it and that is to be prevented.
struct CSVRows: RowWriter {
  private let isExact: Bool
  private let quotesFormulas: Bool
  private let out: ([UInt8]) throws -> Void
  private(set) var formulas = 0
  /// How a reference to an object of the entity that was named last begins in a list.
  private var reference: (entity: String, bytes: [UInt8]) = ("", [])

  init(
    isExact: Bool, quotesFormulas: Bool = false, out: @escaping ([UInt8]) throws -> Void
  ) {
    (self.isExact, self.quotesFormulas, self.out) = (isExact, quotesFormulas, out)
  }

  mutating func begin(_ page: RowPage) throws {
    var bytes: [UInt8] = []
    for (index, name) in (["entity", "key"] + page.columns.map(\.name)).enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(name, isText: true, to: &bytes)
    }
    bytes += [0x0D, 0x0A]
    try out(bytes)
  }

  mutating func write(_ page: RowPage) throws {
    var bytes: [UInt8] = []
    for row in page.rows {
      append(row.id.entity, isText: true, to: &bytes)
      bytes.append(UInt8(ascii: ","))
      bytes += String(row.id.key).utf8
      for value in row.values {
        bytes.append(UInt8(ascii: ","))
        append(value, to: &bytes)
      }
      bytes += [0x0D, 0x0A]
    }
    try out(bytes)
  }

  func end() {}

  private mutating func append(_ value: PropertyValue, to bytes: inout [UInt8]) {
    switch value {
    case .value(.null), .toOne(nil): break
    case .value(.string(let text)), .value(.uri(let text)): append(text, isText: true, to: &bytes)
    case .toOne(let id?): append(id.description, isText: true, to: &bytes)
    case .toMany(let many) where many.values == nil && !many.first.isEmpty:
      appendList(many.first, to: &bytes)
    default: append(CellText.line(value), isText: false, to: &bytes)
    }
  }

  /// A JSON array of references, in the quotes of a cell: millions are written, so that no text is made of each.
  private mutating func appendList(_ ids: [ObjectID], to bytes: inout [UInt8]) {
    bytes += [0x22, UInt8(ascii: "[")]
    for (place, id) in ids.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      if reference.entity != id.entity || reference.bytes.isEmpty {
        let quoted = JSONText.quoted(id.entity + "/p").utf8.dropLast()
        reference = (id.entity, quoted.flatMap { $0 == 0x22 ? [$0, $0] : [$0] })
      }
      bytes.append(contentsOf: reference.bytes)
      Self.append(id.key, to: &bytes)
      bytes += [0x22, 0x22]
    }
    bytes += [UInt8(ascii: "]"), 0x22]
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  /// - Parameter isText: whether it may begin as a formula does; a number or a list does not.
  private mutating func append(_ cell: String, isText: Bool, to bytes: inout [UInt8]) {
    var cell =
      isExact
      ? cell
      : cell.split(separator: "\n", omittingEmptySubsequences: false)
        .map { Sanitize.text(String($0)) }.joined(separator: "\n")
    var isPlain = !cell.isEmpty
    cell.withUTF8 { text in
      var quote = false
      if isText, let first = text.first, Self.beginsFormula(first) {
        formulas += 1
        quote = quotesFormulas
      }
      for byte in text where byte == 0x22 || byte == 0x2C || byte == 0x0A || byte == 0x0D {
        isPlain = false
        break
      }
      guard !isPlain else {
        if quote { bytes.append(UInt8(ascii: "'")) }
        bytes.append(contentsOf: text)
        return
      }
      bytes.append(0x22)
      if quote { bytes.append(UInt8(ascii: "'")) }
      for byte in text {
        bytes.append(byte)
        if byte == 0x22 { bytes.append(byte) }
      }
      bytes.append(0x22)
    }
  }

  /// Whether a spreadsheet may take text that begins so for a formula: a tab or a line end before the sign is
  /// skipped by some.
  private static func beginsFormula(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A,
      0x0D:
      true
    default: false
    }
  }
}
