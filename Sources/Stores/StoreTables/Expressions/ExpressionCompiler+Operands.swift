import ManagedModel

extension ExpressionCompiler {
  /// Longest SQL of one expression: some functions need an operand more than once.
  private static let maximumLength = 200_000

  /// What an expression stands for.
  mutating func operand(_ expression: Expression) throws(CoreDataError) -> ExpressionOperand {
    let operand = try unboundedOperand(expression)
    if case .term(let term) = operand, term.sql.sql.utf8.count > Self.maximumLength {
      throw wrong("the expression is too large", expression.range)
    }
    return operand
  }

  /// The one value of an expression, of a kind that can be computed with and kept.
  mutating func value(_ expression: Expression) throws(CoreDataError) -> ExpressionTerm {
    let term = try self.term(expression)
    switch term.kind {
    case .object where term.sql == object.key:
      throw wrong(
        "“\(term.name)” is an object", term.range, of: expression,
        "is the object itself, not a value of it")
    case .object, .entity:
      throw wrong(
        "“\(term.name)” is \(term.kind.name)", term.range, of: expression,
        "references an object, not a value of it")
    default: return try computable(term)
    }
  }

  private mutating func unboundedOperand(
    _ expression: Expression
  ) throws(CoreDataError) -> ExpressionOperand {
    let (place, range) = (expression.place, expression.range)
    switch expression.bare {
    case .located: return try operand(expression.bare)
    case .constant(.array(let elements)):
      return .list(elements.map { .constant($0, range) }, range)
    case .constant(let constant): return .constant(constant, range)
    case .selfObject: return .term(term(of: object, "SELF", place))
    case .variable(let name):
      if let object = objects[name] { return .term(term(of: object, "$" + name, place)) }
      return .term(try variable(name, expression))
    case .aggregate(let elements):
      return .list(
        try elements.map { element throws(CoreDataError) in try operand(element) }, range)
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject?):
      return try self.path(path, place)
    case .keyPath(let path, of: let base?):
      return try follow(path, from: operand(base), expression)
    case .subquery(let source, let variable, let condition):
      return try subquery(source, variable, condition)
    case .conditional(let condition, let yes, let no):
      let condition = try self.condition(condition)
      var (yes, no) = (try term(yes), try term(no))
      if !(yes.kind.isObject && yes.kind == no.kind) {
        (yes, no) = (try computable(yes), try computable(no))
      }
      return .term(
        ExpressionTerm(
          "(CASE WHEN \(condition) THEN \(yes.sql) ELSE \(no.sql) END)", yes.kind.joined(no.kind),
          name: "TERNARY", range: range))
    case .function(let name, receiver: nil, let arguments):
      return try function(name, arguments, expression)
    case .function(let name, let receiver?, let arguments):
      return try message(name, to: receiver, arguments, expression)
    case .fetch:
      throw wrong(
        "FETCH has no meaning in a filter", place, of: expression,
        "gives objects, which only a relationship can hold")
    case .setOperation(let name, _, _):
      throw wrong("\(name) has no meaning in a filter", place, of: expression, "gives many values")
    }
  }

  /// SQL that the scope knows under a name.
  private func variable(
    _ name: String, _ expression: Expression
  ) throws(CoreDataError) -> ExpressionTerm {
    guard let sql = scope.variables[name] else {
      throw wrong(
        "the variable $\(name) has no value here", expression.place, of: expression,
        "is known to Core Data's migration manager only")
    }
    return ExpressionTerm(SQLText(own: sql), .any, name: "$" + name, range: expression.range)
  }

  func term(of object: ExpressionObject, _ name: String, _ range: Range<Int>?) -> ExpressionTerm {
    ExpressionTerm(object.key, .object(object.entity), name: name, range: range)
  }

  /// One value for each.
  mutating func terms(_ expressions: [Expression]) throws(CoreDataError) -> [ExpressionTerm] {
    try expressions.map { expression throws(CoreDataError) in try term(expression) }
  }

  /// One value.
  mutating func term(_ expression: Expression) throws(CoreDataError) -> ExpressionTerm {
    switch try operand(expression) {
    case .term(let term): return term
    case .constant(let constant, let range): return try plain(constant, range)
    case .list(_, let range):
      throw wrong(
        "a list must be on the right of IN", range, of: expression, "gives many values")
    case .collection(let many):
      throw wrong(
        "“\(many.element.name)” has many values", many.element.range, of: expression,
        "goes through a relationship that has many objects")
    }
  }

  private mutating func subquery(
    _ source: Expression, _ variable: String, _ condition: Predicate
  ) throws(CoreDataError) -> ExpressionOperand {
    guard case .collection(var many) = try operand(source),
      case .object(let entity) = many.element.kind
    else { throw wrong("SUBQUERY needs a to-many relationship", source.range) }
    let outer = objects
    defer { objects = outer }
    objects[variable] = ExpressionObject(entity: entity, row: nil, key: many.element.sql)
    many.conditions.append(try self.condition(condition))
    return .collection(many)
  }

  private mutating func function(
    _ name: String, _ arguments: [Expression], _ expression: Expression
  ) throws(CoreDataError) -> ExpressionOperand {
    func expect(_ count: Int) throws(CoreDataError) {
      guard arguments.count == count else {
        throw miscounted(name, count, arguments.count, expression)
      }
    }
    switch name {
    case "now", "now:":
      try expect(0)
      return .term(
        ExpressionTerm(SQLText(own: scope.clock), .date, name: name, range: expression.range))
    case "castObject:toType:":
      try expect(2)
      return try cast(arguments[0], to: arguments[1], expression)
    case "count:", "sum:", "min:", "max:", "average:":
      try expect(1)
      let operation = name == "average:" ? "@avg" : "@" + name.dropLast()
      return .term(
        try aggregate(operation, of: operand(arguments[0]), name: name, expression.place))
    default:
      guard ValueFunctions.isKnown(name) else {
        throw wrong(
          "the function “\(name)” is not known in a filter", expression.place,
          hint: "Available: now(), count:(), sum:(), min:(), max:(), average:(), CAST(), "
            + ValueFunctions.names + ".", of: expression,
          "uses “\(name)”, for which there is no SQL")
      }
      return .term(try call(name, try terms(arguments), arguments, expression))
    }
  }

  func miscounted(
    _ name: String, _ count: Int, _ given: Int, _ expression: Expression
  ) -> CoreDataError {
    wrong(
      "\(name) takes \(NumberText.counted(count, "argument")), not \(given)",
      expression.place, of: expression,
      "takes \(NumberText.counted(count, "argument")), not \(given)")
  }

  /// A function of operands alone.
  func call(
    _ name: String, _ terms: [ExpressionTerm], _ arguments: [Expression], _ expression: Expression
  ) throws(CoreDataError) -> ExpressionTerm {
    let operands = try terms.map(computable)
    do {
      let result = try ValueFunctions.call(name, operands)
      return ExpressionTerm(
        result?.sql ?? "NULL", result?.kind ?? .any, name: name, range: expression.range)
    } catch {
      switch error {
      case .needsText(let index):
        throw wrong(
          "\(terms[index].name) is \(terms[index].kind.name), not text", terms[index].range,
          of: expression, "needs text")
      case .needsNumber(let index):
        throw wrong(
          "\(terms[index].name) is \(terms[index].kind.name): it cannot be computed with",
          terms[index].range, of: expression, "computes with a value that is not a number")
      case .addsText:
        throw wrong(
          "text cannot be added to text", expression.place, of: expression,
          "adds text: “stringByAppendingString:” does that")
      case .random:
        throw wrong(
          "it would give a different value each time", expression.place, of: expression,
          "gives a different value each time, which could not be verified")
      case .operands(let expected): throw miscounted(name, expected, arguments.count, expression)
      }
    }
  }

  /// A value as functions take it.
  func computable(_ term: ExpressionTerm) throws(CoreDataError) -> ExpressionTerm {
    switch term.kind {
    case .object, .entity:
      throw wrong("\(term.name) is \(term.kind.name): it cannot be computed with", term.range)
    default: return try comparable(term)
    }
  }

  private mutating func cast(
    _ value: Expression, to type: Expression, _ expression: Expression
  ) throws(CoreDataError) -> ExpressionOperand {
    let name: String
    switch type.bare {
    case .constant(.string(let text)), .constant(.type(let text)): name = text
    default:
      throw wrong(
        "CAST needs a class in quotes, such as \"NSDate\"", type.range, of: expression,
        "casts to no class")
    }
    let operand = try operand(value)
    if case .constant(let constant, let range) = operand,
      let read = try cast(constant, to: name, range)
    {
      return .constant(read, expression.range)
    }
    let term = try computable(self.term(value))
    guard let result = ValueFunctions.cast(term, to: name) else {
      throw wrong(
        "\(term.name) is \(term.kind.name) and cannot be cast to \(name)", type.range,
        hint: "Available: NSDate, NSString, NSNumber, NSDecimalNumber, NSUUID and NSURL.",
        of: expression, "casts to “\(name)” what cannot be one")
    }
    return .term(
      ExpressionTerm(result.sql, result.kind, name: term.name, range: expression.range))
  }
}

extension ExpressionCompiler {
  /// A condition that is NULL where it might be unknown: as good as false anywhere but below NOT.
  package mutating func condition(of format: String) throws(CoreDataError) -> SQLText {
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
