import ManagedModel

/// What Browse shows besides the store: rows that are in it no more, or otherwise.
struct RemainsView: Sendable, Equatable {
  /// What was found; `nil` before anybody looked.
  var remains: Remains?
  /// Whether Browse shows it now.
  var isShown = false
  /// What the other of the two looked like when it was left.
  fileprivate var store: StoreSummary?
  fileprivate var browse = BrowseScreen()

  /// Browse as it was over the store itself, while it shows the remains.
  var ownBrowse: BrowseScreen? { isShown ? browse : nil }
}

extension State {
  /// The store itself, whatever Browse shows.
  package var ownStore: StoreSummary? { remains.isShown ? remains.store : store }

  /// The command line that does the same to the rows in sight; none does to those that are not in the
  /// store.
  func rowCommand(_ command: String) -> String? { remains.isShown ? nil : command }

  /// Takes what was found.
  mutating func take(_ remains: Remains) {
    self.remains = RemainsView(remains: remains, store: remains.store)
  }

  /// Shows the deleted and older rows in Browse, or the store itself again; where nobody looked for
  /// them, that is done first.
  mutating func turnRemains() -> [Effect] {
    guard let found = remains.remains else {
      return on(RescueScreen.self) { $0.search(thenShow: true, in: &$1) }
    }
    guard remains.isShown || !found.isEmpty else {
      notice = Notice(found.summary, .warning)
      return []
    }
    let isFirst = !remains.isShown && remains.browse.table == nil
    var effects = on(BrowseScreen.self) { $0.leave(in: &$1) }
    swap(&store, &remains.store)
    var browse = browse
    swap(&browse, &remains.browse)
    self.browse = browse
    remains.isShown.toggle()
    // Of a store that does not open there is nothing else to be shown.
    screen = store == nil ? .rescue : .browse
    effects.append(.readRemains(remains.isShown))
    effects += on(BrowseScreen.self) { $0.takeStore(in: &$1) }
    let most = found.entities.max { ($0.deleted, $0.older) < ($1.deleted, $1.older) }
    if isFirst, let most {
      effects += on(BrowseScreen.self) { $0.goTo(entity: most.name, in: &$1) }
    }
    return effects
  }

  /// The store is read anew: what was found in it is of another time.
  mutating func forgetRemains() {
    if remains.isShown { browse = remains.browse }
    remains = RemainsView()
  }
}
