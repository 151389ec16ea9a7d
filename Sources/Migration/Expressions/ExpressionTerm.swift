import ManagedModel

/// A piece of an expression as SQL, and what its values are.
struct ExpressionTerm {
  enum Kind: Equatable {
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

    init(_ type: AttributeType) {
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

    var isNumber: Bool {
      switch self {
      case .integer, .real, .decimal, .boolean, .any: true
      case .text, .date, .uuid, .data: false
      }
    }

    /// The kind of a value that is either of two.
    func joined(_ other: Kind) -> Kind {
      if self == other || other == .any { return self }
      if self == .any { return other }
      guard isNumber && other.isNumber else { return .any }
      return self == .decimal || other == .decimal ? .decimal : .real
    }

    /// The kind in an error's words.
    var name: String {
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

    /// Whether NSNumber would hold the values as integers.
    var isWhole: Bool { self == .integer || self == .boolean }
  }

  var sql: String
  var kind: Kind

  init(_ sql: String, _ kind: Kind) {
    self.sql = sql
    self.kind = kind
  }

  /// The SQL as an attribute of that type holds it; `nil` where it cannot.
  func sql(for type: AttributeType) -> String? {
    switch (type, kind) {
    case (_, .any): sql
    case (.integer16, .real), (.integer16, .decimal), (.integer32, .real), (.integer32, .decimal),
      (.integer64, .real), (.integer64, .decimal):
      "CAST(\(sql) AS INTEGER)"
    case (.boolean, let kind) where kind != .boolean && kind.isNumber: "(\(sql) <> 0)"
    case (.integer16, let kind), (.integer32, let kind), (.integer64, let kind),
      (.boolean, let kind), (.double, let kind), (.float, let kind), (.decimal, let kind):
      kind.isNumber ? sql : nil
    case (.string, .text), (.uri, .text), (.date, .date), (.uuid, .uuid), (.binary, .data),
      (.transformable, .data):
      sql
    default: nil
    }
  }

  /// A constant; `nil` for one that is no value of an attribute.
  init?(_ constant: Expression.Constant) {
    let value: AttributeValue
    switch constant {
    case .null: (value, kind) = (.null, .any)
    case .boolean(let flag): (value, kind) = (.boolean(flag), .boolean)
    case .integer(let number): (value, kind) = (.integer(number), .integer)
    case .real(let number): (value, kind) = (.double(number), .real)
    case .decimal(let digits): (value, kind) = (.decimal(digits), .decimal)
    case .string(let text), .url(let text): (value, kind) = (.string(text), .text)
    case .date(let seconds): (value, kind) = (.date(seconds), .date)
    case .data(let bytes): (value, kind) = (.bytes(bytes), .data)
    case .uuid(let bytes): (value, kind) = (.uuid(bytes), .uuid)
    case .type, .array: return nil
    }
    sql = value.literal
  }
}
