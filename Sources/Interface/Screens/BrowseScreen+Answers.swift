import ManagedModel
import ManagedStore

extension BrowseScreen {
  /// Takes in the answer to one of the screen's effects.
  static func take(_ message: Message, in state: inout State) -> [Effect] {
    switch message {
    case .counted(let task, let counts) where task == state.browse.countTask:
      take(counts, in: &state)
    case .rows(let task, let page) where task == state.browse.rowsTask?.task:
      guard case .page(let anchor) = state.browse.rowsTask?.what,
        page.entity == state.browse.table?.entity
      else { return [] }
      let total = known(in: state)
      state.browse.table?.take(page, at: anchor, total: total)
      return settle(in: &state)
    case .placed(let task, let placed) where task == state.browse.rowsTask?.task:
      return take(placed, in: &state)
    case .countedRows(let task, let count) where task == state.browse.matchesTask:
      state.browse.matchesTask = nil
      state.browse.table?.matches = count
      if state.browse.settled != nil { state.browse.settled?.matches = count }
      state.browse.table?.window.setTotal(count)
    case .countedRows(let task, let count) where task == state.browse.placingTask?.task:
      if let key = state.browse.placingTask?.key {
        state.browse.table?.window.setOrdinal(count, ofKey: key)
      }
      state.browse.placingTask = nil
    case .object(let task, let inspection) where task == state.browse.objectTask:
      state.browse.objectTask = nil
      state.browse.inspector.take(inspection)
      if inspection == nil, let id = state.browse.inspector.object {
        state.notice = Notice("\(id) is not in the store", .warning)
      }
      return nameInspected(in: &state)
    case .names(let task, let names):
      return take(names, task, in: &state) ?? []
    default: break
    }
    return []
  }

  /// The number of rows, as far as it does not come from the window itself.
  private static func known(in state: State) -> Int? {
    guard let table = state.browse.table else { return nil }
    return table.isFiltered ? table.matches : state.browse.counts[table.entity]
  }

  private static func take(_ counts: [String: Int], in state: inout State) {
    guard let model = state.store?.model else { return }
    state.browse.ownCounts = counts
    for name in model.entities.map(\.name) {
      let parts = model.subtree(of: name).map { counts[$0] }
      if parts.allSatisfy({ $0 != nil }) {
        state.browse.counts[name] = parts.reduce(0) { $0 + ($1 ?? 0) }
      }
    }
    let total = known(in: state)
    state.browse.table?.window.setTotal(total)
  }

  private static func take(_ placed: PlacedRows?, in state: inout State) -> [Effect] {
    guard let what = state.browse.rowsTask?.what, let layout = state.store?.layout else {
      return []
    }
    if case .keep = what, placed.map({ $0.isUnfiltered }) ?? true {
      return read(.start, in: &state)
    }
    let place: RowPlace
    switch what {
    case .place(let wanted): place = wanted
    case .keep(let id): place = .object(id)
    case .page: return []
    }
    guard let placed else {
      state.browse.rowsTask = nil
      switch place {
      case .ordinal: return read(.end, in: &state)
      case .object(let id):
        state.notice = Notice("\(id) is not in the store", .warning)
        return state.browse.table?.window.rows.isEmpty == true ? read(.start, in: &state) : []
      }
    }
    guard placed.entity == state.browse.table?.entity else { return [] }
    if placed.isUnfiltered {
      state.history.left(state.view)
      try? state.browse.table?.setFilter(nil, related: nil, layout)
      state.notice = Notice("the filter hides that row and was cleared; u brings it back")
    }
    state.browse.table?.take(placed)
    return settle(in: &state)
  }

  /// Rows have come: they are those of the arrangement as it is.
  private static func settle(in state: inout State) -> [Effect] {
    state.browse.rowsTask = nil
    state.browse.rowsError = nil
    if let table = state.browse.table {
      state.browse.settled = Settled(view: table.view, matches: table.matches)
    }
    let total = known(in: state)
    state.browse.table?.window.setTotal(total)
    return readOn(in: &state) + count(in: &state) + inspect(in: &state) + nameRows(in: &state)
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    if let reading = state.browse.rowsTask, task == reading.task {
      state.browse.rowsTask = nil
      state.browse.rowsError = error
      if case .page(let anchor) = reading.what { state.browse.unreadable = anchor }
      state.notice = Notice(error.description, .warning)
      returnToSettled(in: &state)
      fit(&state)
    } else if task == state.browse.objectTask {
      state.browse.objectTask = nil
      state.notice = Notice(error.description, .warning)
    } else if task == state.browse.countTask {
      state.browse.countTask = nil
    } else if task == state.browse.matchesTask {
      state.browse.matchesTask = nil
    } else if task == state.browse.placingTask?.task {
      state.browse.placingTask = nil
    } else if task == state.browse.namesTask {
      // Keys are there all the same.
      state.browse.namesTask = nil
    } else if task == state.browse.inspectedNamesTask {
      state.browse.inspectedNamesTask = nil
    } else {
      return nil
    }
    return []
  }

  /// Stops what is being read; `nil` when nothing is.
  static func cancel(in state: inout State) -> [Effect]? {
    let browse = state.browse
    let tasks = [browse.rowsTask?.task, browse.matchesTask, browse.placingTask?.task]
      .compactMap { $0 }
    guard !tasks.isEmpty else { return nil }
    if browse.rowsTask != nil {
      if browse.table?.window.rows.isEmpty != false {
        state.browse.rowsError = CoreDataError(
          .cancelled, "reading was stopped", hint: "g reads again.")
      }
      state.browse.rowsTask = nil
      returnToSettled(in: &state)
    }
    state.browse.matchesTask = nil
    state.browse.placingTask = nil
    state.notice = Notice("stopped")
    return tasks.map { .cancel($0) }
  }

  /// The rows that are there are those of the arrangement before: it holds again.
  private static func returnToSettled(in state: inout State) {
    guard let settled = state.browse.settled, let layout = state.store?.layout,
      let table = state.browse.table, table.view != settled.view, !table.window.rows.isEmpty
    else { return }
    try? state.browse.table?.arrange(settled.view, layout)
    state.browse.table?.matches = settled.matches
  }
}
