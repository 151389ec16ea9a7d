import ManagedModel
import ManagedStore
import Terminal

/// The entities, their rows, and the selected row's properties.
package struct BrowseScreen: Sendable, Equatable {
  package enum Pane: Int, Sendable, CaseIterable { case entities, rows, inspector }

  package var focus = Pane.rows
  package var tree = EntityTree()
  /// Objects of each entity, those of subentities included.
  package var counts: [String: Int] = [:]
  package var table: RowTable?
  package var inspector = Inspector()
  /// Why the rows could not be read.
  var rowsError: CoreDataError?

  /// How the tables that are not shown were arranged.
  private var views: [String: TableView] = [:]

  var countTask: TaskID?
  /// The page that was asked for.
  struct Reading: Sendable, Equatable {
    var task: TaskID
    var anchor: RowQuery.Anchor
  }
  var rowsTask: Reading?
  var objectTask: TaskID?

  package init() {}

  var view: BrowseView {
    var view = BrowseView()
    view.entity = table?.entity
    view.tables = views
    if let table { view.tables[table.entity] = table.view == TableView() ? nil : table.view }
    return view
  }
}

// MARK: - Keys

extension BrowseScreen {
  static func bindings(_ state: State) -> [Binding] {
    let browse = state.browse
    let store = state.storeArgument
    let entity = browse.table?.entity
    let rows = entity.map { "strata rows \(store) \($0)" } ?? "strata rows \(store) ENTITY"
    let object = browse.inspector.object.map { "strata object \(store) \($0)" }
    let isInspecting = browse.focus == .inspector
    return [
      Binding(
        [.enter], isInspecting ? "follow" : "open", .open,
        unless: browse.reasonNotToOpen, command: object ?? "strata object \(store) REF"),
      Binding(
        [.backspace], "back", .back,
        unless: browse.inspector.trail.isEmpty ? "no relationship was followed" : nil),
      Binding(
        [.character("s")], "sort", .sort, unless: browse.reasonNotToSort,
        command: browse.sortCommand(rows)),
      Binding(
        [.character("/")], browse.focus == .entities ? "find an entity" : "filter", .search,
        unless: browse.focus == .entities ? nil : "choose the entities first (Tab)"),
      Binding([.tab], "next pane", .nextPane),
      Binding([.backTab], "previous pane", .previousPane, footer: false),
      Binding(
        [.left, .character("h")], label: "← h",
        browse.focus == .rows ? "column left" : "fold", .leftColumn, footer: false),
      Binding(
        [.right, .character("l")], label: "→ l",
        browse.focus == .rows ? "column right" : "unfold", .rightColumn, footer: false),
      Binding([.escape], "to the rows", .close, footer: false),
      Keymap.movement,
    ]
  }

  private var reasonNotToOpen: String? {
    switch focus {
    case .entities: tree.selected == nil ? "there is no entity" : nil
    case .rows: table?.window.selectedRow == nil ? "there is no row" : nil
    case .inspector:
      inspector.selectedLine.map { $0.target != nil || $0.isExpandable } == true
        ? nil : "the line is neither a relationship nor folded"
    }
  }

  private var reasonNotToSort: String? {
    guard focus == .rows, let table else { return "choose a column of the rows first" }
    return table.sortProperty(table.columns[table.selectedColumn]) == nil
      ? "rows cannot be sorted by this column" : nil
  }

  private func sortCommand(_ rows: String) -> String {
    guard let table, let property = table.sortProperty(table.columns[table.selectedColumn]) else {
      return rows + " --sort KEY"
    }
    return rows + (property.map { " --sort \($0)" } ?? "")
  }
}

// MARK: - Update

extension BrowseScreen {
  /// The store was opened, or opened again after a migration: the place is kept where it can be.
  static func takeStore(in state: inout State) -> [Effect] {
    guard let store = state.store else { return [] }
    let entity = state.browse.table?.entity
    let focus = state.browse.focus
    let views = state.browse.view.tables
    state.browse = BrowseScreen()
    state.browse.views = views
    state.browse.focus = focus == .inspector ? .rows : focus
    state.browse.tree = EntityTree(store.model)
    if let entity { state.browse.tree.select(entity) }
    let task = state.newTask()
    state.browse.countTask = task
    fit(&state)
    return showEntity(in: &state) + [.count(task)]
  }

  /// Arranges the tables, and shows the entity if there is such a one.
  static func arrange(_ view: BrowseView, in state: inout State) -> [Effect] {
    let table = state.browse.table
    state.browse.views = view.tables
    if let entity = view.entity { state.browse.tree.select(entity) }
    if let table, state.browse.tree.selected == table.entity {
      let view = view.tables[table.entity] ?? TableView()
      guard table.view != view else { return [] }
      state.browse.table?.arrange(view)
      state.browse.inspector.show(nil)
      return read(.start, in: &state)
    }
    state.browse.table = nil
    return showEntity(in: &state)
  }

  /// Shows the rows of the entity that is selected in the tree.
  static func showEntity(in state: inout State) -> [Effect] {
    guard let entity = state.browse.tree.selected, let store = state.store,
      state.browse.table?.entity != entity
    else { return [] }
    var effects = stopReading(in: &state)
    state.browse.views = state.browse.view.tables
    state.browse.inspector = Inspector()
    state.browse.rowsError = nil
    state.browse.table = RowTable(
      entity: entity, properties: store.columns[entity] ?? [],
      hasSubentities: !store.model.children(of: entity).isEmpty)
    if let view = state.browse.views[entity] { state.browse.table?.arrange(view) }
    fit(&state)
    effects += read(.start, in: &state)
    return effects
  }

  private static func stopReading(in state: inout State) -> [Effect] {
    let tasks = [state.browse.rowsTask?.task, state.browse.objectTask].compactMap { $0 }
    state.browse.rowsTask = nil
    state.browse.objectTask = nil
    return tasks.map { .cancel($0) }
  }

  private static func read(_ anchor: RowQuery.Anchor, in state: inout State) -> [Effect] {
    guard let table = state.browse.table else { return [] }
    let task = state.newTask()
    let old = state.browse.rowsTask.map { [Effect.cancel($0.task)] } ?? []
    state.browse.rowsTask = Reading(task: task, anchor: anchor)
    return old + [.rows(task, table.query(anchor))]
  }

  /// Asks for the next page when the selection comes near the end of what is there.
  static func readOn(in state: inout State) -> [Effect] {
    guard state.browse.rowsTask == nil, let anchor = state.browse.table?.window.wanted else {
      return []
    }
    return read(anchor, in: &state)
  }

  /// Shows the selected row in the inspector.
  private static func inspect(in state: inout State) -> [Effect] {
    let id = state.browse.table?.window.selectedRow?.id
    guard id != state.browse.inspector.object || !state.browse.inspector.trail.isEmpty else {
      return []
    }
    state.browse.inspector.show(id)
    return load(in: &state)
  }

  static func load(in state: inout State) -> [Effect] {
    var effects: [Effect] = []
    if let old = state.browse.objectTask { effects.append(.cancel(old)) }
    state.browse.objectTask = nil
    guard let id = state.browse.inspector.object else { return effects }
    let task = state.newTask()
    state.browse.objectTask = task
    return effects + [.object(task, id)]
  }

  /// Takes in the answer to one of the screen's effects.
  static func take(_ message: Message, in state: inout State) -> [Effect] {
    switch message {
    case .counted(let task, let counts) where task == state.browse.countTask:
      guard let model = state.store?.model else { return [] }
      for name in model.entities.map(\.name) {
        let parts = model.subtree(of: name).map { counts[$0] }
        if parts.allSatisfy({ $0 != nil }) {
          state.browse.counts[name] = parts.reduce(0) { $0 + ($1 ?? 0) }
        }
      }
      if let entity = state.browse.table?.entity {
        state.browse.table?.window.setTotal(state.browse.counts[entity])
      }
    case .rows(let task, let page) where task == state.browse.rowsTask?.task:
      guard let anchor = state.browse.rowsTask?.anchor,
        page.entity == state.browse.table?.entity
      else { return [] }
      state.browse.rowsTask = nil
      state.browse.rowsError = nil
      state.browse.table?.take(page, at: anchor, total: state.browse.counts[page.entity])
      let effects = readOn(in: &state)
      return state.browse.inspector.trail.isEmpty ? effects + inspect(in: &state) : effects
    case .object(let task, let inspection) where task == state.browse.objectTask:
      state.browse.objectTask = nil
      state.browse.inspector.take(inspection)
      if inspection == nil, let id = state.browse.inspector.object {
        state.notice = Notice("\(id) is not in the store", .warning)
      }
    default: break
    }
    return []
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    if task == state.browse.rowsTask?.task {
      state.browse.rowsTask = nil
      state.browse.rowsError = error
      state.notice = Notice(error.description, .warning)
    } else if task == state.browse.objectTask {
      state.browse.objectTask = nil
      state.notice = Notice(error.description, .warning)
    } else if task == state.browse.countTask {
      state.browse.countTask = nil
    } else {
      return nil
    }
    return []
  }

  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    defer { fit(&state) }
    switch action {
    case .nextPane: return focus(by: 1, in: &state)
    case .previousPane: return focus(by: -1, in: &state)
    case .close: state.browse.focus = .rows
    case .open: return open(in: &state)
    case .search: state.show(SearchLayer(.entities, in: state))
    case .back:
      guard state.browse.inspector.back() else { return [] }
      state.browse.focus = .inspector
      return load(in: &state)
    case .sort: return sort(in: &state)
    case .leftColumn, .rightColumn: turn(right: action == .rightColumn, in: &state)
    case .navigate: return move(key, in: &state)
    default: break
    }
    return []
  }

  /// Narrows the tree to entities with such a name.
  static func filterEntities(_ text: String, in state: inout State) -> [Effect] {
    state.browse.tree.setFilter(text)
    return showEntity(in: &state)
  }

  private static func focus(by step: Int, in state: inout State) -> [Effect] {
    let panes = Pane.allCases
    let next = (state.browse.focus.rawValue + step + panes.count) % panes.count
    state.browse.focus = panes[next]
    return []
  }

  private static func open(in state: inout State) -> [Effect] {
    switch state.browse.focus {
    case .entities:
      state.browse.focus = .rows
    case .rows:
      state.browse.focus = .inspector
      return inspect(in: &state)
    case .inspector:
      guard let line = state.browse.inspector.selectedLine else { return [] }
      guard let target = line.target else {
        state.browse.inspector.toggle()
        return []
      }
      state.browse.inspector.follow(target, from: line)
      return load(in: &state)
    }
    return []
  }

  /// Ascending, descending, and back to the order of keys.
  private static func sort(in state: inout State) -> [Effect] {
    guard let table = state.browse.table,
      let property = table.sortProperty(table.columns[table.selectedColumn])
    else { return [] }
    let sort = table.sort
    if sort.property != property {
      state.browse.table?.sort = .init(property: property)
      if property == nil { state.browse.table?.sort = .init(descending: true) }
    } else if !sort.isDescending {
      state.browse.table?.sort.isDescending = true
    } else {
      state.browse.table?.sort = .init()
    }
    state.browse.inspector.show(nil)
    return read(.start, in: &state)
  }

  private static func turn(right: Bool, in state: inout State) {
    switch state.browse.focus {
    case .entities: state.browse.tree.setFolded(!right)
    case .inspector: state.browse.inspector.setFolded(!right)
    case .rows:
      guard let table = state.browse.table else { return }
      let column = table.selectedColumn + (right ? 1 : -1)
      state.browse.table?.selectedColumn = max(0, min(table.columns.count - 1, column))
    }
  }

  private static func move(_ key: Key, in state: inout State) -> [Effect] {
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
      return readOn(in: &state) + inspect(in: &state)
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
        guard let window = state.browse.table?.window, rect.contains(point), point.y > rect.y
        else { return [] }
        state.browse.table?.window.select(window.offset + point.y - rect.y - 1)
        if action == .doubleClick { state.browse.focus = .inspector }
        return readOn(in: &state) + inspect(in: &state)
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
    state.browse.table?.window.setHeight(layout.content(of: .rows).height - 1)
    state.browse.inspector.list.setHeight(layout.content(of: .inspector).height)
  }
}
