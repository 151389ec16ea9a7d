import ManagedStore
import Terminal

/// Every column of the table, to be shown, hidden and put in order.
struct ColumnsLayer: LayerContent {
  private var list: List
  /// The table as it is arranged; Browse does the same to its own.
  private var table: RowTable

  /// - Returns: `nil` where no rows are shown.
  init?(_ browse: BrowseScreen) {
    guard let table = browse.table else { return nil }
    self.table = table
    let count = table.arranged.count
    let selected = table.arranged.firstIndex(of: table.column) ?? 0
    list = List(count: count, selected: selected, height: count)
  }

  func bindings(_ context: Context) -> [Binding] {
    let isOnly = table.columns.count == 1 && selected.map(table.hidden.contains) != true
    return [
      Binding(
        [.space], "show or hide", asks("choose") { $0.turn(in: &$1) },
        unless: isOnly ? "one column must stay visible" : nil),
      Binding(["<", "K"], "up", asks("columnToLeft") { $0.move(by: -1, in: &$1) }),
      Binding([">", "J"], "down", asks("columnToRight") { $0.move(by: 1, in: &$1) }),
      Binding(
        ["_"], "reset columns", asks("resetColumns") { $0.reset(in: &$1) },
        unless: table.isColumnsReset ? "nothing to reset" : nil),
      Binding(
        ["a"], "add a key path",
        asks("addColumn") { layer, context in
          context.show(KeyPathLayer(layer.table.entity, context))
          return []
        }, command: "strata rows … --columns author.name"),
      Binding([.enter], "go to the column", does("confirm") { $0.go(in: &$1) }),
      scrolling { $0.list.handle($1, height: $2.body.height - 2) },
      closing([.escape, "q", "+"]),
    ]
  }

  /// A key path is a column of Browse by now.
  mutating func add(_ path: RowColumn) {
    table.add(path)
    list.setCount(table.arranged.count)
    list.select(table.arranged.firstIndex(of: table.column) ?? 0)
  }

  private var selected: RowTable.Column? { table.arranged.element(list.selected) }

  /// Arranges the columns, here and in Browse.
  private mutating func arrange(
    in context: inout Context, _ change: @escaping @Sendable (inout RowTable) -> Void
  ) {
    change(&table)
    let entity = table.entity
    context.on(BrowseScreen.self) { browse, _ in
      if var table = browse.table, table.entity == entity {
        change(&table)
        browse.table = table
      }
      return []
    }
  }

  private mutating func turn(in context: inout Context) -> [Effect] {
    guard let column = selected else { return [] }
    let isHidden = table.hidden.contains(column)
    arrange(in: &context) { $0.setHidden(column, !isHidden) }
    return []
  }

  private mutating func move(by step: Int, in context: inout Context) -> [Effect] {
    let (place, target) = (list.selected, list.selected + step)
    guard table.arranged.indices.contains(target) else { return [] }
    arrange(in: &context) {
      if $0.arranged.indices.contains(place), $0.arranged.indices.contains(target) {
        $0.exchange(place, target)
      }
    }
    list.select(target)
    return []
  }

  private mutating func reset(in context: inout Context) -> [Effect] {
    guard let column = selected else { return [] }
    arrange(in: &context) { $0.resetColumns() }
    list.setCount(table.arranged.count)
    list.select(table.arranged.firstIndex(of: column) ?? 0)
    return []
  }

  private mutating func go(in context: inout Context) -> LayerOutcome {
    if let column = selected {
      arrange(in: &context) {
        $0.setHidden(column, false)
        $0.select(column)
      }
    }
    return .close()
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let names = table.arranged.reduce(4) { max($0, TextWidth.of(table.title($1), upTo: 40)) }
    let inside = Popup(
      "columns of \(table.entity)", min(72, names + 36), max(1, table.arranged.count)
    ).draw(in: &grid, rect, theme: theme)
    list.draw(table.arranged, in: &grid, inside, theme: theme) { column, isSelected in
      let isHidden = table.hidden.contains(column)
      let frozen = table.columns.firstIndex(of: column).map { $0 < table.frozen } ?? false
      var spans = [
        Span(isHidden ? "[ ] " : "[x] "),
        theme.span(isSelected || !isHidden, table.title(column).padded(to: names + 2), .dim),
        theme.span(isSelected, table.property(column)?.typeName ?? "", .dim),
      ]
      if frozen, table.frozen > 1 { spans.append(Span("  frozen")) }
      return spans
    }
  }
}

extension RowColumn {
  /// `String`, `→ Person`, `⇉ Tag`
  var typeName: String {
    switch kind {
    case .attribute(let type): type.name
    case .toOne(let destination): "→ \(destination)"
    case .toMany(let destination): "⇉ \(destination)"
    }
  }
}
