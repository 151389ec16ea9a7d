import ManagedModel
import Terminal

/// Takes in what happened and says what is to be done about it.
package func update(_ state: inout State, _ message: Message) -> [Effect] {
  state.record(message)
  let effects = state.takeIn(message)
  state.dropRefusal()
  return effects
}

extension State {
  fileprivate mutating func takeIn(_ message: Message) -> [Effect] {
    switch message {
    case .start: return start()
    case .key(let key): return handle(key)
    case .terminate: return [.quit]
    case .resized(let size):
      self.size = size
      return meet(.resized)
    case .leftovers(let found): return take(found)
    case .storeChanged(let change): return take(change)
    case .saved(let saves): return take(saves)
    case .late(let isLate):
      known.news.isLate = isLate
      return []
    case .watched(let error):
      known.news.watch = .init(error)
      return []
    case .clock(let time):
      clock = time
      return []
    case .notice(let notice):
      self.notice = notice
      return []
    case .answer(let task, let answer): return take(.success(answer), of: task)
    case .failed(let task, let error): return take(.failure(known.named(error)), of: task)
    }
  }

  /// Why a key does nothing is said no longer than it is so.
  fileprivate mutating func dropRefusal() {
    guard let keys = notice?.refused,
      Keymap.bindings(self).first(where: { $0.keys == keys })?.isAvailable == true
    else { return }
    notice = nil
  }
}

extension State {
  fileprivate mutating func start() -> [Effect] {
    picker == nil ? reopen() : on(PickerScreen.self) { $0.start(in: &$1) }
  }

  /// Reads the store as it is now.
  mutating func reopen() -> [Effect] {
    guard known.openTask == nil else { return [] }
    guard known.models.isEmpty else {
      let task = tasks.new(for: .state)
      known.versionsTask = task
      screen = .diff
      return [.versions(task)]
    }
    let task = tasks.new(for: .state)
    known.openTask = task
    return [.open(task)]
  }

  /// Takes the answers to what the state itself asks for: the store, and the versions beside it.
  mutating func takeOwn(_ result: Result<Answer, CoreDataError>, of task: TaskID) -> [Effect] {
    switch result {
    case .success(.opened(let store)) where task == known.openTask: return opened(store)
    case .success(.unopened(let error, let condition)) where task == known.openTask:
      known.openTask = nil
      // What was open is shown as it was.
      guard known.store == nil else {
        show(MessageLayer(known.named(error)))
        return []
      }
      known.refusal = known.named(error)
      screen = .rescue
      return on(RescueScreen.self) {
        $0.take(condition, $1)
        return []
      }
    case .success(.versions(let versions)) where task == known.versionsTask:
      known.versionsTask = nil
      take(versions)
      return meet(.versions) + entered()
    case .success(.opened(let store)) where task == refreshTask: return refreshed(store)
    case .success(.recovered(let sentences)) where task == recoveryTask:
      recoveryTask = nil
      return takeRecovered(sentences)
    case .failure where refreshTask.end(task): return isBehind ? refresh() : []
    case .failure(let error):
      if recoveryTask.end(task) {
        show(MessageLayer(error))
      } else if known.openTask.end(task) || known.versionsTask.end(task) && known.noStore != nil {
        show(MessageLayer(error))
      }
      return []
    default: return []
    }
  }

  mutating func opened(_ store: StoreSummary) -> [Effect] {
    let isFirst = known.store == nil
    dropPrepared(unlessFor: known.ownStore, store)
    forgetRemains()
    known.openTask = nil
    known.news.begin(at: clock)
    refreshTask = nil
    known.refusal = nil
    known.store = store
    let versions = tasks.new(for: .state)
    known.versionsTask = versions
    let effects = meet(.opened) + [.versions(versions)] + (isBehind ? refresh() : [])
    var all = Effect.joined(effects, takeUp())
    if isFirst, let path = known.against {
      all += show(ChangesLayer(context)) { $0.begin(against: path, in: &$1) }
    }
    if isFirst, let misfit = store.misfit { notice = Notice(misfit, .warning) }
    // What is wrong comes before what is there.
    return isFirst && store.gap != nil ? all + go(to: .rescue) : all
  }

  fileprivate mutating func handle(_ key: Key) -> [Effect] {
    let (former, done) = (arrangement, done)
    let effects = act(on: key) + on(front) { $0.meet(.settled, in: &$1) }
    // Undoing is no change of its own.
    if done == self.done { did(since: former) }
    return effects
  }

  private mutating func act(on key: Key) -> [Effect] {
    // The mouse shows also what says nothing: that a button was let go.
    if case .mouse(.release, _, _) = key {} else { notice = nil }
    let wasLeaving = isLeaving
    isLeaving = false
    if case .mouse(let action, let x, let y) = key {
      count = Count()
      return mouse(action, Point(x: x, y: y), key)
    }
    var typed = count
    let isTyped = typed.take(key) { Keymap.binding(for: $0, self) }
    count = isTyped ? typed : Count()
    if isTyped { return [] }
    let times = typed.number
    guard let binding = Keymap.binding(for: key, self) else {
      return layers.last.flatMap { onLayer($0.id) { $0.type(key, in: &$1) } } ?? []
    }
    let effects = press(binding, key, times: times)
    return wasLeaving && isLeaving ? quit() : effects
  }

  /// Does what a key stands for, or says why not.
  mutating func press(_ binding: Binding, _ key: Key? = nil, times: Int? = nil) -> [Effect] {
    if let reason = binding.reason {
      notice = Notice("\(binding.label) \(binding.title): \(reason)", .warning)
      notice?.refused = binding.keys
      return []
    }
    return run(binding.action, key ?? binding.keys.first ?? .enter, times: times)
  }

  mutating func chooseTheme() -> [Effect] {
    show(ThemesLayer(former: known.themeName)) { $1.ask(&$0.task) { .find($0, .themes) } }
  }

  mutating func showPanel(_ section: StorePanel.Section) -> [Effect] {
    let history = HistoryPages(labels: browse.labels)
    return show(StorePanel(section, counts: browse.counts, history)) { $0.read(in: &$1) }
  }

  mutating func readAgain() -> [Effect] {
    askedLeftovers = nil
    return reopen()
  }

  mutating func quit() -> [Effect] {
    work == nil && known.prepared.isEmpty ? [.quit] : confirm(.quit(self))
  }

  /// Leaves the store for the choice of another.
  mutating func leaveStore() -> [Effect] {
    guard !known.prepared.isEmpty else { return [.choose(nil)] }
    return confirm(.leave(known, "open another store", .leaveStore))
  }

  /// ^C stops what runs; when nothing does, the second one in a row quits.
  mutating func interrupt() -> [Effect] {
    if let effects = cancelInLayers() { return effects }
    // What changes the store comes before what reads it.
    for screen in picker == nil ? Screen.allCases.reversed() : [.files] {
      if let effects = on(screen, { $0.cancel(in: &$1) }) { return effects }
    }
    isLeaving = true
    notice = Notice("nothing is running; ^C again quits")
    return []
  }
}
