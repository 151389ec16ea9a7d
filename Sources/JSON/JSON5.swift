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
