import ManagedModel

/// What the values of an expression are; it decides what `/`, `+` and the functions mean.
enum ValueKind: Equatable, Sendable {
  /// A whole number: one divided by another is whole as well.
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
  /// A column of bytes that may be kept outside the row.
  case file
  /// A composite attribute, with the paths of its elements: it can only be asked for nil.
  case composite([String])
  /// The key of an object of that entity.
  case object(String)
  /// A Z_ENT.
  case entity

  /// The kind of what the column of an attribute, or of an element, holds.
  init(_ attribute: Attribute?) {
    switch attribute?.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .real
    case .decimal: self = .decimal
    case .boolean: self = .boolean
    case .string, .uri: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    default: self = attribute?.allowsExternalBinaryDataStorage == false ? .data : .file
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .real, .decimal, .boolean, .any: true
    default: false
    }
  }

  var isText: Bool { self == .text || self == .any }

  /// Whether NSNumber would hold the values as integers.
  var isWhole: Bool { self == .integer || self == .boolean }

  var isData: Bool { self == .data || self == .file }

  var isObject: Bool { if case .object = self { true } else { false } }

  var isComposite: Bool { if case .composite = self { true } else { false } }

  /// The kind of a value that is either of two.
  func joined(_ other: ValueKind) -> ValueKind {
    if self == other || other == .any { return self }
    if self == .any { return other }
    guard isNumber && other.isNumber else { return .any }
    if isWhole && other.isWhole { return .integer }
    return self == .decimal || other == .decimal ? .decimal : .real
  }

  /// The kind in an error's words.
  var name: String {
    switch self {
    case .integer, .real: "a number"
    case .decimal: "a Decimal"
    case .boolean: "a Boolean"
    case .text: "text"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data, .file: "bytes"
    case .any: "a value"
    case .composite: "a composite attribute"
    case .object(let entity): "an object of \(entity)"
    case .entity: "an entity"
    }
  }
}

/// Why a function cannot be taken of its operands.
enum ValueMistake: Error, Equatable {
  case needsText(operand: Int)
  case needsNumber(operand: Int)
  case addsText
  case operands(expected: Int)
  /// Another value each time: no two statements would agree on it.
  case random
}
