import ManagedModel
import Migration
import Reports
import Terminal

/// The migration itself: what will happen, how far it is, what it did, and the way back.
struct MigrateScreen: ScreenContent {
  static let title = "Migrate"

  enum Phase: Sendable, Equatable {
    case ready
    case running(MigrationProgress?, isCancelling: Bool)
    /// Made and verified; the cut-over waits for an answer.
    case verified(MigrationReceipt)
    case rollingBack(MigrationProgress?, to: String, isCancelling: Bool)
    case failed(CoreDataError)
    case done(MigrationReceipt)
    case rolledBack(StoreRollback.Receipt)
  }

  var phase = Phase.ready
  /// Whether the cut-over is to wait until the person has seen the receipt so far.
  var pausesBeforeCutover = false
  var receiptList = List()
  var task: TaskID?
  /// Whether the verified result is to replace the store.
  var question: ConfirmLayer?
  /// The last that the engine told, also while a question stands.
  private(set) var progress: MigrationProgress?

  var isRunning: Bool {
    switch phase {
    case .running, .verified, .rollingBack: true
    case .ready, .failed, .done, .rolledBack: false
    }
  }

  /// What runs, for sentences.
  var workName: String {
    if case .rollingBack = phase { "the rollback" } else { "the migration" }
  }

  var work: String? { isRunning ? workName : nil }

  /// What the header says on every screen while something runs.
  var badge: String? {
    switch phase {
    case .running(let progress, _): "▶ \(percent(progress))"
    case .rollingBack(let progress, _, _): "↺ \(percent(progress))"
    case .verified: "▶ waits on 4"
    case .ready, .failed, .done, .rolledBack: nil
    }
  }

  private func percent(_ progress: MigrationProgress?) -> String {
    progress.map { "\(Int($0.fraction * 100)) %" } ?? "…"
  }

  /// The receipt that is in sight.
  var receipt: MigrationReceipt? {
    switch phase {
    case .done(let receipt), .verified(let receipt): receipt
    default: nil
    }
  }

  /// Another plan was made: what the last run said about its own is of no use any more.
  mutating func forget() {
    switch phase {
    case .ready, .failed:
      phase = .ready
      receiptList = List()
    case .running, .verified, .rollingBack, .done, .rolledBack: break
    }
  }
}

extension MigrateScreen {
  /// What will happen is Mapping's plan.
  mutating func meet(_ occasion: Occasion, in state: inout State) -> [Effect] {
    guard occasion == .shown else { return [] }
    let effects = state.on(MappingScreen.self) { $0.enter(in: &$1) }
    if !effects.isEmpty { forget() }
    return effects
  }

  /// The answer to a task of this screen's.
  mutating func take(_ answer: Answer, to task: TaskID, in state: inout State) -> [Effect] {
    switch answer {
    case .footprint: return question?.take(answer, to: task, in: &state) ?? []
    case .progress(let progress) where task == self.task:
      self.progress = progress
      switch phase {
      case .running(_, let isCancelling):
        phase = .running(progress, isCancelling: isCancelling)
      case .rollingBack(_, let name, let isCancelling):
        phase = .rollingBack(progress, to: name, isCancelling: isCancelling)
      default: break
      }
    case .verified(let receipt) where task == self.task:
      // Asked to stop meanwhile: the engine hears of it before it would go on.
      if case .running(_, isCancelling: true) = phase { return [] }
      phase = .verified(receipt)
      receiptList = List(count: lines(state).count)
      state.notice = Notice(
        "made and verified; the store is not replaced yet"
          + (state.screen == .migrate ? "" : "; 4 shows the question"), .success)
      var question = ConfirmLayer(.cutOver(receipt, state))
      let effects = question.begin(in: &state)
      self.question = question
      return effects
    case .migrated(let receipt) where task == self.task:
      finish(.done(receipt), in: &state)
      state.notice = Notice(
        "migrated to “\(receipt.to)” and verified"
          + (state.screen == .migrate ? "" : "; 4 shows the receipt"), .success)
      return state.reopen()
    case .rolledBack(let receipt) where task == self.task:
      finish(.rolledBack(receipt), in: &state)
      state.notice = Notice("rolled back; the store is as it was", .success)
      return state.reopen()
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect] {
    guard task == self.task else { return question?.fail(task, error, in: &state) ?? [] }
    let plan = state.mapping.plan
    finish(.failed(error), in: &state)
    // The plan still says what another try would do.
    state.mapping.plan = plan
    if error.kind == .cancelled {
      state.notice = Notice("\(error.message); the store is as it was", .warning)
    } else {
      state.show(MessageLayer(error))
    }
    return []
  }

  private mutating func finish(_ phase: Phase, in state: inout State) {
    task = nil
    question = nil
    progress = nil
    self.phase = phase
    receiptList = List(count: lines(state).count)
    // A question about what ran has no answer any more.
    state.layers.removeAll { ($0.content as? ConfirmLayer)?.confirmation.isAboutRun ?? false }
    // Plan and comparison were about the store as it was; it is another one now.
    state.mapping.plan = nil
  }

  /// Asks the engine to stop; `nil` when nothing runs.
  mutating func cancel(in state: inout State) -> [Effect]? {
    guard let task else { return nil }
    switch phase {
    case .running(let progress, _):
      phase = .running(progress, isCancelling: true)
    case .verified: phase = .running(self.progress, isCancelling: true)
    case .rollingBack(let progress, let name, _):
      phase = .rollingBack(progress, to: name, isCancelling: true)
    default: return nil
    }
    state.notice = Notice("stopping; the store stays as it was", .warning)
    return [.cancel(task)]
  }

  /// The lines of the receipt in sight, for scrolling.
  func lines(_ state: State) -> [ReportView.Line] {
    // The box takes four columns, the sign before each line two.
    report.map {
      ReportView.lines(
        $0, keys: ["rollback": "b", "rollback-from": "b"], width: max(1, state.size.width - 6))
    } ?? []
  }

  /// What came of the last run; `nil` where nothing is done, or something runs.
  var report: Report? {
    switch phase {
    case .done(let receipt): Report(receipt)
    case .verified(let receipt): Report(receipt, .verified)
    case .rolledBack(let receipt): Report(receipt)
    default: nil
    }
  }

  func bindings(_ state: State) -> [Binding] {
    let busy = state.work.map { "\($0) is running" }
    let hasReceipt = if case .done = phase { true } else { false }
    let store = state.storeArgument
    let isReady = canStart
    let mapping = Binding(["m"], "mapping", .show(.mapping), footer: !isRunning)
    let other = Binding(
      ["o"], "other version", does("chooseVersion") { $0.chooseVersion(in: &$1) },
      unless: busy ?? (state.versionsTask == nil ? nil : "the versions are still being looked for"),
      footer: isReady)
    // What leads on stands first.
    let isStuck = isReady && state.store != nil && reasonNotToStart(state) != nil
    let waysOn = state.mapping.to == nil ? [other, mapping] : [mapping, other]
    return (isStuck ? waysOn : []) + enter(state) + [
      Binding(
        ["p"], pausesBeforeCutover ? "do not pause" : "pause first",
        does("pauseBeforeCutover") { $0.togglePause(in: &$1) },
        unless: busy, command: state.mapping.command(state) + " --confirm",
        footer: isReady && !isStuck),
      Binding(
        ["b"], "roll back", does("rollBack") { $0.rollBack(in: &$1) },
        unless: busy ?? reasonOfCopy(state),
        command: "strata rollback \(store)",
        footer: !isRunning),
    ] + (isStuck ? [] : waysOn) + [
      Binding(
        ["w"], "write the receipt", shows("writeReceipt") { $0.receiptFile($1) },
        unless: hasReceipt ? nil : "there is no receipt yet",
        command: state.mapping.command(state) + " --receipt FILE", footer: hasReceipt),
      Binding(
        ["P"], "plan again", does("planAgain") { $0.planAgain(in: &$1) },
        unless: busy ?? reasonForNoTarget(state),
        command: state.mapping.command(state, "plan"), footer: hasFailed),
      // While a result waits, y is its answer.
      isWaiting ? CopyLayer.binding(state).on([]) : CopyLayer.binding(state),
      scrolling { $0.scroll($1, $2) },
    ]
  }

  /// Whether a verified result waits for an answer.
  private var isWaiting: Bool { if case .verified = phase { true } else { false } }

  /// Whether nothing runs, and nothing that ran is looked at.
  var canStart: Bool {
    switch phase {
    case .ready, .failed: true
    default: false
    }
  }

  private var hasFailed: Bool { if case .failed = phase { true } else { false } }

  /// Why there is no version to migrate to; `nil` where there is one.
  private func reasonForNoTarget(_ state: State) -> String? {
    guard state.mapping.to == nil else { return nil }
    if state.versionsTask != nil || state.openTask != nil {
      return "the versions are still being looked for"
    }
    guard state.versions.count < 2 || state.versions.storesIndex != nil else {
      return "no version is chosen; o chooses one"
    }
    return state.versions.count > 1
      ? "the store is of the newest version already; o chooses another"
      : "no other version of the model was found; o, then p takes one by its path"
  }

  /// Why Enter cannot migrate; `nil` where it can.
  func reasonNotToStart(_ state: State) -> String? {
    reasonForNoTarget(state) ?? state.mapping.reasonNotToRun(state) ?? reasonOfCopy(state)
      ?? reasonOfRescue(state)
  }

  /// Why not now: handles of Rescue's on the store would undo the lock of the cut-over.
  private func reasonOfRescue(_ state: State) -> String? {
    if let work = state.rescue.work { return "\(work) is running" }
    return state.rescue.lookTask == nil ? nil : "5 Rescue is still looking at the store"
  }

  /// Why nothing is put in the place of a store that came out of an archive or a backup.
  private func reasonOfCopy(_ state: State) -> String? {
    state.copy != nil ? "what the store is in is never changed" : nil
  }

  /// Enter and Escape mean what the moment asks for.
  private func enter(_ state: State) -> [Binding] {
    switch phase {
    case .ready, .failed:
      let reason = reasonNotToStart(state)
      return [
        Binding(
          [.enter], "migrate", asks, unless: reason, command: state.mapping.command(state),
          footer: reason == nil)
      ]
    case .running, .rollingBack:
      return [
        Binding([.enter], "migrate", asks, unless: "\(workName) is running", footer: false)
      ]
    case .verified:
      return question?.answers(
        does("confirmCutover") { $0.cutOver(in: &$1) },
        Action("discardResult") { $0.confirm(.discardResult) }) ?? []
    case .done, .rolledBack:
      return [
        Binding([.enter], "browse the result", Action("browseResult") { $0.go(to: .browse) }),
        Binding(
          [.escape], "close the receipt", does("closeReceipt") { $0.closeReceipt(in: &$1) },
          footer: false),
      ]
    }
  }

  /// Asks before it migrates.
  private var asks: Action {
    does("migrate") { screen, state in
      guard let plan = state.mapping.plan else { return [] }
      return state.confirm(
        .migrate(plan, screen.options(state), pauses: screen.pausesBeforeCutover, state))
    }
  }

  private mutating func togglePause(in state: inout State) -> [Effect] {
    pausesBeforeCutover.toggle()
    state.notice = Notice(
      pausesBeforeCutover
        ? "will ask again before the cut-over" : "will not ask again before the cut-over")
    return []
  }

  private mutating func closeReceipt(in state: inout State) -> [Effect] {
    phase = .ready
    return meet(.shown, in: &state)
  }

  private func receiptFile(_ state: State) -> ReceiptFileLayer? {
    receipt.map { ReceiptFileLayer(.migration($0), Report($0), storePath: $0.storePath) }
  }

  private mutating func planAgain(in state: inout State) -> [Effect] {
    guard let to = state.mapping.to else { return [] }
    forget()
    return state.on(MappingScreen.self) { $0.plan(to: to, in: &$1) }
  }

  private mutating func chooseVersion(in state: inout State) -> [Effect] {
    phase = .ready
    state.show(
      VersionsLayer(
        .migrateTo, count: state.versions.count, selected: state.mapping.to ?? 0,
        isThroughVersions: state.mapping.isThroughVersions))
    return []
  }

  private func options(_ state: State) -> MigrationOptions {
    var options = MigrationOptions()
    options.allowedLosses = state.mapping.allowedLosses
    return options
  }

  /// Migrates; the person has been asked.
  mutating func start(in state: inout State) -> [Effect] {
    guard let plan = state.mapping.plan, !isRunning, reasonNotToStart(state) == nil else {
      return []
    }
    let options = options(state)
    let task = state.tasks.new()
    self.task = task
    phase = .running(nil, isCancelling: false)
    state.note("migrating to “\(plan.steps.last?.to ?? "")”")
    for loss in options.allowedLosses.sorted() { state.note("loss accepted: \(loss)", .warning) }
    return state.on(MappingScreen.self) { mapping, _ in mapping.codeTask.stop() ?? [] }
      + [.migrate(task, plan, options, confirms: pausesBeforeCutover)]
  }

  private mutating func scroll(_ key: Key, _ state: State) {
    let count = lines(state).count + outlook(state, .mono).count
    guard count > 0 else { return }
    receiptList.scrollPage(key, count: count, height: receiptHeight(state))
  }

  /// Has the verified result replace the store; the person has been asked.
  mutating func cutOver(in state: inout State) -> [Effect] {
    guard let task, case .verified = phase else { return [] }
    state.note("the cut-over was confirmed")
    phase = .running(progress, isCancelling: false)
    return [.confirmCutover(task, true)]
  }

  /// Throws the verified result away.
  mutating func discard(in state: inout State) -> [Effect] {
    guard let task, case .verified = phase else { return [] }
    phase = .running(progress, isCancelling: true)
    return [.confirmCutover(task, false)]
  }

  /// After a migration its own backup is offered, else all that are there.
  private mutating func rollBack(in state: inout State) -> [Effect] {
    var wanted: String?
    if case .done(let receipt) = phase { wanted = receipt.backupPath }
    return state.show(BackupsLayer(wanted: wanted)) { layer, state in
      state.ask(&layer.task) { .find($0, .backups) }
    }
  }

  /// Rolls back to a backup; the person has been asked.
  mutating func rollBack(to entry: BackupEntry, in state: inout State) -> [Effect] {
    guard !isRunning else { return [] }
    var options = StoreRollback.Options()
    options.from = entry.backup.path
    let task = state.tasks.new()
    self.task = task
    phase = .rollingBack(nil, to: entry.name, isCancelling: false)
    state.screen = .migrate
    state.note("rolling back to \(entry.name)")
    return state.on(MappingScreen.self) { mapping, _ in mapping.codeTask.stop() ?? [] } + [
      .rollBack(task, options)
    ]
  }
}
