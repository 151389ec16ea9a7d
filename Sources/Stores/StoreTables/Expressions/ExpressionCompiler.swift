import ManagedModel
import SQLite

/// Turns expressions and predicates into SQL over a row: those of filters, of derived attributes and
/// of mappings.
///
/// To-one paths become lookups by key, to-many ones EXISTS or a scalar over them, so that nothing
/// multiplies rows. What the values are decides what `/` and `+` mean; nil goes through functions as
/// NULL does.
package struct ExpressionCompiler {
  /// What is compiled, for errors to show.
  package enum Origin {
    /// Text that a person wrote: errors are marked in it.
    case text(String)
    /// An expression of a mapping model: errors show it, and say how else to say it.
    case expression(Expression)
    /// A key path that was taken apart already.
    case path
  }

  let scope: ExpressionScope
  let origin: Origin
  /// The object that the expression is about.
  let object: ExpressionObject
  /// Objects that names with a `$` stand for: those of subqueries.
  var objects: [String: ExpressionObject] = [:]
  /// Properties of the row that were met.
  private(set) var properties: Set<String> = []
  /// Whether computing it twice must give the same.
  var isExact = true
  private var aliases = 0

  package init(scope: ExpressionScope, origin: Origin) {
    self.scope = scope
    self.origin = origin
    object = ExpressionObject(
      entity: scope.entity, row: scope.row, key: "\(own: scope.row).Z_PK")
    if scope.hasSource { objects[Expression.sourceName] = object }
  }

  var layout: StoreLayout { scope.layout }

  /// A table of the store, by its name in the statement.
  func table(_ name: String) -> SQLText { "\(own: scope.schema)\(name: name)" }

  mutating func note(_ property: String, of object: ExpressionObject) {
    if object.row == scope.row { properties.insert(property) }
  }

  mutating func alias() -> String {
    aliases += 1
    return "f\(aliases)"
  }

  /// A value, as a parameter or as a literal.
  func bound(_ value: Value) -> SQLText {
    scope.bindsValues ? "\(value: value)" : SQLText(own: value.literal)
  }

  /// An error about a name at a range of the text.
  func wrong(_ unknown: UnknownName, _ range: Range<Int>?) -> CoreDataError {
    wrong(unknown.message, range, hint: unknown.hint)
  }

  /// An error about the words in a range of the text, or about a part of a mapping's expression.
  ///
  /// - Parameter clause: what stands behind the expression where it shows no words; without it, the
  ///   message does.
  func wrong(
    _ message: String, _ range: Range<Int>?, hint: String? = nil, of part: Expression? = nil,
    _ clause: String? = nil
  ) -> CoreDataError {
    switch origin {
    case .text(let text):
      let mark = TextMark(text, range ?? text.utf8.count..<text.utf8.count)
      return CoreDataError(.usage, message, hint: hint, mark: mark)
    case .expression(let whole):
      var error = refusal(of: part ?? whole, clause ?? "cannot be computed: \(message)")
      error.hint = clause == nil ? hint ?? error.hint : error.hint
      return error
    case .path: return CoreDataError(.usage, message, entity: scope.entity, hint: hint)
    }
  }

  /// An error about a part of a mapping's expression, which says how else to say it.
  func refusal(of part: Expression, _ clause: String) -> CoreDataError {
    var shown = "“\(part)”"
    if case .expression(let whole) = origin, part != whole { shown += " in “\(whole)”" }
    return CoreDataError(
      .refused, code: .migration, "\(shown) \(clause)", entity: scope.entity,
      hint: "Give the attribute a value in a recipe, as SQL over the source's properties.")
  }
}

extension ExpressionCompiler {
  /// A constant as a term's column would hold it.
  func converted(
    _ constant: Expression.Constant, for term: ExpressionTerm, _ range: Range<Int>?
  ) throws(CoreDataError) -> Value {
    func unfit(_ hint: String) -> CoreDataError {
      wrong("\(term.name) is \(term.kind.name): compare it with \(hint)", range)
    }
    switch (term.kind, constant) {
    case (.integer, .integer(let number)), (.real, .integer(let number)),
      (.boolean, .integer(let number)):
      return .integer(number)
    case (.integer, .real(let number)), (.real, .real(let number)),
      (.boolean, .real(let number)):
      return .real(number)
    case (.integer, .boolean(let flag)), (.real, .boolean(let flag)),
      (.boolean, .boolean(let flag)):
      return .integer(flag ? 1 : 0)
    case (.integer, .decimal(let digits)), (.real, .decimal(let digits)):
      return Double(digits).map { .real($0) } ?? .null
    case (.decimal, .integer(let number)): return .text(String(number))
    case (.decimal, .real(let number)): return .text(decimalDigits(of: number))
    case (.decimal, .decimal(let digits)), (.decimal, .string(let digits)):
      guard DecimalDigits(digits) != nil else { throw unfit("a number") }
      return .text(digits)
    case (.text, .string(let text)), (.text, .url(let text)): return .text(text)
    case (.text, .uuid(let bytes)): return .text(UUIDText.text(bytes))
    case (.date, .date(let seconds)): return .real(seconds)
    case (.date, .string(let text)):
      guard let seconds = CoreDataDate.seconds(written: text) else {
        throw unfit("a date such as \"2024-03-01\" or \"2024-03-01T12:00:00Z\"")
      }
      return .real(seconds)
    case (.uuid, .string(let text)):
      guard let bytes = UUIDText.bytes(text) else { throw unfit("a UUID of 36 characters") }
      return .blob(bytes)
    case (.uuid, .uuid(let bytes)), (.uuid, .data(let bytes)): return .blob(bytes)
    case (.data, .data(let bytes)): return .blob(bytes)
    case (.any, _):
      guard let (value, _) = constant.stored else { throw unfit("a value") }
      return value
    case (.entity, .string(let name)):
      guard let table = layout.table(of: name) else {
        throw wrong(layout.unknownName(ofEntity: name), range)
      }
      return .integer(table.entityID)
    case (.cloudState, .string(let name)) where CloudObjectState(rawValue: name) != nil:
      return .text(name)
    case (.cloudState, _):
      let states = CloudObjectState.allCases.map { "\"\($0.rawValue)\"" }
      throw unfit(states.joined(separator: ", "))
    case (.integer, _), (.real, _), (.decimal, _): throw unfit("a number")
    case (.boolean, _): throw unfit("YES or NO")
    case (.text, _): throw unfit("text in quotes")
    case (.date, _):
      throw unfit("a date such as \"2024-03-01\" or CAST(0, \"NSDate\")")
    case (.uuid, _): throw unfit("the UUID's text in quotes")
    case (.data, _), (.file, _): throw unfit("nil or <00ff>")
    case (.composite(let elements), _): throw notSimple(term, elements)
    case (.entity, _): throw unfit("the entity's name in quotes")
    case (.object(let entity), _): throw unfit("\"\(entity)/p1\"")
    }
  }

  /// A constant by itself; nil is a value of any kind.
  func plain(
    _ constant: Expression.Constant, _ range: Range<Int>?
  ) throws(CoreDataError) -> ExpressionTerm {
    guard let (value, kind) = constant.stored else {
      throw wrong("this is not a value to compare with", range)
    }
    let sql: SQLText = kind == .decimal ? "CAST(\(bound(value)) AS NUMERIC)" : bound(value)
    return ExpressionTerm(sql, kind, name: constant.description, range: range)
  }

  /// `CAST(x, "NSDate")` and its like of a constant; `nil` where it is as the cast of any value is.
  func cast(
    _ constant: Expression.Constant, to type: String, _ range: Range<Int>?
  ) throws(CoreDataError) -> Expression.Constant? {
    switch (type, constant) {
    case (_, .null): return .null
    case (_, .string(let text)):
      guard let read = ValueFunctions.cast(text, to: type) else {
        return type == "NSURL" ? .url(text) : nil
      }
      if let read { return read }
      switch type {
      case "NSDate":
        throw wrong(
          "“\(text)” is not a date", range,
          hint: "Write 2024-03-01, 2024-03-01T12:00:00Z or seconds since 2001-01-01.")
      case "NSUUID": throw wrong("“\(text)” is not a UUID", range)
      default: throw wrong("“\(text)” is not a number", range)
      }
    case ("NSDate", .integer(let number)): return .date(Double(number))
    case ("NSDate", .real(let number)): return .date(number)
    case ("NSNumber", .date(let seconds)): return .real(seconds)
    case ("NSDecimalNumber", .integer(let number)): return .decimal(String(number))
    case ("NSDecimalNumber", .real(let number)): return .decimal(decimalDigits(of: number))
    case ("NSString", .boolean(let flag)): return .string(flag ? "1" : "0")
    case ("NSString", .integer(let number)): return .string(String(number))
    case ("NSString", .real(let number)): return .string(StoreFunctions.numberText(number))
    case ("NSString", .uuid(let bytes)): return .string(UUIDText.text(bytes))
    case ("NSDate", .date), ("NSNumber", .integer), ("NSNumber", .real),
      ("NSNumber", .boolean), ("NSDecimalNumber", .decimal), ("NSUUID", .uuid), ("NSURL", .url):
      return constant
    default: return nil
    }
  }
}

extension Expression.Constant {
  /// The value as a store keeps it; `nil` for what is no value of an attribute.
  var stored: (Value, ValueKind)? {
    switch self {
    case .null: (.null, .any)
    case .boolean(let flag): (.integer(flag ? 1 : 0), .boolean)
    case .integer(let number): (.integer(number), .integer)
    case .real(let number): (.real(number), .real)
    case .decimal(let digits): DecimalDigits(digits).map { _ in (.text(digits), .decimal) }
    case .string(let text), .url(let text): (.text(text), .text)
    case .date(let seconds): (.real(seconds), .date)
    case .data(let bytes): (.blob(bytes), .data)
    case .uuid(let bytes): (.blob(bytes), .uuid)
    case .type, .array: nil
    }
  }
}

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
    case .file, .composite, .object, .entity, .cloudState: return nil
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
