import ManagedModel

/// What the values of an expression are; it decides what `/`, `+` and the functions mean.
package enum ValueKind: Equatable, Sendable {
  case integer
  case real
  case decimal
  case boolean
  case text
  case date
  case uuid
  case data
  /// `nil` itself, or a value of which nothing is known: it goes with everything.
  case any

  package init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .real
    case .decimal: self = .decimal
    case .boolean: self = .boolean
    case .string, .uri: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    case .binary, .transformable: self = .data
    case .undefined, .objectID, .composite: self = .any
    }
  }

  package var isNumber: Bool {
    switch self {
    case .integer, .real, .decimal, .boolean, .any: true
    case .text, .date, .uuid, .data: false
    }
  }

  package var isText: Bool { self == .text || self == .any }

  /// Whether NSNumber would hold the values as integers.
  package var isWhole: Bool { self == .integer || self == .boolean }

  /// The kind of a value that is either of two.
  package func joined(_ other: ValueKind) -> ValueKind {
    if self == other || other == .any { return self }
    if self == .any { return other }
    guard isNumber && other.isNumber else { return .any }
    return self == .decimal || other == .decimal ? .decimal : .real
  }

  /// The kind in an error's words.
  package var name: String {
    switch self {
    case .integer, .real: "a number"
    case .decimal: "a decimal number"
    case .boolean: "yes or no"
    case .text: "text"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data: "bytes"
    case .any: "a value"
    }
  }
}

/// A piece of an expression as SQL, and what its values are.
package struct ValueTerm: Sendable {
  package var sql: SQLText
  package var kind: ValueKind

  package init(_ sql: SQLText, _ kind: ValueKind) {
    self.sql = sql
    self.kind = kind
  }
}

/// Why a function cannot be taken of its operands.
package enum ValueMistake: Error, Equatable {
  case needsText(operand: Int)
  case needsNumber(operand: Int)
  case addsText
  case operands(expected: Int)
  /// Another value each time: no two statements would agree on it.
  case random
}
