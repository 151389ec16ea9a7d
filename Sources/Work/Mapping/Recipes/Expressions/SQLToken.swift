import ManagedModel

/// A word of an SQL expression, with its place in UTF-8 bytes.
struct SQLToken: Equatable {
  enum Kind: Equatable {
    case name(String)
    /// A name in `"…"`, `` `…` `` or `[…]`.
    case quotedName(String)
    case string(String)
    case number
    case blob
    case symbol
  }

  var kind: Kind
  /// As it was written.
  var text: String
  var range: Range<Int>

  /// A bare name in capitals, as SQL compares its words.
  var word: String? {
    if case .name(let name) = kind { name.uppercased() } else { nil }
  }

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
}

/// Takes an SQL expression apart, refusing what no expression over one row can need.
struct SQLTokenizer {
  /// Longest expression accepted, in bytes.
  static let maximumLength = 100_000

  private let bytes: [UInt8]
  private let text: String
  private var place = 0

  private init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  static func tokens(of text: String) throws -> [SQLToken] {
    guard text.utf8.count <= maximumLength else {
      throw CoreDataError(.usage, "the expression is too long")
    }
    var tokenizer = SQLTokenizer(text)
    var tokens: [SQLToken] = []
    while let token = try tokenizer.token() { tokens.append(token) }
    return tokens
  }

  private func wrong(_ message: String, _ range: Range<Int>, hint: String? = nil) -> CoreDataError {
    CoreDataError(.usage, message, hint: hint, mark: TextMark(text, range))
  }

  private func has(_ symbol: String) -> Bool { bytes[place...].starts(with: symbol.utf8) }

  private mutating func token() throws -> SQLToken? {
    try skipBlanks()
    guard place < bytes.count else { return nil }
    let start = place
    let kind: SQLToken.Kind
    let byte = bytes[place]
    switch byte {
    case UInt8(ascii: "'"): kind = .string(try quoted(byte))
    case UInt8(ascii: "\""), UInt8(ascii: "`"): kind = .quotedName(try quoted(byte))
    case UInt8(ascii: "["): kind = .quotedName(try bracketed())
    case UInt8(ascii: "x") where has("x'"), UInt8(ascii: "X") where has("X'"):
      kind = try blob()
    case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = try number()
    case UInt8(ascii: ".") where place + 1 < bytes.count && bytes[place + 1].isDigit:
      kind = try number()
    case _ where Self.isLetter(byte):
      while place < bytes.count, bytes[place].isOfWord {
        place += 1
      }
      kind = .name(String(decoding: bytes[start..<place], as: UTF8.self))
    default: kind = try symbol()
    }
    return SQLToken(
      kind: kind, text: String(decoding: bytes[start..<place], as: UTF8.self), range: start..<place)
  }

  private mutating func skipBlanks() throws {
    while place < bytes.count {
      if [9, 10, 12, 13, 32].contains(bytes[place]) {
        place += 1
      } else if has("--") {
        while place < bytes.count, bytes[place] != 10 { place += 1 }
      } else if has("/*") {
        let start = place
        place += 2
        while place < bytes.count, bytes[place] != UInt8(ascii: "*") || !has("*/") { place += 1 }
        guard place < bytes.count else {
          throw wrong("the comment is not closed", start..<start + 2)
        }
        place += 2
      } else {
        return
      }
    }
  }

  /// What stands between two quotes, doubled ones inside as one.
  private mutating func quoted(_ quote: UInt8) throws -> String {
    let start = place
    var content: [UInt8] = []
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == 0 { throw wrong("a NUL is not allowed in SQL", place - 1..<place) }
      if byte == quote {
        guard place < bytes.count, bytes[place] == quote else {
          return String(decoding: content, as: UTF8.self)
        }
        place += 1
      }
      content.append(byte)
    }
    throw wrong("the quote is not closed", start..<start + 1)
  }

  private mutating func bracketed() throws -> String {
    let start = place
    guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "]")) else {
      throw wrong("“[” is not closed", start..<start + 1)
    }
    place = end + 1
    return String(decoding: bytes[start + 1..<end], as: UTF8.self)
  }

  private mutating func blob() throws -> SQLToken.Kind {
    let start = place
    place += 1
    guard ByteText.bytes(hex: try quoted(UInt8(ascii: "'"))) != nil else {
      throw wrong("bytes are written as pairs of hexadecimal digits: x'0AFF'", start..<place)
    }
    return .blob
  }

  private mutating func number() throws -> SQLToken.Kind {
    let start = place
    if has("0x") || has("0X") {
      place += 2
      while place < bytes.count, Self.isHexDigit(bytes[place]) { place += 1 }
    } else {
      skipDigits()
      if has(".") {
        place += 1
        skipDigits()
      }
      if has("e") || has("E") {
        place += 1
        if has("+") || has("-") { place += 1 }
        skipDigits()
      }
    }
    // SQLite takes “12abc” for no number either.
    guard place >= bytes.count || !Self.isLetter(bytes[place]),
      Self.isHexDigit(bytes[place - 1]) || bytes[place - 1] == UInt8(ascii: ".")
    else {
      throw wrong("invalid number", start..<min(place + 1, bytes.count))
    }
    return .number
  }

  private mutating func skipDigits() {
    while place < bytes.count, bytes[place].isDigit { place += 1 }
  }

  private mutating func symbol() throws -> SQLToken.Kind {
    for symbol in Self.symbols where has(symbol) {
      place += symbol.utf8.count
      return .symbol
    }
    let range = place..<place + 1
    switch bytes[place] {
    case UInt8(ascii: ";"):
      throw wrong("an expression cannot be a list of statements", range, hint: "Leave the “;” out.")
    case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"),
      UInt8(ascii: "#"):
      throw wrong("an expression has no parameters", range)
    default: throw wrong("this has no meaning in SQL", range)
    }
  }

  /// Longest first.
  private static let symbols = [
    "->>", "->", "<=", "<>", "<<", ">=", ">>", "==", "!=", "||", "+", "-", "*", "/", "%", "<", ">",
    "=", "&", "|", "~", "(", ")", ",", ".",
  ]

  private static func isLetter(_ byte: UInt8) -> Bool { byte.isOfWord && !byte.isDigit }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    byte.isDigit || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
