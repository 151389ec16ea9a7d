import ManagedModel

/// What the functions of expressions mean, in filters, derived attributes and mappings alike: as
/// NSExpression has them. nil goes through everything as NULL does.
enum ValueFunctions {
  /// Those that are known, as a person writes them, for a message.
  static let names = """
    length:(), lowercase:(), uppercase:(), canonical:(), abs:(), chs:(), sqrt:(), exp:(), ln:(), \
    log:(), floor:(), ceiling:(), trunc:(), raise:toPower:(), modulus:by:(), bitwiseAnd:with:(), \
    bitwiseOr:with:(), bitwiseXor:with:(), leftshift:by:(), rightshift:by:(), onesComplement:()
    """

  /// One of Foundation's functions.
  ///
  /// - Returns: `nil` where it is not known; those over many values, `now` and `CAST` are no matter
  ///   of operands alone.
  static func call(
    _ name: String, _ operands: [ExpressionTerm]
  ) throws(ValueMistake)
    -> ExpressionTerm?
  {
    if isRandom(name) { throw .random }
    guard isKnown(name) else { return nil }
    let count = name.utf8.count { $0 == UInt8(ascii: ":") }
    guard operands.count == count else { throw .operands(expected: count) }
    switch name {
    case "noindex:": return operands[0]
    case "length:", "uppercase:", "lowercase:", "canonical:":
      return try ofText(name, operands[0])
    case "add:to:", "from:subtract:", "multiply:by:", "divide:by:":
      return try arithmetic(name, operands[0], operands[1])
    default:
      for (index, operand) in operands.enumerated() where !operand.kind.isNumber {
        throw .needsNumber(operand: index)
      }
      return operands.count == 1
        ? ofNumber(name, operands[0]) : ofNumbers(name, operands[0].sql, operands[1].sql)
    }
  }

  private static func isRandom(_ name: String) -> Bool { name == "random" || name == "random:" }

  /// Whether ``call(_:_:)`` has an answer to the name, be it a mistake.
  static func isKnown(_ name: String) -> Bool {
    switch name {
    case _ where isRandom(name): true
    case "noindex:", "length:", "uppercase:", "lowercase:", "canonical:", "add:to:",
      "from:subtract:", "multiply:by:", "divide:by:", "abs:", "chs:", "onesComplement:",
      "raise:toPower:", "modulus:by:", "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:",
      "leftshift:by:", "rightshift:by:":
      true
    default: StoreFunctions.functionsOfNumbers.contains(name)
    }
  }

  private static func ofText(
    _ name: String, _ text: ExpressionTerm
  ) throws(ValueMistake) -> ExpressionTerm {
    // Of data it is the number of bytes.
    if name == "length:" {
      guard text.kind.isText || text.kind == .data else { throw .needsText(operand: 0) }
      return ExpressionTerm("strata_length(\(text.sql))", .integer)
    }
    guard text.kind.isText else { throw .needsText(operand: 0) }
    switch name {
    case "uppercase:": return ExpressionTerm("strata_case(\(text.sql), 'upper')", .text)
    case "lowercase:": return ExpressionTerm("strata_case(\(text.sql), 'lower')", .text)
    default: return ExpressionTerm("strata_fold(\(text.sql), 3)", .text)
    }
  }

  private static func ofNumber(_ name: String, _ number: ExpressionTerm) -> ExpressionTerm {
    switch name {
    case "abs:": ExpressionTerm("abs(\(number.sql))", number.kind)
    case "chs:": ExpressionTerm("(-(\(number.sql)))", number.kind)
    case "onesComplement:": ExpressionTerm("(~(\(number.sql)))", .integer)
    default: ExpressionTerm("strata_math('\(own: name)', \(number.sql))", .real)
    }
  }

  private static func ofNumbers(_ name: String, _ left: SQLText, _ right: SQLText) -> ExpressionTerm
  {
    switch name {
    case "raise:toPower:": ExpressionTerm("strata_power(\(left), \(right))", .real)
    case "modulus:by:": ExpressionTerm("(\(left) % \(right))", .integer)
    case "bitwiseAnd:with:": ExpressionTerm("(\(left) & \(right))", .integer)
    case "bitwiseOr:with:": ExpressionTerm("(\(left) | \(right))", .integer)
    case "leftshift:by:": ExpressionTerm("(\(left) << \(right))", .integer)
    case "rightshift:by:": ExpressionTerm("(\(left) >> \(right))", .integer)
    // SQLite has no sign for it.
    default: ExpressionTerm("((\(left) | \(right)) - (\(left) & \(right)))", .integer)
    }
  }

  /// Arithmetic of numbers, of a date and seconds, or the seconds between two dates.
  ///
  /// As with NSExpression, an integer divided by an integer is an integer: `7 / 2` is 3. What is
  /// divided by zero is nil. Decimals are decimal.
  static func arithmetic(
    _ name: String, _ left: ExpressionTerm, _ right: ExpressionTerm
  ) throws(ValueMistake) -> ExpressionTerm {
    let sign = sign(of: name)
    let sql: SQLText = "(\(left.sql) \(own: sign) \(right.sql))"
    let quotient: SQLText = sign == "/" ? "(CAST(\(left.sql) AS REAL) / \(right.sql))" : sql
    switch (left.kind, sign, right.kind) {
    case (.date, "-", .date): return ExpressionTerm(sql, .real)
    case (.date, "+", let other) where other.isNumber, (.date, "-", let other) where other.isNumber:
      return ExpressionTerm(sql, .date)
    case (let other, "+", .date) where other.isNumber: return ExpressionTerm(sql, .date)
    case (let one, _, let other) where one.isNumber && other.isNumber:
      if one == .decimal || other == .decimal {
        return ExpressionTerm("strata_decimal(\(quotient))", .decimal)
      }
      if one.isWhole && other.isWhole { return ExpressionTerm(sql, .integer) }
      return one == .real || other == .real
        ? ExpressionTerm(quotient, .real) : ExpressionTerm(sql, .any)
    case (.text, "+", .text): throw .addsText
    case (let one, _, _): throw .needsNumber(operand: one.isNumber || one == .date ? 1 : 0)
    }
  }

  /// The sign that an arithmetic function is written with.
  private static func sign(of function: String) -> String {
    switch function {
    case "add:to:": "+"
    case "from:subtract:": "-"
    case "multiply:by:": "*"
    default: "/"
    }
  }

  /// `@count`, `@sum`, `@min`, `@max` or `@avg` of many values: what to select of them.
  ///
  /// The sum of integers is an integer, and that of nothing is 0; the others of nothing are nil.
  ///
  /// - Returns: `nil` where the operation is not known; `@min` and `@max` of any kind but data.
  static func aggregate(_ operation: String, of many: ExpressionTerm) -> ExpressionTerm? {
    let (sql, kind) = (many.sql, many.kind)
    switch operation {
    case "@count": return ExpressionTerm("count(*)", .integer)
    case "@min" where kind != .data: return ExpressionTerm("min(\(sql))", kind)
    case "@max" where kind != .data: return ExpressionTerm("max(\(sql))", kind)
    case "@sum" where kind.isNumber:
      if kind == .decimal { return ExpressionTerm("strata_decimal(total(\(sql)))", .decimal) }
      // In halves, which neither fail nor lose a digit where the sum of them is no Int64 or Double.
      return kind.isWhole
        ? ExpressionTerm(
          "ifnull(sum(\(sql) >> 32) * 4294967296 + sum(\(sql) & 4294967295), 0)", .integer)
        : ExpressionTerm("total(\(sql))", .real)
    case "@avg" where kind.isNumber:
      return kind == .decimal
        ? ExpressionTerm("strata_decimal(avg(\(sql)))", .decimal)
        : ExpressionTerm("avg(\(sql))", .real)
    default: return nil
    }
  }

  /// A value as another class; `nil` where it cannot be one.
  static func cast(_ term: ExpressionTerm, to name: String) -> ExpressionTerm? {
    let sql = term.sql
    switch (name, term.kind) {
    case ("NSDate", .date), ("NSString", .text), ("NSURL", .text), ("NSUUID", .uuid),
      ("NSData", .data), ("NSDecimalNumber", .decimal):
      return term
    case ("NSNumber", let kind) where kind.isNumber: return term
    case ("NSDate", let kind) where kind.isNumber: return ExpressionTerm(sql, .date)
    case ("NSNumber", .date): return ExpressionTerm(sql, .real)
    case ("NSNumber", .text): return ExpressionTerm("CAST(\(sql) AS NUMERIC)", .real)
    case ("NSDecimalNumber", .text): return ExpressionTerm("CAST(\(sql) AS NUMERIC)", .decimal)
    case ("NSDecimalNumber", let kind) where kind.isNumber: return ExpressionTerm(sql, .decimal)
    case ("NSString", let kind) where kind.isNumber:
      return ExpressionTerm("strata_text(\(sql))", .text)
    case ("NSString", .uuid): return ExpressionTerm("strata_uuid(\(sql))", .text)
    default: return nil
    }
  }

  /// Text written in an expression as another class, where that is a matter of reading it; `nil`
  /// for other classes.
  ///
  /// - Returns: `.some(nil)` where the text is none of that class.
  static func cast(_ text: String, to name: String) -> Expression.Constant?? {
    switch name {
    case "NSDate":
      .some((CoreDataDate.seconds(written: text) ?? Double(text)).map { .date($0) })
    case "NSNumber": .some(Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) })
    case "NSUUID": .some(UUIDText.bytes(text).map { .uuid($0) })
    case "NSDecimalNumber": .some(DecimalDigits(text) == nil ? nil : .decimal(text))
    default: nil
    }
  }
}

/// What the values of an expression are; it decides what `/`, `+` and the functions mean.
package enum ValueKind: Equatable, Sendable {
  /// A whole number: one divided by another is whole as well.
  case integer
  case real
  case decimal
  case boolean
  case text
  case date
  case uuid
  case data
  /// `nil` itself, or a value of which nothing is known: it goes with everything.
  case any
  /// A column of bytes that may be kept outside the row.
  case file
  /// A composite attribute, with the paths of its elements: it can only be asked for nil.
  case composite([String])
  /// The key of an object of that entity.
  case object(String)
  /// A Z_ENT.
  case entity
  /// A ``CloudObjectState``.
  case cloudState

  /// The kind of what the column of an attribute, or of an element, holds.
  init(_ attribute: Attribute?) {
    switch attribute?.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .real
    case .decimal: self = .decimal
    case .boolean: self = .boolean
    case .string, .uri: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    default: self = attribute?.allowsExternalBinaryDataStorage == false ? .data : .file
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .real, .decimal, .boolean, .any: true
    default: false
    }
  }

  var isText: Bool { self == .text || self == .any }

  /// Whether NSNumber would hold the values as integers.
  var isWhole: Bool { self == .integer || self == .boolean }

  var isData: Bool { self == .data || self == .file }

  var hasNoOrder: Bool {
    [.uuid, .entity, .cloudState].contains(self) || isData
  }

  var isObject: Bool { if case .object = self { true } else { false } }

  var isComposite: Bool { if case .composite = self { true } else { false } }

  /// The kind of a value that is either of two.
  func joined(_ other: ValueKind) -> ValueKind {
    if self == other || other == .any { return self }
    if self == .any { return other }
    guard isNumber && other.isNumber else { return .any }
    if isWhole && other.isWhole { return .integer }
    return self == .decimal || other == .decimal ? .decimal : .real
  }

  /// The kind in an error's words.
  var name: String {
    switch self {
    case .integer, .real: "a number"
    case .decimal: "a Decimal"
    case .boolean: "a Boolean"
    case .text: "text"
    case .date: "a date"
    case .uuid: "a UUID"
    case .data, .file: "bytes"
    case .any: "a value"
    case .composite: "a composite attribute"
    case .object(let entity): "an object of \(entity)"
    case .entity: "an entity"
    case .cloudState: "a state of CloudKit mirroring"
    }
  }
}

/// Why a function cannot be taken of its operands.
enum ValueMistake: Error, Equatable {
  case needsText(operand: Int)
  case needsNumber(operand: Int)
  case addsText
  case operands(expected: Int)
  /// Another value each time: no two statements would agree on it.
  case random
}
