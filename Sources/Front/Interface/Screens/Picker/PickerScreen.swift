import ManagedModel
import Terminal

/// The stores that were looked at lately, and folders to find another one in.
package struct PickerScreen: ScreenContent {
  static let title = "Files"

  enum Line: Sendable, Equatable {
    /// What the lines below it are; it cannot be chosen.
    case heading(String)
    case recent(RecentStore)
    case entry(FolderListing.Entry)

    var path: String {
      switch self {
      case .heading(let text): text
      case .recent(let store): store.path
      case .entry(let entry): entry.path
      }
    }

    var isHeading: Bool { if case .heading = self { true } else { false } }
  }

  /// The folder to be shown.
  private(set) var folder: String
  let home: String?
  private(set) var listing: FolderListing?
  private(set) var recent: [RecentStore] = []
  private(set) var peeks: [String: StorePeek] = [:]
  /// What is narrowed to.
  private(set) var filter = ""
  private(set) var showsHidden = false
  var list = List()
  /// Why the folder could not be read.
  private(set) var error: CoreDataError?
  /// The backup that is shown and waits for its password.
  private var locked: LockedBackup?
  private var listTask: TaskID?
  private var recentTask: TaskID?
  /// The first folder; the recent stores are shown with it.
  private var start: String?
  private var hasMoved = false
  /// Whether a line of this folder was chosen by hand, or is the one that was come from.
  private var isTouched = false
  /// The folder that was left, to be selected in the one above it.
  private var returning: String?

  /// Whether the recent stores are wanted: not by a person who names a folder.
  private let showsRecent: Bool
  /// The folder of the simulators, offered first where one begins.
  private let simulators: FolderListing.Entry?

  /// - Parameters:
  ///   - home: where `~` leads.
  ///   - simulators: the folder of the simulators, where there is one.
  package init(
    folder: String, home: String?, simulators: String? = nil, showsRecent: Bool = true
  ) {
    (self.folder, self.showsRecent, self.home) = (folder, showsRecent, home)
    self.simulators = simulators.map {
      FolderListing.Entry(name: "iOS simulators", path: $0, kind: .folder)
    }
  }

  init() { self.init(folder: "", home: "") }

  var isReading: Bool { listTask != nil && listing == nil }

  var lines: [Line] {
    let match = TextMatch(filter)
    let entries = (listing?.entries ?? []).filter { entry in
      (showsHidden || !entry.isHidden || !filter.isEmpty && filter.hasPrefix("."))
        && peeks[entry.path] != .nothing && !(entry.path == simulators?.path && isFirst(entry))
    }
    // The stores of this folder, then those of elsewhere, then where more may be.
    let here = entries.filter { isStore($0) && match.matches($0.name) }.map { Line.entry($0) }
    let rest = entries.filter { !isStore($0) && match.matches($0.name) }.map { Line.entry($0) }
    let paths = Set(entries.map(\.path))
    let recent = (isStart ? recent : [])
      .filter { !paths.contains($0.path) && match.matches($0.path) }.map { Line.recent($0) }
    let first = [simulators].compactMap { $0 }.filter { isFirst($0) && match.matches($0.name) }
      .map { Line.entry($0) }
    guard !recent.isEmpty else { return first + here + rest }
    return first + here + [.heading("opened lately")] + recent
      + (rest.isEmpty ? [] : [.heading("folders and files here")] + rest)
  }

  /// Whether the folder that one began with is shown.
  private var isStart: Bool { start == nil || start == listing?.path }

  /// Whether a folder stands before all others.
  private func isFirst(_ entry: FolderListing.Entry) -> Bool {
    isStart && showsRecent && entry.path != listing?.path
  }

  private func isStore(_ entry: FolderListing.Entry) -> Bool {
    switch peeks[entry.path] {
    case .store, .atomic: true
    default: false
    }
  }

  /// Moves the selection off a heading, on the way that it came.
  private mutating func leaveHeading(from former: Int) {
    guard selectedLine?.isHeading == true else { return }
    let isUp = list.selected < former && list.selected > 0
    list.move(by: isUp ? -1 : 1)
  }

  var selectedLine: Line? { lines.element(list.selected) }

  /// Keeps the selected line selected while lines come and go.
  private mutating func keepingSelection(_ change: (inout PickerScreen) -> Void) {
    let path = selectedLine?.path
    change(&self)
    let lines = lines
    list.setCount(lines.count)
    if let index = lines.firstIndex(where: { $0.path == path }) { list.select(index) }
    leaveHeading(from: 0)
  }
}

extension PickerScreen {
  /// In a folder that nothing was selected in yet, the store is what is wanted.
  private mutating func selectFirstStore() {
    guard !isTouched else { return }
    let lines = lines
    let index = lines.firstIndex {
      if case .entry(let entry) = $0 { isStore(entry) } else { false }
    }
    // Without one, what was open last is the likeliest.
    let other = hasMoved ? nil : lines.firstIndex { if case .recent = $0 { true } else { false } }
    if let index = index ?? other { list.select(index) }
  }

  func bindings(_ context: Context) -> [Binding] {
    let line = selectedLine
    let isFolder = if case .entry(let entry)? = line { entry.kind == .folder } else { false }
    return [
      Binding(
        [.enter],
        locked != nil
          ? "enter the password" : isFolder ? "open the folder" : "open the store",
        does("open") { $0.open(in: &$1) },
        unless: locked != nil || line.map(\.isHeading) == false ? nil : "nothing is selected",
        command: "strata STORE"),
      Binding(
        [.right, "l"], label: "→ l", "into the folder",
        does("rightColumn") { $0.enter(in: &$1) },
        unless: isFolder ? nil : "it is not a folder"),
      Binding(
        [.left, "h", .backspace], label: "← h ⌫", "up", does("leftColumn") { $0.leave(in: &$1) },
        unless: listing?.parent == nil ? "this is the top folder" : nil),
      Binding(
        ["/"], "find",
        shows("search") { screen, _ in SearchLayer(.screen, former: screen.filter) }),
      Binding(
        ["."], showsHidden ? "without hidden files" : "hidden files",
        changes("hiddenFiles") { $0.keepingSelection { $0.showsHidden.toggle() } }),
      Binding(
        ["~"], "home",
        does("homeFolder") { screen, context in
          screen.home.map { screen.go(to: $0, in: &context) } ?? []
        }, unless: home == nil ? "HOME is not set" : nil, footer: false),
      Binding(
        [.escape], "show all", does("close") { $0.search("", in: &$1) },
        unless: filter.isEmpty ? "nothing is filtered" : nil,
        footer: false),
      scrolling { screen, key, _ in screen.move(key) },
    ]
  }

  mutating func start(in context: inout Context) -> [Effect] {
    guard showsRecent else { return read(in: &context) }
    return context.ask(&recentTask) { .find($0, .recentStores) } + read(in: &context)
  }

  private mutating func read(in context: inout Context) -> [Effect] {
    (listing, peeks, error, locked) = (nil, [:], nil, nil)
    isTouched = returning != nil
    return context.ask(&listTask) { [folder] in .find($0, .folder(folder)) }
  }

  private mutating func go(to folder: String, in context: inout Context) -> [Effect] {
    self.folder = folder
    filter = ""
    return read(in: &context)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .recentStores(let stores) where task == recentTask:
      keepingSelection { $0.recent = stores }
      if !hasMoved { selectFirstStore() }
    case .folder(let listing) where task == listTask: show(listing, in: &context)
    case .locked(let backup) where task == listTask:
      listTask = nil
      locked = backup
      folder = backup.path
      // The way back up stays open, and the line says why nothing is here.
      error = CoreDataError(.unreadable, "locked: Enter asks for the password")
      listing = FolderListing(path: backup.path, parent: backup.parent, entries: [])
      if start == nil { start = backup.path }
      list.setCount(lines.count)
      context.show(PasswordLayer(backup))
    case .peeked(let peeks) where task == listTask:
      keepingSelection { $0.peeks.merge(peeks) { $1 } }
      selectFirstStore()
    default: break
    }
    return []
  }

  private mutating func show(_ listing: FolderListing, in context: inout Context) {
    self.listing = listing
    folder = listing.path
    if start == nil { start = listing.path }
    if let note = listing.notes.first {
      let more = listing.notes.count - 1
      context.notice = Notice(note + (more > 0 ? " (and \(more) more)" : ""), .warning)
    }
    defer { returning = nil }
    list = List(count: lines.count, height: context.body.height - 2)
    if hasMoved,
      let index = lines.firstIndex(where: {
        if case .entry(let entry) = $0 { entry.path == returning ?? entry.path } else { false }
      })
    {
      list.select(index)
    } else {
      leaveHeading(from: 0)
    }
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard listTask.end(task), error.kind != .cancelled else { return [] }
    self.error = error
    // The way back up stays open.
    listing = FolderListing(path: folder, parent: Self.parent(of: folder), entries: [])
    list.setCount(lines.count)
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    // What was read stays; a folder that is read already has nothing to stop.
    isReading ? listTask.stop() : nil
  }

  private static func parent(of path: String) -> String? {
    guard path != "/", let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  mutating func willAct(_ context: Context) {
    hasMoved = true
    list.setHeight(context.body.height - 2)
  }

  private mutating func move(_ key: Key) {
    isTouched = true
    let former = list.selected
    list.handle(key)
    leaveHeading(from: former)
  }

  private mutating func open(in context: inout Context) -> [Effect] {
    if let locked {
      context.show(PasswordLayer(locked))
      return []
    }
    return switch selectedLine {
    case .recent(let store)?: [.choose(store.path)]
    case .entry(let entry)? where entry.kind != .folder: open(entry, in: &context)
    default: enter(in: &context)
    }
  }

  private mutating func enter(in context: inout Context) -> [Effect] {
    guard case .entry(let entry)? = selectedLine, entry.kind == .folder else { return [] }
    return go(to: entry.path, in: &context)
  }

  /// Shows the stores of a backup that was opened with its password.
  mutating func open(
    _ listing: FolderListing, _ peeks: [String: StorePeek], in context: inout Context
  ) -> [Effect] {
    (filter, error, locked, isTouched) = ("", nil, nil, false)
    show(listing, in: &context)
    self.peeks = peeks
    list.setCount(lines.count)
    selectFirstStore()
    return []
  }

  private mutating func leave(in context: inout Context) -> [Effect] {
    guard let parent = listing?.parent else { return [] }
    returning = folder
    return go(to: parent, in: &context)
  }

  private mutating func open(_ entry: FolderListing.Entry, in context: inout Context) -> [Effect] {
    if peeks[entry.path] == .database {
      context.notice = Notice(
        "\(entry.name) is an SQLite file, but not a Core Data store", .warning)
      return []
    }
    return [.choose(entry.path)]
  }

  /// Narrows the lines to names with such words.
  mutating func search(_ text: String, in context: inout Context) -> [Effect] {
    keepingSelection { $0.filter = text }
    return []
  }

  func note(_ context: Context) -> String {
    guard !list.isEmpty else { return "" }
    let lines = self.lines
    let before = lines.prefix(list.selected + 1).filter { !$0.isHeading }.count
    return "\(before) of \(lines.filter { !$0.isHeading }.count)"
  }
}
