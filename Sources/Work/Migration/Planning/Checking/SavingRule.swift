import ManagedModel
import ManagedStore
import SQLite

/// What a save asks of an attribute that has a value: a bound, or a pattern.
package struct SavingRule: Sendable {
  /// SQL that is true of a value that breaks it.
  package var condition: String
  /// What such values are, after "values": `below the minimum 3`.
  package var clause: String
  /// The error that a save ends with.
  package var code: CoreDataError.Code

  /// The rules that a model gives an attribute; those in predicate format are not among them.
  ///
  /// - Parameters:
  ///   - value: SQL of the value.
  ///   - old: the rules of the version before: only what is new or tighter is asked then.
  package static func all(
    of attribute: Attribute, _ value: String, since old: Attribute.Validation? = nil
  ) -> [SavingRule] {
    guard let kind = RuleKind(attribute.type) else { return [] }
    let rules = attribute.validation
    let new = old == nil ? "" : "new "
    let subject = kind.subject(value)
    func bound(_ text: String?) -> Double? {
      text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
    }
    var all: [SavingRule] = []
    if let text = rules.minimum, let least = bound(text),
      bound(old?.minimum).map({ $0 < least }) ?? true
    {
      all.append(
        SavingRule(
          condition: "\(value) IS NOT NULL AND \(subject) < \(least)",
          clause: "\(kind.below) the \(new)minimum \(text)", code: kind.belowCode))
    }
    if let text = rules.maximum, let most = bound(text),
      bound(old?.maximum).map({ $0 > most }) ?? true
    {
      all.append(
        SavingRule(
          condition: "\(value) IS NOT NULL AND \(subject) > \(most)",
          clause: "\(kind.above) the \(new)maximum \(text)", code: kind.aboveCode))
    }
    if kind == .text, let pattern = rules.pattern, pattern != old?.pattern {
      // NULL, and so no finding, where the pattern is not understood.
      let literal = Value.text(pattern).literal
      all.append(
        SavingRule(
          condition: "\(value) IS NOT NULL AND strata_matches(\(value), \(literal), 0) = 0",
          clause: "that do not match the \(new)pattern “\(pattern)”",
          code: .validationStringPatternMatching))
    }
    return all
  }
}

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
