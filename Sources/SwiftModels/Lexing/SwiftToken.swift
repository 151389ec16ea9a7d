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
