// Strings and regular expressions, whose brackets are not the program's.
extension SwiftLexer {
  /// A string that is being read: one within an interpolation of another has its own.
  private struct Frame {
    var pounds: Int
    var isMultiLine: Bool
    /// Parentheses that are open in its interpolation; 0 while its text is read.
    var depth = 0
  }

  /// Reads a string literal; `at` is at its first `#` or quotation mark.
  mutating func string(pounds: Int) {
    let (first, wasFirstOfLine) = (line, isFirstOfLine)
    var frames: [Frame] = []
    open(pounds, &frames)
    let isMultiLine = frames.first?.isMultiLine ?? false
    let start = at
    var end = at
    var hasInterpolation = false
    while let top = frames.last, at < bytes.count {
      let byte = bytes[at]
      if byte == 10 {
        if top.depth == 0, !top.isMultiLine {
          end = at
          problem("a string is never closed", line: line)
          frames = []
          break
        }
        line += 1
        at += 1
      } else if top.depth > 0 {
        interpolation(byte, &frames)
      } else if byte == UInt8(ascii: "\\"), hasPounds(top.pounds, from: 1) {
        at += 1 + top.pounds
        if peek() == UInt8(ascii: "(") {
          frames[frames.count - 1].depth = 1
          hasInterpolation = true
          at += 1
        } else if peek() != 10 {
          at += 1
        }
      } else if byte == UInt8(ascii: "\""), closes(top) {
        end = at
        at += (top.isMultiLine ? 3 : 1) + top.pounds
        frames.removeLast()
      } else {
        at += 1
      }
    }
    at = min(at, bytes.count)
    if !frames.isEmpty {
      end = at
      problem("a string is never closed", line: first)
    }
    isFirstOfLine = wasFirstOfLine
    add(
      hasInterpolation ? .interpolatedString : .string,
      hasInterpolation
        ? "" : value(start, max(start, end), pounds: pounds, isMultiLine: isMultiLine),
      line: first)
  }

  private mutating func open(_ pounds: Int, _ frames: inout [Frame]) {
    at += pounds
    let isMultiLine =
      peek(1) == UInt8(ascii: "\"") && peek(2) == UInt8(ascii: "\"")
      && !(pounds > 0 && isClosedOnLine(pounds))
    at += isMultiLine ? 3 : 1
    frames.append(Frame(pounds: pounds, isMultiLine: isMultiLine))
  }

  /// Whether `#"""` is a string of one line that begins with a quotation mark: `#"""#`.
  private func isClosedOnLine(_ pounds: Int) -> Bool {
    var offset = 1
    while at + offset < bytes.count, peek(offset) != 10, offset < 4096 {
      if peek(offset) == UInt8(ascii: "\""), hasPounds(pounds, from: offset + 1) { return true }
      offset += 1
    }
    return false
  }

  /// One step through the expression of an interpolation.
  private mutating func interpolation(_ byte: UInt8, _ frames: inout [Frame]) {
    let top = frames.count - 1
    switch byte {
    case UInt8(ascii: "("):
      frames[top].depth += 1
      at += 1
    case UInt8(ascii: ")"):
      frames[top].depth -= 1
      at += 1
    case UInt8(ascii: "\""): open(0, &frames)
    case UInt8(ascii: "#"):
      var pounds = 1
      while peek(pounds) == UInt8(ascii: "#") { pounds += 1 }
      if peek(pounds) == UInt8(ascii: "\"") { open(pounds, &frames) } else { at += pounds }
    case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
    case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/") && frames[top].isMultiLine:
      skipLine()
    default: at += 1
    }
  }

  private func hasPounds(_ count: Int, from offset: Int) -> Bool {
    count == 0 || (0..<count).allSatisfy { peek(offset + $0) == UInt8(ascii: "#") }
  }

  private func closes(_ frame: Frame) -> Bool {
    guard frame.isMultiLine else { return hasPounds(frame.pounds, from: 1) }
    return peek(1) == UInt8(ascii: "\"") && peek(2) == UInt8(ascii: "\"")
      && hasPounds(frame.pounds, from: 3)
  }

  /// What a literal without interpolation stands for.
  private func value(_ start: Int, _ end: Int, pounds: Int, isMultiLine: Bool) -> String {
    var text = text(start, end)
    if isMultiLine {
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if lines.count >= 2 {
        let margin = lines.removeLast()
        lines.removeFirst()
        text = lines.map { $0.hasPrefix(margin) ? String($0.dropFirst(margin.count)) : String($0) }
          .joined(separator: "\n")
      }
    }
    guard pounds == 0, text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    var result = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let next = rest.popFirst() else {
        result.unicodeScalars.append(scalar)
        continue
      }
      switch next {
      case "n": result += "\n"
      case "t": result += "\t"
      case "r": result += "\r"
      case "0": result += "\0"
      case "\n": break
      case "u":
        let digits = rest.dropFirst().prefix { $0 != "}" }
        rest = rest.dropFirst(digits.count + 2)
        if let code = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
          let named = Unicode.Scalar(code)
        {
          result.unicodeScalars.append(named)
        }
      default: result.unicodeScalars.append(next)
      }
    }
    return result
  }

  // MARK: Regular expressions

  /// Whether a value may begin here, so that a slash is no operator.
  var isOperandNext: Bool {
    guard let last = tokens.last else { return true }
    switch last.kind {
    case .word:
      return ["return", "in", "case", "where", "if", "while", "try", "await", "is", "as"]
        .contains(last.text)
    case .mark: return ![")", "]", "}", "?", "!", ".", ">"].contains(last.text)
    case .quotedWord, .number, .string, .interpolatedString, .regularExpression, .pound:
      return false
    }
  }

  /// Where a regular expression between slashes ends; `nil` where the slash is an operator.
  func regularExpressionEnd() -> Int? {
    var index = at + 1
    guard index < bytes.count, ![9, 10, 32].contains(bytes[index]) else { return nil }
    var (depth, isInClass) = (0, false)
    while index < min(bytes.count, at + 4096), bytes[index] != 10 {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"): isInClass = false
      case UInt8(ascii: "(") where !isInClass: depth += 1
      case UInt8(ascii: ")") where !isInClass:
        depth -= 1
        if depth < 0 { return nil }
      case UInt8(ascii: "/") where !isInClass: return index + 1
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Where `#/…/#` ends; one that is not closed on its line must begin with a line's end.
  mutating func extendedRegularExpressionEnd(_ pounds: Int) -> Int? {
    guard !unendedExpressions.contains(pounds) else { return nil }
    var index = at + pounds + 1
    let isMultiLine = index < bytes.count && bytes[index] == 10
    while index < bytes.count {
      if bytes[index] == 10, !isMultiLine { return nil }
      if bytes[index] == UInt8(ascii: "\\") {
        index += 2
        continue
      }
      if bytes[index] == UInt8(ascii: "/"), index + pounds < bytes.count,
        bytes[(index + 1)...(index + pounds)].allSatisfy({ $0 == UInt8(ascii: "#") })
      {
        return index + pounds + 1
      }
      index += 1
    }
    unendedExpressions.insert(pounds)
    return nil
  }
}
