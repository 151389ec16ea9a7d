/// Expressions that know where their words stand in the text that they were read from.
extension Expression {
  /// Reads an expression from predicate format; its names, signs and values are `located`.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  package init(locating format: String) throws(CoreDataError) {
    self = try PredicateParser.locating(format) { parser throws(CoreDataError) in
      try parser.expression()
    }
  }

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
