/// The words, numbers and signs of predicate format.
package struct PredicateTokens {
  /// A word, a number or a sign.
  package enum Token: Equatable {
    /// A name, a key path such as `pages.@count`, or a function's name with its colons.
    case word(String)
    case variable(String)
    case string(String)
    case integer(Int64)
    case real(Double)
    case data([UInt8])
    case symbol(String)
    /// Text in quotes that nothing closes.
    case unclosed
    case end
  }

  private let bytes: [UInt8]
  private var position = 0
  package private(set) var peek = Token.end
  /// Where the next token stands, in bytes of the text.
  package private(set) var range = 0..<0

  /// At the first token of a text.
  package init(_ text: String) {
    bytes = Array(text.utf8)
    advance()
  }

  /// Takes the next token.
  package mutating func next() -> Token {
    let token = peek
    advance()
    return token
  }

  /// Takes the next token if it is that sign.
  mutating func skip(symbol: String) -> Bool {
    guard peek == .symbol(symbol) else { return false }
    advance()
    return true
  }

  /// Takes the next token if it is that word, in either case.
  mutating func skip(word: String) -> Bool {
    guard case .word(let text) = peek, text.uppercased() == word else { return false }
    advance()
    return true
  }

  /// An error at the next token.
  func error(_ message: String) -> CoreDataError {
    let text = String(decoding: bytes, as: UTF8.self)
    return CoreDataError(
      .unreadable, "the predicate “\(text.prefix(200))” is not understood: \(message)",
      mark: TextMark(text, range), reason: message)
  }

  private mutating func advance() {
    skipSpace()
    let start = position
    read()
    range = start..<position
  }

  private mutating func skipSpace() {
    while position < bytes.count, [9, 10, 13, 32].contains(bytes[position]) { position += 1 }
  }

  private mutating func read() {
    guard position < bytes.count else { return peek = .end }
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      peek = quoted(by: byte).map { .string($0) } ?? .unclosed
    case UInt8(ascii: "$"):
      position += 1
      let start = position
      while position < bytes.count, bytes[position].isOfWord { position += 1 }
      peek = .variable(text(start))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): peek = number()
    case _ where Self.startsName(byte): peek = .word(name())
    default: peek = sign()
    }
  }

  /// The text up to the closing quote; `nil` if no quote closes it.
  private mutating func quoted(by quote: UInt8) -> String? {
    var content: [UInt8] = []
    position += 1
    while position < bytes.count, bytes[position] != quote {
      var byte = bytes[position]
      if byte == UInt8(ascii: "\\"), position + 1 < bytes.count {
        position += 1
        byte = bytes[position]
        switch byte {
        case UInt8(ascii: "n"): byte = 10
        case UInt8(ascii: "r"): byte = 13
        case UInt8(ascii: "t"): byte = 9
        default: break
        }
      }
      content.append(byte)
      position += 1
    }
    guard position < bytes.count else { return nil }
    position += 1
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func number() -> Token {
    let start = position
    func isNumberByte(_ index: Int) -> Bool {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"),
        UInt8(ascii: "E"):
        true
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        bytes[index - 1] == UInt8(ascii: "e") || bytes[index - 1] == UInt8(ascii: "E")
      default: false
      }
    }
    while position < bytes.count, position == start || isNumberByte(position) { position += 1 }
    let text = text(start)
    if let value = Int64(text) { return .integer(value) }
    return Double(text).map { .real($0) } ?? .symbol(text)
  }

  /// A name goes on through colons and, where another name follows, through dots.
  private mutating func name() -> String {
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: ".") {
        guard position + 1 < bytes.count, Self.startsName(bytes[position + 1]) else { break }
      } else if byte != UInt8(ascii: ":"), !byte.isOfWord, !Self.startsName(byte) {
        break
      }
      position += 1
    }
    return text(start)
  }

  private mutating func sign() -> Token {
    if bytes[position] == UInt8(ascii: "<"), let data = hexadecimal() { return .data(data) }
    for length in [2, 1] where position + length <= bytes.count {
      let symbol = String(decoding: bytes[position..<(position + length)], as: UTF8.self)
      if length == 1
        || ["==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", "**"].contains(symbol)
      {
        position += length
        return .symbol(symbol)
      }
    }
    return .end
  }

  /// Data prints as `<00ff>`; without the closing bracket the sign is “less than”.
  private mutating func hexadecimal() -> [UInt8]? {
    guard let end = bytes[position...].prefix(1 << 16).firstIndex(of: UInt8(ascii: ">")),
      let data = ByteText.bytes(
        hex: String(decoding: bytes[(position + 1)..<end], as: UTF8.self).filter { $0 != " " }),
      end > position + 1
    else { return nil }
    position = end + 1
    return data
  }

  private func text(_ start: Int) -> String {
    String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func startsName(_ byte: UInt8) -> Bool {
    byte.isOfWord && !byte.isDigit || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "#")
  }

}
