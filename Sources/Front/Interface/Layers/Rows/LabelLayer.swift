import ManagedModel
import ManagedStore
import Terminal

/// The attributes of an entity, of which one labels its objects where relationships reference them.
struct LabelLayer: LayerContent {
  private enum Choice: Sendable, Equatable {
    case found(String?)
    case attribute(String, AttributeType)
    case none
  }

  private let entity: String
  private let choices: [Choice]
  private var list: List

  /// - Returns: `nil` where no entity of the store is meant.
  init?(_ browse: BrowseScreen, _ context: Context) {
    guard let entity = browse.labelledEntity,
      let table = context.store?.layout.table(of: entity), let model = context.store?.model
    else { return nil }
    self.entity = entity
    var labels = browse.labels
    let chosen = labels.choices[entity]
    labels.choices[entity] = nil
    choices =
      [.found(labels.attribute(of: table, in: model))]
      + table.attributes.filter { $0.attribute.type.isReadable }.map {
        .attribute($0.attribute.name, $0.attribute.type)
      } + [.none]
    let selected =
      choices.firstIndex {
        switch ($0, chosen) {
        case (.attribute(let name, _), let chosen?): name == chosen
        case (.none, ""): true
        default: false
        }
      } ?? 0
    list = List(count: choices.count, selected: selected, height: choices.count)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding([.enter], "label by it", does("confirm") { $0.choose(in: &$1) }),
      scrolling { $0.list.handle($1, height: $2.body.height - 2) },
      closing([.escape, "q", "L"]),
    ]
  }

  private func choose(in context: inout Context) -> LayerOutcome {
    guard let choice = choices.element(list.selected) else { return .stay() }
    let label: String? =
      switch choice {
      case .found: nil
      case .attribute(let name, _): name
      case .none: ""
      }
    return .close(
      context.on(BrowseScreen.self) { [entity] in
        $0.labels.choices[entity] = label
        return $0.nameAnew(in: &$1)
      })
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let names = choices.reduce(4) { max($0, TextWidth.of(title($1), upTo: 40)) }
    let inside = Popup("label objects of \(entity) by", min(72, names + 24), choices.count)
      .draw(in: &grid, rect, theme: theme)
    list.draw(choices, in: &grid, inside, theme: theme) { choice, isSelected in
      switch choice {
      case .attribute(let name, let type):
        [Span(name.padded(to: names + 2)), theme.span(isSelected, type.name, .dim)]
      default: [theme.span(isSelected, title(choice), .dim)]
      }
    }
  }

  private func title(_ choice: Choice) -> String {
    switch choice {
    case .found(let name?): "as found: \(name)"
    case .found(nil): "as found: the key alone"
    case .attribute(let name, _): name
    case .none: "the key alone"
    }
  }
}

extension AttributeType {
  /// Whether a person can read it in a word.
  fileprivate var isReadable: Bool {
    switch self {
    case .string, .uri, .integer16, .integer32, .integer64, .decimal: true
    default: false
    }
  }
}

extension BrowseScreen {
  /// The entity that the chosen column or line references, else the one whose rows are shown.
  var labelledEntity: String? {
    if focus == .inspector, let line = inspector.selectedLine {
      if let target = line.target { return target.entity }
      if let many = inspector.inspection?.manyDestinations[line.id] { return many }
    }
    switch table?.property?.kind {
    case .toOne(let destination)? where focus == .rows: return destination
    case .toMany(let destination)? where focus == .rows: return destination
    default: return focus == .entities ? tree.selected : table?.entity
    }
  }
}
