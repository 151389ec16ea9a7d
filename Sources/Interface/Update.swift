import ManagedModel
import Terminal

/// Takes in what happened and says what is to be done about it.
package func update(_ state: inout State, _ message: Message) -> [Effect] {
  state.record(message)
  switch message {
  case .start: return state.start()
  case .key(let key): return state.handle(key)
  case .terminate: return [.quit]
  case .resized(let size):
    state.size = size
    BrowseScreen.fit(&state)
    return BrowseScreen.readOn(in: &state)
  case .opened(let task, let store):
    guard task == state.openTask else { return [] }
    return state.opened(store)
  case .versions(let task, let versions):
    guard task == state.versionsTask else { return [] }
    state.versionsTask = nil
    state.take(versions)
    DiffScreen.takeVersions(&state)
    let effects = MappingScreen.takeVersions(&state)
    return effects + state.entered()
  case .folder, .peeked, .recentStores: return PickerScreen.take(message, in: &state)
  case .counted, .rows, .object, .countedRows, .placed, .names:
    return BrowseScreen.take(message, in: &state) + BrowseScreen.wantPictures(in: &state)
  case .looked: return state.looked(message)
  case .compared, .impacts:
    return DiffScreen.take(message, in: &state) + MappingScreen.take(message, in: &state)
  case .planned, .statements, .written: return MappingScreen.take(message, in: &state)
  case .models:
    return state.takeInLayers(message) ?? MappingScreen.take(message, in: &state)
  case .completions, .revisions: return state.takeInLayers(message) ?? []
  case .progress, .migrated, .verified, .rolledBack:
    // A rehearsal is a layer of its own.
    return state.takeInLayers(message) ?? MigrateScreen.take(message, in: &state)
  case .backups, .themes: return state.takeInLayers(message) ?? []
  case .wroteReceipt:
    let effects = state.takeInLayers(message) ?? []
    state.layers.removeAll { ($0.content as? ReceiptFileLayer)?.isDone ?? false }
    return effects
  case .recovered(let sentences):
    state.notice = sentences.first.map { Notice($0, .warning) }
    return []
  case .storeChanged(let change):
    state.storeChange = change
    state.notice = Notice(change.sentence, .warning)
    return []
  case .clock(let time):
    state.clock = time
    return []
  case .failed(let task, let error): return state.failed(task, error)
  }
}

extension State {
  fileprivate mutating func start() -> [Effect] {
    if picker != nil { return PickerScreen.start(&self) }
    let task = newTask()
    openTask = task
    return [.open(task)]
  }

  fileprivate mutating func opened(_ store: StoreSummary) -> [Effect] {
    openTask = nil
    storeChange = nil
    self.store = store
    let versions = newTask()
    versionsTask = versions
    let effects = BrowseScreen.takeStore(in: &self) + [.versions(versions)]
    return Effect.joined(effects, takeUp())
  }

  fileprivate mutating func failed(_ task: TaskID, _ error: CoreDataError) -> [Effect] {
    if task == versionsTask { versionsTask = nil }
    if task == openTask {
      openTask = nil
      show(MessageLayer(error))
      return []
    }
    let effects =
      failInLayers(task, error) ?? BrowseScreen.failPicture(task, error, in: &self)
      ?? PickerScreen.fail(task, error, in: &self)
      ?? BrowseScreen.fail(task, error, in: &self) ?? DiffScreen.fail(
        task, error, in: &self)
      ?? MappingScreen.fail(task, error, in: &self) ?? MigrateScreen.fail(task, error, in: &self)
    return effects ?? []
  }

  /// Reads the store as it is now.
  mutating func reopen() -> [Effect] {
    guard openTask == nil else { return [] }
    let task = newTask()
    openTask = task
    return [.open(task)]
  }

  /// What a screen asks for when it comes into sight.
  mutating func entered() -> [Effect] {
    switch screen {
    case .browse: []
    case .diff: DiffScreen.enter(&self)
    case .mapping, .migrate: MappingScreen.enter(&self)
    }
  }

  fileprivate mutating func handle(_ key: Key) -> [Effect] {
    let (view, history) = (view, history)
    let effects = act(on: key) + BrowseScreen.wantPictures(in: &self)
    // Undoing is no change of its own.
    if history == self.history, view != self.view { self.history.left(view) }
    return effects
  }

  private mutating func act(on key: Key) -> [Effect] {
    // The mouse tells also what says nothing: that a button was let go.
    if case .mouse(.release, _, _) = key {} else { notice = nil }
    let wasLeaving = isLeaving
    isLeaving = false
    if case .mouse(let action, let x, let y) = key {
      count = Count()
      return mouse(action, Point(x: x, y: y), key)
    }
    let bindings = Keymap.bindings(self)
    if count.take(key, bindings) { return [] }
    let times = count.number
    count = Count()
    guard let binding = bindings.binding(for: key) else {
      return layers.isEmpty ? [] : typeInLayer(key)
    }
    return press(binding, key, times: times, wasLeaving: wasLeaving)
  }

  /// Does what a key stands for, or says why not.
  mutating func press(
    _ binding: Binding, _ key: Key, times: Int? = nil, wasLeaving: Bool = false
  ) -> [Effect] {
    if let reason = binding.reason {
      notice = Notice("\(binding.label) \(binding.title): \(reason)", .warning)
      return []
    }
    return run(binding.action, key, times: times) {
      $0.perform($1, $2, wasLeaving: wasLeaving)
    }
  }

  private mutating func perform(_ action: Action, _ key: Key, wasLeaving: Bool) -> [Effect] {
    switch action {
    case .interrupt: return interrupt(again: wasLeaving)
    case .suspend: return [.suspend]
    case .repaint: return [.repaint]
    default: break
    }
    if !layers.isEmpty { return performInLayer(action, key) }
    switch action {
    case .show(let screen):
      self.screen = screen
      return entered()
    case .undo: return stepView(back: true)
    case .redo: return stepView(back: false)
    case .help: show(HelpLayer())
    case .palette: show(PaletteLayer(self))
    case .warnings: return StorePanel.open(.warnings, in: &self)
    case .storePanel: return StorePanel.open(.files, in: &self)
    case .searchEverywhere: show(SearchEverywhereLayer())
    case .chooseTheme: return ThemesLayer.open(in: &self)
    case .log: show(LogLayer(self))
    case .reopen: return reopen()
    case .otherStore: return [.chooseOther]
    case .quit:
      guard migrate.isRunning else { return [.quit] }
      show(ConfirmLayer(.quitWhileMigrating))
    default:
      if picker != nil { return PickerScreen.perform(action, key, in: &self) }
      if let effects = BrowseScreen.look(action, in: &self) { return effects }
      switch screen {
      case .browse: return BrowseScreen.perform(action, key, in: &self)
      case .diff: return DiffScreen.perform(action, key, in: &self)
      case .mapping: return MappingScreen.perform(action, key, in: &self)
      case .migrate: return MigrateScreen.perform(action, key, in: &self)
      }
    }
    return []
  }

  /// ^C stops what runs; when nothing does, the second one in a row quits.
  private mutating func interrupt(again: Bool) -> [Effect] {
    if let effects = cancelInLayers() { return effects }
    if let effects = PickerScreen.cancel(in: &self) { return effects }
    if let effects = MigrateScreen.cancel(in: &self) ?? MappingScreen.cancel(in: &self)
      ?? BrowseScreen.cancel(in: &self)
      ?? DiffScreen.cancel(in: &self)
    {
      return effects
    }
    if again { return [.quit] }
    isLeaving = true
    notice = Notice("nothing is running; ^C again quits")
    return []
  }
}
