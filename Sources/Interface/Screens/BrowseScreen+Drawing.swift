import ManagedStore
import Terminal

/// Where the panes of Browse lie; empty for one that is folded away.
struct BrowseLayout {
  let frame: Rect
  /// The panes with their borders.
  private let panes: [Rect]

  init(_ state: State) {
    frame = state.body
    let browse = state.browse
    let isNarrow = frame.width < 80
    // One that is folded away comes back while it has the keys.
    let isTreeAlone = isNarrow && browse.focus == .entities
    let treeWidth =
      isTreeAlone
      ? frame.width
      : isNarrow ? 0 : max(18, min(frame.width / 3, 34, browse.tree.width + 14))
    let rest = Rect(
      x: frame.x + max(0, treeWidth - 1), y: frame.y,
      width: isTreeAlone ? 0 : frame.width - max(0, treeWidth - 1), height: frame.height)
    let share = browse.focus == .inspector ? 0.62 : 0.36
    let inspectorHeight =
      frame.height < 12
      ? (browse.focus == .inspector ? frame.height : 0)
      : Int(Double(frame.height) * share)
    let isInspectorAlone = inspectorHeight == frame.height
    let rowsHeight =
      isInspectorAlone ? 0 : frame.height - max(0, inspectorHeight - 1)
    panes = [
      Rect(x: frame.x, y: frame.y, width: treeWidth, height: frame.height),
      Rect(x: rest.x, y: rest.y, width: rest.width, height: rowsHeight),
      Rect(
        x: rest.x, y: rest.bottom - inspectorHeight, width: rest.width, height: inspectorHeight),
    ]
  }

  func pane(_ pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue] }

  /// The inside of a pane's border.
  func content(of pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue].inset(by: 1) }

  func pane(at point: Point) -> BrowseScreen.Pane? {
    BrowseScreen.Pane.allCases.first { panes[$0.rawValue].contains(point) }
  }
}

extension BrowseScreen {
  static func note(_ state: State) -> String {
    guard let table = state.browse.table else { return "" }
    let window = table.window
    let isWhole = window.hasStart && window.hasEnd
    let total = isWhole ? window.rows.count : state.browse.counts[table.entity]
    guard !window.rows.isEmpty else { return "" }
    let ofTotal = total.map { " of \(NumberText.grouped($0))" } ?? ""
    guard let ordinal = window.ordinal else { return "row …\(ofTotal)" }
    return "row \(NumberText.grouped(ordinal + window.selected + 1))\(ofTotal)"
  }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let browse = state.browse
    let layout = BrowseLayout(state)
    // The focused pane's border comes last, over the edges it shares.
    let panes = Pane.allCases.filter { $0 != browse.focus } + [browse.focus]
    for pane in panes {
      let frame = layout.pane(pane)
      guard !frame.isEmpty else { continue }
      grid.box(frame, style: theme[pane == browse.focus ? .borderFocused : .border])
    }
    for pane in panes {
      // After all borders, since a shared edge would run over the title in it.
      let frame = layout.pane(pane)
      let title = title(of: pane, state, width: frame.width - 6)
      let style = theme[pane == browse.focus ? .title : .dim]
      grid.title([Span(title, style)], note: note(of: pane, state, theme), on: frame)
    }
    for pane in panes where !layout.pane(pane).isEmpty {
      let inside = layout.content(of: pane)
      let isFocused = pane == browse.focus && state.layers.isEmpty
      switch pane {
      case .entities:
        browse.tree.draw(
          in: &grid, inside, counts: browse.counts, theme: theme, isFocused: isFocused)
      case .rows: drawRows(state, with: theme, in: &grid, inside, isFocused: isFocused)
      case .inspector:
        browse.inspector.draw(in: &grid, inside, theme: theme, isFocused: isFocused)
      }
    }
  }

  private static func title(of pane: Pane, _ state: State, width: Int) -> String {
    switch pane {
    case .entities: "Entities"
    case .rows:
      state.browse.table.map { table in
        let count = state.browse.counts[table.entity].map(NumberText.grouped) ?? "…"
        return "\(table.entity)  \(count)"
      } ?? ""
    case .inspector: state.browse.inspector.title(width: width)
    }
  }

  private static func note(of pane: Pane, _ state: State, _ theme: Theme) -> [Span] {
    guard pane == .rows, let table = state.browse.table else { return [] }
    if let property = table.sort.property {
      return [
        Span("by \(property) \(table.sort.isDescending ? "descending" : "ascending")", theme[.dim])
      ]
    }
    return table.sort.isDescending ? [Span("by key descending", theme[.dim])] : []
  }

  private static func drawRows(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard let table = state.browse.table else {
      grid.write("The model has no entity.", in: rect.row(1), style: theme[.dim], align: .center)
      return
    }
    table.draw(
      in: &grid, rect, total: state.browse.counts[table.entity], theme: theme,
      isFocused: isFocused)
    guard table.window.rows.isEmpty else { return }
    let line = rect.row(min(2, max(0, rect.height - 1)))
    if let error = state.browse.rowsError {
      grid.write("✗ " + error.description, in: line, style: theme[.error], align: .center)
    } else {
      let text = state.browse.rowsTask == nil ? "no objects" : "…"
      grid.write(text, in: line, style: theme[.dim], align: .center)
    }
  }
}
