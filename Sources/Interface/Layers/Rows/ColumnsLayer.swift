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
      Binding([.space], "show or hide", .choose, unless: isOnly ? "one column stays" : nil),
      Binding(["<", "K"], "up", .columnToLeft),
      Binding([">", "J"], "down", .columnToRight),
      Binding(
        ["_"], "as they come", .resetColumns,
        unless: table?.isColumnsReset == false ? nil : "they are so"),
      Binding([.enter], "to that column", .confirm),
      Keymap.movement,
      Binding([.escape, "q", "+"], "close", .close),
    ]
  }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard let table = state.browse.table, let column = table.arranged.element(list.selected) else {
      return .close()
    }
    switch action {
    case .choose: state.browse.table?.setHidden(column, !table.hidden.contains(column))
    case .columnToLeft, .columnToRight:
      let target = list.selected + (action == .columnToLeft ? -1 : 1)
      guard table.arranged.indices.contains(target) else { return .stay() }
      state.browse.table?.exchange(list.selected, target)
      list.select(target)
    case .resetColumns:
      state.browse.table?.resetColumns()
      list.select(state.browse.table?.arranged.firstIndex(of: column) ?? 0)
    case .confirm:
      state.browse.table?.setHidden(column, false)
      state.browse.table?.select(column)
      return .close()
    default:
      list.handle(key, height: state.body.height - 2)
    }
    return .stay()
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let table = state.browse.table else { return }
    let names = table.arranged.reduce(4) { max($0, TextWidth.of(table.title($1), upTo: 40)) }
    let inside = Popup(
      "columns of \(table.entity)",
      size: Size(width: min(72, names + 36), height: max(1, table.arranged.count))
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
