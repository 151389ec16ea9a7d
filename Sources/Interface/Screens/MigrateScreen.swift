import ManagedModel
import Migration
import Terminal

/// The migration itself: what will happen, how far it is, what it did.
package struct MigrateScreen: Sendable, Equatable {
  package enum Phase: Sendable, Equatable {
    case ready
    case running(MigrationProgress?, isCancelling: Bool)
    case failed(CoreDataError)
    case done(MigrationReceipt)
  }

  package var phase = Phase.ready
  package var receiptList = List()
  private var task: TaskID?

  package init() {}

  package var isRunning: Bool {
    if case .running = phase { true } else { false }
  }

  /// Another plan was made: what the last run said about its own is of no use any more.
  mutating func forget() {
    guard !isRunning else { return }
    if case .done = phase { return }
    phase = .ready
  }
}

extension MigrateScreen {
  static func bindings(_ state: State) -> [Binding] {
    let migrate = state.migrate
    let reason: String?
    switch migrate.phase {
    case .running: reason = "it is running"
    case .done: reason = "it is done"
    case .ready, .failed: reason = state.mapping.reasonNotToRun(state)
    }
    return [
      Binding(
        [.enter], "migrate", .migrate, unless: reason, command: state.mapping.command(state),
        footer: !migrate.isRunning),
      Binding([.character("m")], "mapping", .show(.mapping)),
      Binding(
        [.character("o")], "other version", .chooseVersion,
        unless: migrate.isRunning
          ? "a migration is running"
          : state.versions.count > 1 ? nil : MappingScreen.noVersions,
        footer: !migrate.isRunning),
      Keymap.movement,
    ]
  }

  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    switch action {
    case .migrate:
      guard let plan = state.mapping.plan, state.mapping.reasonNotToRun(state) == nil else {
        return []
      }
      var options = MigrationOptions()
      options.allowedLosses = state.mapping.allowedLosses
      let task = state.newTask()
      state.migrate.task = task
      state.migrate.phase = .running(nil, isCancelling: false)
      return [.migrate(task, plan, options)]
    case .show(let screen):
      state.screen = screen
      return state.entered()
    case .chooseVersion:
      state.migrate.phase = .ready
      state.show(
        VersionsLayer(.migrateTo, count: state.versions.count, selected: state.mapping.to ?? 0))
    case .navigate:
      guard case .done(let receipt) = state.migrate.phase else { return [] }
      state.migrate.receiptList.setCount(receiptLines(receipt).count)
      state.migrate.receiptList.setHeight(max(1, state.body.height - 2))
      switch key {
      case .up, .character("k"): state.migrate.receiptList.scroll(by: -1)
      case .down, .character("j"): state.migrate.receiptList.scroll(by: 1)
      default: state.migrate.receiptList.handle(key)
      }
    default: break
    }
    return []
  }

  /// Asks the engine to stop; `nil` when nothing runs.
  static func cancel(in state: inout State) -> [Effect]? {
    guard let task = state.migrate.task, case .running(let progress, _) = state.migrate.phase
    else { return nil }
    state.migrate.phase = .running(progress, isCancelling: true)
    state.notice = Notice("stopping; the store stays as it was", .warning)
    return [.cancel(task)]
  }

  static func take(_ message: Message, in state: inout State) -> [Effect] {
    switch message {
    case .progress(let task, let progress) where task == state.migrate.task:
      guard case .running(_, let isCancelling) = state.migrate.phase else { return [] }
      state.migrate.phase = .running(progress, isCancelling: isCancelling)
    case .migrated(let task, let receipt) where task == state.migrate.task:
      state.migrate.task = nil
      state.migrate.phase = .done(receipt)
      state.migrate.receiptList = List(count: receiptLines(receipt).count)
      state.notice = Notice("migrated to “\(receipt.to)” and verified", .success)
      // Plan and comparison were about the store as it was; it is another one now.
      state.mapping.plan = nil
      let open = state.newTask()
      state.openTask = open
      return [.open(open)]
    default: break
    }
    return []
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    guard task == state.migrate.task else { return nil }
    state.migrate.task = nil
    state.migrate.phase = .failed(error)
    if error.kind == .cancelled {
      state.notice = Notice("stopped; the store is as it was", .warning)
    } else {
      state.show(MessageLayer(error))
    }
    // A store that a program has open in its -wal was closed for the time being.
    let open = state.newTask()
    state.openTask = open
    return [.open(open)]
  }
}
