import Values

/// Takes Swift source apart into tokens; any bytes give some.
///
/// Branches of `#if` are all taken, but for those that say `false`.
struct SwiftLexer {
  /// The tokens, in order.
  private(set) var tokens: [SwiftToken] = []
  /// What the text has that no Swift has.
  private(set) var problems: [(line: Int, message: String)] = []
  /// What comments that begin with `strata:` say.
  private(set) var notes: [(line: Int, text: String)] = []

  let bytes: [UInt8]
  var at = 0
  var line = 1
  var isFirstOfLine = true
  private var isAfterSpace = true
  /// For each `#if` around: whether its present branch is left out.
  private var conditions: [Bool] = []
  private var leftOut = 0
  /// Numbers of `#` for which no `/##` follows any more.
  var unendedExpressions: Set<Int> = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    tokens.reserveCapacity(bytes.count / 6)
    run()
  }

  /// The byte so many places on; 0 behind the end.
  func peek(_ offset: Int = 0) -> UInt8 {
    let index = at + offset
    return index < bytes.count ? bytes[index] : 0
  }

  /// The text of a range of bytes that lies within them.
  func text(_ start: Int, _ end: Int) -> String {
    guard start < end, end <= bytes.count else { return "" }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  mutating func problem(_ message: String, line: Int) {
    if problems.count < 100 { problems.append((line, message)) }
  }

  private mutating func run() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    if peek() == Self.pound, peek(1) == UInt8(ascii: "!") { skipLine() }
    while at < bytes.count {
      let byte = bytes[at]
      switch byte {
      case 10:
        line += 1
        at += 1
        (isFirstOfLine, isAfterSpace) = (true, true)
      case 0...32:
        at += 1
        isAfterSpace = true
      case UInt8(ascii: "/"): slash()
      case UInt8(ascii: "\""): string(pounds: 0)
      case Self.pound: afterPound()
      case UInt8(ascii: "`"): quotedWord()
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">"):
        at += 2
        add(.mark, "->", line: line)
      default:
        if Self.isName(byte) || byte == UInt8(ascii: "$") { word() } else { mark(byte) }
      }
    }
    if !conditions.isEmpty { problem("an #if without its #endif", line: line) }
  }

  mutating func add(_ kind: SwiftToken.Kind, _ text: String, line: Int) {
    if leftOut == 0 {
      tokens.append(
        SwiftToken(
          kind: kind, text: text, line: line, isFirstOfLine: isFirstOfLine,
          isAfterSpace: isAfterSpace, conditions: conditions.count))
    }
    (isFirstOfLine, isAfterSpace) = (false, false)
  }

  private mutating func mark(_ byte: UInt8) {
    at += 1
    add(.mark, Self.marks[Int(byte & 127)], line: line)
  }

  private mutating func word() {
    let start = at
    at += 1
    while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
    add(.word, text(start, at), line: line)
  }

  private mutating func quotedWord() {
    let start = at + 1
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "`"), bytes[end] != 10 { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "`") else {
      at += 1
      return
    }
    at = end + 1
    add(.quotedWord, text(start, end), line: line)
  }

  private static let hexadecimal = Array("0x".utf8)

  private mutating func number() {
    let start = at
    while at < bytes.count {
      let byte = bytes[at]
      if Self.isName(byte) {
        at += 1
        // An exponent's sign; in hexadecimal e is a digit.
        let isExponent =
          bytes[start...].starts(with: Self.hexadecimal)
          ? byte | 32 == UInt8(ascii: "p") : byte | 32 == UInt8(ascii: "e")
        if isExponent, peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") { at += 1 }
      } else if byte == UInt8(ascii: "."), Self.isDigit(peek(1)) {
        at += 1
      } else {
        break
      }
    }
    add(.number, text(start, at), line: line)
  }

  // MARK: Comments

  private mutating func slash() {
    switch peek(1) {
    case UInt8(ascii: "/"):
      let start = at + 2
      skipLine()
      note(start, at)
      isAfterSpace = true
    case UInt8(ascii: "*"):
      skipComment()
      isAfterSpace = true
    default:
      if isOperandNext, let end = regularExpressionEnd() {
        let start = at
        at = end
        add(.regularExpression, text(start, end), line: line)
      } else {
        mark(UInt8(ascii: "/"))
      }
    }
  }

  mutating func skipLine() {
    while at < bytes.count, bytes[at] != 10 { at += 1 }
  }

  /// Passes over a comment with those within it.
  mutating func skipComment() {
    let first = line
    var depth = 0
    while at < bytes.count {
      switch (bytes[at], peek(1)) {
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        depth += 1
        at += 2
      case (UInt8(ascii: "*"), UInt8(ascii: "/")):
        depth -= 1
        at += 2
        if depth == 0 { return }
      case (10, _):
        line += 1
        isFirstOfLine = true
        at += 1
      default: at += 1
      }
    }
    problem("a comment is never closed", line: first)
  }

  /// Keeps what a comment says to this program: `// strata:disable RULE`.
  private mutating func note(_ start: Int, _ end: Int) {
    var start = start
    while start < end, [32, 9, UInt8(ascii: "/")].contains(bytes[start]) { start += 1 }
    guard start < end, bytes[start] == UInt8(ascii: "s"),
      bytes[start..<end].starts(with: Array("strata:".utf8)), notes.count < 10_000
    else { return }
    notes.append((line, text(start + 7, end).trimmed))
  }

  // MARK: #if and its kin

  private static let pound = UInt8(ascii: "#")

  private mutating func afterPound() {
    var pounds = 1
    while peek(pounds) == Self.pound { pounds += 1 }
    if peek(pounds) == UInt8(ascii: "\"") { return string(pounds: pounds) }
    if peek(pounds) == UInt8(ascii: "/"), let end = extendedRegularExpressionEnd(pounds) {
      let (start, first) = (at, line)
      while at < end {
        if bytes[at] == 10 { line += 1 }
        at += 1
      }
      return add(.regularExpression, text(start, end), line: first)
    }
    guard pounds == 1, Self.isName(peek(1)) else {
      at += pounds - 1
      return mark(Self.pound)
    }
    let start = at + 1
    var end = start
    while end < bytes.count, Self.isName(bytes[end]) { end += 1 }
    let name = text(start, end)
    at = end
    switch name {
    case "if":
      let isOff = isCondition("false")
      conditions.append(isOff)
      leftOut += isOff ? 1 : 0
    case "elseif", "else":
      guard let wasLeftOut = conditions.popLast() else { break }
      if wasLeftOut { leftOut -= 1 }
      conditions.append(false)
    case "endif":
      if conditions.popLast() == true { leftOut -= 1 }
    default: return add(.pound, name, line: line)
    }
    var isInComment = false
    while at < bytes.count, bytes[at] != 10, !isInComment {
      if bytes[at] == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        isInComment = true
      } else {
        at += 1
      }
    }
    (isFirstOfLine, isAfterSpace) = (true, true)
  }

  /// Whether the rest of the line is this word and no more.
  private func isCondition(_ word: String) -> Bool {
    var end = at
    while end < bytes.count, bytes[end] != 10, bytes[end] != UInt8(ascii: "/") { end += 1 }
    return text(at, end).trimmed == word
  }

  // MARK: Letters

  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  static func isName(_ byte: UInt8) -> Bool {
    (byte | 32) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") || isDigit(byte)
      || byte >= 0x80
  }

  private static let marks = (UInt8(0)...127).map { String(decoding: [$0], as: UTF8.self) }
}

/// A word, literal or mark of Swift source, without what stands between them.
struct SwiftToken: Sendable, Equatable {
  /// What sort of token it is.
  enum Kind: Sendable, Equatable {
    /// A name or keyword.
    case word
    /// A name in backticks, which is never a keyword.
    case quotedWord
    case number
    /// A string literal; its text is what it stands for.
    case string
    /// A string literal with an interpolation, whose value only a running program knows.
    case interpolatedString
    case regularExpression
    /// `#` with a name, such as `#Unique`; the text is the name.
    case pound
    /// A bracket, a comma and the like, or one character of an operator; `->` is whole.
    case mark
  }

  var kind: Kind
  var text: String
  /// The line it begins on, from 1.
  var line: Int
  /// Whether it is the first of its line.
  var isFirstOfLine: Bool
  /// Whether white space or a comment stands before it.
  var isAfterSpace: Bool
  /// How many `#if` it stands in.
  var conditions: Int

  /// Whether it is this mark.
  func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }

  /// Whether it is this word, not in backticks.
  func isWord(_ word: String) -> Bool { kind == .word && text == word }

  /// Whether it can be a name.
  var isName: Bool { kind == .word || kind == .quotedWord }
}
