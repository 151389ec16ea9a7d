import ManagedStore
import ModelWriting

/// What a change of an attribute's type asks of its values: the rule for inference, for checks and
/// for what a plan tells, whichever way a migration is carried out.
///
/// Numbers and truth values become one another as they are: the column's type makes 5.0 of 5 and 5
/// of 5.0. What the new type cannot hold is found in the rows before anything runs.
package struct TypeChange: Equatable, Sendable {
  let old: AttributeType
  let new: AttributeType

  /// `nil` where the type stays.
  package init?(from old: AttributeType, to new: AttributeType) {
    guard old != new else { return nil }
    (self.old, self.new) = (old, new)
  }

  /// Whether a mapping can be inferred in spite of it.
  static func isInferable(from old: AttributeType, to new: AttributeType) -> Bool {
    old == new || (isNumber(old) && isNumber(new))
  }

  private static func isNumber(_ type: AttributeType) -> Bool {
    switch type {
    case .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal: true
    default: false
    }
  }

  /// Whether the new type may not hold what the old one did; `false` for a type that is only wider.
  package var mayLoseValues: Bool {
    guard isNumeric else { return true }
    if let room = new.wholeNumbers {
      return old.wholeNumbers.map { !room.contains($0.lowerBound) || !room.contains($0.upperBound) }
        ?? true
    }
    return misfit("1") != nil
  }

  private var isNumeric: Bool { Self.isNumber(old) && Self.isNumber(new) }

  /// Whether Core Data is not known to infer what is inferred here.
  package var isUnknown: Bool { isNumeric && (old == .decimal || new == .decimal) }

  /// What is not known for sure of how Core Data takes the change, as a sentence; `nil` where stores
  /// that it migrated show it.
  package func caveat(of place: String) -> String? {
    guard isNumeric else { return nil }
    let change = "\(place) changes its type from \(old.name) to \(new.name)"
    if isUnknown {
      return
        "\(change): strata carries that out, Core Data may refuse to infer it (134190); apps write mapping models for it."
    }
    guard old == .float || new == .float else { return nil }
    return "\(change): that Core Data infers this as it does for Double is assumed."
  }

  /// SQL that is true of values that the new type cannot hold as they are; `nil` where it holds all.
  ///
  /// - Parameter value: SQL of a column of the old type.
  func misfit(_ value: String) -> String? {
    guard isNumeric else { return nil }
    switch new {
    case .boolean, .integer16, .integer32, .integer64:
      var conditions: [String] = []
      if let range = new.wholeNumbers {
        conditions.append("\(value) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)")
      }
      // A fraction, or a text of more digits than a number has.
      if !old.isInteger { conditions.append("\(value) <> CAST(\(value) AS INTEGER)") }
      return conditions.isEmpty ? nil : conditions.joined(separator: " OR ")
    case .double:
      if old == .integer64 { return Self.hasMoreBits(value, than: 53) }
      return old == .decimal
        ? "typeof(\(value)) = 'text' OR \(Self.hasMoreBits(value, than: 53))" : nil
    case .float:
      // A Double or Decimal is rounded to a Float's digits as it is read, and keeps its own in the
      // column; only what is beyond a Float's range becomes infinite.
      if old == .double || old == .decimal {
        return "typeof(\(value)) = 'text' OR abs(\(value)) > \(Self.greatestFloat)"
      }
      return old == .integer32 || old == .integer64 ? Self.hasMoreBits(value, than: 24) : nil
    case .decimal:
      return old == .double || old == .float ? "abs(\(value)) > \(Self.greatestDecimal)" : nil
    default: return nil
    }
  }

  /// What the values are that do not fit, as a clause.
  var complaint: String {
    new.isInteger && !old.isInteger
      ? "values that are no whole numbers in the range of \(new.name)"
      : "values that do not fit the narrower type \(new.name)"
  }

  private static let greatestFloat = "3.4028234663852886e38"
  /// 38 digits and an exponent up to 127.
  private static let greatestDecimal = "3.4028236692093846e165"

  /// Of a whole number the part without its last zeros, in bits, is what a mantissa must hold. The
  /// least number of all is a power of two, and has no absolute value.
  private static func hasMoreBits(_ value: String, than bits: Int) -> String {
    """
    CASE WHEN typeof(\(value)) = 'integer' AND \(value) > -9223372036854775807 \
    THEN abs(\(value)) / (\(value) & -\(value)) >= \(Int64(1) << Int64(bits)) ELSE 0 END
    """
  }
}

extension AttributeType {
  /// Whether a value is of this type, or can be taken for one: what a default that an earlier step
  /// gives must be when a later one changes the type.
  func holds(_ value: AttributeValue) -> Bool {
    switch self {
    case .boolean, .integer16, .integer32, .integer64:
      let number: Int64
      switch value {
      case .integer(let whole): number = whole
      case .boolean(let flag): number = flag ? 1 : 0
      case .double(let real):
        guard let whole = Int64(exactly: real) else { return false }
        number = whole
      case .decimal(let text):
        guard let whole = Double(text).flatMap({ Int64(exactly: $0) }) else { return false }
        number = whole
      default: return true
      }
      return wholeNumbers?.contains(number) ?? true
    default: return true
    }
  }
}

extension ModelDifference {
  /// What of the changes between two versions Core Data may take otherwise than it is taken here.
  package var typeChanges: [(change: TypeChange, place: String)] {
    changed.flatMap { entity in
      entity.changes.compactMap { change in
        guard case .type(let old, let new) = change.kind, let property = change.property,
          let found = TypeChange(from: old, to: new)
        else { return nil }
        return (found, "\(entity.name).\(property)")
      }
    }
  }
}
