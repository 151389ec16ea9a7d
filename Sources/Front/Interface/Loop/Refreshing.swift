/// What another program saves to the store while it is looked at.
extension State {
  /// The store's files are not what they were.
  mutating func take(_ change: StoreChange) -> [Effect] {
    let former = known.news.change?.word
    known.news.take(change)
    tell(since: former)
    return known.refreshMode != .ask && change != .gone ? refresh() : []
  }

  /// Says what became of the files, unless the rows show it by themselves.
  private mutating func tell(since former: String?) {
    guard let change = known.news.change, change.word != former,
      !change.isSave || known.refreshMode == .ask
    else { return }
    notice = Notice(change.sentence, .warning)
  }

  /// Other programs saved: what it was is listed and marked; the rows are read again once that is known.
  mutating func take(_ saves: [SeenSave]) -> [Effect] {
    let former = known.news.change?.word
    known.news.take(saves, marks: known.refreshMode != .ask)
    tell(since: former)
    guard !known.remains.isShown else { return [] }
    switch known.refreshMode {
    case .live: return on(BrowseScreen.self) { $0.take(saves, in: &$1) }
    case .mark: return on(BrowseScreen.self) { $0.loadChanged(in: &$1) }
    case .ask: return []
    }
  }

  /// Lists what changed.
  mutating func showChanges() -> [Effect] {
    show(ChangesLayer(context))
    return []
  }

  /// Opens the store again where it stands.
  mutating func refresh() -> [Effect] {
    isBehind = refreshTask != nil || known.openTask != nil
    guard !isBehind, known.ownStore != nil else { return [] }
    let task = tasks.new(for: .state)
    refreshTask = task
    return [.refresh(task)]
  }

  /// The store as it is now: where it is of the same shape, all stays in its place.
  mutating func refreshed(_ store: StoreSummary) -> [Effect] {
    refreshTask = nil
    guard known.openTask == nil, let former = known.ownStore else { return [] }
    guard former.isAlike(store) else { return opened(store) }
    if known.remains.isShown {
      known.remains.store = store
    } else {
      known.store = store
    }
    let more = isBehind ? refresh() : []
    guard !known.remains.isShown else { return more }
    switch known.refreshMode {
    case .live: return on(BrowseScreen.self) { $0.refresh(in: &$1) } + more
    case .mark: return on(BrowseScreen.self) { $0.loadChanged(in: &$1) } + more
    case .ask: return more
    }
  }
}

extension StoreSummary {
  /// Whether everything that is shown of one store fits the other.
  func isAlike(_ other: StoreSummary) -> Bool {
    uuid == other.uuid && isRaw == other.isRaw && columns == other.columns
      && missing == other.missing && hashPrefix == other.hashPrefix && model == other.model
  }
}
