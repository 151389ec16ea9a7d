/// A predicate that knows where its words stand in the text it was read from.
package indirect enum LocatedPredicate: Sendable {
  case comparison(LocatedComparison)
  case and([LocatedPredicate])
  case or([LocatedPredicate])
  case not(LocatedPredicate)
  case always(Bool)

  /// Reads a predicate from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  package init(format: String) throws {
    do {
      var parser = PredicateParser(format)
      let predicate = try parser.whole { try $0.predicate() }
      var locating = Locating(places: parser.places, end: format.utf8.count)
      self = locating.predicate(predicate)
    } catch var error as CoreDataError {
      error.kind = .usage
      throw error
    }
  }
}

package struct LocatedComparison: Sendable {
  package let left: LocatedExpression
  package let comparator: Predicate.Comparator
  package let right: LocatedExpression
  package let quantifier: Predicate.Quantifier?
  package let options: Predicate.Options
}

/// An expression with its place.
package struct LocatedExpression: Sendable {
  package indirect enum Kind: Sendable {
    case constant(Expression.Constant)
    case selfObject
    case variable(String)
    case keyPath(String, of: LocatedExpression?)
    case function(String, arguments: [LocatedExpression])
    case aggregate([LocatedExpression])
    case subquery(LocatedExpression, variable: String, LocatedPredicate)
    case conditional(LocatedPredicate, LocatedExpression, LocatedExpression)
    /// What has no meaning in a filter: a fetch, a set operation, a message to an object.
    case other(String)
  }

  package let kind: Kind
  /// From its first to its last word.
  package let range: Range<Int>
  /// The name, sign or value itself.
  package let place: Range<Int>
}

extension LocatedExpression {
  /// Reads an expression from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  package init(format: String) throws {
    do {
      var parser = PredicateParser(format)
      let expression = try parser.whole { try $0.expression() }
      var locating = Locating(places: parser.places, end: format.utf8.count)
      self = locating.expression(expression)
    } catch var error as CoreDataError {
      error.kind = .usage
      throw error
    }
  }
}

/// Joins a predicate to the places that the parser noted: one for every name, sign and constant, a
/// function's before its arguments'.
private struct Locating {
  var places: ArraySlice<Range<Int>>
  let end: Int

  init(places: [Range<Int>], end: Int) {
    self.places = places[...]
    self.end = end
  }

  mutating func predicate(_ predicate: Predicate) -> LocatedPredicate {
    switch predicate {
    case .always(let value): return .always(value)
    case .not(let part): return .not(self.predicate(part))
    case .and(let parts): return .and(parts.map { self.predicate($0) })
    case .or(let parts): return .or(parts.map { self.predicate($0) })
    case .comparison(let comparison):
      let left = expression(comparison.left)
      return .comparison(
        LocatedComparison(
          left: left, comparator: comparison.comparator, right: expression(comparison.right),
          quantifier: comparison.quantifier, options: comparison.options))
    }
  }

  mutating func expression(_ expression: Expression) -> LocatedExpression {
    if case .aggregate(let elements) = expression {
      let parts = elements.map { self.expression($0) }
      let range = Self.span(parts.map(\.range)) ?? end..<end
      return LocatedExpression(kind: .aggregate(parts), range: range, place: range)
    }
    let place = places.popFirst() ?? end..<end
    var parts: [LocatedExpression] = []
    let kind: LocatedExpression.Kind
    switch expression {
    case .constant(let constant): kind = .constant(constant)
    case .selfObject: kind = .selfObject
    case .variable(let name): kind = .variable(name)
    case .keyPath(let path, of: let operand):
      parts = operand.map { [self.expression($0)] } ?? []
      kind = .keyPath(path, of: parts.first)
    case .function(let name, let receiver, let arguments):
      parts = (receiver.map { [$0] } ?? []).map { self.expression($0) }
      parts += arguments.map { self.expression($0) }
      kind = receiver == nil ? .function(name, arguments: parts) : .other("FUNCTION")
    case .aggregate: kind = .aggregate([])
    case .subquery(let collection, let variable, let condition):
      let source = self.expression(collection)
      parts = [source]
      kind = .subquery(source, variable: variable, predicate(condition))
    case .conditional(let condition, let yes, let no):
      let condition = predicate(condition)
      parts = [self.expression(yes)]
      parts.append(self.expression(no))
      kind = .conditional(condition, parts[0], parts[1])
    case .fetch(let request, let context, _):
      parts = [self.expression(request), self.expression(context)]
      // The third argument was a constant in the text.
      _ = places.popFirst()
      kind = .other("FETCH")
    case .setOperation(let name, let left, let right):
      parts = [self.expression(left), self.expression(right)]
      kind = .other(name)
    }
    return LocatedExpression(
      kind: kind, range: Self.span([place] + parts.map(\.range)) ?? place, place: place)
  }

  private static func span(_ ranges: [Range<Int>]) -> Range<Int>? {
    guard let start = ranges.map(\.lowerBound).min(), let end = ranges.map(\.upperBound).max()
    else { return nil }
    return start..<end
  }
}
