import ManagedStore
import Terminal

extension BrowseScreen {
  mutating func didAct(in state: inout State) { fit(in: &state) }

  /// Drops the filter, or what the pane is narrowed to; where there is none the rows have the keys.
  mutating func widen(in state: inout State) -> [Effect] {
    if isFiltered { return setFilter("", in: &state) }
    if focus == .entities, !tree.filter.isEmpty { return filterEntities("", in: &state) }
    if focus == .inspector, !inspector.filter.isEmpty {
      inspector.setFilter("")
    } else {
      focus = .rows
    }
    return []
  }

  mutating func open(in state: inout State) -> [Effect] {
    switch focus {
    case .entities:
      focus = .rows
    case .rows:
      if let relation = destination { return follow(relation, in: &state) }
      focus = .inspector
      return inspect(in: &state)
    case .inspector:
      guard let line = inspector.selectedLine else { return [] }
      if let relation = relationship(of: line) {
        return follow(relation, in: &state)
      }
      inspector.toggle()
    }
    return []
  }

  /// Ascending, descending, and back to the order of keys.
  mutating func sort(in state: inout State) -> [Effect] {
    guard let table, let property = table.sortProperty(table.column) else {
      return []
    }
    let sort = table.sort
    if sort.property != property {
      self.table?.sort = .init(property: property)
      if property == nil { self.table?.sort = .init(descending: true) }
    } else if !sort.isDescending {
      self.table?.sort.isDescending = true
    } else {
      self.table?.sort = .init()
    }
    return read(.start, in: &state)
  }

  mutating func turn(right: Bool, in state: inout State) -> [Effect] {
    switch focus {
    case .entities:
      tree.setFolded(!right)
      return showEntity(in: &state)
    case .inspector: inspector.setFolded(!right)
    case .rows:
      guard let table else { return [] }
      let column = table.selectedColumn + (right ? 1 : -1)
      self.table?.selectedColumn = max(0, min(table.columns.count - 1, column))
    }
    return []
  }

  mutating func move(_ key: Key, in state: inout State) -> [Effect] {
    switch focus {
    case .entities:
      tree.list.handle(key)
      return showEntity(in: &state)
    case .inspector:
      inspector.list.handle(key)
      return []
    case .rows:
      if let move = ListMove(key), table?.window.move(move) == false {
        return read(move == .end ? .end : .start, in: &state)
      }
      return readOn(in: &state) + inspect(in: &state) + nameRows(in: &state)
    }
  }

  mutating func mouse(
    _ action: Key.MouseAction, _ point: Point, in state: inout State
  ) -> [Effect]? {
    let layout = BrowseLayout(self, state)
    guard let pane = layout.pane(at: point) else { return [] }
    focus = pane
    defer { fit(in: &state) }
    let rect = layout.content(of: pane)
    switch action {
    case .scrollUp, .scrollDown:
      return move(.mouse(action, x: point.x, y: point.y), in: &state)
    case .press, .doubleClick:
      switch pane {
      case .entities:
        if let row = tree.list.row(at: point, in: rect) { tree.list.select(row) }
        return showEntity(in: &state)
      case .rows:
        guard let table, rect.contains(point) else { return [] }
        if let column = table.column(at: point.x, in: rect) {
          self.table?.selectedColumn = column
        }
        guard point.y > rect.y else { return [] }
        self.table?.window.select(table.window.offset + point.y - rect.y - 1)
        let effects = readOn(in: &state) + inspect(in: &state)
        return action == .doubleClick ? effects + open(in: &state) : effects
      case .inspector:
        if let row = inspector.list.row(at: point, in: rect) { inspector.list.select(row) }
        return action == .doubleClick ? open(in: &state) : []
      }
    case .release, .drag: return []
    }
  }

  /// Tells the lists how tall they are, so that a page is the page that is seen.
  mutating func fit(in state: inout State) {
    let layout = BrowseLayout(self, state)
    tree.list.setHeight(layout.content(of: .entities).height)
    let height = layout.content(of: .rows).height - 1 - errorRows
    table?.window.setHeight(height)
    inspector.list.setHeight(layout.content(of: .inspector).height)
  }
}
