import ManagedModel

extension ExpressionCompiler {
  /// A message with a receiver: a step of a path from an object, or what a value says to it.
  mutating func message(
    _ selector: String, to receiver: Expression, _ arguments: [Expression],
    _ expression: Expression
  ) throws(CoreDataError) -> ExpressionOperand {
    switch receiver.bare {
    case .variable("entityPolicy"):
      throw CoreDataError(
        .refused, code: .entityMigrationPolicy,
        "“\(expression)” is computed by “\(selector)” of the mapping's policy class, which is part of the app",
        entity: scope.entity,
        hint: "Let a recipe's “policies” entry or a policy in Swift stand in for the class.")
    case .variable("manager"):
      throw wrong(
        "the variable $manager has no value here", receiver.place, of: expression,
        "gives objects, which only a relationship can hold")
    default: break
    }
    let object = try operand(receiver)
    switch object {
    case .term(let term) where !term.kind.isObject:
      return .term(
        try message(selector, to: term, try terms(arguments), expression))
    case .constant:
      return .term(
        try message(
          selector, to: term(receiver), try terms(arguments), expression))
    case .term, .collection, .list:
      guard let path = Expression.path(selector, arguments) else {
        throw unanswered(selector, expression)
      }
      return try follow(path, from: object, expression)
    }
  }

  /// A message to a value: `FUNCTION(x, "uppercaseString")`, or the same in a key path.
  func message(
    _ selector: String, to receiver: ExpressionTerm, _ arguments: [ExpressionTerm],
    _ expression: Expression
  ) throws(CoreDataError) -> ExpressionTerm {
    let count = selector.utf8.count { $0 == UInt8(ascii: ":") }
    guard arguments.count == count else {
      throw miscounted(selector, count, arguments.count, expression)
    }
    guard let term = try answer(to: selector, of: content(receiver), arguments, expression) else {
      throw unanswered(selector, expression)
    }
    return ExpressionTerm(
      term.sql, term.kind, name: "\(receiver.name).\(selector)", range: expression.range)
  }

  private func unanswered(_ selector: String, _ expression: Expression) -> CoreDataError {
    wrong(
      "the message “\(selector)” is not known", expression.place, of: expression,
      "uses “\(selector)”, for which there is no SQL")
  }

  /// What a value answers; `nil` where it does not know the message.
  func answer(
    to selector: String, of receiver: ExpressionTerm, _ arguments: [ExpressionTerm] = [],
    _ expression: Expression? = nil
  ) throws(CoreDataError) -> ExpressionTerm? {
    let (sql, values) = (receiver.sql, arguments.map(\.sql))
    if selector == "self" { return receiver }
    switch receiver.kind {
    case .text: return text(selector, sql, values)
    case .date: return date(selector, sql, values)
    case .uuid:
      return selector == "UUIDString" ? ExpressionTerm("strata_uuid(\(sql))", .text) : nil
    case .data:
      return selector == "length" ? ExpressionTerm("strata_length(\(sql))", .integer) : nil
    case .integer, .real, .decimal, .boolean:
      return try number(selector, receiver, arguments, expression)
    case .any:
      if let known = text(selector, sql, values) ?? date(selector, sql, values) { return known }
      return try number(selector, receiver, arguments, expression)
    case .file, .composite, .object, .entity: return nil
    }
  }

  private func text(
    _ selector: String, _ text: SQLText, _ values: [SQLText]
  ) -> ExpressionTerm? {
    let same = [
      "uppercaseString": "uppercase:", "localizedUppercaseString": "uppercase:",
      "lowercaseString": "lowercase:", "localizedLowercaseString": "lowercase:",
      "length": "length:",
    ]
    if let function = same[selector] {
      return try? ValueFunctions.call(function, [ExpressionTerm(text, .text)])
    }
    switch selector {
    case "capitalizedString", "localizedCapitalizedString":
      return ExpressionTerm("strata_case(\(text), 'capital')", .text)
    case "description", "absoluteString": return ExpressionTerm(text, .text)
    case "integerValue", "intValue", "longLongValue":
      return ExpressionTerm("CAST(\(text) AS INTEGER)", .integer)
    case "doubleValue", "floatValue": return ExpressionTerm("CAST(\(text) AS REAL)", .real)
    case "boolValue":
      // As NSString reads it: behind white space, signs and zeros, a letter of yes or true, or a digit.
      return ExpressionTerm("(ltrim(\(text), ' +-0') GLOB '[YyTt1-9]*')", .boolean)
    case "stringByAppendingString:": return ExpressionTerm("(\(text) || \(values[0]))", .text)
    case "stringByReplacingOccurrencesOfString:withString:":
      return ExpressionTerm("replace(\(text), \(values[0]), \(values[1]))", .text)
    case "substringToIndex:":
      return ExpressionTerm("strata_substring(\(text), 0, \(values[0]))", .text)
    case "substringFromIndex:":
      return ExpressionTerm("strata_substring(\(text), \(values[0]), NULL)", .text)
    default: return nil
    }
  }

  private func date(
    _ selector: String, _ date: SQLText, _ values: [SQLText]
  ) -> ExpressionTerm? {
    switch selector {
    case "timeIntervalSinceReferenceDate": ExpressionTerm(date, .real)
    case "timeIntervalSince1970": ExpressionTerm("(\(date) + 978307200.0)", .real)
    case "dateByAddingTimeInterval:": ExpressionTerm("(\(date) + \(values[0]))", .date)
    case "timeIntervalSinceDate:": ExpressionTerm("(\(date) - \(values[0]))", .real)
    default: nil
    }
  }

  private func number(
    _ selector: String, _ receiver: ExpressionTerm, _ arguments: [ExpressionTerm],
    _ expression: Expression?
  ) throws(CoreDataError) -> ExpressionTerm? {
    let number = receiver.sql
    switch selector {
    case "stringValue", "description": return ExpressionTerm("strata_text(\(number))", .text)
    case "integerValue", "intValue", "longLongValue":
      return ExpressionTerm("CAST(\(number) AS INTEGER)", .integer)
    case "doubleValue", "floatValue": return ExpressionTerm("CAST(\(number) AS REAL)", .real)
    case "boolValue": return ExpressionTerm("(\(number) <> 0)", .boolean)
    case "decimalValue": return ExpressionTerm(number, .decimal)
    default: break
    }
    let functions = [
      "decimalNumberByAdding:": "add:to:", "decimalNumberBySubtracting:": "from:subtract:",
      "decimalNumberByMultiplyingBy:": "multiply:by:",
      "decimalNumberByDividingBy:": "divide:by:",
    ]
    guard let function = functions[selector], let expression else { return nil }
    var decimal = receiver
    decimal.kind = .decimal
    return try call(function, [decimal] + arguments, [], expression)
  }
}

extension Expression {
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
