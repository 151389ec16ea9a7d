/// A tree as a list: its nodes in reading order, of which those under a folded one are hidden.
package struct Tree<ID: Hashable & Sendable>: Sendable {
  package struct Node: Sendable {
    package var id: ID
    /// 0 at the root; a child follows its parent and is one deeper.
    package var depth: Int
    package var title: [Span]
    /// What stands at the right edge: a count.
    package var note: [Span]
    package var isExpandable: Bool

    package init(
      _ id: ID, depth: Int = 0, title: [Span], note: [Span] = [], isExpandable: Bool = false
    ) {
      self.id = id
      self.depth = max(0, depth)
      self.title = title
      self.note = note
      self.isExpandable = isExpandable
    }
  }

  package private(set) var nodes: [Node]
  package private(set) var expanded: Set<ID>
  package var list: List
  /// Indices of the nodes that are not hidden.
  private var shown: [Int] = []

  package init(_ nodes: [Node] = [], expanded: Set<ID> = []) {
    self.nodes = nodes
    self.expanded = expanded
    list = List()
    refold()
  }

  package var visibleNodes: [Node] { shown.map { nodes[$0] } }

  package var selected: Node? {
    shown.indices.contains(list.selected) ? nodes[shown[list.selected]] : nil
  }

  /// Selects a node, unfolding what hides it.
  package mutating func select(_ id: ID) {
    guard let index = nodes.firstIndex(where: { $0.id == id }) else { return }
    var depth = nodes[index].depth
    for above in stride(from: index - 1, through: 0, by: -1) where nodes[above].depth < depth {
      expanded.insert(nodes[above].id)
      depth = nodes[above].depth
    }
    refold()
    if let row = shown.firstIndex(of: index) { list.select(row) }
  }

  package mutating func setExpanded(_ id: ID, _ isExpanded: Bool) {
    if isExpanded {
      expanded.insert(id)
    } else {
      expanded.remove(id)
    }
    refold()
  }

  package mutating func toggle() {
    guard let selected, selected.isExpandable else { return }
    setExpanded(selected.id, !expanded.contains(selected.id))
  }

  /// Moves as a list does; → l unfold, ← h fold or go to the parent.
  @discardableResult
  package mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .right, .character("l"):
      guard let selected else { return true }
      if selected.isExpandable && !expanded.contains(selected.id) {
        setExpanded(selected.id, true)
      } else if selected.isExpandable {
        list.move(by: 1)
      }
    case .left, .character("h"):
      guard let selected else { return true }
      if selected.isExpandable && expanded.contains(selected.id) {
        setExpanded(selected.id, false)
      } else if let parent = shown[..<list.selected].last(where: {
        nodes[$0].depth < selected.depth
      }) {
        select(nodes[parent].id)
      }
    default: return list.handle(key)
    }
    return true
  }

  private mutating func refold() {
    shown = []
    // Deeper nodes than this are under a folded one.
    var open = Int.max
    for (index, node) in nodes.enumerated() where node.depth <= open {
      shown.append(index)
      open = node.isExpandable && !expanded.contains(node.id) ? node.depth : .max
    }
    list.setCount(shown.count)
  }

  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool = true) {
    guard !rect.isEmpty else { return }
    let list = list.fitted(to: rect.height)
    for (position, row) in list.visible.enumerated() where row < shown.count {
      let node = nodes[shown[row]]
      let line = rect.row(position)
      list.drawBackground(of: row, in: &grid, line, theme: theme, isFocused: isFocused)
      let fold = node.isExpandable ? (expanded.contains(node.id) ? "▾ " : "▸ ") : "  "
      let indent = String(repeating: "  ", count: min(node.depth, rect.width))
      let noteWidth = node.note.width(upTo: line.width)
      let room = max(0, line.width - 2 - (noteWidth == 0 ? 0 : noteWidth + 2))
      grid.write(
        [Span(indent), Span(fold, theme[.dim])] + node.title,
        at: Point(x: line.x + 2, y: line.y), within: room)
      let place = Rect(x: line.right - noteWidth - 1, y: line.y, width: noteWidth, height: 1)
      if place.x > line.x { grid.write(node.note, in: place) }
    }
    list.drawScrollMark(in: &grid, rect, theme: theme)
  }
}

extension Tree: Equatable {
  package static func == (left: Tree, right: Tree) -> Bool {
    left.nodes == right.nodes && left.expanded == right.expanded && left.list == right.list
  }
}

extension Tree.Node: Equatable {}
