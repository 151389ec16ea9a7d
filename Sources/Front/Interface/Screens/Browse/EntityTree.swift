import ManagedModel
import Terminal

/// The entities of a model as a tree that follows their hierarchy.
struct EntityTree: Sendable, Equatable {
  struct Node: TreeLine, Sendable, Equatable {
    var name: String
    var depth: Int
    var hasChildren: Bool
    var isAbstract: Bool
    /// Whether the file has no table for it.
    var isMissing: Bool
  }

  private let nodes: [Node]
  /// What the names are narrowed to; an entity stays with a subentity that fits.
  private(set) var filter = ""
  /// The entity that was selected before the filter left none.
  private var hidden: String?
  private var folded: Set<String> = []
  var list = List()

  init() { nodes = [] }

  init(_ store: StoreSummary) {
    let model = store.model
    nodes = model.entitiesInStoreOrder.map { entity in
      Node(
        name: entity.name, depth: model.lineage(of: entity.name).count - 1,
        hasChildren: !model.children(of: entity.name).isEmpty, isAbstract: entity.isAbstract,
        isMissing: store.missing.contains(entity.name))
    }
    list = List(count: nodes.count)
  }

  var shown: [Node] {
    guard filter.isEmpty else {
      let match = TextMatch(filter)
      return nodes.found { match.matches($0.name) }
    }
    var open = Int.max
    var shown: [Node] = []
    for node in nodes where node.depth <= open {
      shown.append(node)
      open = folded.contains(node.name) ? node.depth : .max
    }
    return shown
  }

  /// Narrows the tree, keeping the selected entity selected where it stays.
  mutating func setFilter(_ text: String) {
    let former = selected ?? hidden
    filter = text
    list.setCount(shown.count)
    if let former { selectShown(former) }
    hidden = selected == nil ? former : nil
  }

  var selected: String? { shown.element(list.selected)?.name }

  /// What the names and their folds take in cells.
  var width: Int {
    nodes.reduce(0) { max($0, 2 * $1.depth + TextWidth.of($1.name, upTo: 60) + 4) }
  }

  /// Selects an entity, unfolding what hides it; a filter that hides it is given up.
  mutating func select(_ entity: String) {
    guard let index = nodes.firstIndex(where: { $0.name == entity }) else { return }
    if !filter.isEmpty, !shown.contains(where: { $0.name == entity }) { filter = "" }
    var depth = nodes[index].depth
    for node in nodes[..<index].reversed() where node.depth < depth {
      folded.remove(node.name)
      depth = node.depth
    }
    list.setCount(shown.count)
    selectShown(entity)
  }

  private mutating func selectShown(_ entity: String) {
    if let index = shown.firstIndex(where: { $0.name == entity }) { list.select(index) }
  }

  /// Folds or unfolds the selected entity; folding where there is nothing to fold goes to the one
  /// above.
  mutating func setFolded(_ isFolded: Bool) {
    let shown = shown
    guard let node = shown.element(list.selected) else { return }
    if node.hasChildren, filter.isEmpty, folded.contains(node.name) != isFolded {
      if isFolded { folded.insert(node.name) } else { folded.remove(node.name) }
      list.setCount(self.shown.count)
    } else if isFolded, let parent = shown.parent(of: list.selected) {
      list.select(parent)
    }
  }

  /// What is special about an entity, in a word that may be left out: before the number of all its objects, how many
  /// of them are exactly of the entity.
  private func remark(_ node: Node, own: [String: Int]) -> String {
    if node.isMissing { return "no table" }
    if node.isAbstract { return "abstract" }
    guard node.hasChildren, let count = own[node.name] else { return "" }
    return "\(NumberText.grouped(count)) of"
  }

  /// - Parameters:
  ///   - counts: objects, those of subentities included.
  ///   - own: objects of exactly the entity.
  func draw(
    in grid: inout Grid, _ rect: Rect, counts: [String: Int], own: [String: Int], theme: Theme,
    isFocused: Bool
  ) {
    list.draw(shown, in: &grid, rect, theme: theme, isFocused: isFocused) { node, isSelected in
      let fold = node.hasChildren ? (folded.contains(node.name) ? "▸ " : "▾ ") : "  "
      let indent = String(repeating: "  ", count: node.depth)
      let count = node.isMissing ? "!" : counts[node.name].map(NumberText.grouped) ?? "…"
      let room = rect.width - 3 - count.count - 1
      let name = Sanitize.text(node.name, limit: max(1, room - 2 * node.depth - 2))
      let used = 2 * node.depth + 2 + TextWidth.of(name)
      let dim: Style = isSelected ? .plain : theme[.dim]
      let free = max(1, rect.width - 3 - used - count.count)
      var spans = [
        Span(indent),
        Span(fold, dim),
        Span(name, counts[node.name] == 0 || node.isMissing ? dim : .plain),
      ]
      let remark = remark(node, own: own)
      let told = remark.isEmpty || remark.count + 3 > free ? "" : "  " + remark
      spans += [Span(told, dim), Span("".padded(to: free - told.count)), Span(count, dim)]
      return spans
    }
  }
}

/// A line of a tree that is written line by line: what belongs to it comes next, and is deeper.
protocol TreeLine {
  var depth: Int { get }
}

extension Array where Element: TreeLine {
  /// The lines that fit, with those that they are part of.
  func found(_ fits: (Element) -> Bool) -> [Element] {
    var found: [Element] = []
    var needed = 0
    for line in reversed() where line.depth < needed || fits(line) {
      found.append(line)
      needed = line.depth
    }
    return found.reversed()
  }

  /// The line that one is part of.
  func parent(of index: Int) -> Int? {
    self[..<index].lastIndex { $0.depth < self[index].depth }
  }
}
