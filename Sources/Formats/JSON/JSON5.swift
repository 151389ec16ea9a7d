/// A JSON5 value that knows where it stands in its text.
package struct JSON5: Sendable {
  /// What the value is, with what it holds.
  package indirect enum Kind: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    /// Plain: without escapes, so that a place in the string is a place in the text.
    case string(String, isPlain: Bool)
    case array([JSON5])
    case object([Member])
  }

  /// A key of an object with its value.
  package struct Member: Sendable {
    /// The key, without quotes and escapes.
    package var key: String
    /// Offsets of the key's UTF-8 bytes, quotes included.
    package var keyRange: Range<Int>
    /// What stands behind the key.
    package var value: JSON5
  }

  /// What the value is.
  package var kind: Kind
  /// Offsets of UTF-8 bytes, quotes and brackets included.
  package var range: Range<Int>

  /// Reads a whole text: JSON with comments, trailing commas, unquoted keys and JSON5's other
  /// conveniences.
  ///
  /// Time and memory grow with the text; nesting is bounded.
  package static func read(_ bytes: [UInt8]) throws(JSON5Mistake) -> JSON5 {
    var reader = JSON5Reader(bytes)
    return try reader.whole()
  }

  /// What a value is called in messages.
  package var name: String {
    switch kind {
    case .null: "null"
    case .boolean: "true or false"
    case .integer, .number: "a number"
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// What is wrong with a JSON5 text, and where.
package struct JSON5Mistake: Error, Equatable {
  /// What is wrong, as a clause.
  package var message: String
  /// Offsets of the UTF-8 bytes that are wrong.
  package var range: Range<Int>
}

/// Reads JSON5 from bytes, noting places.
struct JSON5Reader {
  /// Deepest nesting accepted; recipes need about ten.
  static let maximumDepth = 100

  private let bytes: [UInt8]
  private var place = 0
  private var depth = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
  }

  mutating func whole() throws(JSON5Mistake) -> JSON5 {
    let value = try value()
    try skipBlanks()
    guard place == bytes.count else { throw wrong("unexpected text after the end") }
    return value
  }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func wrong(_ message: String, _ range: Range<Int>? = nil) -> JSON5Mistake {
    JSON5Mistake(message: message, range: range ?? place..<min(place + 1, bytes.count))
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  /// White space and comments.
  private mutating func skipBlanks() throws(JSON5Mistake) {
    while let byte = next {
      switch byte {
      case 9...13, 32: place += 1
      case 0xC2 where has([0xC2, 0xA0]): place += 2
      case 0xE2 where has([0xE2, 0x80, 0xA8]) || has([0xE2, 0x80, 0xA9]): place += 3
      case 0xEF where has([0xEF, 0xBB, 0xBF]): place += 3
      case UInt8(ascii: "/"):
        if has(Array("//".utf8)) {
          while let byte = next, byte != 10, byte != 13 { place += 1 }
        } else if has(Array("/*".utf8)) {
          let start = place
          let end = Array("*/".utf8)
          place += 2
          while place < bytes.count, !has(end) { place += 1 }
          guard place < bytes.count else {
            throw wrong("the comment is not closed", start..<start + 2)
          }
          place += 2
        } else {
          return
        }
      default: return
      }
    }
  }

  private func has(_ text: [UInt8]) -> Bool { bytes[place...].starts(with: text) }

  private mutating func value() throws(JSON5Mistake) -> JSON5 {
    try skipBlanks()
    let start = place
    let kind: JSON5.Kind
    guard let first = next else { throw wrong("a value is missing at the end") }
    switch first {
    case UInt8(ascii: "{"): kind = try object()
    case UInt8(ascii: "["): kind = try array()
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let (text, isPlain) = try string()
      kind = .string(text, isPlain: isPlain)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      kind = try number()
    default:
      let word = identifier()
      switch word {
      case "null": kind = .null
      case "true": kind = .boolean(true)
      case "false": kind = .boolean(false)
      case "Infinity": kind = .number(.infinity)
      case "NaN": kind = .number(.nan)
      case "": throw wrong("a value is expected here")
      default: throw wrong("text must be in quotes", start..<place)
      }
    }
    return JSON5(kind: kind, range: start..<place)
  }

  private mutating func deeper() throws(JSON5Mistake) {
    depth += 1
    guard depth <= Self.maximumDepth else { throw wrong("it is nested too deeply") }
  }

  private mutating func object() throws(JSON5Mistake) -> JSON5.Kind {
    let start = place
    try deeper()
    defer { depth -= 1 }
    place += 1
    var members: [JSON5.Member] = []
    var keys: Set<String> = []
    while true {
      try skipBlanks()
      if skip("}") { return .object(members) }
      let keyStart = place
      let key: String
      switch next {
      case nil: throw wrong("“{” is not closed", start..<start + 1)
      case UInt8(ascii: "\""), UInt8(ascii: "'"): key = try string().text
      default:
        key = identifier()
        if key.isEmpty { throw wrong("a key is expected here") }
      }
      let keyRange = keyStart..<place
      guard keys.insert(key).inserted else {
        throw wrong("the key “\(key)” appears twice", keyRange)
      }
      try skipBlanks()
      guard skip(":") else { throw wrong("“:” is expected after the key “\(key)”") }
      members.append(JSON5.Member(key: key, keyRange: keyRange, value: try value()))
      try skipBlanks()
      guard skip(",") || next == UInt8(ascii: "}") else {
        if next == nil { throw wrong("“{” is not closed", start..<start + 1) }
        throw wrong("“,” or “}” is expected here")
      }
    }
  }

  private mutating func array() throws(JSON5Mistake) -> JSON5.Kind {
    let start = place
    try deeper()
    defer { depth -= 1 }
    place += 1
    var elements: [JSON5] = []
    while true {
      try skipBlanks()
      if skip("]") { return .array(elements) }
      if next == nil { throw wrong("“[” is not closed", start..<start + 1) }
      elements.append(try value())
      try skipBlanks()
      guard skip(",") || next == UInt8(ascii: "]") else {
        if next == nil { throw wrong("“[” is not closed", start..<start + 1) }
        throw wrong("“,” or “]” is expected here")
      }
    }
  }

  /// A name without quotes; empty where none stands.
  private mutating func identifier() -> String {
    let start = place
    while let byte = next {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
        place += 1
      case UInt8(ascii: "0")...UInt8(ascii: "9") where place > start: place += 1
      default: return String(decoding: bytes[start..<place], as: UTF8.self)
      }
    }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func number() throws(JSON5Mistake) -> JSON5.Kind {
    let start = place
    while let byte = next {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        place += 1
        continue
      default: break
      }
      break
    }
    var text = String(decoding: bytes[start..<place], as: UTF8.self)
    let isNegative = text.hasPrefix("-")
    if isNegative || text.hasPrefix("+") { text.removeFirst() }
    if text == "Infinity" { return .number(isNegative ? -.infinity : .infinity) }
    if text == "NaN" { return .number(.nan) }
    let sign = isNegative ? "-" : ""
    if text.hasPrefix("0x") || text.hasPrefix("0X") {
      let digits = text.dropFirst(2)
      if digits.first?.isHexDigit == true, let value = Int64(sign + digits, radix: 16) {
        return .integer(value)
      }
    } else if let first = text.utf8.first, first == UInt8(ascii: ".") || first < 58,
      text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) })
    {
      if let value = Int64(sign + text) { return .integer(value) }
      if text.hasSuffix(".") { text += "0" }
      if text.hasPrefix(".") { text = "0" + text }
      if let value = Double(sign + text) { return .number(value) }
    }
    throw wrong("invalid number", start..<place)
  }

  private mutating func string() throws(JSON5Mistake) -> (text: String, isPlain: Bool) {
    let start = place
    let quote = bytes[place]
    place += 1
    var text: [UInt8] = []
    var isPlain = true
    while let byte = next {
      place += 1
      switch byte {
      case quote: return (String(decoding: text, as: UTF8.self), isPlain)
      case 10, 13: throw wrong("the text is not closed on its line", start..<start + 1)
      case UInt8(ascii: "\\"):
        isPlain = false
        try escape(into: &text)
      default: text.append(byte)
      }
    }
    throw wrong("the text is not closed", start..<start + 1)
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSON5Mistake) {
    let start = place - 1
    guard let letter = next else { throw wrong("the text is not closed", start..<place) }
    place += 1
    switch letter {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "v"): text.append(11)
    case UInt8(ascii: "0"): text.append(0)
    case UInt8(ascii: "x"): text += Array(try scalar(hexadecimal(2, start), start).utf8)
    case UInt8(ascii: "u"):
      var value = try hexadecimal(4, start)
      // A character above U+FFFF is written as two.
      if (0xD800..<0xDC00).contains(value), has(Array("\\u".utf8)) {
        place += 2
        let low = try hexadecimal(4, start)
        guard (0xDC00..<0xE000).contains(low) else {
          throw wrong("unpaired surrogate", start..<place)
        }
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
      text += Array(try scalar(value, start).utf8)
    // A backslash before the line's end goes on in the next line.
    case 10: break
    case 13: _ = skip("\n")
    case UInt8(ascii: "1")...UInt8(ascii: "9"):
      throw wrong("invalid escape", start..<place)
    default: text.append(letter)
    }
  }

  private mutating func hexadecimal(_ count: Int, _ start: Int) throws(JSON5Mistake) -> UInt32 {
    let digits = String(decoding: bytes[place...].prefix(count), as: UTF8.self)
    guard digits.utf8.count == count, digits.allSatisfy(\.isHexDigit),
      let value = UInt32(digits, radix: 16)
    else { throw wrong("the escape needs \(count) hexadecimal digits", start..<place) }
    place += count
    return value
  }

  private func scalar(_ value: UInt32, _ start: Int) throws(JSON5Mistake) -> String {
    guard let scalar = Unicode.Scalar(value) else {
      throw wrong("unpaired surrogate", start..<place)
    }
    return String(scalar)
  }
}

/// What keeps a text from being JSON5, for files that another decoder reads without saying where.
package struct JSON5Check: Sendable, Equatable {
  /// What is wrong, as a clause.
  package let message: String
  /// From 1 on.
  package let line: Int

  /// - Returns: `nil` where the text is JSON5.
  package init?(_ bytes: [UInt8]) {
    do {
      _ = try JSON5.read(bytes)
      return nil
    } catch {
      message = error.message
      line = 1 + bytes.prefix(error.range.lowerBound).count { $0 == UInt8(ascii: "\n") }
    }
  }
}
