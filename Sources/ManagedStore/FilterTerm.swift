import ManagedModel

/// An object that a predicate speaks of: the row that is filtered, or one that a path leads to.
struct FilterObject {
  var entity: String
  /// Alias of its row where there is one; else the row is looked up by the key.
  var row: String?
  var key: SQLText
}

/// What names in a predicate mean: the object it is about, and the variables of subqueries.
struct FilterScope {
  var object: FilterObject
  var variables: [String: FilterObject] = [:]
}

/// A value that SQL can compute for a row.
struct FilterTerm {
  enum Kind: Equatable {
    /// A whole number: one divided by another is whole as well.
    case integer
    case number
    case boolean
    case decimal
    case text
    case date
    case uuid
    /// Bytes; those that may be kept outside the row can only be asked for nil.
    case data(isPlain: Bool)
    /// A composite attribute, with the paths of its elements: it can only be asked for nil.
    case composite([String])
    /// The key of an object of that entity.
    case object(String)
    /// A Z_ENT.
    case entity

    var name: String {
      switch self {
      case .integer, .number: "a number"
      case .boolean: "a Boolean"
      case .decimal: "a Decimal"
      case .text: "text"
      case .date: "a date"
      case .uuid: "a UUID"
      case .data: "bytes"
      case .composite: "a composite attribute"
      case .object(let entity): "an object of \(entity)"
      case .entity: "an entity"
      }
    }

    var isNumeric: Bool {
      switch self {
      case .integer, .number, .boolean, .decimal: true
      default: false
      }
    }

    init(_ kind: ValueKind) {
      switch kind {
      case .integer: self = .integer
      case .real, .any: self = .number
      case .decimal: self = .decimal
      case .boolean: self = .boolean
      case .text: self = .text
      case .date: self = .date
      case .uuid: self = .uuid
      case .data: self = .data(isPlain: true)
      }
    }

    /// What the functions of expressions take it for; `nil` for what is no value to them.
    var value: ValueKind? {
      switch self {
      case .integer: .integer
      case .number: .real
      case .boolean: .boolean
      case .decimal: .decimal
      case .text: .text
      case .date: .date
      case .uuid: .uuid
      case .data(isPlain: true): .data
      case .data(isPlain: false), .composite, .object, .entity: nil
      }
    }
  }

  var sql: SQLText
  var kind: Kind
  /// As the predicate calls it.
  var name: String
  var range: Range<Int>
}

/// The objects, or values of them, that a path through to-many relationships leads to.
struct FilterCollection {
  var sources: [SQLText]
  var conditions: [SQLText]
  /// The value on each.
  var element: FilterTerm
  var range: Range<Int>

  /// A scalar over all elements.
  func selecting(_ what: SQLText) -> SQLText {
    "(SELECT \(what) FROM \(SQLText.list(sources)) WHERE \(SQLText.joined(conditions, "AND")))"
  }

  /// Whether an element fulfils a condition.
  func exists(_ condition: SQLText) -> SQLText {
    "EXISTS \(FilterCollection(sources: sources, conditions: conditions + [condition], element: element, range: range).selecting("1"))"
  }
}

/// One side of a comparison.
indirect enum FilterOperand {
  case term(FilterTerm)
  case constant(Expression.Constant, Range<Int>)
  case list([FilterOperand], Range<Int>)
  case collection(FilterCollection)

  var range: Range<Int> {
    switch self {
    case .term(let term): term.range
    case .constant(_, let range), .list(_, let range): range
    case .collection(let collection): collection.range
    }
  }
}
