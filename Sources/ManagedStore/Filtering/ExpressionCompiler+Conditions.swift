import ManagedModel

extension ExpressionCompiler {
  /// A condition that is NULL where it might be unknown: as good as false anywhere but below NOT.
  mutating func condition(of format: String) throws(CoreDataError) -> SQLText {
    guard format.utf8.count <= 100_000 else {
      throw CoreDataError(.usage, "the predicate is too long", entity: scope.entity)
    }
    return try condition(Predicate(locating: format))
  }

  mutating func condition(_ predicate: Predicate) throws(CoreDataError) -> SQLText {
    switch predicate {
    case .always(let value): return value ? "1" : "0"
    case .not(let part): return Self.not(try condition(part))
    case .and(let parts):
      return parts.isEmpty
        ? "1" : .joined(try parts.map { part throws(CoreDataError) in try condition(part) }, "AND")
    case .or(let parts):
      return parts.isEmpty
        ? "0" : .joined(try parts.map { part throws(CoreDataError) in try condition(part) }, "OR")
    case .comparison(let comparison): return try self.comparison(comparison)
    }
  }

  static func not(_ condition: SQLText) -> SQLText { "(NOT ifnull(\(condition), 0))" }

  private mutating func comparison(
    _ comparison: Predicate.Comparison
  ) throws(CoreDataError) -> SQLText {
    let left = try operand(comparison.left)
    let right = try operand(comparison.right)
    let how = ComparisonSign(comparator: comparison.comparator, options: comparison.options)
    guard case .collection(let collection) = left else {
      if let quantifier = comparison.quantifier {
        throw wrong("\(quantifier.symbol) needs a to-many relationship behind it", left.range)
      }
      return try compare(left, how, right)
    }
    let element = ExpressionOperand.term(collection.element)
    switch comparison.quantifier {
    case .any: return collection.exists(try compare(element, how, right))
    case .all: return Self.not(collection.exists(Self.not(try compare(element, how, right))))
    case nil:
      guard how.comparator == .contains else {
        throw wrong(
          "“\(collection.element.name)” has many values", collection.element.range,
          hint: "Put ANY, ALL or NONE before it, or compare its @count.")
      }
      return collection.exists(try compare(element, how.equal, right))
    }
  }

  /// Compares two sides, neither of them many values but perhaps the right one.
  mutating func compare(
    _ left: ExpressionOperand, _ how: ComparisonSign, _ right: ExpressionOperand
  ) throws(CoreDataError) -> SQLText {
    switch (left, right) {
    case (.collection(let many), _):
      throw wrong("“\(many.element.name)” has many values", many.element.range)
    case (.list(_, let range), _): throw wrong("a list must be on the right of IN", range)
    case (_, .collection(let many)):
      guard how.comparator == .isIn else {
        throw wrong(
          "“\(many.element.name)” has many values", many.element.range,
          hint: "Put it on the left with ANY or ALL before it, or use IN or @count.")
      }
      return many.exists(try compare(.term(many.element), how.equal, left))
    case (_, .list(let elements, let range)):
      switch how.comparator {
      case .between: return try between(left, elements, range, how.options)
      case .isIn: return try isIn(left, elements, how.equal)
      default: throw wrong("a list needs IN or BETWEEN before it", range)
      }
    case (_, _) where how.comparator == .between:
      throw wrong("BETWEEN needs a list of two: {lower, upper}", right.range)
    case (.term(let term), .constant(let constant, let range)):
      if how.comparator == .isIn {
        throw wrong("IN needs a list: {1, 2}", range)
      }
      return try compare(term, how, with: constant, range)
    case (.constant(let constant, let range), .term(let term)):
      if how.comparator == .isIn {
        // "x" IN title: the text is a part of it.
        guard term.kind.isText else { throw wrong("IN needs a list or a to-many", term.range) }
        return try compare(
          term, ComparisonSign(comparator: .contains, options: how.options), with: constant,
          range)
      }
      if let turned = how.turned { return try compare(term, turned, with: constant, range) }
      let value = try plain(constant, range)
      return try compare(value, how, with: term)
    case (.term(let left), .term(let right)): return try compare(left, how, with: right)
    case (.constant(.null, _), .constant(let other, let range)) where other != .null:
      if how.isOrder { throw wrong("nil can only be compared with == and !=", range) }
      return how.comparator == .notEqual ? "1" : "0"
    case (.constant(let constant, let range), .constant(let other, let otherRange)):
      return try compare(plain(constant, range), how, with: other, otherRange)
    }
  }

  private mutating func between(
    _ left: ExpressionOperand, _ bounds: [ExpressionOperand], _ range: Range<Int>?,
    _ options: Predicate.Options
  ) throws(CoreDataError) -> SQLText {
    guard bounds.count == 2 else { throw wrong("BETWEEN needs a list of two", range) }
    let lower = try compare(
      left, ComparisonSign(comparator: .greaterOrEqual, options: options), bounds[0])
    let upper = try compare(
      left, ComparisonSign(comparator: .lessOrEqual, options: options), bounds[1])
    return "(\(lower) AND \(upper))"
  }

  /// Constants of one kind become one list, so that an index can serve them all.
  private mutating func isIn(
    _ left: ExpressionOperand, _ elements: [ExpressionOperand], _ equal: ComparisonSign
  ) throws(CoreDataError) -> SQLText {
    var pieces: [SQLText] = []
    var list: [SQLText] = []
    var subject: SQLText?
    for element in elements {
      if case .term(let term) = left, case .constant(let constant, let range) = element,
        let (sql, value) = try listed(term, constant, range, equal)
      {
        subject = sql
        list.append(bound(value))
      } else {
        pieces.append(try compare(left, equal, element))
      }
    }
    if let subject { pieces.append("\(subject) IN (\(SQLText.list(list)))") }
    return pieces.isEmpty ? "0" : .joined(pieces, "OR")
  }
}
