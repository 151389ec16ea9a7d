import ManagedModel

/// What bounds mean for a type, with the codes of NSValidationErrors.
package enum RuleKind: Sendable {
  case number, date, text

  /// `nil` for a type that has no bounds.
  package init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: self = .number
    case .date: self = .date
    case .string: self = .text
    default: return nil
    }
  }

  /// SQL of what is compared with the bounds: of text its length.
  package func subject(_ column: String) -> String {
    self == .text ? "strata_length(\(column))" : column
  }

  /// What a value below the minimum is, before the minimum.
  package var below: String {
    self == .number ? "below" : self == .date ? "before" : "shorter than"
  }
  /// What a value above the maximum is, before the maximum.
  package var above: String {
    self == .number ? "above" : self == .date ? "after" : "longer than"
  }
  /// The error of a value below the minimum.
  package var belowCode: CoreDataError.Code {
    self == .number
      ? .validationNumberTooSmall
      : self == .date ? .validationDateTooSoon : .validationStringTooShort
  }
  /// The error of a value above the maximum.
  package var aboveCode: CoreDataError.Code {
    self == .number
      ? .validationNumberTooLarge
      : self == .date ? .validationDateTooLate : .validationStringTooLong
  }
}
