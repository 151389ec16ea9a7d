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
    state.versions = versions
    DiffScreen.takeVersions(&state)
    MappingScreen.takeVersions(&state)
    return state.entered()
  case .counted, .rows, .object: return BrowseScreen.take(message, in: &state)
  case .compared, .impacts:
    return DiffScreen.take(message, in: &state) + MappingScreen.take(message, in: &state)
  case .planned, .statements, .written: return MappingScreen.take(message, in: &state)
  case .models, .completions, .revisions: return state.takeInLayers(message) ?? []
  case .progress, .migrated, .verified, .rolledBack:
    // A rehearsal is a layer of its own.
    return state.takeInLayers(message) ?? MigrateScreen.take(message, in: &state)
  case .backups: return state.takeInLayers(message) ?? []
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
    return BrowseScreen.takeStore(in: &self) + [.versions(versions)]
  }

  fileprivate mutating func failed(_ task: TaskID, _ error: CoreDataError) -> [Effect] {
    if task == versionsTask { versionsTask = nil }
    if task == openTask {
      openTask = nil
      show(MessageLayer(error))
      return []
    }
    let effects =
      failInLayers(task, error) ?? BrowseScreen.fail(task, error, in: &self) ?? DiffScreen.fail(
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
    notice = nil
    let wasLeaving = isLeaving
    isLeaving = false
    if case .mouse(let action, let x, let y) = key {
      return mouse(action, Point(x: x, y: y), key)
    }
    if let binding = Keymap.bindings(self).binding(for: key) {
      if case .unavailable(let reason) = binding.availability {
        notice = Notice("\(binding.label) \(binding.title): \(reason)", .warning)
        return []
      }
      let view = view
      let effects = perform(binding.action, key, wasLeaving: wasLeaving)
      let isStep = binding.action == .undo || binding.action == .redo
      if !isStep, view != self.view { history.left(view) }
      return effects
    }
    return layers.isEmpty ? [] : typeInLayer(key)
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
    case .warnings:
      show(MessageLayer(title: "Warnings", paragraphs: store?.warnings ?? [], isError: false))
    case .nextTheme:
      let index = themeNames.firstIndex(of: themeName) ?? -1
      guard !themeNames.isEmpty else { break }
      themeName = themeNames[(index + 1) % themeNames.count]
      notice = Notice("theme “\(themeName)”")
    case .log: show(LogLayer(self))
    case .reopen: return reopen()
    case .quit:
      guard migrate.isRunning else { return [.quit] }
      show(ConfirmLayer(.quitWhileMigrating))
    default:
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
    if let effects = MigrateScreen.cancel(in: &self) ?? MappingScreen.cancel(in: &self)
      ?? DiffScreen.cancel(in: &self)
    {
      return effects
    }
    if again { return [.quit] }
    isLeaving = true
    notice = Notice("nothing is running; ^C again quits")
    return []
  }

  private mutating func mouse(_ action: Key.MouseAction, _ point: Point, _ key: Key) -> [Effect] {
    if !layers.isEmpty { return performInLayer(.navigate, key) }
    if action == .press, point.y == 0 {
      guard let screen = Header.tab(at: point.x, in: self) else { return [] }
      self.screen = screen
      return entered()
    }
    switch screen {
    case .browse: return BrowseScreen.mouse(action, point, in: &self)
    case .diff where action == .scrollUp || action == .scrollDown:
      return DiffScreen.perform(.navigate, key, in: &self)
    case .mapping where action == .scrollUp || action == .scrollDown:
      return MappingScreen.perform(.navigate, key, in: &self)
    default: return []
    }
  }
}
