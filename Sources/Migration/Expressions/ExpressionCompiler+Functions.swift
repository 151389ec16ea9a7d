import ManagedModel
import ManagedStore

extension ExpressionCompiler {
  /// One of Foundation's own functions of expressions.
  mutating func function(
    _ name: String, _ arguments: [Expression], of expression: Expression
  ) throws -> ExpressionTerm {
    func expect(_ count: Int) throws {
      guard arguments.count == count else {
        throw uncompilable(expression, "has \(arguments.count) arguments in place of \(count)")
      }
    }
    switch name {
    case "now":
      try expect(0)
      return ExpressionTerm("strata_now()", .date)
    case "castObject:toType:":
      try expect(2)
      return try cast(arguments[0], to: arguments[1], expression)
    case "count:", "sum:", "min:", "max:", "average:":
      try expect(1)
      return try collected(name, arguments[0], expression)
    case _ where !ValueFunctions.isKnown(name):
      throw uncompilable(expression, "uses “\(name)”, for which there is no SQL")
    default:
      return try function(name, of: try arguments.map { try term($0) }, expression)
    }
  }

  /// A function of operands alone.
  func function(
    _ name: String, of operands: [ExpressionTerm], _ expression: Expression
  ) throws -> ExpressionTerm {
    let result: ValueTerm?
    do {
      result = try ValueFunctions.call(name, operands.map(\.value))
    } catch {
      switch error {
      case .needsText: throw uncompilable(expression, "needs text")
      case .needsNumber: throw uncompilable(expression, "computes with no number")
      case .addsText:
        throw uncompilable(expression, "adds text: “stringByAppendingString:” does that")
      case .random:
        throw uncompilable(
          expression, "gives another value each time, which could not be verified")
      case .operands(let expected):
        throw uncompilable(
          expression, "has \(operands.count) arguments in place of \(expected)")
      }
    }
    guard let result else {
      throw uncompilable(expression, "uses “\(name)”, for which there is no SQL")
    }
    return ExpressionTerm(result)
  }

  /// Over a list of values, or over what a path through to-many relationships leads to.
  private mutating func collected(
    _ name: String, _ collection: Expression, _ expression: Expression
  ) throws -> ExpressionTerm {
    if name == "count:", case .aggregate(let elements) = collection {
      return ExpressionTerm(String(elements.count), .integer)
    }
    if name == "count:" { return try count(of: collection) }
    let operation = name == "average:" ? "@avg" : "@" + name.dropLast()
    if let path = collection.propertyPath {
      return try aggregate(operation, of: path, in: expression)
    }
    guard case .aggregate(let elements) = collection, !elements.isEmpty else {
      throw uncompilable(expression, "needs a list or a to-many relationship")
    }
    let terms = try elements.map { try term($0) }
    guard terms.allSatisfy(\.kind.isNumber) else {
      throw uncompilable(expression, "computes with no number")
    }
    let rows = terms.map(\.sql).joined(separator: " UNION ALL SELECT ")
    let kinds = Set(terms.map(\.kind))
    let kind: ExpressionTerm.Kind =
      kinds.isSubset(of: [.integer, .boolean])
      ? .integer : kinds.contains(.decimal) ? .decimal : .real
    guard let result = ValueFunctions.aggregate(operation, of: ValueTerm("v", kind)) else {
      throw uncompilable(expression, "uses “\(name)”, for which there is no SQL")
    }
    let sql = """
      (SELECT \(result.sql.sql) FROM (SELECT NULL AS v WHERE 0 UNION ALL SELECT \(rows)))
      """
    return ExpressionTerm(
      result.kind == .decimal ? "strata_decimal(\(sql))" : sql, result.kind)
  }

  private mutating func cast(
    _ value: Expression, to type: Expression, _ expression: Expression
  ) throws -> ExpressionTerm {
    let name: String
    switch type {
    case .constant(.string(let text)), .constant(.type(let text)): name = text
    default: throw uncompilable(expression, "casts to no class")
    }
    if case .constant(.string(let text)) = value, let read = ValueFunctions.cast(text, to: name) {
      guard let constant = read, let term = ExpressionTerm(constant) else {
        let what = ["NSDate": "date", "NSUUID": "UUID"][name] ?? "number"
        throw uncompilable(expression, "is no \(what)")
      }
      return term
    }
    guard let result = ValueFunctions.cast(try term(value).value, to: name) else {
      throw uncompilable(expression, "casts to “\(name)” what cannot be one")
    }
    return ExpressionTerm(result)
  }
}
