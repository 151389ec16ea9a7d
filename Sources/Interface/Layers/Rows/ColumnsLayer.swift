import ManagedStore
import Terminal

/// Every column of the table, to be shown, hidden and put in order.
struct ColumnsLayer: LayerContent {
  private var list: List

  init(in state: State) {
    let table = state.browse.table
    let count = table?.arranged.count ?? 0
    let selected = table.flatMap { $0.arranged.firstIndex(of: $0.column) } ?? 0
    list = List(count: count, selected: selected, height: count)
  }

  func bindings(_ state: State) -> [Binding] {
    let table = state.browse.table
    let isOnly =
      table.map { table in
        table.columns.count == 1
          && table.arranged.element(list.selected).map(table.hidden.contains) != true
      } ?? true
    return [
      Binding(
        [.space], "show or hide", asks("choose") { $0.turn(in: &$1) },
        unless: isOnly ? "one column must stay visible" : nil),
      Binding(["<", "K"], "up", asks("columnToLeft") { $0.move(by: -1, in: &$1) }),
      Binding([">", "J"], "down", asks("columnToRight") { $0.move(by: 1, in: &$1) }),
      Binding(
        ["_"], "reset columns", asks("resetColumns") { $0.reset(in: &$1) },
        unless: table?.isColumnsReset == false ? nil : "nothing to reset"),
      Binding([.enter], "go to the column", does("confirm") { $0.go(in: &$1) }),
      scrolling { $0.list.handle($1, height: $2.body.height - 2) },
      closing([.escape, "q", "+"]),
    ]
  }

  private func selected(_ state: State) -> RowTable.Column? {
    state.browse.table?.arranged.element(list.selected)
  }

  private func turn(in state: inout State) -> [Effect] {
    guard let column = selected(state), let table = state.browse.table else { return [] }
    state.browse.table?.setHidden(column, !table.hidden.contains(column))
    return []
  }

  private mutating func move(by step: Int, in state: inout State) -> [Effect] {
    let target = list.selected + step
    guard state.browse.table?.arranged.indices.contains(target) == true else { return [] }
    state.browse.table?.exchange(list.selected, target)
    list.select(target)
    return []
  }

  private mutating func reset(in state: inout State) -> [Effect] {
    guard let column = selected(state) else { return [] }
    state.browse.table?.resetColumns()
    list.select(state.browse.table?.arranged.firstIndex(of: column) ?? 0)
    return []
  }

  private func go(in state: inout State) -> LayerOutcome {
    if let column = selected(state) {
      state.browse.table?.setHidden(column, false)
      state.browse.table?.select(column)
    }
    return .close()
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let table = state.browse.table else { return }
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
