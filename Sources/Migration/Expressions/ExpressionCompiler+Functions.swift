import ManagedModel

extension ExpressionCompiler {
  /// One of Foundation's own functions of expressions.
  mutating func function(
    _ name: String, _ arguments: [Expression], of expression: Expression
  ) throws -> ExpressionTerm {
    let count = name.utf8.count { $0 == UInt8(ascii: ":") }
    guard arguments.count == count else {
      throw uncompilable(expression, "has \(arguments.count) arguments in place of \(count)")
    }
    switch name {
    case "now": return ExpressionTerm("strata_now()", .date)
    case "castObject:toType:": return try cast(arguments[0], to: arguments[1], expression)
    case "noindex:": return try term(arguments[0])
    case "count:", "sum:", "min:", "max:", "average:":
      return try collected(name, arguments[0], expression)
    case "length:":
      return try message("length", to: term(arguments[0]), [], of: expression)
    case "uppercase:":
      return try message("uppercaseString", to: term(arguments[0]), [], of: expression)
    case "lowercase:":
      return try message("lowercaseString", to: term(arguments[0]), [], of: expression)
    case "canonical:":
      let text = try term(arguments[0])
      guard text.kind == .text || text.kind == .any else {
        throw uncompilable(expression, "needs text")
      }
      return ExpressionTerm("strata_fold(\(text.sql), 3)", .text)
    case "abs:":
      let number = try number(arguments[0], expression)
      return ExpressionTerm("abs(\(number.sql))", number.kind)
    case "chs:":
      let number = try number(arguments[0], expression)
      return ExpressionTerm("(-(\(number.sql)))", number.kind)
    case let name where ExpressionFunctions.functionsOfNumbers.contains(name):
      let number = try number(arguments[0], expression)
      return ExpressionTerm("strata_math('\(name)', \(number.sql))", .real)
    case "raise:toPower:":
      let (base, exponent) = (
        try number(arguments[0], expression), try number(arguments[1], expression)
      )
      return ExpressionTerm("strata_power(\(base.sql), \(exponent.sql))", .real)
    case "add:to:", "from:subtract:", "multiply:by:", "divide:by:":
      return try arithmetic(
        name, try term(arguments[0]), try term(arguments[1]), expression)
    case "modulus:by:": return try bitwise("%", arguments, expression)
    case "bitwiseAnd:with:": return try bitwise("&", arguments, expression)
    case "bitwiseOr:with:": return try bitwise("|", arguments, expression)
    case "leftshift:by:": return try bitwise("<<", arguments, expression)
    case "rightshift:by:": return try bitwise(">>", arguments, expression)
    case "bitwiseXor:with:":
      // SQLite has no sign for it.
      let (left, right) = (
        try number(arguments[0], expression).sql, try number(arguments[1], expression).sql
      )
      return ExpressionTerm("((\(left) | \(right)) - (\(left) & \(right)))", .integer)
    case "onesComplement:":
      return ExpressionTerm("(~(\(try number(arguments[0], expression).sql)))", .integer)
    case "random", "random:":
      throw uncompilable(expression, "gives another value each time, which could not be verified")
    default: throw uncompilable(expression, "uses “\(name)”, for which there is no SQL")
    }
  }

  private mutating func number(
    _ part: Expression, _ expression: Expression
  ) throws -> ExpressionTerm {
    let term = try term(part)
    guard term.kind.isNumber else { throw uncompilable(expression, "computes with no number") }
    return term
  }

  private mutating func bitwise(
    _ sign: String, _ arguments: [Expression], _ expression: Expression
  ) throws -> ExpressionTerm {
    let (left, right) = (
      try number(arguments[0], expression), try number(arguments[1], expression)
    )
    return ExpressionTerm("(\(left.sql) \(sign) \(right.sql))", .integer)
  }

  /// Arithmetic of numbers, of a date and seconds, or the seconds between two dates.
  ///
  /// As with NSExpression, an integer divided by an integer is an integer: `7 / 2` is 3. What is
  /// divided by zero is nil.
  func arithmetic(
    _ name: String, _ left: ExpressionTerm, _ right: ExpressionTerm, _ expression: Expression
  ) throws -> ExpressionTerm {
    let sign = Expression.sign(of: name)
    let sql = "(\(left.sql) \(sign) \(right.sql))"
    switch (left.kind, sign, right.kind) {
    case (.date, "-", .date): return ExpressionTerm(sql, .real)
    case (.date, "+", let other) where other.isNumber, (.date, "-", let other) where other.isNumber:
      return ExpressionTerm(sql, .date)
    case (let other, "+", .date) where other.isNumber: return ExpressionTerm(sql, .date)
    case (let one, _, let other) where one.isNumber && other.isNumber:
      if one == .decimal || other == .decimal {
        return ExpressionTerm("strata_decimal(\(Self.divided(left, sign, right) ?? sql))", .decimal)
      }
      if one.isWhole && other.isWhole { return ExpressionTerm(sql, .integer) }
      let kind: ExpressionTerm.Kind = one == .real || other == .real ? .real : .any
      return ExpressionTerm(
        kind == .real ? Self.divided(left, sign, right) ?? sql : sql, kind)
    case (.text, "+", .text):
      throw uncompilable(expression, "adds text: “stringByAppendingString:” does that")
    default: throw uncompilable(expression, "computes with no number")
    }
  }

  private static func divided(
    _ left: ExpressionTerm, _ sign: String, _ right: ExpressionTerm
  ) -> String? {
    sign == "/" ? "(CAST(\(left.sql) AS REAL) / \(right.sql))" : nil
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
    let terms = try elements.map { try number($0, expression) }
    let rows = terms.map(\.sql).joined(separator: " UNION ALL SELECT ")
    let kinds = Set(terms.map(\.kind))
    let kind: ExpressionTerm.Kind =
      kinds.isSubset(of: [.integer, .boolean])
      ? .integer : kinds.contains(.decimal) ? .decimal : .real
    let function = [
      "@sum": "ifnull(sum(v), 0)", "@avg": "avg(v)", "@min": "min(v)", "@max": "max(v)",
    ]
    let sql = """
      (SELECT \(function[operation] ?? "NULL") FROM (SELECT NULL AS v WHERE 0 UNION ALL SELECT \(rows)))
      """
    return operation == "@avg" && kind == .integer
      ? ExpressionTerm(sql, .real)
      : ExpressionTerm(kind == .decimal ? "strata_decimal(\(sql))" : sql, kind)
  }

  private mutating func cast(
    _ value: Expression, to type: Expression, _ expression: Expression
  ) throws -> ExpressionTerm {
    let name: String
    switch type {
    case .constant(.string(let text)), .constant(.type(let text)): name = text
    default: throw uncompilable(expression, "casts to no class")
    }
    if case .constant(.string(let text)) = value {
      switch name {
      case "NSDate":
        guard let seconds = CoreDataDate.seconds(written: text) ?? Double(text) else {
          throw uncompilable(expression, "is no date")
        }
        return ExpressionTerm(AttributeValue.date(seconds).literal, .date)
      case "NSUUID":
        guard let bytes = UUIDText.bytes(text) else { throw uncompilable(expression, "is no UUID") }
        return ExpressionTerm(AttributeValue.uuid(bytes).literal, .uuid)
      default: break
      }
    }
    let term = try term(value)
    switch (name, term.kind) {
    case ("NSDate", .date), ("NSString", .text), ("NSURL", .text), ("NSUUID", .uuid),
      ("NSData", .data), ("NSDecimalNumber", .decimal):
      return term
    case ("NSNumber", let kind) where kind.isNumber: return term
    case ("NSDate", let kind) where kind.isNumber: return ExpressionTerm(term.sql, .date)
    case ("NSNumber", .date): return ExpressionTerm(term.sql, .real)
    case ("NSNumber", .text): return ExpressionTerm("CAST(\(term.sql) AS NUMERIC)", .real)
    case ("NSDecimalNumber", .text):
      return ExpressionTerm("CAST(\(term.sql) AS NUMERIC)", .decimal)
    case ("NSDecimalNumber", let kind) where kind.isNumber:
      return ExpressionTerm(term.sql, .decimal)
    case ("NSString", let kind) where kind.isNumber:
      return ExpressionTerm("strata_text(\(term.sql))", .text)
    case ("NSString", .uuid): return ExpressionTerm("strata_uuid(\(term.sql))", .text)
    default: throw uncompilable(expression, "casts to “\(name)” what cannot be one")
    }
  }
}

extension Expression {
  /// The sign that an arithmetic function is written with.
  fileprivate static func sign(of function: String) -> String {
    switch function {
    case "add:to:": "+"
    case "from:subtract:": "-"
    case "multiply:by:": "*"
    default: "/"
    }
  }
}
