import ManagedStore
import Terminal

extension BrowseScreen {
  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    defer { fit(&state) }
    switch action {
    case .nextPane: return focus(by: 1, in: &state)
    case .previousPane: return focus(by: -1, in: &state)
    case .close:
      if state.browse.isFiltered { return setFilter("", in: &state) }
      if state.browse.focus == .entities, !state.browse.tree.filter.isEmpty {
        return filterEntities("", in: &state)
      }
      if state.browse.focus == .inspector, !state.browse.inspector.filter.isEmpty {
        state.browse.inspector.setFilter("")
        return []
      }
      state.browse.focus = .rows
    case .open: return open(in: &state)
    case .search:
      switch state.browse.focus {
      case .entities: state.show(SearchLayer(.entities, in: state))
      case .inspector: state.show(SearchLayer(.inspector, in: state))
      case .rows: state.show(FilterLayer(in: state))
      }
    case .back: return back(in: &state)
    case .forward: return forward(in: &state)
    case .related: state.show(RelatedLayer(in: state))
    case .sort: return sort(in: &state)
    case .leftColumn, .rightColumn: return turn(right: action == .rightColumn, in: &state)
    case .columnToLeft, .columnToRight:
      guard let column = state.browse.table?.column else { return [] }
      state.browse.table?.move(column, by: action == .columnToRight ? 1 : -1)
    case .hideColumn:
      guard let column = state.browse.table?.column else { return [] }
      state.browse.table?.setHidden(column, true)
    case .columns: state.show(ColumnsLayer(in: state))
    case .freeze: state.browse.table?.freeze()
    case .label: if let layer = LabelLayer(in: state) { state.show(layer) }
    case .narrower: state.browse.table?.widen(by: -2)
    case .wider: state.browse.table?.widen(by: 2)
    case .resetColumns: state.browse.table?.resetColumns()
    case .navigate: return move(key, in: &state)
    default: break
    }
    return []
  }

  private static func focus(by step: Int, in state: inout State) -> [Effect] {
    let panes = Pane.allCases
    let next = (state.browse.focus.rawValue + step + panes.count) % panes.count
    state.browse.focus = panes[next]
    return []
  }

  static func open(in state: inout State) -> [Effect] {
    switch state.browse.focus {
    case .entities:
      state.browse.focus = .rows
    case .rows:
      if let relation = state.browse.destination { return follow(relation, in: &state) }
      state.browse.focus = .inspector
      return inspect(in: &state)
    case .inspector:
      guard let line = state.browse.inspector.selectedLine else { return [] }
      if let relation = state.browse.relationship(of: line) {
        return follow(relation, in: &state)
      }
      state.browse.inspector.toggle()
    }
    return []
  }

  /// Ascending, descending, and back to the order of keys.
  static func sort(in state: inout State) -> [Effect] {
    guard let table = state.browse.table, let property = table.sortProperty(table.column) else {
      return []
    }
    let sort = table.sort
    if sort.property != property {
      state.browse.table?.sort = .init(property: property)
      if property == nil { state.browse.table?.sort = .init(descending: true) }
    } else if !sort.isDescending {
      state.browse.table?.sort.isDescending = true
    } else {
      state.browse.table?.sort = .init()
    }
    return read(.start, in: &state)
  }

  private static func turn(right: Bool, in state: inout State) -> [Effect] {
    switch state.browse.focus {
    case .entities:
      state.browse.tree.setFolded(!right)
      return showEntity(in: &state)
    case .inspector: state.browse.inspector.setFolded(!right)
    case .rows:
      guard let table = state.browse.table else { return [] }
      let column = table.selectedColumn + (right ? 1 : -1)
      state.browse.table?.selectedColumn = max(0, min(table.columns.count - 1, column))
    }
    return []
  }

  static func move(_ key: Key, in state: inout State) -> [Effect] {
    switch state.browse.focus {
    case .entities:
      state.browse.tree.list.handle(key)
      return showEntity(in: &state)
    case .inspector:
      state.browse.inspector.list.handle(key)
      return []
    case .rows:
      guard let height = state.browse.table?.window.height else { return [] }
      switch key {
      case .up, .character("k"), .control("p"): state.browse.table?.window.move(by: -1)
      case .down, .character("j"), .control("n"): state.browse.table?.window.move(by: 1)
      case .pageUp, .control("b"): state.browse.table?.window.page(by: -1)
      case .pageDown, .control("f"), .space: state.browse.table?.window.page(by: 1)
      case .control("u"): state.browse.table?.window.move(by: -max(1, height / 2))
      case .control("d"): state.browse.table?.window.move(by: max(1, height / 2))
      case .mouse(.scrollUp, _, _): state.browse.table?.window.scroll(by: -3)
      case .mouse(.scrollDown, _, _): state.browse.table?.window.scroll(by: 3)
      case .home, .character("g"), .end, .character("G"):
        let toEnd = key == .end || key == .character("G")
        if state.browse.table?.window.jump(toEnd: toEnd) == false {
          return read(toEnd ? .end : .start, in: &state)
        }
      default: break
      }
      return readOn(in: &state) + inspect(in: &state) + nameRows(in: &state)
    }
  }

  static func mouse(
    _ action: Key.MouseAction, _ point: Point, in state: inout State
  ) -> [Effect] {
    let layout = BrowseLayout(state)
    guard let pane = layout.pane(at: point) else { return [] }
    state.browse.focus = pane
    defer { fit(&state) }
    let rect = layout.content(of: pane)
    switch action {
    case .scrollUp, .scrollDown:
      return move(.mouse(action, x: point.x, y: point.y), in: &state)
    case .press, .doubleClick:
      switch pane {
      case .entities:
        if let row = state.browse.tree.list.row(at: point, in: rect) {
          state.browse.tree.list.select(row)
        }
        return showEntity(in: &state)
      case .rows:
        guard let table = state.browse.table, rect.contains(point) else { return [] }
        if let column = table.column(at: point.x, in: rect) {
          state.browse.table?.selectedColumn = column
        }
        guard point.y > rect.y else { return [] }
        state.browse.table?.window.select(table.window.offset + point.y - rect.y - 1)
        let effects = readOn(in: &state) + inspect(in: &state)
        return action == .doubleClick ? effects + open(in: &state) : effects
      case .inspector:
        if let row = state.browse.inspector.list.row(at: point, in: rect) {
          state.browse.inspector.list.select(row)
        }
        return action == .doubleClick ? open(in: &state) : []
      }
    case .release, .drag: return []
    }
  }

  /// Tells the lists how tall they are, so that a page is the page that is seen.
  static func fit(_ state: inout State) {
    let layout = BrowseLayout(state)
    state.browse.tree.list.setHeight(layout.content(of: .entities).height)
    let errorRows = state.browse.errorRows
    state.browse.table?.window.setHeight(layout.content(of: .rows).height - 1 - errorRows)
    state.browse.inspector.list.setHeight(layout.content(of: .inspector).height)
  }
}
