import ManagedModel
import SQLite

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
