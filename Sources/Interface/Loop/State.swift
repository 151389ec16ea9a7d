import ManagedModel
import Migration
import Terminal

/// Everything that the interface shows and remembers.
package struct State: Sendable, Equatable {
  /// The cells of the terminal.
  package var size: Size
  /// The store's path as the person gave it, for the command lines that are shown.
  let storePath: String
  /// Where it lies if it is a private copy of a store in a container: nothing is put in its place.
  package var copy: CopyPlace?
  /// `nil` while it is being opened, and for one that does not open.
  package var store: StoreSummary?
  /// Why the store does not open at all; Rescue is all there is of it then.
  package var refusal: CoreDataError?
  var versions: [ModelVersion] = []
  var screen = Screen.browse
  /// Popups over the screen; the last one has the keys.
  var layers: [Layer] = []
  /// What was just said, in the place of the footer.
  package var notice: Notice?
  /// The choice of a store, in place of the screens while there is none.
  package var picker: PickerScreen?
  var screens = Screens()
  /// What happened when.
  var log = EventLog()
  /// The time of day, as text.
  package var clock = ""
  /// What became of the store's files since it was opened.
  var storeChange: StoreChange?
  /// What `--via` and `--mapping` named.
  package var planOptions = PlanOptions()
  var history = Past<ViewState>(limit: 200)
  /// The keys that a person has put elsewhere.
  package var keys = KeyRemapping()
  /// What is wrong with the configuration, for the help page.
  package var configurationProblems: [String] = []
  /// What was called from the palette, the last first.
  var paletteMemory = PaletteMemory()
  var dividers = Dividers()
  /// The line between panes that the mouse holds.
  var dragged: Divider?
  /// Where it was left the last time, until the store is open.
  var restoring: SavedSession?
  /// The number typed before a key.
  var count = Count()
  /// The theme that everything is drawn in.
  package var themeName: String
  /// What the terminal shows: pictures take 256 colours.
  package var colors = ColorDepth.none

  /// What was deleted from the store, and can be looked at in its place.
  var remains = RemainsView()

  /// What an interrupted run left, as far as a person was asked about it.
  var askedLeftovers: StoreLeftovers?
  /// Puts that right.
  var recoveryTask: TaskID?
  var openTask: TaskID?
  var versionsTask: TaskID?
  /// Whether the last key was a ^C that found nothing to cancel.
  var isLeaving = false
  var tasks = Tasks()
  var lastLayer = 0

  /// A state that has seen nothing yet.
  package init(
    storePath: String, size: Size = Size(width: 80, height: 24), themeName: String = ""
  ) {
    (self.storePath, self.size, self.themeName) = (storePath, size, themeName)
  }

  /// Below this the screen only says what it needs.
  static let smallest = Size(width: 40, height: 10)

  var isTooSmall: Bool {
    size.width < Self.smallest.width || size.height < Self.smallest.height
  }

  /// What is between header and footer.
  var body: Rect {
    Rect(y: 1, width: size.width, height: size.height - 2)
  }

  /// Takes the versions beside the store; those that were read by path or out of git stay.
  mutating func take(_ versions: [ModelVersion]) {
    let known = Set(versions.map(\.path))
    let hashes = store?.model.versionHashes
    self.versions =
      versions
      + self.versions.filter { !$0.path.isEmpty && !known.contains($0.path) }.map {
        var version = $0
        version.isStores = version.model?.versionHashes == hashes
        return version
      }
  }

  /// Versions were read by path or out of git: where there was nowhere to go, there may be now.
  mutating func add(_ new: [ModelVersion]) -> [Effect] {
    let known = Set(versions.map(\.path))
    versions += new.filter { !known.contains($0.path) }
    return meet(.moreVersions) + entered()
  }

  /// The models of two versions, where both are there and can be read.
  func models(from: Int?, to: Int?) -> (source: Model, destination: Model)? {
    guard let source = versions.element(from)?.model, let destination = versions.element(to)?.model
    else { return nil }
    return (source, destination)
  }

  /// Whether the versions beside the store are still being read, and with them what its model is
  /// called.
  var isReadingVersions: Bool { versionsTask != nil || openTask != nil }

  /// The name of the store's own model, as the versions beside it or its own identifiers show; `nil`
  /// where it has none, or while nobody knows it yet.
  var storeModelName: String? { isReadingVersions ? nil : modelName }

  /// What the model is called as far as is known now.
  package var modelName: String? {
    if let version = versions.first(where: { $0.isStores && !$0.path.isEmpty }) {
      return version.name
    }
    return store.flatMap { Model.name(ofIdentifiers: $0.model.versionIdentifiers) }
  }

  /// Shows a mistake over what is there.
  package mutating func tell(_ error: CoreDataError) { show(MessageLayer(error)) }

  /// The store's path as a shell takes it.
  var storeArgument: String { ShellText.quoted(storePath) }

  /// A name beside the store, such as `Recipes-salvaged.sqlite`, that was not given to one yet; what is
  /// in a container has none beside it.
  ///
  /// - Parameter taken: names that were given; `nil`: those that the Rescue screen knows.
  func newStore(_ what: String, besides taken: Set<String>? = nil) -> String {
    let name = storePath.split(separator: "/").last.map(String.init) ?? storePath
    let folder = copy == nil ? String(storePath.dropLast(name.count)) : ""
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let (stem, ending) = dot.map { (String(name[..<$0]), String(name[$0...])) } ?? (name, "")
    let place = (storePath.hasSuffix("/") ? "" : folder) + stem + "-" + what
    let names = [place + ending] + (2...99).map { "\(place)-\($0)\(ending)" }
    let given = taken ?? rescue.made
    return names.first { !given.contains($0) } ?? names[0]
  }
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
    return working(as: .state) { state in
      let task = state.tasks.new()
      state.recoveryTask = task
      return [.recover(task)]
    }
  }

  /// The question was answered with no.
  mutating func declineRecovery() {
    notice = Notice(
      "nothing was changed; the next migrate, repair, reset or rollback does it", .warning)
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

  /// The store is read again: what was found in it is of another time.
  mutating func forgetRemains() {
    if remains.isShown { browse = remains.browse }
    remains = RemainsView()
  }

  /// Whether what the first screen shows is there: the store, and its rows with their names. Numbers
  /// and the versions beside the store come when they come.
  package var isFilled: Bool {
    guard picker == nil, refusal == nil else { return true }
    guard store != nil else { return false }
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
    case .versions: true
    default: false
    }
  }
}
