import ManagedStore
import SQLite

/// Conditions on the rows of entities, counted together: one pass over an entity's rows for all of them.
final class GatheredCounts {
  /// Whether questions are noted, to be counted together afterwards.
  private(set) var isGathering = false
  private var conditions: [String: [String]] = [:]
  private var counts: [String: [String: Int]] = [:]

  /// How many rows fulfil conditions, where that was counted.
  subscript(entity: String, conditions: [String]) -> Int? {
    counts[entity]?[Self.joined(conditions)]
  }

  /// Keeps an answer that is known without counting.
  func know(_ entity: String, _ condition: String, _ count: Int) {
    take(entity, [Self.joined([condition]): count])
  }

  /// Notes a question whose answer is not known.
  func gather(_ entity: String, _ conditions: [String]) {
    guard self[entity, conditions] == nil else { return }
    let condition = Self.joined(conditions)
    if self.conditions[entity]?.contains(condition) != true {
      self.conditions[entity, default: []].append(condition)
    }
  }

  private static func joined(_ conditions: [String]) -> String {
    conditions.isEmpty ? "1" : conditions.map { "(\($0))" }.joined(separator: " AND ")
  }

  fileprivate func gathering(_ ask: () throws -> Void) rethrows -> [String: [String]] {
    isGathering = true
    defer {
      isGathering = false
      conditions = [:]
    }
    try ask()
    return conditions
  }

  fileprivate func take(_ entity: String, _ found: [String: Int]) {
    counts[entity, default: [:]].merge(found) { $1 }
  }
}

extension SourceData {
  /// Most columns that a SELECT of these has: SQLite takes 2000.
  private static let most = 200

  /// Counts what `ask` asks of ``found(_:where:)``, which answers nothing meanwhile.
  func countTogether(_ ask: () throws -> Void) throws {
    for (entity, all) in try counts.gathering(ask).sorted(by: { $0.key < $1.key }) {
      // One alone may be answered from an index.
      guard all.count > 1, let rows = rows(of: entity) else { continue }
      for start in stride(from: 0, to: all.count, by: Self.most) {
        let some = Array(all[start..<min(start + Self.most, all.count)])
        let columns = some.map { "count(CASE WHEN \($0) THEN 1 END)" }.joined(separator: ", ")
        let row = try store.reading {
          try store.connection.rows("SELECT \(columns) \(rows)").first ?? []
        }
        counts.take(
          entity,
          Dictionary(zip(some, row.map { Int(clamping: $0.integer ?? 0) })) { first, _ in first })
      }
    }
  }
}
