import ManagedModel
import ManagedStore

extension BrowseScreen {
  /// The store was opened, or opened again after a migration: the place is kept where it can be.
  mutating func takeStore(in context: inout Context) -> [Effect] {
    guard let store = context.store else { return [] }
    let former = self
    self = BrowseScreen()
    views = former.view.tables
    formerFilters = former.formerFilters
    labels = former.labels
    focus = former.focus == .inspector ? .rows : former.focus
    tree = EntityTree(store)
    if let entity = former.table?.entity { tree.select(entity) }
    fit(context)
    let counting = context.ask(&countTask) { .ask($0, .count) }
    return showEntity(in: &context) + counting
  }

  /// Arranges the tables, and shows the entity if there is such a one.
  mutating func arrange(_ view: BrowseView, in context: inout Context) -> [Effect] {
    let areLabelsNew = labels.choices != view.labels
    labels.choices = view.labels
    let effects = arrangeRows(view, in: &context)
    return effects + (areLabelsNew ? nameAnew(in: &context) : [])
  }

  private mutating func arrangeRows(_ view: BrowseView, in context: inout Context) -> [Effect] {
    views = view.tables
    for (entity, filters) in view.filters where formerFilters[entity] == nil {
      formerFilters[entity] = filters
    }
    if let entity = view.entity { tree.select(entity) }
    guard let store = context.store, let selected = tree.selected else { return [] }
    let new = view.tables[selected] ?? TableView()
    guard let table, table.entity == selected else {
      return show(selected, new, in: &context)
    }
    let old = table.view
    guard old != new else { return [] }
    arrangeTable(new, store.layout, in: &context)
    guard let query = self.table?.query(), query != table.query() else { return [] }
    trail = Trail()
    inspector.show(nil)
    guard let id = table.window.selectedRow?.id else { return read(.start, in: &context) }
    return read(keeping: id, in: &context)
  }

  /// The property that labels objects of an entity.
  func label(of entity: String, _ store: StoreSummary) -> String? {
    store.layout.table(of: entity).flatMap { labels.attribute(of: $0, in: store.model) }
  }

  /// Shows the rows of the entity that is selected in the tree.
  mutating func showEntity(in context: inout Context) -> [Effect] {
    guard let entity = tree.selected, table?.entity != entity else {
      return []
    }
    // A choice in the tree begins a new way.
    trail = Trail()
    return show(entity, in: &context)
  }

  /// Shows an entity's rows, as they were arranged when they were left.
  ///
  /// - Parameter place: the row to begin with.
  mutating func show(
    _ entity: String, _ view: TableView? = nil, at place: RowPlace? = nil, in context: inout Context
  ) -> [Effect] {
    guard let store = context.store else { return [] }
    let effects = stopReading()
    views = keptViews
    inspector = Inspector()
    rowsError = nil
    settled = nil
    unreadable = nil
    table = RowTable(
      entity: entity, properties: store.columns[entity] ?? [], label: label(of: entity, store),
      hasSubentities: !store.model.children(of: entity).isEmpty,
      hasSources: context.remains.isShown)
    if let view = view ?? views[entity] {
      arrangeTable(view, store.layout, in: &context)
    }
    fit(context)
    return effects + (place.map { read($0, in: &context) } ?? read(.start, in: &context))
  }

  /// The arrangements to come back to by the tree: what was related is no way to see an entity.
  var keptViews: [String: TableView] {
    var views = view.tables
    guard let table, var own = views[table.entity] else { return views }
    own.related = nil
    views[table.entity] = own == TableView() ? nil : own
    return views
  }

  private mutating func arrangeTable(
    _ view: TableView, _ layout: StoreLayout, in context: inout Context
  ) {
    do {
      try table?.arrange(view, layout)
    } catch {
      context.notice = Notice("the filter was left out: \(error.clause)", .warning)
    }
  }

  mutating func stopReading() -> [Effect] {
    (rowsTask.stop() ?? []) + (placingTask.stop() ?? []) + (objectTask.stop() ?? [])
      + (matchesTask.stop() ?? []) + (namesTask.stop() ?? []) + (inspectedNamesTask.stop() ?? [])
      + (sourcesTask.stop() ?? [])
  }

  /// Other rows come in the place of these: nothing that is asked for is wanted any more.
  mutating func leave() -> [Effect] {
    stopReading() + (countTask.stop() ?? [])
  }

  /// Asks where the rows come from.
  mutating func findSources(in context: inout Context) -> [Effect] {
    guard sourcesTask == nil, let rows = table?.unknownSources, !rows.isEmpty else { return [] }
    return context.ask(&sourcesTask) { .sources($0, rows) }
  }

  mutating func read(_ anchor: RowQuery.Anchor, in context: inout Context) -> [Effect] {
    read(.page(anchor), in: &context) { .rows($0.page(anchor)) }
  }

  mutating func read(_ place: RowPlace, in context: inout Context) -> [Effect] {
    read(.place(place), in: &context) { .place($0.page(), place) }
  }

  /// Reads the rows around one if it is among them, else from the start.
  mutating func read(keeping id: ObjectID, in context: inout Context) -> [Effect] {
    read(.keep(id), in: &context) { .place($0.page(), .object(id)) }
  }

  /// Reads the rows again for columns that were added, around the one that is selected.
  mutating func readWithPaths(in context: inout Context) -> [Effect] {
    guard let id = table?.window.selectedRow?.id else { return read(.start, in: &context) }
    return read(keeping: id, in: &context)
  }

  mutating func read(
    _ what: Reading, in context: inout Context, _ request: (RowTable) -> StoreRequest
  ) -> [Effect] {
    guard let table else { return [] }
    var old = rowsTask.stop() ?? []
    // What was being counted are the rows of another arrangement.
    if table.view != settled?.view {
      old += (matchesTask.stop() ?? []) + (placingTask.stop() ?? [])
    }
    unreadable = nil
    reading = what
    return old + context.ask(&rowsTask) { .ask($0, request(table)) }
  }

  /// Asks for the next page when the selection comes near the end of what is there.
  mutating func readOn(in context: inout Context) -> [Effect] {
    guard rowsTask == nil else { return [] }
    let wanted = table?.window.wanted
    // Away from the place that cannot be read, nothing is wrong.
    if errorRows > 0, wanted == nil || wanted != unreadable {
      rowsError = nil
    }
    guard let anchor = wanted, anchor != unreadable else { return [] }
    return read(anchor, in: &context)
  }

  /// Shows the selected row in the inspector.
  mutating func inspect(in context: inout Context) -> [Effect] {
    let id = table?.window.selectedRow?.id
    guard id != inspector.object else { return [] }
    inspector.show(id)
    return load(in: &context)
  }

  mutating func load(in context: inout Context) -> [Effect] {
    guard let id = inspector.object else { return objectTask.stop() ?? [] }
    return context.ask(&objectTask) { .ask($0, .object(id)) }
  }

  /// Has the rows that the filter takes counted, and those before the window, where it is not
  /// known.
  mutating func count(in context: inout Context) -> [Effect] {
    guard let table else { return [] }
    var effects: [Effect] = []
    if table.isFiltered, total == nil, matchesTask == nil {
      effects += context.ask(&matchesTask) { .ask($0, .countRows(table.query())) }
    }
    if table.window.ordinal == nil, let row = table.window.selectedRow,
      placingTask == nil, !table.window.hasEnd
    {
      placedKey = row.id.key
      effects += context.ask(&placingTask) { .ask($0, .countBefore(table.query(), row.cursor)) }
    }
    return effects
  }

  /// Takes in the answer to one of the screen's effects.
  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .counted(let counts) where task == countTask:
      take(counts, in: &context)
    case .rows(let page) where task == rowsTask:
      guard page.entity == table?.entity else { return [] }
      var effects: [Effect] = []
      switch reading {
      case .page(let anchor):
        let total = knownTotal
        table?.take(page, at: anchor, total: total)
      case .again(let limit): effects = takeAgain(page, limit: limit, in: &context)
      case .place, .keep: return []
      }
      return effects + settle(in: &context)
    case .placed(let placed) where task == rowsTask:
      return take(placed, in: &context)
    case .countedRows(let count) where task == matchesTask:
      matchesTask = nil
      table?.matches = count
      settled?.matches = count
      table?.window.setTotal(count)
    case .countedRows(let count) where task == placingTask:
      placingTask = nil
      table?.window.setOrdinal(count, ofKey: placedKey)
    case .object(let inspection) where task == objectTask:
      objectTask = nil
      return take(inspection, in: &context)
    case .deletion(let objects):
      takeDeletion(objects, task, in: &context)
    case .sources(let found) where task == sourcesTask:
      sourcesTask = nil
      table?.take(found)
      // None is known of those that are still asked for.
      return found.isEmpty ? [] : findSources(in: &context)
    case .names(let names):
      return take(names, task, in: &context)
    case .picture(let raster): take(raster, to: task)
    default: break
    }
    return []
  }

  /// The number of rows, as far as it does not come from the window itself.
  private var knownTotal: Int? {
    guard let table else { return nil }
    return table.isFiltered ? table.matches : counts[table.entity]
  }

  private mutating func take(_ inspection: Inspection?, in context: inout Context) -> [Effect] {
    if inspection == nil, let id = inspector.object {
      // One that was deleted in front of us stays as it was.
      guard inspector.inspection?.id != id else { return [] }
      if let change = context.marks[id], let columns = context.store?.columns[id.entity] {
        inspector.take(Inspection(deleted: id, change, columns))
        return nameInspected(in: &context)
      }
      context.notice = Notice(context.known.isMissing(id), .warning)
    }
    inspector.take(inspection, change: change(in: context))
    return nameInspected(in: &context)
  }

  mutating func take(_ counts: [String: Int], in context: inout Context) {
    guard let model = context.store?.model else { return }
    ownCounts = counts
    for name in model.entities.map(\.name) {
      let parts = model.subtree(of: name).map { counts[$0] }
      if parts.allSatisfy({ $0 != nil }) {
        self.counts[name] = parts.reduce(0) { $0 + ($1 ?? 0) }
      }
    }
    let total = knownTotal
    table?.window.setTotal(total)
    let all = self.counts
    context.tell(StorePanel.self) { $0.counts = all }
  }

  private mutating func take(_ placed: PlacedRows?, in context: inout Context) -> [Effect] {
    guard let layout = context.store?.layout else { return [] }
    if case .keep = reading, placed.map({ $0.isUnfiltered }) ?? true {
      return read(.start, in: &context)
    }
    let place: RowPlace
    switch reading {
    case .place(let wanted): place = wanted
    case .keep(let id): place = .object(id)
    case .page, .again: return []
    }
    guard let placed else {
      rowsTask = nil
      switch place {
      case .ordinal: return read(.end, in: &context)
      case .object(let id):
        context.notice = Notice(context.known.isMissing(id), .warning)
        return table?.window.rows.isEmpty == true ? read(.start, in: &context) : []
      }
    }
    guard placed.entity == table?.entity else { return [] }
    if placed.isUnfiltered {
      context.left(view)
      try? table?.setFilter(nil, related: nil, layout)
      context.notice = Notice("the filter hides that row and was cleared; u brings it back")
    }
    table?.take(placed)
    return settle(in: &context)
  }

  /// Rows have come: they are those of the arrangement as it is.
  private mutating func settle(in context: inout Context) -> [Effect] {
    rowsTask = nil
    rowsError = nil
    if let table {
      settled = Settled(view: table.view, matches: table.matches)
    }
    let total = knownTotal
    self.table?.window.setTotal(total)
    if isStale { return refresh(in: &context) }
    return readOn(in: &context) + count(in: &context) + inspect(in: &context)
      + nameRows(in: &context) + findSources(in: &context)
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    if rowsTask.end(task) {
      // The rows stay, and are read once more when the store was opened between two writes.
      if case .again = reading { return readOnceMore(in: &context) }
      rowsError = error
      if case .page(let anchor) = reading { unreadable = anchor }
      context.notice = Notice(error.description, .warning)
      returnToSettled(context)
      fit(context)
    } else if deletions.removeValue(forKey: task) != nil {
      context.show(MessageLayer(error))
    } else if objectTask.end(task) {
      context.notice = Notice(error.description, .warning)
    } else if !countTask.end(task), !matchesTask.end(task), !placingTask.end(task),
      // Keys are there all the same.
      !namesTask.end(task), !inspectedNamesTask.end(task), !sourcesTask.end(task)
    {
      failPicture(task, error)
    }
    return []
  }

  /// Stops what is being read; `nil` when nothing is.
  mutating func cancel(in context: inout Context) -> [Effect]? {
    let tasks = [rowsTask, matchesTask, placingTask].compactMap { $0 }
    guard !tasks.isEmpty else { return nil }
    if rowsTask != nil {
      if table?.window.rows.isEmpty != false {
        rowsError = CoreDataError(.cancelled, "reading was stopped", hint: "g reads again.")
      }
      rowsTask = nil
      returnToSettled(context)
    }
    (matchesTask, placingTask) = (nil, nil)
    context.notice = Notice("stopped")
    return tasks.map { .cancel($0) }
  }

  /// The rows that are there are those of the arrangement before: it holds again.
  private mutating func returnToSettled(_ context: Context) {
    guard let settled, let layout = context.store?.layout,
      let table, table.view != settled.view, !table.window.rows.isEmpty
    else { return }
    try? self.table?.arrange(settled.view, layout)
    self.table?.matches = settled.matches
  }
}

extension Known {
  /// That an object is not where it is looked for.
  fileprivate func isMissing(_ id: ObjectID) -> String {
    remains.isShown
      ? "\(id) is not among the deleted objects; D goes back to the store"
      : "\(id) is not in the store"
  }
}
