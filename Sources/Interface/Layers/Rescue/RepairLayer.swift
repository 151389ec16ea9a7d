import ManagedModel
import Rescue
import Terminal

/// Which of the faults are to be repaired.
struct RepairLayer: ChoosingLayer {
  /// A line: what it does, what is asked of the repair, and which faults of this store that is.
  private struct Line: Sendable, Equatable {
    var text: String
    /// `nil` where deleted objects are looked for instead.
    var order: RepairOrder?
    var kinds: Set<FindingKind> = []
  }

  private let lines: [Line]
  var list: List

  /// `nil` where nothing can be repaired.
  ///
  /// - Parameter offersUndelete: whether deleted objects can be looked for, or were found.
  init?(_ findings: [Finding], selected: Finding?, offersUndelete: Bool) {
    let kinds = Set(findings.filter(\.isRepaired).map(\.kind))
    let certain = FindingKind.allCases.filter { kinds.contains($0) && $0.repair == .certain }
    var lines: [Line] = []
    if !certain.isEmpty {
      let names = certain.map(\.rawValue).joined(separator: ", ")
      lines.append(
        Line(
          text: "all that needs no decision: \(names)", order: RepairOrder(), kinds: Set(certain)))
    }
    if let kind = selected?.kind, kinds.contains(kind), kind.repair == .certain, certain.count > 1 {
      lines.append(
        Line(text: "\(kind.rawValue) alone", order: RepairOrder(kinds: [kind]), kinds: [kind]))
    }
    if kinds.contains(.uniqueness) {
      lines += [RepairOptions.Kept.newest, .oldest].map { kept in
        Line(
          text: "uniqueness: of equal objects the \(kept.rawValue) stays",
          order: RepairOrder(kinds: [.uniqueness], kept: kept), kinds: [.uniqueness])
      }
    }
    if kinds.contains(.externalMissing) {
      lines.append(
        Line(
          text: "external-missing: values whose files are missing become null",
          order: RepairOrder(kinds: [.externalMissing]), kinds: [.externalMissing]))
    }
    if kinds.contains(.tableMissing) {
      lines.append(
        Line(
          text: "table-missing: missing tables that never held anything are made, empty",
          order: RepairOrder(kinds: [.tableMissing]), kinds: [.tableMissing]))
    }
    guard !lines.isEmpty else { return nil }
    let isLate = certain.contains(where: \.takesFromDeletedObjects)
    if isLate, offersUndelete, findings.contains(where: { $0.kind == .deletions }) {
      // What was deleted comes before what the repair takes from it.
      lines.insert(Line(text: "first: look for deleted objects (undelete)"), at: 0)
      lines.append(
        Line(
          text: "all that needs no decision, without restoring deleted objects",
          order: RepairOrder(isForced: true), kinds: Set(certain)))
    }
    self.lines = lines
    list = List(count: lines.count, height: lines.count)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "repair…", .choose), Keymap.movement,
      Binding([.escape, "q"], "close", .close),
    ]
  }

  mutating func choose(in state: inout State) -> LayerOutcome {
    guard let line = lines.element(list.selected) else { return .close() }
    guard let order = line.order else {
      return .close(state.on(RescueScreen.self) { $0.perform(.undelete, .enter, in: &$1) })
    }
    return .close(state.confirm(.repair(order, of: line.kinds, state)))
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let text = Wrapping.lines(
      "A repair works on a copy and verifies it; the copy then replaces the store by one rename. The present store is kept as a backup; b on 4 Migrate rolls back to it.",
      width: width)
    let inside = Popup(
      "Repair", size: Size(width: width, height: lines.count + text.count + 1)
    ).draw(in: &grid, rect, theme: theme)
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: min(lines.count, inside.height))
    list.draw(lines, in: &grid, rows, theme: theme) { line, _ in [Span(line.text)] }
    grid.write(text, in: inside.droppingRows(lines.count + 1), style: theme[.dim])
  }
}

extension Finding {
  /// Whether a repair is what helps.
  var isRepaired: Bool { action == .repair && !asksForEntity }
}
