import ManagedModel
import ManagedStore

extension BrowseScreen {
  /// Takes in the answer to one of the screen's effects.
  mutating func take(_ answer: Answer, to task: TaskID, in state: inout State) -> [Effect] {
    switch answer {
    case .counted(let counts) where task == countTask:
      take(counts, in: &state)
    case .rows(let page) where task == rowsTask:
      guard case .page(let anchor) = reading, page.entity == table?.entity else { return [] }
      let total = known(in: state)
      table?.take(page, at: anchor, total: total)
      return settle(in: &state)
    case .placed(let placed) where task == rowsTask:
      return take(placed, in: &state)
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
      inspector.take(inspection)
      if inspection == nil, let id = inspector.object {
        state.notice = Notice(state.isMissing(id), .warning)
      }
      return nameInspected(in: &state)
    case .sources(let found) where task == sourcesTask:
      sourcesTask = nil
      table?.take(found)
      // None is known of those that are still asked for.
      return found.isEmpty ? [] : findSources(in: &state)
    case .names(let names):
      return take(names, task, in: &state)
    case .picture(let raster): take(raster, to: task)
    default: break
    }
    return []
  }

  /// The number of rows, as far as it does not come from the window itself.
  private func known(in state: State) -> Int? {
    guard let table else { return nil }
    return table.isFiltered ? table.matches : counts[table.entity]
  }

  private mutating func take(_ counts: [String: Int], in state: inout State) {
    guard let model = state.store?.model else { return }
    ownCounts = counts
    for name in model.entities.map(\.name) {
      let parts = model.subtree(of: name).map { counts[$0] }
      if parts.allSatisfy({ $0 != nil }) {
        self.counts[name] = parts.reduce(0) { $0 + ($1 ?? 0) }
      }
    }
    let total = known(in: state)
    table?.window.setTotal(total)
  }

  private mutating func take(_ placed: PlacedRows?, in state: inout State) -> [Effect] {
    guard let layout = state.store?.layout else { return [] }
    if case .keep = reading, placed.map({ $0.isUnfiltered }) ?? true {
      return read(.start, in: &state)
    }
    let place: RowPlace
    switch reading {
    case .place(let wanted): place = wanted
    case .keep(let id): place = .object(id)
    case .page: return []
    }
    guard let placed else {
      rowsTask = nil
      switch place {
      case .ordinal: return read(.end, in: &state)
      case .object(let id):
        state.notice = Notice(state.isMissing(id), .warning)
        return table?.window.rows.isEmpty == true ? read(.start, in: &state) : []
      }
    }
    guard placed.entity == table?.entity else { return [] }
    if placed.isUnfiltered {
      state.history.left(state.view)
      try? table?.setFilter(nil, related: nil, layout)
      state.notice = Notice("the filter hides that row and was cleared; u brings it back")
    }
    table?.take(placed)
    return settle(in: &state)
  }

  /// Rows have come: they are those of the arrangement as it is.
  private mutating func settle(in state: inout State) -> [Effect] {
    rowsTask = nil
    rowsError = nil
    if let table {
      settled = Settled(view: table.view, matches: table.matches)
    }
    let total = known(in: state)
    self.table?.window.setTotal(total)
    return readOn(in: &state) + count(in: &state) + inspect(in: &state) + nameRows(in: &state)
      + findSources(in: &state)
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect] {
    if rowsTask.end(task) {
      rowsError = error
      if case .page(let anchor) = reading { unreadable = anchor }
      state.notice = Notice(error.description, .warning)
      returnToSettled(in: &state)
      fit(in: &state)
    } else if objectTask.end(task) {
      state.notice = Notice(error.description, .warning)
    } else if !countTask.end(task), !matchesTask.end(task), !placingTask.end(task),
      // Keys are there all the same.
      !namesTask.end(task), !inspectedNamesTask.end(task), !sourcesTask.end(task)
    {
      failPicture(task, error)
    }
    return []
  }

  /// Stops what is being read; `nil` when nothing is.
  mutating func cancel(in state: inout State) -> [Effect]? {
    let tasks = [rowsTask, matchesTask, placingTask].compactMap { $0 }
    guard !tasks.isEmpty else { return nil }
    if rowsTask != nil {
      if table?.window.rows.isEmpty != false {
        rowsError = CoreDataError(.cancelled, "reading was stopped", hint: "g reads again.")
      }
      rowsTask = nil
      returnToSettled(in: &state)
    }
    (matchesTask, placingTask) = (nil, nil)
    state.notice = Notice("stopped")
    return tasks.map { .cancel($0) }
  }

  /// The rows that are there are those of the arrangement before: it holds again.
  private mutating func returnToSettled(in state: inout State) {
    guard let settled, let layout = state.store?.layout,
      let table, table.view != settled.view, !table.window.rows.isEmpty
    else { return }
    try? self.table?.arrange(settled.view, layout)
    self.table?.matches = settled.matches
  }
}

extension State {
  /// That an object is not where it is looked for.
  fileprivate func isMissing(_ id: ObjectID) -> String {
    remains.isShown
      ? "\(id) is not among what was deleted; D goes back to the store"
      : "\(id) is not in the store"
  }
}
