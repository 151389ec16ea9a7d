import ManagedModel
import SQLite

extension StoreSchema {
  /// The rows of a partial index as SQL; `nil` where the predicate asks for more than constants
  /// compared with the row's own columns.
  ///
  /// `column IS NOT NULL` is as stores show it; the other comparisons are *assumed*.
  func indexCondition(_ text: String, of entity: String) -> String? {
    guard let predicate = try? Predicate(format: text) else { return nil }
    return indexCondition(predicate, of: entity)
  }

  private func indexCondition(_ predicate: Predicate, of entity: String) -> String? {
    switch predicate {
    case .always: return nil
    case .not(let part): return indexCondition(part, of: entity).map { "NOT (\($0))" }
    case .and(let parts): return joined(parts, " AND ", of: entity)
    case .or(let parts): return joined(parts, " OR ", of: entity)
    case .comparison(let comparison): return indexCondition(comparison, of: entity)
    }
  }

  private func joined(_ parts: [Predicate], _ word: String, of entity: String) -> String? {
    let conditions = parts.compactMap { indexCondition($0, of: entity) }
    guard conditions.count == parts.count, !parts.isEmpty else { return nil }
    return parts.count == 1 ? conditions[0] : "(" + conditions.joined(separator: word) + ")"
  }

  private func indexCondition(
    _ comparison: Predicate.Comparison, of entity: String
  ) -> String? {
    guard comparison.quantifier == nil, comparison.options.isEmpty,
      let left = indexedExpression(comparison.left, in: entity)
    else { return nil }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .constant(.null)): return "\(left) IS NULL"
    case (.notEqual, .constant(.null)): return "\(left) IS NOT NULL"
    case (.isIn, .aggregate(let elements)):
      let constants = elements.compactMap { Self.constant($0) }
      guard constants.count == elements.count, !constants.isEmpty else { return nil }
      return "\(left) IN (\(constants.joined(separator: ", ")))"
    case (let comparator, let right):
      guard let sign = comparator == .notEqual ? "<>" : comparator.sqlSign,
        let value = Self.constant(right) ?? indexedExpression(right, in: entity)
      else { return nil }
      return "\(left) \(sign) \(value)"
    }
  }

  /// A constant that means the same in SQL as in a predicate.
  static func constant(_ expression: Expression) -> String? {
    guard case .constant(let constant) = expression, let (value, kind) = constant.stored else {
      return nil
    }
    switch kind {
    case .boolean, .integer, .real, .date, .text: return value.literal
    default: return nil
    }
  }

  /// Text as SQL.
  static func text(_ text: String) -> String { Value.text(text).literal }
}
