import ManagedModel
import Terminal

/// The entities of a model as a tree that follows their hierarchy.
package struct EntityTree: Sendable, Equatable {
  struct Node: Sendable, Equatable {
    var name: String
    var depth: Int
    var hasChildren: Bool
    var isAbstract: Bool
  }

  private let nodes: [Node]
  /// What the names are narrowed to; an entity stays with a subentity that fits.
  private(set) var filter = ""
  private var folded: Set<String> = []
  package var list = List()

  init() { nodes = [] }

  init(_ model: Model) {
    nodes = model.entitiesInStoreOrder.map { entity in
      Node(
        name: entity.name, depth: model.lineage(of: entity.name).count - 1,
        hasChildren: !model.children(of: entity.name).isEmpty, isAbstract: entity.isAbstract)
    }
    list = List(count: nodes.count)
  }

  var shown: [Node] {
    guard filter.isEmpty else { return found }
    var open = Int.max
    var shown: [Node] = []
    for node in nodes where node.depth <= open {
      shown.append(node)
      open = folded.contains(node.name) ? node.depth : .max
    }
    return shown
  }

  private var found: [Node] {
    let match = TextMatch(filter)
    var found: [Node] = []
    var needed = 0
    for node in nodes.reversed() {
      if node.depth < needed || match.matches(node.name) {
        found.append(node)
        needed = node.depth
      } else if node.depth == 0 {
        needed = 0
      }
    }
    return found.reversed()
  }

  /// Narrows the tree, keeping the selected entity selected where it stays.
  mutating func setFilter(_ text: String) {
    let former = selected
    filter = text
    list.setCount(shown.count)
    if let former { select(former) }
  }

  package var selected: String? {
    let shown = shown
    return shown.indices.contains(list.selected) ? shown[list.selected].name : nil
  }

  /// What the names and their folds take in cells.
  var width: Int {
    nodes.reduce(0) { max($0, 2 * $1.depth + TextWidth.of($1.name, upTo: 60) + 4) }
  }

  package mutating func select(_ entity: String) {
    if let index = shown.firstIndex(where: { $0.name == entity }) { list.select(index) }
  }

  mutating func setFolded(_ isFolded: Bool) {
    guard let name = selected, nodes.first(where: { $0.name == name })?.hasChildren == true else {
      return
    }
    if isFolded { folded.insert(name) } else { folded.remove(name) }
    list.setCount(shown.count)
  }

  func draw(
    in grid: inout Grid, _ rect: Rect, counts: [String: Int], theme: Theme, isFocused: Bool
  ) {
    let shown = shown
    list.draw(in: &grid, rect, theme: theme, isFocused: isFocused) { row in
      guard shown.indices.contains(row) else { return [] }
      let node = shown[row]
      let fold = node.hasChildren ? (folded.contains(node.name) ? "▸ " : "▾ ") : "  "
      let indent = String(repeating: "  ", count: node.depth)
      let count = counts[node.name].map(NumberText.grouped) ?? "…"
      let room = rect.width - 3 - count.count - 1
      let name = Sanitize.text(node.name, limit: max(1, room - 2 * node.depth - 2))
      let used = 2 * node.depth + 2 + TextWidth.of(name)
      let isSelected = row == list.selected && isFocused
      return [
        Span(indent),
        Span(fold, isSelected ? .plain : theme[.dim]),
        Span(name, counts[node.name] == 0 && !isSelected ? theme[.dim] : .plain),
        Span(String(repeating: " ", count: max(1, rect.width - 3 - used - count.count))),
        Span(count, isSelected ? .plain : theme[.dim]),
      ]
    }
  }
}
