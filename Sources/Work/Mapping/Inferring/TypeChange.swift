import ModelWriting

/// What a change of an attribute's type asks of its values: the rule for inference, for losses and
/// for what a plan says, whichever way a migration is carried out.
///
/// The seven number types become one another as they are: the column's type makes 5.0 of 5 and 5 of
/// 5.0. Core Data lets through what the new type cannot hold, and cuts it off when it reads.
package struct TypeChange: Equatable, Sendable {
  let old: AttributeType
  let new: AttributeType

  /// `nil` where the type stays.
  package init?(from old: AttributeType, to new: AttributeType) {
    guard old != new else { return nil }
    (self.old, self.new) = (old, new)
  }

  /// Why Core Data infers no mapping from one attribute to another.
  package enum Refusal {
    case incompatibleTypes
    /// The user info's key is on an attribute that is neither Transformable nor Binary.
    case transformationOfOtherType
    case transformationToExternal

    /// Core Data's own sentence.
    var sentence: String {
      switch self {
      case .incompatibleTypes: "Source and destination attribute types are incompatible"
      case .transformationOfOtherType:
        "Type Transformation expects NSTransformableAttributeType or NSBinaryDataAttributeType"
      case .transformationToExternal:
        "Type Transformation expects NSBinaryDataAttributeType NOT to be stored externally"
      }
    }
  }

  /// Why a mapping cannot be inferred from one attribute to another; `nil` where it can.
  ///
  /// An attribute of undefined type that is not transient cannot be mapped to anything, not even to
  /// itself.
  package static func refusal(from old: Attribute, to new: Attribute) -> Refusal? {
    if new.userInfo["NSMigrationAllowTypeTransformation"] != nil {
      guard new.type == .binary || new.type == .transformable else {
        return .transformationOfOtherType
      }
      if new.type == .binary, new.allowsExternalBinaryDataStorage {
        return .transformationToExternal
      }
      if old.type == .binary || old.type == .transformable { return nil }
    }
    if old.type == .undefined || new.type == .undefined { return .incompatibleTypes }
    return old.type == new.type || (isNumber(old.type) && isNumber(new.type))
      ? nil : .incompatibleTypes
  }

  private static func isNumber(_ type: AttributeType) -> Bool {
    type.isNumber || type == .boolean
  }

  /// Whether the new type may not hold what the old one did; `false` for a type that is only wider.
  package var mayLoseValues: Bool {
    guard isNumeric else { return true }
    return !misfits("1").isEmpty
  }

  private var isNumeric: Bool { Self.isNumber(old) && Self.isNumber(new) }

  /// For each kind of value that the new type cannot hold as it is, SQL that is true of such.
  ///
  /// - Parameter value: SQL of a column of the old type.
  package func misfits(_ value: String) -> [(misfit: NumberMisfit, condition: String)] {
    conditions(value).map { (NumberMisfit(kind: $0, type: new.name), $1) }
  }

  private func conditions(_ value: String) -> [(NumberMisfit.Kind, String)] {
    guard isNumeric else { return [] }
    switch new {
    case .boolean, .integer16, .integer32, .integer64:
      let outside = new.wholeNumbers.map {
        // What is before the point is read; a cast takes the nearest number that there is.
        "CAST(\(value) AS INTEGER) NOT BETWEEN \($0.lowerBound) AND \($0.upperBound)"
      }
      if old.isInteger {
        guard let outside, let range = new.wholeNumbers, mayBeOutside(range) else { return [] }
        return [(.range, outside)]
      }
      // A text is of more digits than a number of SQLite has.
      let beyond =
        outside
        ?? "typeof(\(value)) <> 'integer' AND CAST(\(value) AS REAL) NOT BETWEEN \(Int64.min) AND \(Int64.max)"
      return [
        (.range, beyond),
        (
          .fraction,
          "typeof(\(value)) <> 'integer' AND NOT (\(beyond)) AND \(value) <> CAST(\(value) AS INTEGER)"
        ),
      ]
    case .double:
      if old == .integer64 { return [(.precision, Self.hasMoreBits(value, than: 53))] }
      return old == .decimal
        ? [(.precision, "typeof(\(value)) = 'text' OR \(Self.hasMoreBits(value, than: 53))")] : []
    case .float:
      // A Double or Decimal is rounded to a Float's digits as it is read, and keeps its own in the
      // column; only what is beyond a Float's range becomes infinite.
      if old == .double || old == .decimal {
        return [
          (.range, "typeof(\(value)) = 'text' OR abs(\(value)) > \(Self.greatestFloat)")
        ]
      }
      return old == .integer32 || old == .integer64
        ? [(.precision, Self.hasMoreBits(value, than: 24))] : []
    case .decimal:
      return old == .double || old == .float
        ? [(.range, "abs(\(value)) > \(Self.greatestDecimal)")] : []
    default: return []
    }
  }

  private func mayBeOutside(_ range: ClosedRange<Int64>) -> Bool {
    old.wholeNumbers.map { !range.contains($0.lowerBound) || !range.contains($0.upperBound) }
      ?? true
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
  package func holds(_ value: AttributeValue) -> Bool {
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

/// What of a number a new type cannot hold.
public struct NumberMisfit: Sendable, Hashable {
  /// What is cut off.
  public enum Kind: String, Sendable, CaseIterable {
    /// The new type has no such number.
    case range
    /// The part after the decimal point, where the new type has whole numbers.
    case fraction
    /// Digits beyond those that the new type keeps.
    case precision
  }

  /// What is cut off.
  public var kind: Kind
  /// Name of the attribute's new type.
  public var type: String

  /// Which values are meant: `outside the range of Integer 16`.
  public var clause: String {
    switch kind {
    case .range: "outside the range of \(type)"
    case .fraction: "with a fraction, which \(type) cuts off"
    case .precision: "with more digits than \(type) keeps"
    }
  }
}
