import ManagedModel

extension ExpressionCompiler {
  /// `@count`, `@sum`, `@avg`, `@min`, `@max` of many values: of a list, or of what a path through
  /// to-many relationships references.
  mutating func aggregate(
    _ operation: String, of operand: ExpressionOperand, name: String, _ range: Range<Int>?
  ) throws(CoreDataError) -> ExpressionTerm {
    func made(_ sql: SQLText, _ kind: ValueKind) -> ExpressionTerm {
      ExpressionTerm(sql, kind, name: name, range: operand.range)
    }
    let many: ExpressionCollection
    switch operand {
    case .collection(let found): many = found
    case .list(let elements, _) where operation == "@count":
      return made("\(number: Int64(elements.count))", .integer)
    case .list(let elements, let range): many = try listed(elements, range)
    case .term, .constant:
      throw wrong(
        "\(operation) needs a to-many relationship", range, of: nil,
        "needs a list or a to-many relationship")
    }
    if operation == "@count" { return made(many.selecting("count(*)"), .integer) }
    guard ["@sum", "@avg", "@min", "@max"].contains(operation) else {
      throw unknownAggregate(operation, range)
    }
    let kind = many.element.kind
    guard kind.isNumber || kind == .date || kind == .text,
      let result = ValueFunctions.aggregate(operation, of: many.element)
    else {
      throw wrong(
        "\(operation) cannot be taken of \(kind.name)", many.element.range, of: nil,
        "computes with a value that is not a number")
    }
    if operation == "@avg" || operation == "@sum" && !kind.isWhole { isExact = false }
    return made(many.selecting(result.sql), result.kind)
  }

  func unknownAggregate(_ name: String, _ range: Range<Int>?) -> CoreDataError {
    wrong(
      "“\(name)” is not known", range, hint: "Available: @count, @sum, @avg, @min, @max.",
      of: nil, "gives many values")
  }

  /// A list's values as rows.
  private mutating func listed(
    _ elements: [ExpressionOperand], _ range: Range<Int>?
  ) throws(CoreDataError) -> ExpressionCollection {
    let terms = try elements.map { element throws(CoreDataError) in
      switch element {
      case .term(let term): try computable(term)
      case .constant(let constant, let range): try plain(constant, range)
      case .list, .collection: throw wrong("a list of lists has no value", element.range)
      }
    }
    let kind = terms.map(\.kind).reduce(ValueKind.any) { $0.joined($1) }
    guard
      terms.allSatisfy(\.kind.isNumber) || terms.allSatisfy({ $0.kind == kind || $0.kind == .any })
    else {
      throw wrong(
        "these are values of several kinds", range, of: nil,
        "computes with a value that is not a number")
    }
    let rows = terms.reduce(SQLText(own: "")) { "\($0) UNION ALL SELECT \($1.sql)" }
    let row = alias()
    return ExpressionCollection(
      sources: ["(SELECT NULL AS v WHERE 0\(rows)) \(own: row)"], conditions: ["1"],
      element: ExpressionTerm(
        "\(own: row).v", terms.isEmpty ? .integer : kind, name: "the list", range: range))
  }
}
