/// An NSExpression: what a mapping model, a derived attribute or a predicate computes with.
package indirect enum Expression: Sendable, Equatable {
  case constant(Constant)
  /// The object that is evaluated.
  case selfObject
  case variable(String)
  /// A key path on an expression; on the evaluated object if that is `nil`.
  case keyPath(String, of: Expression?)
  /// A function; without a receiver one of Foundation's own, such as `count:` or `now`.
  case function(String, receiver: Expression?, arguments: [Expression])
  case aggregate([Expression])
  case subquery(Expression, variable: String, Predicate)
  case conditional(Predicate, Expression, Expression)
  case fetch(request: Expression, context: Expression, countOnly: Bool)
  /// `UNION`, `INTERSECT` or `MINUS` of two collections.
  case setOperation(String, Expression, Expression)
  /// An expression that was read by ``Predicate/init(locating:)``, with the place in bytes of its name, sign or
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

extension Predicate {
  /// A rule for the value of one attribute as a condition on the objects that have it; `nil` where it
  /// asks for more of the value than itself and its length.
  package func about(_ attribute: String) -> Predicate? {
    switch self {
    case .always: return self
    case .not(let part): return part.about(attribute).map { .not($0) }
    case .and(let parts): return Self.all(parts, about: attribute).map { .and($0) }
    case .or(let parts): return Self.all(parts, about: attribute).map { .or($0) }
    case .comparison(var comparison):
      guard let left = comparison.left.about(attribute),
        let right = comparison.right.about(attribute)
      else { return nil }
      (comparison.left, comparison.right) = (left, right)
      return .comparison(comparison)
    }
  }

  private static func all(_ parts: [Predicate], about attribute: String) -> [Predicate]? {
    let told = parts.compactMap { $0.about(attribute) }
    return told.count == parts.count ? told : nil
  }
}

extension Expression {
  /// The expression with the value itself as an attribute of the object that has it.
  fileprivate func about(_ attribute: String) -> Expression? {
    let value = Expression.keyPath(attribute, of: nil)
    switch self {
    case .constant: return self
    case .selfObject, .keyPath("self", of: nil), .keyPath("SELF", of: nil): return value
    case .keyPath("length", of: nil), .keyPath("length", of: .selfObject):
      return .function("length:", receiver: nil, arguments: [value])
    case .aggregate(let parts):
      let told = parts.compactMap { $0.about(attribute) }
      return told.count == parts.count ? .aggregate(told) : nil
    case .located(let inner, let place):
      return inner.about(attribute).map { .located($0, place) }
    default: return nil
    }
  }
}

/// Expressions that know where their words stand in the text that they were read from.
extension Expression {
  /// The expression itself, without its place; the parts of it keep theirs.
  package var bare: Expression {
    if case .located(let inner, _) = self { inner.bare } else { self }
  }

  /// Where its name, sign or value stands; `nil` for one that was not read from a text.
  package var place: Range<Int>? {
    if case .located(_, let place) = self { place } else { range }
  }

  /// From its first to its last word; `nil` for one that was not read from a text.
  package var range: Range<Int>? {
    let (parts, place): ([Expression], Range<Int>?) =
      if case .located(let inner, let place) = self { (inner.operands, place) } else {
        (operands, nil)
      }
    return (parts.map(\.range) + [place]).compactMap { $0 }.reduce(nil) { whole, part in
      whole.map {
        min($0.lowerBound, part.lowerBound)..<max($0.upperBound, part.upperBound)
      } ?? part
    }
  }

  /// The expressions right below; not those in a condition.
  private var operands: [Expression] {
    switch self {
    case .constant, .selfObject, .variable: []
    case .keyPath(_, of: let base): base.map { [$0] } ?? []
    case .function(_, let receiver, let arguments): (receiver.map { [$0] } ?? []) + arguments
    case .aggregate(let elements): elements
    case .subquery(let collection, _, _): [collection]
    case .conditional(_, let yes, let no): [yes, no]
    case .fetch(let request, let context, _): [request, context]
    case .setOperation(_, let left, let right): [left, right]
    case .located(let inner, _): inner.operands
    }
  }
}

extension Predicate {
  /// Reads a predicate from predicate format; the expressions in it are `located`.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  package init(locating format: String) throws(CoreDataError) {
    self = try PredicateParser.locating(format) { parser throws(CoreDataError) in
      try parser.predicate()
    }
  }
}

extension PredicateParser {
  /// What is not understood is the fault of who wrote the text, not of a file.
  fileprivate static func locating<Result>(
    _ format: String, _ parse: (inout PredicateParser) throws(CoreDataError) -> Result
  ) throws(CoreDataError) -> Result {
    do {
      var parser = PredicateParser(format, isLocating: true)
      return try parser.whole(parse)
    } catch {
      var error = error
      error.kind = .usage
      throw error
    }
  }
}

extension Expression {
  /// What a mapping calls the object besides its bare property names: `$source.name`.
  package static let sourceName = "source"

  /// The key path that a message to an object is; `nil` for other messages.
  ///
  /// `FUNCTION(x, "name")` and `FUNCTION(x, "valueForKeyPath:", "name")` are the same as `x.name`.
  package static func path(_ selector: String, _ arguments: [Expression]) -> String? {
    switch (selector, arguments.first?.bare) {
    case ("valueForKeyPath:", .constant(.string(let path))?),
      ("valueForKey:", .constant(.string(let path))?),
      ("valueForKeyPath:", .keyPath(let path, of: nil)?),
      ("valueForKey:", .keyPath(let path, of: nil)?):
      arguments.count == 1 ? path : nil
    case (_, nil) where !selector.contains(":") && !selector.contains("."): selector
    default: nil
    }
  }
}
