import Terminal

/// Where the panes of Browse lie; empty for one that is folded away.
struct BrowseLayout {
  /// Below this the entities are folded away.
  private static let wide = 80

  let frame: Rect
  /// The panes with their borders.
  private let panes: [Rect]

  init(_ browse: BrowseScreen, _ state: State) {
    frame = state.body
    let isNarrow = frame.width < Self.wide
    // One that is folded away comes back while it has the keys.
    let isTreeAlone = isNarrow && browse.focus == .entities
    let treeWidth =
      isTreeAlone
      ? frame.width
      : isNarrow
        ? 0
        : state.dividers.treeWidth(in: frame)
          ?? max(18, min(frame.width / 3, 34, browse.tree.width + 14))
    let rest = Rect(
      x: frame.x + max(0, treeWidth - 1), y: frame.y,
      width: isTreeAlone ? 0 : frame.width - max(0, treeWidth - 1), height: frame.height)
    let share = browse.focus == .inspector ? 0.62 : 0.36
    let inspectorHeight =
      frame.height < 12
      ? (browse.focus == .inspector ? frame.height : 0)
      : state.dividers.inspectorHeight(in: frame) ?? Int(Double(frame.height) * share)
    let isInspectorAlone = inspectorHeight == frame.height
    let rowsHeight = isInspectorAlone ? 0 : frame.height - max(0, inspectorHeight - 1)
    panes = [
      Rect(x: frame.x, y: frame.y, width: treeWidth, height: frame.height),
      Rect(x: rest.x, y: rest.y, width: rest.width, height: rowsHeight),
      Rect(x: rest.x, y: rest.bottom - inspectorHeight, width: rest.width, height: inspectorHeight),
    ]
  }

  func pane(_ pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue] }

  /// The inside of a pane's border.
  func content(of pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue].inset(by: 1) }

  /// Whether only one pane has room beside another.
  var isNarrow: Bool { frame.width < Self.wide }

  func pane(at point: Point) -> BrowseScreen.Pane? {
    BrowseScreen.Pane.allCases.first { panes[$0.rawValue].contains(point) }
  }
}
