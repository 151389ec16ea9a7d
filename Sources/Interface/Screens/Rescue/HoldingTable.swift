import ManagedModel
import ManagedStore
import Rescue
import Terminal

/// What can be had of each entity, in columns.
struct HoldingTable {
  private let holdings: [EntityHolding]
  /// Objects that findings are about, by entity: at most so many, since one may have two faults.
  private let faults: [String: (count: Int, isSum: Bool)]

  init(_ holdings: [EntityHolding], _ condition: StoreCondition?) {
    self.holdings = holdings
    var faults: [String: (count: Int, isSum: Bool)] = [:]
    for finding in condition?.findings ?? [] where finding.severity != .note {
      guard let entity = finding.entity, let count = finding.count, finding.isOfObjects else {
        continue
      }
      let former = faults[entity]
      faults[entity] = ((former?.count ?? 0) + count, former != nil)
    }
    self.faults = faults
  }

  private var showsDeleted: Bool {
    holdings.contains { $0.deleted != nil || $0.older != nil }
  }

  /// The titles of the columns of numbers.
  var titles: [String] {
    ["live", "damaged", "lost (at most)"] + (showsDeleted ? ["deleted", "older"] : [])
  }

  /// The numbers of an entity, as text.
  func numbers(of holding: EntityHolding) -> [String] {
    let faults = faults[holding.entity]
    let lost =
      switch holding.lost {
      case nil: "0"
      case .atMost(let count)?: NumberText.grouped(count)
      case .unknown?: "unknown"
      }
    func text(_ number: Int?) -> String { number.map(NumberText.grouped) ?? "—" }
    return [
      NumberText.grouped(holding.live),
      faults.map { ($0.isSum ? "≤ " : "") + NumberText.grouped($0.count) } ?? "0", lost,
    ] + (showsDeleted ? [text(holding.deleted), text(holding.older)] : [])
  }

  /// Whether an entity's row is one to look at.
  func isConcerned(_ holding: EntityHolding) -> Bool {
    holding.lost != nil || faults[holding.entity] != nil
  }

  /// The table for the clipboard, a tab between columns.
  var text: String {
    ([["entity"] + titles] + holdings.map { [$0.entity.printable] + numbers(of: $0) })
      .map { $0.joined(separator: "\t") }.joined(separator: "\n")
  }

  /// Columns of cells that each number takes.
  static let width = 11

  /// Cells of the column with that title.
  static func width(_ title: String) -> Int { max(width, title.count + 2) }
}

extension Finding {
  /// Whether what it counts are objects that are there.
  fileprivate var isOfObjects: Bool {
    predicate != nil || first.contains { ObjectID($0) != nil }
  }
}
