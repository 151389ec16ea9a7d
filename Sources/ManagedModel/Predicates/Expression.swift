/// An NSExpression: what a mapping model, a derived attribute or a predicate computes with.
package indirect enum Expression: Sendable, Equatable {
  case constant(Constant)
  /// The object that is evaluated.
  case selfObject
  case variable(String)
  /// A key path on an expression, on the evaluated object when there is none.
  case keyPath(String, of: Expression?)
  /// A function; without a receiver one of Foundation's own, such as `count:` or `now`.
  case function(String, receiver: Expression?, arguments: [Expression])
  case aggregate([Expression])
  case subquery(Expression, variable: String, Predicate)
  case conditional(Predicate, Expression, Expression)
  case fetch(request: Expression, context: Expression, countOnly: Bool)
  /// `UNION`, `INTERSECT` or `MINUS` of two collections.
  case setOperation(String, Expression, Expression)
  /// An expression that was read by ``init(locating:)``, with the place in bytes of its name, sign or
  /// value in the text.
  case located(Expression, Range<Int>)

  package enum Constant: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case uuid([UInt8])
    case url(String)
    /// A class, by its name.
    case type(String)
    /// A constant collection of constants.
    case array([Constant])
  }
}

/// An NSPredicate: a condition on objects.
package indirect enum Predicate: Sendable, Equatable {
  case comparison(Comparison)
  case and([Predicate])
  case or([Predicate])
  case not(Predicate)
  case always(Bool)

  package struct Comparison: Sendable, Equatable {
    package var left: Expression
    package var comparator: Comparator
    package var right: Expression
    package var quantifier: Quantifier?
    package var options: Options = []

    package init(
      _ left: Expression, _ comparator: Comparator, _ right: Expression,
      quantifier: Quantifier? = nil, options: Options = []
    ) {
      self.left = left
      self.comparator = comparator
      self.right = right
      self.quantifier = quantifier
      self.options = options
    }
  }

  /// With NSPredicateOperator.Type's numbers.
  package enum Comparator: Int64, Sendable, CaseIterable {
    case less = 0
    case lessOrEqual = 1
    case greater = 2
    case greaterOrEqual = 3
    case equal = 4
    case notEqual = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case isIn = 10
    case contains = 99
    case between = 100

    package var symbol: String {
      switch self {
      case .less: "<"
      case .lessOrEqual: "<="
      case .greater: ">"
      case .greaterOrEqual: ">="
      case .equal: "=="
      case .notEqual: "!="
      case .matches: "MATCHES"
      case .like: "LIKE"
      case .beginsWith: "BEGINSWITH"
      case .endsWith: "ENDSWITH"
      case .isIn: "IN"
      case .contains: "CONTAINS"
      case .between: "BETWEEN"
      }
    }
  }

  /// With NSComparisonPredicate.Modifier's numbers.
  package enum Quantifier: Int64, Sendable {
    case all = 1
    case any = 2

    package var symbol: String { self == .all ? "ALL" : "ANY" }
  }

  /// With NSComparisonPredicate.Options' bits.
  package struct Options: OptionSet, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let caseInsensitive = Options(rawValue: 1)
    package static let diacriticInsensitive = Options(rawValue: 2)
    package static let normalized = Options(rawValue: 4)
    package static let localeSensitive = Options(rawValue: 8)

    /// The letters behind a comparator, such as `[cd]`.
    package var symbol: String {
      if contains(.normalized) { return "[n]" }
      var letters = ""
      if contains(.caseInsensitive) { letters += "c" }
      if contains(.diacriticInsensitive) { letters += "d" }
      if contains(.localeSensitive) { letters += "l" }
      return letters.isEmpty ? "" : "[\(letters)]"
    }
  }
}
