import ManagedModel
import ManagedStore

extension ExpressionCompiler {
  /// A message to a value: `FUNCTION(x, "uppercaseString")`, or the same in a key path.
  func message(
    _ selector: String, to receiver: ExpressionTerm, _ arguments: [ExpressionTerm],
    of expression: Expression
  ) throws -> ExpressionTerm {
    let count = selector.utf8.count { $0 == UInt8(ascii: ":") }
    guard arguments.count == count else {
      throw uncompilable(expression, "has \(arguments.count) arguments in place of \(count)")
    }
    let term: ExpressionTerm?
    switch receiver.kind {
    case .text: term = text(selector, receiver.sql, arguments)
    case .date: term = date(selector, receiver.sql, arguments)
    case .uuid:
      term = selector == "UUIDString" ? ExpressionTerm("strata_uuid(\(receiver.sql))", .text) : nil
    case .data:
      term = selector == "length" ? ExpressionTerm("strata_length(\(receiver.sql))", .integer) : nil
    case .integer, .real, .decimal, .boolean:
      term = try number(selector, receiver, arguments, expression)
    case .any:
      let other = receiver.sql
      term =
        try text(selector, other, arguments) ?? date(selector, other, arguments)
        ?? number(selector, receiver, arguments, expression)
    }
    if let term { return term }
    if selector == "self" { return receiver }
    throw uncompilable(expression, "uses “\(selector)”, for which there is no SQL")
  }

  private func text(
    _ selector: String, _ text: String, _ arguments: [ExpressionTerm]
  ) -> ExpressionTerm? {
    let values = arguments.map(\.sql)
    let same = [
      "uppercaseString": "uppercase:", "localizedUppercaseString": "uppercase:",
      "lowercaseString": "lowercase:", "localizedLowercaseString": "lowercase:",
      "length": "length:",
    ]
    if let function = same[selector],
      let term = try? ValueFunctions.call(function, [ValueTerm(SQLText(own: text), .text)])
    {
      return ExpressionTerm(term)
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
    _ selector: String, _ date: String, _ arguments: [ExpressionTerm]
  ) -> ExpressionTerm? {
    switch selector {
    case "timeIntervalSinceReferenceDate": ExpressionTerm(date, .real)
    case "timeIntervalSince1970": ExpressionTerm("(\(date) + 978307200.0)", .real)
    case "dateByAddingTimeInterval:": ExpressionTerm("(\(date) + \(arguments[0].sql))", .date)
    case "timeIntervalSinceDate:": ExpressionTerm("(\(date) - \(arguments[0].sql))", .real)
    default: nil
    }
  }

  private func number(
    _ selector: String, _ receiver: ExpressionTerm, _ arguments: [ExpressionTerm],
    _ expression: Expression
  ) throws -> ExpressionTerm? {
    let number = receiver.sql
    switch selector {
    case "stringValue", "description":
      return ExpressionTerm("strata_text(\(number))", .text)
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
    guard let function = functions[selector] else { return nil }
    return try self.function(
      function, of: [ExpressionTerm(number, .decimal), arguments[0]], expression)
  }
}
