import ManagedModel
import Rescue
import Terminal

/// What of the faults is to be put right.
struct RepairLayer: ChoosingLayer {
  /// A line: what it does, and what is asked of the repair.
  private struct Line: Sendable, Equatable {
    var text: String
    var order: RepairOrder
  }

  private let lines: [Line]
  var list: List

  /// `nil` where nothing can be put right.
  init?(_ findings: [Finding], selected: Finding?) {
    let kinds = Set(findings.filter(\.isRepaired).map(\.kind))
    let certain = FindingKind.allCases.filter { kinds.contains($0) && $0.repair == .certain }
    var lines: [Line] = []
    if !certain.isEmpty {
      let names = certain.map(\.rawValue).joined(separator: ", ")
      lines.append(Line(text: "all that needs no choice: \(names)", order: RepairOrder()))
    }
    if let kind = selected?.kind, kinds.contains(kind), kind.repair == .certain, certain.count > 1 {
      lines.append(Line(text: "\(kind.rawValue) alone", order: RepairOrder(kinds: [kind])))
    }
    if kinds.contains(.uniqueness) {
      lines += [RepairOptions.Kept.newest, .oldest].map { kept in
        Line(
          text: "uniqueness: of equal objects the \(kept.rawValue) stays",
          order: RepairOrder(kinds: [.uniqueness], kept: kept))
      }
    }
    if kinds.contains(.externalMissing) {
      lines.append(
        Line(
          text: "external-missing: values whose files are gone become null",
          order: RepairOrder(kinds: [.externalMissing])))
    }
    guard !lines.isEmpty else { return nil }
    self.lines = lines
    list = List(count: lines.count, height: lines.count)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "repair", .choose), Keymap.movement,
      Binding([.escape, "q"], "close", .close),
    ]
  }

  mutating func choose(in state: inout State) -> LayerOutcome {
    guard let order = lines.element(list.selected)?.order else { return .close() }
    return .close(state.on(RescueScreen.self) { $0.start(.repair(order), in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let text = Wrapping.lines(
      "On a copy, verified, then put in place by one rename. The store as it is now stays beside it as a backup, and b on 4 Migrate puts it back.",
      width: width)
    let inside = Popup(
      "Put right", size: Size(width: width, height: lines.count + text.count + 1)
    ).draw(in: &grid, rect, theme: theme)
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: min(lines.count, inside.height))
    list.draw(lines, in: &grid, rows, theme: theme) { line, _ in [Span(line.text)] }
    grid.write(text, in: inside.droppingRows(lines.count + 1), style: theme[.dim])
  }
}

extension Finding {
  /// Whether a repair is what helps.
  var isRepaired: Bool { command?.hasPrefix("strata repair ") == true }
}
