import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  /// The store was opened, or opened again after a migration: the place is kept where it can be.
  static func takeStore(in state: inout State) -> [Effect] {
    guard let store = state.store else { return [] }
    let former = state.browse
    state.browse = BrowseScreen()
    state.browse.views = former.view.tables
    state.browse.formerFilters = former.formerFilters
    state.browse.labels = former.labels
    state.browse.focus = former.focus == .inspector ? .rows : former.focus
    state.browse.tree = EntityTree(store)
    if let entity = former.table?.entity { state.browse.tree.select(entity) }
    let task = state.newTask()
    state.browse.countTask = task
    fit(&state)
    return showEntity(in: &state) + [.count(task)]
  }

  /// Arranges the tables, and shows the entity if there is such a one.
  static func arrange(_ view: BrowseView, in state: inout State) -> [Effect] {
    let areLabelsNew = state.browse.labels.choices != view.labels
    state.browse.labels.choices = view.labels
    let effects = arrangeRows(view, in: &state)
    return effects + (areLabelsNew ? nameAnew(in: &state) : [])
  }

  private static func arrangeRows(_ view: BrowseView, in state: inout State) -> [Effect] {
    state.browse.views = view.tables
    for (entity, filters) in view.filters where state.browse.formerFilters[entity] == nil {
      state.browse.formerFilters[entity] = filters
    }
    if let entity = view.entity { state.browse.tree.select(entity) }
    guard let store = state.store, let selected = state.browse.tree.selected else { return [] }
    let new = view.tables[selected] ?? TableView()
    guard let table = state.browse.table, table.entity == selected else {
      return show(selected, new, in: &state)
    }
    let old = table.view
    guard old != new else { return [] }
    arrangeTable(new, store.layout, in: &state)
    guard let query = state.browse.table?.query(), query != table.query() else { return [] }
    state.browse.trail = Trail()
    state.browse.inspector.show(nil)
    guard let id = table.window.selectedRow?.id else { return read(.start, in: &state) }
    return read(keeping: id, in: &state)
  }

  /// Shows the rows of the entity that is selected in the tree.
  static func showEntity(in state: inout State) -> [Effect] {
    guard let entity = state.browse.tree.selected, state.browse.table?.entity != entity else {
      return []
    }
    // Whoever goes by the tree begins a new way.
    state.browse.trail = Trail()
    return show(entity, in: &state)
  }

  /// Shows an entity's rows, as they were arranged when they were left.
  ///
  /// - Parameter place: the row to begin with.
  static func show(
    _ entity: String, _ view: TableView? = nil, at place: RowPlace? = nil, in state: inout State
  ) -> [Effect] {
    guard let store = state.store else { return [] }
    let effects = stopReading(in: &state)
    state.browse.views = state.browse.keptViews
    state.browse.inspector = Inspector()
    state.browse.rowsError = nil
    state.browse.settled = nil
    state.browse.unreadable = nil
    state.browse.table = RowTable(
      entity: entity, properties: store.columns[entity] ?? [],
      hasSubentities: !store.model.children(of: entity).isEmpty)
    if let view = view ?? state.browse.views[entity] {
      arrangeTable(view, store.layout, in: &state)
    }
    fit(&state)
    return effects + (place.map { read($0, in: &state) } ?? read(.start, in: &state))
  }

  /// The arrangements to come back to by the tree: what was related is no way to see an entity.
  var keptViews: [String: TableView] {
    var views = view.tables
    guard let table, var own = views[table.entity] else { return views }
    own.related = nil
    views[table.entity] = own == TableView() ? nil : own
    return views
  }

  private static func arrangeTable(
    _ view: TableView, _ layout: StoreLayout, in state: inout State
  ) {
    do {
      try state.browse.table?.arrange(view, layout)
    } catch {
      let reason = (error as? CoreDataError)?.message ?? "\(error)"
      state.notice = Notice("the filter was left out: \(reason)", .warning)
    }
  }

  static func stopReading(in state: inout State) -> [Effect] {
    let tasks = [
      state.browse.rowsTask?.task, state.browse.objectTask, state.browse.matchesTask,
      state.browse.placingTask?.task, state.browse.namesTask, state.browse.inspectedNamesTask,
    ].compactMap { $0 }
    state.browse.namesTask = nil
    state.browse.inspectedNamesTask = nil
    state.browse.rowsTask = nil
    state.browse.objectTask = nil
    state.browse.matchesTask = nil
    state.browse.placingTask = nil
    return tasks.map { .cancel($0) }
  }

  static func read(_ anchor: RowQuery.Anchor, in state: inout State) -> [Effect] {
    guard let table = state.browse.table else { return [] }
    let (task, old) = reading(.page(anchor), in: &state)
    return old + [.rows(task, table.page(anchor))]
  }

  static func read(_ place: RowPlace, in state: inout State) -> [Effect] {
    guard let table = state.browse.table else { return [] }
    let (task, old) = reading(.place(place), in: &state)
    return old + [.place(task, table.page(), place)]
  }

  /// Reads the rows around one if it is among them, else from the start.
  static func read(keeping id: ObjectID, in state: inout State) -> [Effect] {
    guard let table = state.browse.table else { return [] }
    let (task, old) = reading(.keep(id), in: &state)
    return old + [.place(task, table.page(), .object(id))]
  }

  private static func reading(
    _ what: Reading.What, in state: inout State
  ) -> (task: TaskID, old: [Effect]) {
    let task = state.newTask()
    var old = state.browse.rowsTask.map { [Effect.cancel($0.task)] } ?? []
    if let view = state.browse.table?.view, view != state.browse.settled?.view {
      // What was being counted are the rows of another arrangement.
      old += [state.browse.matchesTask, state.browse.placingTask?.task].compactMap { $0 }
        .map { .cancel($0) }
      state.browse.matchesTask = nil
      state.browse.placingTask = nil
    }
    state.browse.unreadable = nil
    state.browse.rowsTask = Reading(task: task, what: what)
    return (task, old)
  }

  /// Asks for the next page when the selection comes near the end of what is there.
  static func readOn(in state: inout State) -> [Effect] {
    guard state.browse.rowsTask == nil else { return [] }
    let wanted = state.browse.table?.window.wanted
    // Away from the place that cannot be read, nothing is wrong.
    if state.browse.errorRows > 0, wanted == nil || wanted != state.browse.unreadable {
      state.browse.rowsError = nil
    }
    guard let anchor = wanted, anchor != state.browse.unreadable else { return [] }
    return read(anchor, in: &state)
  }

  /// Shows the selected row in the inspector.
  static func inspect(in state: inout State) -> [Effect] {
    let id = state.browse.table?.window.selectedRow?.id
    guard id != state.browse.inspector.object else { return [] }
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

  /// Has the rows that the filter takes counted, and those before the window, where it is not
  /// known.
  static func count(in state: inout State) -> [Effect] {
    guard let table = state.browse.table else { return [] }
    var effects: [Effect] = []
    if table.isFiltered, state.browse.total == nil, state.browse.matchesTask == nil {
      let task = state.newTask()
      state.browse.matchesTask = task
      effects.append(.countRows(task, table.query()))
    }
    if table.window.ordinal == nil, let row = table.window.selectedRow,
      state.browse.placingTask == nil, !table.window.hasEnd
    {
      let task = state.newTask()
      state.browse.placingTask = Placing(task: task, key: row.id.key)
      effects.append(.countBefore(task, table.query(), row.cursor))
    }
    return effects
  }
}
