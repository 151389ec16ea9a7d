import ManagedModel
import SQLite

extension FilterCompiler {
  /// What one side of a comparison stands for.
  mutating func operand(
    _ expression: LocatedExpression, _ scope: FilterScope
  ) throws -> FilterOperand {
    switch expression.kind {
    case .constant(let constant): return .constant(constant, expression.range)
    case .selfObject: return try path("SELF", from: scope.object, place: expression.place)
    case .variable(let name):
      guard let object = scope.variables[name] else {
        throw wrong("the variable $\(name) has no value here", expression.place)
      }
      return .term(
        FilterTerm(
          sql: object.key, kind: .object(object.entity), name: "$" + name,
          range: expression.place))
    case .aggregate(let elements):
      return .list(try elements.map { try operand($0, scope) }, expression.range)
    case .keyPath(let path, of: nil):
      return try self.path(path, from: scope.object, place: expression.place)
    case .keyPath(let path, of: let base?):
      if case .variable(let name) = base.kind, let object = scope.variables[name] {
        return try self.path(path, from: object, place: expression.place)
      }
      if path.hasPrefix("@") {
        return .term(
          try aggregate(
            path, of: operand(base, scope), path: path, expression.place))
      }
      guard case .term(let term) = try operand(base, scope), case .object(let entity) = term.kind
      else { throw wrong("“.\(path)” cannot follow this", expression.place) }
      return try self.path(
        path, from: FilterObject(entity: entity, row: nil, key: term.sql),
        place: expression.place)
    case .subquery(let source, let variable, let condition):
      return try subquery(source, variable, condition, scope)
    case .conditional(let condition, let yes, let no):
      let condition = try self.condition(condition, scope)
      let (yes, no) = (try term(yes, scope), try term(no, scope))
      guard yes.kind == no.kind else {
        throw wrong("\(no.name) is \(no.kind.name) and \(yes.name) is \(yes.kind.name)", no.range)
      }
      return .term(
        FilterTerm(
          sql: "(CASE WHEN \(condition) THEN \(yes.sql) ELSE \(no.sql) END)", kind: yes.kind,
          name: "TERNARY", range: expression.range))
    case .function(let name, let arguments):
      return try function(name, arguments, expression, scope)
    case .other(let name): throw wrong("\(name) has no meaning in a filter", expression.place)
    }
  }

  /// One value.
  private mutating func term(
    _ expression: LocatedExpression, _ scope: FilterScope
  ) throws -> FilterTerm {
    switch try operand(expression, scope) {
    case .term(let term): return term
    case .constant(let constant, let range): return try plain(constant, range)
    case .list(_, let range): throw wrong("a list stands on the right of IN", range)
    case .collection(let many):
      throw wrong("“\(many.element.name)” has many values", many.range)
    }
  }

  private mutating func subquery(
    _ source: LocatedExpression, _ variable: String, _ condition: LocatedPredicate,
    _ scope: FilterScope
  ) throws -> FilterOperand {
    guard case .collection(var many) = try operand(source, scope),
      case .object(let entity) = many.element.kind
    else { throw wrong("SUBQUERY needs a to-many relationship", source.range) }
    var inner = scope
    inner.variables[variable] = FilterObject(entity: entity, row: nil, key: many.element.sql)
    many.conditions.append(try self.condition(condition, inner))
    return .collection(many)
  }

  private mutating func function(
    _ name: String, _ arguments: [LocatedExpression], _ expression: LocatedExpression,
    _ scope: FilterScope
  ) throws -> FilterOperand {
    func expect(_ count: Int) throws {
      guard arguments.count == count else {
        throw wrong(
          "\(name) takes \(count) argument\(count == 1 ? "" : "s"), not \(arguments.count)",
          expression.place)
      }
    }
    func made(_ sql: SQLText, _ kind: FilterTerm.Kind) -> FilterOperand {
      .term(FilterTerm(sql: sql, kind: kind, name: expression.name, range: expression.range))
    }
    switch name {
    case "now", "now:":
      try expect(0)
      return made(now, .date)
    case "castObject:toType:":
      try expect(2)
      return try cast(arguments[0], to: arguments[1], expression, scope)
    case "count:", "sum:", "min:", "max:", "average:":
      try expect(1)
      let short = name == "average:" ? "@avg" : "@" + name.dropLast()
      return .term(
        try aggregate(short, of: operand(arguments[0], scope), path: name, expression.place))
    case "length:", "lowercase:", "uppercase:", "canonical:":
      try expect(1)
      let term = try self.term(arguments[0], scope)
      guard term.kind == .text else {
        throw wrong("\(term.name) is \(term.kind.name), not text", term.range)
      }
      switch name {
      case "length:": return made("length(\(term.sql))", .number)
      case "lowercase:": return made("strata_fold(\(term.sql), 1)", .text)
      case "uppercase:": return made("upper(\(term.sql))", .text)
      default: return made("strata_fold(\(term.sql), 3)", .text)
      }
    case "abs:":
      try expect(1)
      return made("abs(\(try number(arguments[0], scope).sql))", .number)
    case "modulus:by:":
      try expect(2)
      let left = try number(arguments[0], scope)
      return made("(\(left.sql) % \(try number(arguments[1], scope).sql))", .number)
    case "add:to:", "from:subtract:", "multiply:by:", "divide:by:":
      try expect(2)
      return try arithmetic(name, arguments, expression, scope)
    default:
      throw wrong(
        "the function “\(name)” is not known in a filter", expression.place,
        hint: "Known are now(), count:(), sum:(), min:(), max:(), average:(), length:(), "
          + "lowercase:(), uppercase:(), canonical:(), abs:(), modulus:by:(), CAST().")
    }
  }

  private mutating func number(
    _ expression: LocatedExpression, _ scope: FilterScope
  ) throws -> FilterTerm {
    let term = try self.term(expression, scope)
    guard term.kind.isNumeric else {
      throw wrong("\(term.name) is \(term.kind.name), not a number", term.range)
    }
    return term
  }

  /// Numbers, a date and seconds, or the seconds between two dates. Division does not round.
  private mutating func arithmetic(
    _ name: String, _ arguments: [LocatedExpression], _ expression: LocatedExpression,
    _ scope: FilterScope
  ) throws -> FilterOperand {
    let (left, right) = (try term(arguments[0], scope), try term(arguments[1], scope))
    let kind: FilterTerm.Kind
    switch (left.kind, name, right.kind) {
    case (let one, _, let other) where one.isNumeric && other.isNumeric: kind = .number
    case (.date, "from:subtract:", .date): kind = .number
    case (.date, "add:to:", .number), (.date, "from:subtract:", .number): kind = .date
    case (let one, _, _):
      let culprit = one.isNumeric || one == .date ? right : left
      throw wrong(
        "\(culprit.name) is \(culprit.kind.name): it cannot be computed with", culprit.range)
    }
    let sql: SQLText
    switch name {
    case "add:to:": sql = "(\(left.sql) + \(right.sql))"
    case "from:subtract:": sql = "(\(left.sql) - \(right.sql))"
    case "multiply:by:": sql = "(\(left.sql) * \(right.sql))"
    default: sql = "(CAST(\(left.sql) AS REAL) / \(right.sql))"
    }
    return .term(FilterTerm(sql: sql, kind: kind, name: "the result", range: expression.range))
  }

  private mutating func cast(
    _ value: LocatedExpression, to type: LocatedExpression, _ expression: LocatedExpression,
    _ scope: FilterScope
  ) throws -> FilterOperand {
    guard case .constant(.string(let name)) = type.kind else {
      throw wrong("CAST needs a class in quotes, such as \"NSDate\"", type.range)
    }
    switch try operand(value, scope) {
    case .constant(let constant, let range):
      return .constant(
        try cast(constant, to: name, range, typeRange: type.range), expression.range)
    case .term(let term):
      let kind: FilterTerm.Kind
      var sql = term.sql
      switch (name, term.kind) {
      case ("NSDate", .date), ("NSDate", .number): kind = .date
      case ("NSNumber", let own) where own.isNumeric || own == .date: kind = .number
      case ("NSString", .text): kind = .text
      case ("NSString", let own) where own.isNumeric || own == .date:
        kind = .text
        sql = "CAST(\(sql) AS TEXT)"
      default:
        throw wrong("\(term.name) is \(term.kind.name) and cannot be cast to \(name)", type.range)
      }
      return .term(
        FilterTerm(sql: sql, kind: kind, name: term.name, range: expression.range))
    default: throw wrong("a list cannot be cast", value.range)
    }
  }
}

extension LocatedExpression {
  fileprivate var name: String {
    if case .function(let name, _) = kind { name } else { "the result" }
  }
}
