import Terminal

/// Where a person has put the lines between panes; `nil` where they lie as they come.
struct Dividers: Codable, Sendable, Equatable {
  /// Columns of Browse's tree.
  var tree: Int?
  /// Rows of Browse's inspector.
  var inspector: Int?

  /// Each pane keeps what it needs to be of use, however large the terminal is now.
  func treeWidth(in frame: Rect) -> Int? {
    tree.map { min(max(14, $0), max(14, frame.width - 30)) }
  }

  func inspectorHeight(in frame: Rect) -> Int? {
    inspector.map { min(max(3, $0), max(3, frame.height - 4)) }
  }
}

/// A line between two panes that the mouse can move.
enum Divider: Sendable, Equatable {
  case tree, inspector

  /// The one at a place of the screen.
  static func at(_ point: Point, in state: State) -> Divider? {
    guard state.front == .browse, state.layers.isEmpty else { return nil }
    let layout = BrowseLayout(state.browse, state)
    let (tree, rows, inspector) = (
      layout.pane(.entities), layout.pane(.rows), layout.pane(.inspector)
    )
    // Where both meet, the line over the whole height is meant.
    if !tree.isEmpty, rows.width > 0, point.x == rows.x, layout.frame.contains(point) {
      return .tree
    }
    if !rows.isEmpty, !inspector.isEmpty, point.y == inspector.y, inspector.contains(point) {
      return .inspector
    }
    return nil
  }
}

extension State {
  /// Puts the line that is held under the pointer.
  mutating func drag(to point: Point) {
    let frame = body
    switch dragged {
    case .tree?:
      dividers.tree = point.x - frame.x + 1
      dividers.tree = dividers.treeWidth(in: frame)
    case .inspector?:
      dividers.inspector = frame.bottom - point.y
      dividers.inspector = dividers.inspectorHeight(in: frame)
    case nil: return
    }
    on(BrowseScreen.self) { $0.fit(in: &$1) }
  }
}
