import ManagedModel
import ManagedStore
import Rescue
import Terminal

/// A popup that asks for one of several things.
struct ChoiceLayer: ChoosingLayer {
  struct Item: Sendable, Equatable {
    var text: String
    var intent: Intent
  }

  let title: String
  let enter: String
  let items: [Item]
  var width = 64
  /// What stands below the list.
  var text = ""
  var list: List

  /// `nil` where there is nothing to choose from.
  private init?(_ title: String, enter: String, _ items: [Item]) {
    guard !items.isEmpty else { return nil }
    (self.title, self.enter, self.items) = (title, enter, items)
    list = List(count: items.count, height: items.count)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding([.enter], enter, chooses), movement,
      closing(),
    ]
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    .close(items.element(list.selected).map { context.run($0.intent) } ?? [])
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(width, rect.width - 4))
    let lines = text.isEmpty ? [] : Wrapping.lines(text, width: width)
    let height = items.count + (lines.isEmpty ? 0 : lines.count + 1)
    let inside = Popup(title, width, height).draw(in: &grid, rect, theme: theme)
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: min(items.count, inside.height))
    list.draw(items, in: &grid, rows, theme: theme) { item, _ in [Span(item.text)] }
    grid.write(lines, in: inside.droppingRows(items.count + 1), style: theme[.dim])
  }
}

extension ChoiceLayer {
  /// Which of the deleted objects are to be restored.
  static func restore(_ browse: BrowseScreen, in context: Context, output: String) -> ChoiceLayer? {
    var items: [Item] = []
    func add(_ choice: RestoreOrder.Choice, _ count: Int? = nil) {
      items.append(
        Item(
          text: choice.words + (count.map { " (\(NumberText.grouped($0)))" } ?? ""),
          intent: .askToRestore(RestoreOrder(output: output, choice: choice))))
    }
    let found = context.remains.remains?.entities ?? []
    let all = found.reduce(0) { $0 + $1.deleted + $1.lost }
    if let table = browse.table {
      if let filter = table.rowFilter { add(.matching(filter)) }
      let model = context.store?.layout.model
      let names = Set(model?.subtree(of: table.entity) ?? [table.entity])
      let own = found.filter { names.contains($0.name) }.reduce(0) { $0 + $1.deleted + $1.lost }
      if own > 0 { add(.all(entity: table.entity), own) }
      if all > own { add(.all(entity: nil), all) }
      if let row = table.window.selectedRow, table.sources[row.id]?.isDeleted == true {
        add(.only(row.id))
      }
    } else if all > 0 {
      add(.all(entity: nil), all)
    }
    return ChoiceLayer("Restore into a new store", enter: "choose", items)
  }

  /// Which of the faults are to be repaired.
  ///
  /// - Parameter offersUndelete: whether deleted objects can be looked for, or were found.
  static func repair(
    _ findings: [Finding], selected: Finding?, offersUndelete: Bool
  ) -> ChoiceLayer? {
    let kinds = Set(findings.filter(\.isRepaired).map(\.kind))
    let certain = FindingKind.allCases.filter { kinds.contains($0) && $0.repair == .certain }
    var items: [Item] = []
    func add(_ text: String, _ order: RepairOrder, _ kinds: Set<FindingKind>) {
      items.append(Item(text: text, intent: .repair(order, of: kinds)))
    }
    if !certain.isEmpty {
      let names = certain.map(\.rawValue).joined(separator: ", ")
      add("everything that needs no decision: \(names)", RepairOrder(), Set(certain))
    }
    if let kind = selected?.kind, kinds.contains(kind), kind.repair == .certain, certain.count > 1 {
      add("\(kind.rawValue) alone", RepairOrder(kinds: [kind]), [kind])
    }
    if kinds.contains(.uniqueness) {
      for kept in [RepairOptions.Kept.newest, .oldest] {
        add(
          "uniqueness: keep the \(kept.rawValue) of equal objects",
          RepairOrder(kinds: [.uniqueness], kept: kept), [.uniqueness])
      }
    }
    for (kind, what) in [
      (FindingKind.externalMissing, "values whose files are missing become null"),
      (.tableMissing, "missing tables that never held anything are created, empty"),
    ] where kinds.contains(kind) {
      add("\(kind.rawValue): \(what)", RepairOrder(kinds: [kind]), [kind])
    }
    let isLate = certain.contains(where: \.takesFromDeletedObjects)
    if isLate, offersUndelete, findings.contains(where: { $0.kind == .deletions }) {
      // What was deleted comes before what the repair takes from it.
      items.insert(
        Item(text: "first: look for deleted objects (undelete)", intent: .undelete), at: 0)
      add(
        "everything that needs no decision, without restoring deleted objects",
        RepairOrder(isForced: true), Set(certain))
    }
    var layer = ChoiceLayer("Repair", enter: "repair…", items)
    layer?.width = 72
    layer?.text =
      "A repair works on a copy and verifies it; the copy then replaces the store by one rename. The present store is kept as a backup; b on 4 Migrate rolls back to it."
    return layer
  }
}

extension Finding {
  /// Whether a repair is what helps.
  var isRepaired: Bool { action == .repair && !asksForEntity }
}
