import ManagedModel
import Migration
import Terminal

/// Everything that the interface shows and remembers.
///
/// Components work on a ``Context`` of it and on themselves; only what routes keys and answers, owns
/// the screens and popups, and carries out what they ask for has all of it.
@dynamicMemberLookup
package struct State: Sendable, Equatable {
  /// What every component may know.
  @Boxed package var known: Known
  var screen = Screen.browse
  /// Popups over the screen; the last one has the keys.
  var layers: [Layer] = []
  /// What was just said, in the place of the footer.
  package var notice: Notice?
  /// The choice of a store, in place of the screens while none is open.
  @Boxed package var picker: PickerScreen?
  var screens = Screens()
  /// Browse over the store itself while it shows the remains, or over the remains.
  @Boxed var otherBrowse = BrowseScreen()
  /// What happened when.
  var log = EventLog()
  /// The time of day, as text.
  package var clock = ""
  /// Opens the store again for what another program saved, and whether more was saved meanwhile.
  var refreshTask: TaskID?
  var isBehind = false
  /// What was done and can be taken back.
  var done = Past<Arrangement>(limit: 200)
  /// How much had been done when prepared changes were written, until `u` has said what undoes that.
  var writtenAfter: Int?
  /// The keys that a person has put elsewhere.
  package var keys = KeyRemapping()
  /// What was called from the palette, the last first.
  var paletteMemory = PaletteMemory()
  /// The line between panes that the mouse holds.
  var dragged: Divider?
  /// Where it was left the last time, until the store is open.
  @Boxed var restoring: SavedSession?
  /// The number typed before a key.
  var count = Count()

  /// What an interrupted run left, as far as a person was asked about it.
  var askedLeftovers: StoreLeftovers?
  /// Puts that right.
  var recoveryTask: TaskID?
  /// Whether the last key was a ^C that found nothing to cancel.
  var isLeaving = false
  var tasks = Tasks()

  /// A state that has seen nothing yet.
  package init(
    storePath: String, size: Size = Size(width: 80, height: 24), themeName: String = ""
  ) {
    known = Known(storePath: storePath, size: size, themeName: themeName)
  }

  /// What is known is read as the state's own.
  package subscript<Value>(dynamicMember path: KeyPath<Known, Value>) -> Value { $known[path] }

  package subscript<Value>(dynamicMember path: WritableKeyPath<Known, Value>) -> Value {
    get { $known[path] }
    set { known[keyPath: path] = newValue }
  }

  /// Below this the screen only says what it needs.
  static let smallest = Size(width: 40, height: 10)

  var isTooSmall: Bool {
    known.size.width < Self.smallest.width || known.size.height < Self.smallest.height
  }

  /// Takes the versions beside the store; those that were read by path or out of git stay.
  mutating func take(_ versions: [ModelVersion]) {
    let taken = Set(versions.map(\.path))
    let hashes = known.store?.model.versionHashes
    known.versions =
      versions
      + known.versions.filter { !$0.path.isEmpty && !taken.contains($0.path) }.map {
        var version = $0
        version.isStores = hashes != nil && version.model?.versionHashes == hashes
        return version
      }
  }

  /// Shows a mistake over what is there.
  package mutating func tell(_ error: CoreDataError) { show(MessageLayer(error)) }
}

/// What an interrupted run left beside the store: a person is asked before anything is done about it.
extension State {
  /// Takes what was found when the store was opened.
  mutating func take(_ found: StoreLeftovers) -> [Effect] {
    guard let first = found.sentences.first else { return [] }
    guard found.isRecoverable, recoveryTask == nil, work == nil, found != askedLeftovers else {
      notice = Notice(first, .warning)
      return []
    }
    askedLeftovers = found
    // Below what is open already, whose text could else hold an answer.
    let above = layers
    layers = []
    let effects = confirm(.recover(found))
    layers += above
    return effects
  }

  /// Has that put right; a person said so.
  mutating func recover() -> [Effect] {
    guard recoveryTask == nil else { return [] }
    let task = tasks.new(for: .state)
    recoveryTask = task
    return [.recover(task)]
  }

  /// It is done: the store may be another file now, or one that opens.
  mutating func takeRecovered(_ sentences: [String]) -> [Effect] {
    notice = Notice(sentences.first ?? "there was nothing left to recover", .warning)
    return reopen()
  }
}

/// What Browse shows besides the store: rows that are in it no more, or otherwise.
struct RemainsView: Sendable, Equatable {
  /// What was found; `nil` before anybody looked.
  var remains: Remains?
  /// Whether Browse shows it now.
  var isShown = false
  /// The store itself while they are shown, or what is shown for them.
  var store: StoreSummary?
}

extension State {
  /// Takes what was found.
  mutating func take(_ remains: Remains) {
    known.remains = RemainsView(remains: remains, store: remains.store)
    otherBrowse = BrowseScreen()
  }

  /// Shows the deleted and older rows in Browse, or the store itself again; they are looked for
  /// first if that was not done yet.
  mutating func turnRemains() -> [Effect] {
    guard let found = known.remains.remains else {
      return on(RescueScreen.self) { $0.search(thenShow: true, in: &$1) }
    }
    guard known.remains.isShown || !found.isEmpty else {
      notice = Notice(found.summary, .warning)
      return []
    }
    let isFirst = !known.remains.isShown && otherBrowse.table == nil
    var effects = on(BrowseScreen.self) { browse, _ in browse.leave() }
    known.turnRemains()
    (browse, otherBrowse) = (otherBrowse, browse)
    // Of a store that does not open there is nothing else to be shown.
    screen = known.store == nil ? .rescue : .browse
    effects.append(.readRemains(known.remains.isShown))
    effects += on(BrowseScreen.self) { $0.takeStore(in: &$1) }
    let most = found.entities.max { ($0.deleted, $0.older) < ($1.deleted, $1.older) }
    if isFirst, let most {
      effects += on(BrowseScreen.self) { $0.goTo(entity: most.name, in: &$1) }
    }
    return effects
  }

  /// The store is read again: what was found in it is of another time.
  mutating func forgetRemains() {
    if known.remains.isShown { browse = otherBrowse }
    (known.remains, otherBrowse) = (RemainsView(), BrowseScreen())
  }

  /// Whether neither a store nor models have been read yet, so that there is nothing to be shown.
  package var isStarting: Bool {
    known.store == nil && picker == nil && known.refusal == nil && known.versions.isEmpty
  }

  /// Whether what the first screen shows is there: the store, and its rows with their names. Numbers
  /// and the versions beside the store come when they come.
  package var isFilled: Bool {
    guard picker == nil, known.refusal == nil else { return true }
    guard known.models.isEmpty else { return !isStarting && !diff.isComparing }
    guard known.store != nil else { return false }
    return screen != .browse || browse.isFilled
  }
}

extension BrowseScreen {
  fileprivate var isFilled: Bool {
    rowsTask == nil && namesTask == nil && objectTask == nil && inspectedNamesTask == nil
  }
}

extension Effect {
  /// Whether it may begin when the first screen is there, which it would only keep waiting.
  package var canWait: Bool {
    switch self {
    case .ask(_, let request): request.canWait
    case .versions, .compare: true
    default: false
    }
  }
}
