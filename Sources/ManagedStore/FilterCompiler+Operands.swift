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
      guard yes.kind == no.kind || yes.kind.isNumeric && no.kind.isNumeric else {
        throw wrong("\(no.name) is \(no.kind.name) and \(yes.name) is \(yes.kind.name)", no.range)
      }
      return .term(
        FilterTerm(
          sql: "(CASE WHEN \(condition) THEN \(yes.sql) ELSE \(no.sql) END)",
          kind: joined(yes.kind, no.kind),
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
    default:
      guard ValueFunctions.isKnown(name),
        let result = try value(name, try arguments.map { try term($0, scope) }, expression)
      else {
        throw wrong(
          "the function “\(name)” is not known in a filter", expression.place,
          hint: "Known are now(), count:(), sum:(), min:(), max:(), average:(), CAST(), "
            + ValueFunctions.names + ".")
      }
      return made(result.sql, FilterTerm.Kind(result.kind))
    }
  }

  private func joined(_ one: FilterTerm.Kind, _ other: FilterTerm.Kind) -> FilterTerm.Kind {
    guard one != other, let left = one.value, let right = other.value else { return one }
    return FilterTerm.Kind(left.joined(right))
  }

  /// What a function that is no matter of filters alone makes of its operands.
  private func value(
    _ name: String, _ terms: [FilterTerm], _ expression: LocatedExpression
  ) throws -> ValueTerm? {
    let operands = try terms.map { term in
      guard let kind = term.kind.value else {
        if case .data = term.kind {
          throw wrong(
            "\(term.name) is kept outside the row: only nil can be asked for", term.range)
        }
        if case .composite(let elements) = term.kind { throw notSimple(term, elements) }
        throw wrong("\(term.name) is \(term.kind.name): it cannot be computed with", term.range)
      }
      return ValueTerm(term.sql, kind)
    }
    do {
      return try ValueFunctions.call(name, operands)
    } catch {
      switch error {
      case .needsText(let index) where terms.indices.contains(index):
        throw wrong(
          "\(terms[index].name) is \(terms[index].kind.name), not text", terms[index].range)
      case .needsNumber(let index) where terms.indices.contains(index):
        throw wrong(
          "\(terms[index].name) is \(terms[index].kind.name): it cannot be computed with",
          terms[index].range)
      case .addsText: throw wrong("text cannot be added to text", expression.place)
      case .random: throw wrong("it would give another value each time", expression.place)
      case .operands(let expected):
        throw wrong(
          "\(name) takes \(expected) argument\(expected == 1 ? "" : "s"), not \(terms.count)",
          expression.place)
      case .needsText, .needsNumber: throw wrong("this cannot be computed", expression.place)
      }
    }
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
      guard let kind = term.kind.value,
        let result = ValueFunctions.cast(ValueTerm(term.sql, kind), to: name)
      else {
        throw wrong("\(term.name) is \(term.kind.name) and cannot be cast to \(name)", type.range)
      }
      return .term(
        FilterTerm(
          sql: result.sql, kind: FilterTerm.Kind(result.kind), name: term.name,
          range: expression.range))
    default: throw wrong("a list cannot be cast", value.range)
    }
  }
}

extension LocatedExpression {
  fileprivate var name: String {
    if case .function(let name, _) = kind { name } else { "the result" }
  }
}
