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

  /// A value that an expression has by itself.
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

  /// Two expressions and the relation that must hold between them.
  package struct Comparison: Sendable, Equatable {
    /// What is compared.
    package var left: Expression
    /// The relation.
    package var comparator: Comparator
    /// What it is compared with.
    package var right: Expression
    /// Which of a to-many's objects must fulfil it; `nil` where no to-many is compared.
    package var quantifier: Quantifier?
    /// How text is compared.
    package var options: Options = []

    /// Compares one value with another, exactly unless options say more.
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

    /// The sign or word that a format string has for it.
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

    /// The word that a format string has before the comparison.
    package var symbol: String { self == .all ? "ALL" : "ANY" }
  }

  /// With NSComparisonPredicate.Options' bits.
  package struct Options: OptionSet, Sendable {
    /// The bits as an archive keeps them.
    package let rawValue: Int64
    /// Options by their bits; bits that are not known here stay.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Letters compare without case: `[c]`.
    package static let caseInsensitive = Options(rawValue: 1)
    /// Letters compare without their accents: `[d]`.
    package static let diacriticInsensitive = Options(rawValue: 2)
    static let normalized = Options(rawValue: 4)
    static let localeSensitive = Options(rawValue: 8)

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
