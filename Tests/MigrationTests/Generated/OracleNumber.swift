import ManagedModel

/// Numbers as values of another type, by arithmetic and not by SQL.
enum OracleNumber {
  private static let types: Set<AttributeType> = [
    .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
  ]

  private enum Number {
    case whole(Int64)
    case real(Double)
  }

  private static func number(_ value: AttributeValue) -> Number? {
    switch value {
    case .integer(let number): return .whole(number)
    case .boolean(let flag): return .whole(flag ? 1 : 0)
    case .double(let number): return .real(number)
    case .decimal(let text):
      if let whole = Int64(text) { return .whole(whole) }
      return Double(text).map { .real($0) }
    default: return nil
    }
  }

  /// Whether a value of one type is one of another as it is.
  static func fits(_ value: AttributeValue, _ old: AttributeType, _ new: AttributeType) -> Bool {
    guard types.contains(old), types.contains(new), let number = number(value) else { return true }
    switch new {
    case .boolean, .integer16, .integer32, .integer64:
      let whole: Int64
      switch number {
      case .whole(let number): whole = number
      case .real(let real):
        guard let number = Int64(exactly: real) else { return false }
        whole = number
      }
      return switch new {
      case .boolean: whole == 0 || whole == 1
      case .integer16: Int16(exactly: whole) != nil
      case .integer32: Int32(exactly: whole) != nil
      default: true
      }
    case .double:
      if case .whole(let whole) = number { return Int64(exactly: Double(whole)) == whole }
      return true
    case .float:
      switch number {
      case .whole(let whole):
        return old == .decimal || Int64(exactly: Float(whole)) == whole
      case .real(let real): return Float(real).isFinite
      }
    case .decimal:
      if case .real(let real) = number { return abs(real) < 3.4e165 }
      return true
    default: return true
    }
  }

  /// The value as the new type has it; one that does not fit stays what it is.
  static func converted(_ value: AttributeValue, to type: AttributeType) -> AttributeValue {
    guard types.contains(type), let number = number(value) else { return value }
    switch (type, number) {
    case (.boolean, .whole(let whole)) where whole == 0 || whole == 1: return .boolean(whole == 1)
    case (.boolean, .real(let real)) where real == 0 || real == 1: return .boolean(real == 1)
    case (.boolean, _): return value
    case (.integer16, .whole(let whole)), (.integer32, .whole(let whole)),
      (.integer64, .whole(let whole)):
      return .integer(whole)
    case (.integer16, .real(let real)), (.integer32, .real(let real)),
      (.integer64, .real(let real)):
      return Int64(exactly: real).map { .integer($0) } ?? value
    case (.float, .whole(let whole)), (.double, .whole(let whole)): return .double(Double(whole))
    case (.float, .real(let real)), (.double, .real(let real)): return .double(real)
    case (.decimal, .whole(let whole)): return .decimal(String(whole))
    case (.decimal, .real(let real)):
      if case .decimal = value { return value }
      if let whole = Int64(exactly: real) { return .decimal(String(whole)) }
      return .decimal(String(real))
    default: return value
    }
  }
}
