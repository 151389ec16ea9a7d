import ManagedModel
import SQLite
import StoreTables

/// What a person typed to search for, as the values it could be.
struct SearchNeedle {
  /// As `CONTAINS[cd]` compares.
  let folded: String
  /// The folded text, where it is ASCII: then text can be searched without folding it.
  private let ascii: ByteNeedle?
  let integer: Int64?
  let real: Double?
  /// Hexadecimal digits of a UUID, or of a part of one.
  let hex: String?

  /// `nil` for text of white space.
  init?(_ text: String) {
    let text = text.trimmed
    guard !text.isEmpty else { return nil }
    folded = FoldedText.fold(text, ignoringCase: true, ignoringMarks: true)
    guard !folded.isEmpty else { return nil }
    ascii = folded.utf8.allSatisfy { $0 < 0x80 } ? ByteNeedle(folded) : nil
    integer = Int64(text)
    real = Double(text).flatMap { $0.isFinite ? $0 : nil }
    let digits = text.filter { $0 != "-" }
    let isHex = digits.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...70).contains(byte & 0xDF)
    }
    hex = isHex && (4...32).contains(digits.utf8.count) ? digits.uppercased() : nil
  }

  /// Whether a text contains it.
  func occurs(in text: String) -> Bool {
    guard let ascii else { return fold(text).contains(folded) }
    var text = text
    return text.withUTF8 { bytes -> Bool in
      // Any letter beyond ASCII may be one of the needle's with a mark.
      if ascii.first(in: bytes, from: 0) != nil { return true }
      guard bytes.contains(where: { $0 >= 0x80 }) else { return false }
      return fold(String(decoding: bytes, as: UTF8.self)).contains(folded)
    }
  }

  private func fold(_ text: String) -> String {
    FoldedText.fold(text, ignoringCase: true, ignoringMarks: true)
  }

  /// The words around the first occurrence in a text.
  func excerpt(of text: String) -> String {
    let limit = 200
    var start = text.startIndex
    let folded = fold(text)
    if let place = folded.utf8.firstRange(of: self.folded.utf8)?.lowerBound {
      // Folding leaves the number of characters as it is but in odd cases, and an excerpt may be
      // off by a few.
      let offset = folded.distance(from: folded.startIndex, to: place)
      let before = max(0, offset - 60)
      start = text.index(start, offsetBy: before, limitedBy: text.endIndex) ?? start
    }
    var line = start > text.startIndex ? "…" : ""
    var count = line.count
    var isSpace = true
    var index = start
    while index < text.endIndex {
      let character = text[index]
      index = text.index(after: index)
      if character.isWhitespace || character.isNewline {
        if !isSpace {
          line += " "
          count += 1
        }
        isSpace = true
      } else {
        let safe = String(character.unicodeScalars.prefix(8).map(Character.init)).printable
        if count + safe.count > limit - 1 {
          line += "…"
          break
        }
        line += safe
        count += safe.count
        isSpace = false
      }
      if count >= limit - 1, index < text.endIndex {
        line += "…"
        break
      }
    }
    return line
  }
}

/// Bytes to be found among others; letters of ASCII count the same in either case.
struct ByteNeedle {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = text.utf8.map(Self.lowered) }

  var isEmpty: Bool { bytes.isEmpty }
  var count: Int { bytes.count }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (65...90).contains(byte) ? byte | 0x20 : byte
  }

  func first(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let first = bytes.first, text.count - start >= bytes.count else { return nil }
    search: for place in start...(text.count - bytes.count)
    where Self.lowered(text[place]) == first {
      for index in 1..<max(1, bytes.count)
      where Self.lowered(text[place + index]) != bytes[index] { continue search }
      return place
    }
    return nil
  }
}

extension SearchNeedle {
  /// A condition on a column of an attribute; `nil` where no value of that type can match.
  func condition(_ column: String, _ type: AttributeType) -> SQLText? {
    let place = SQLText(stringLiteral: column)
    switch type {
    case .string, .uri: return "strata_occurs(\(place))"
    case .integer16, .integer32, .integer64:
      return integer.map { "\(place) = \(value: .integer($0))" }
    case .double, .float, .decimal:
      return real.map { "\(place) = \(value: integer.map { .integer($0) } ?? .real($0))" }
    case .uuid: return hex.map { "instr(hex(\(place)), \(value: .text($0))) > 0" }
    default: return nil
    }
  }

  func excerpt(of value: PropertyValue) -> String {
    switch value {
    case .value(.string(let text)), .value(.uri(let text)): excerpt(of: text)
    case .value(.date), .value(.boolean), .value(.bytes): ""
    case .value(let plain): String(plain.line.prefix(200)).printable
    case .data(let data): excerpt(of: String(decoding: data.bytes, as: UTF8.self))
    default: ""
    }
  }
}
