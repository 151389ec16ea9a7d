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
  /// The last that the engine reported, also while a question stands.
  private(set) var progress: MigrationProgress?

  var isRunning: Bool { badge != nil }

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
    guard canStart else { return }
    phase = .ready
    receiptList = List()
  }
}

extension MigrateScreen {
  /// What will happen is Mapping's plan.
  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] {
    guard occasion == .shown else { return [] }
    return context.on(MappingScreen.self) { $0.enter(in: &$1) }
  }

  /// The answer to a task of this screen's.
  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .footprint: return question?.take(answer, to: task, in: &context) ?? []
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
      receiptList = List(count: lines(context).count)
      context.notice = Notice(
        "made and verified; the store is not replaced yet"
          + (context.screen == .migrate ? "" : "; 4 shows the question"), .success)
      var question = ConfirmLayer(.cutOver(receipt, context.known))
      let effects = question.begin(in: &context)
      self.question = question
      return effects
    case .migrated(let receipt) where task == self.task:
      finish(.done(receipt), in: &context)
      dropPlan(in: &context)
      context.notice = Notice(
        "migrated to “\(receipt.to)” and verified"
          + (context.screen == .migrate ? "" : "; 4 shows the receipt"), .success)
      return context.reopen()
    case .rolledBack(let receipt) where task == self.task:
      finish(.rolledBack(receipt), in: &context)
      dropPlan(in: &context)
      context.notice = Notice("rolled back; the store is as it was", .success)
      return context.reopen()
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard task == self.task else { return question?.fail(task, error, in: &context) ?? [] }
    // The plan still says what another try would do.
    finish(.failed(error), in: &context)
    if error.kind == .cancelled {
      context.notice = Notice("\(error.message); the store is as it was", .warning)
    } else {
      context.show(MessageLayer(error))
    }
    return []
  }

  private mutating func finish(_ phase: Phase, in context: inout Context) {
    task = nil
    question = nil
    progress = nil
    self.phase = phase
    receiptList = List(count: lines(context).count)
    context.closeQuestions()
  }

  /// The plan was about the store as it was; it is another one now.
  private func dropPlan(in context: inout Context) {
    context.on(MappingScreen.self) { mapping, _ in
      mapping.plan = nil
      return []
    }
  }

  /// Asks the engine to stop; `nil` when nothing runs.
  mutating func cancel(in context: inout Context) -> [Effect]? {
    guard let task else { return nil }
    switch phase {
    case .running(let progress, _):
      phase = .running(progress, isCancelling: true)
    case .verified: phase = .running(self.progress, isCancelling: true)
    case .rollingBack(let progress, let name, _):
      phase = .rollingBack(progress, to: name, isCancelling: true)
    default: return nil
    }
    context.notice = Notice("stopping; the store stays as it was", .warning)
    return [.cancel(task)]
  }

  /// The lines of the receipt in sight, for scrolling.
  func lines(_ context: Context) -> [ReportView.Line] {
    // The box takes four columns, the sign before each line two.
    report.map {
      ReportView.lines(
        $0, keys: ["rollback": "b", "rollback-from": "b"], width: max(1, context.size.width - 6))
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

  func bindings(_ context: Context) -> [Binding] {
    let busy = context.work.map { "\($0) is running" }
    let hasReceipt = if case .done = phase { true } else { false }
    let isReady = canStart
    let mapping = Binding(["m"], "mapping", .show(.mapping), footer: !isRunning)
    let other = Binding(
      ["o"], "other version", does("chooseVersion") { $0.chooseVersion(in: &$1) },
      unless: busy
        ?? (context.versionsTask == nil ? nil : "the versions are still being looked for"),
      footer: isReady)
    // What leads on stands first.
    let isStuck = isReady && context.store != nil && reasonNotToStart(context) != nil
    let waysOn = context.planned.to == nil ? [other, mapping] : [mapping, other]
    return (isStuck ? waysOn : []) + enter(context) + [
      Binding(
        ["p"], pausesBeforeCutover ? "do not pause" : "pause first",
        does("pauseBeforeCutover") { $0.togglePause(in: &$1) },
        unless: busy, command: context.planned.command(context) + " --confirm",
        footer: isReady && !isStuck),
      Binding(
        ["b"], "roll back", does("rollBack") { $0.rollBack(in: &$1) },
        unless: busy ?? reasonOfCopy(context),
        command: "strata rollback \(context.storeArgument)",
        footer: !isRunning),
    ] + (isStuck ? [] : waysOn) + [
      Binding(
        ["w"], "write the receipt", shows("writeReceipt") { $0.receiptFile($1) },
        unless: hasReceipt ? nil : "there is no receipt yet",
        command: context.planned.command(context) + " --receipt FILE", footer: hasReceipt),
      Binding(
        ["P"], "plan again", does("planAgain") { $0.planAgain(in: &$1) },
        unless: busy ?? reasonForNoTarget(context),
        command: context.planned.command(context, "plan"), footer: hasFailed),
      // While a result waits, y is its answer.
      isWaiting ? CopyLayer.binding(copies(context)).on([]) : CopyLayer.binding(copies(context)),
      scrolling { $0.scroll($1, $2) },
    ]
  }

  /// Whether a verified result waits for an answer.
  private var isWaiting: Bool { if case .verified = phase { true } else { false } }

  /// Whether nothing runs, and nothing that ran is looked at.
  var canStart: Bool { if case .ready = phase { true } else { hasFailed } }

  private var hasFailed: Bool { if case .failed = phase { true } else { false } }

  /// Why there is no version to migrate to; `nil` where there is one.
  private func reasonForNoTarget(_ context: Context) -> String? {
    guard context.planned.to == nil else { return nil }
    if context.versionsTask != nil || context.openTask != nil {
      return "the versions are still being looked for"
    }
    guard context.versions.count < 2 || context.versions.storesIndex != nil else {
      return "no version is chosen; o chooses one"
    }
    return context.versions.count > 1
      ? "the store already has the newest version; o chooses another"
      : "no other version of the model was found; o, then p takes one by its path"
  }

  /// Why Enter cannot migrate; `nil` where it can.
  func reasonNotToStart(_ context: Context) -> String? {
    reasonForNoTarget(context) ?? context.planned.reasonNotToRun ?? reasonOfCopy(context)
      ?? reasonOfRescue(context)
  }

  /// Why not now: handles of Rescue's on the store would undo the lock of the cut-over.
  private func reasonOfRescue(_ context: Context) -> String? {
    if let work = context.works[.rescue] { return "\(work) is running" }
    return context.isDiagnosing ? "5 Rescue is still looking at the store" : nil
  }

  /// Why nothing is put in the place of a store that came out of an archive or a backup.
  private func reasonOfCopy(_ context: Context) -> String? {
    context.copy != nil ? "the archive or folder is never modified" : nil
  }

  /// Enter and Escape mean what the moment asks for.
  private func enter(_ context: Context) -> [Binding] {
    switch phase {
    case .ready, .failed:
      let reason = reasonNotToStart(context)
      return [
        Binding(
          [.enter], "migrate", asks, unless: reason, command: context.planned.command(context),
          footer: reason == nil)
      ]
    case .running, .rollingBack:
      return [
        Binding([.enter], "migrate", asks, unless: "\(workName) is running", footer: false)
      ]
    case .verified:
      return question?.answers(
        does("confirmCutover") { $0.cutOver(in: &$1) },
        does("discardResult") { _, context in context.confirm(.discardResult) }) ?? []
    case .done, .rolledBack:
      return [
        Binding(
          [.enter], "browse the result",
          does("browseResult") { _, context in context.go(to: .browse) }),
        Binding(
          [.escape], "close the receipt", does("closeReceipt") { $0.closeReceipt(in: &$1) },
          footer: false),
      ]
    }
  }

  /// Asks before it migrates.
  private var asks: Action {
    does("migrate") { screen, context in
      guard let plan = context.planned.plan else { return [] }
      return context.confirm(
        .migrate(plan, screen.options(context), pauses: screen.pausesBeforeCutover, context.known))
    }
  }

  private mutating func togglePause(in context: inout Context) -> [Effect] {
    pausesBeforeCutover.toggle()
    context.notice = Notice(
      "will \(pausesBeforeCutover ? "" : "not ")ask again before the cut-over")
    return []
  }

  private mutating func closeReceipt(in context: inout Context) -> [Effect] {
    phase = .ready
    return meet(.shown, in: &context)
  }

  private func receiptFile(_ context: Context) -> ReceiptFileLayer? {
    receipt.map { ReceiptFileLayer(.migration($0), Report($0), storePath: $0.storePath) }
  }

  private mutating func planAgain(in context: inout Context) -> [Effect] {
    guard let to = context.planned.to else { return [] }
    forget()
    return context.on(MappingScreen.self) { $0.plan(to: to, in: &$1) }
  }

  private mutating func chooseVersion(in context: inout Context) -> [Effect] {
    phase = .ready
    context.show(
      VersionsLayer(
        .migrateTo, count: context.versions.count, selected: context.planned.to ?? 0,
        isThroughVersions: context.planned.isThroughVersions))
    return []
  }

  private func options(_ context: Context) -> MigrationOptions {
    var options = MigrationOptions()
    options.allowedLosses = context.planned.allowedLosses
    return options
  }

  /// Migrates; the person has been asked.
  mutating func start(in context: inout Context) -> [Effect] {
    guard let plan = context.planned.plan, !isRunning, reasonNotToStart(context) == nil else {
      return []
    }
    let options = options(context)
    context.note("migrating to “\(plan.steps.last?.to ?? "")”")
    for loss in options.allowedLosses.sorted() { context.note("loss accepted: \(loss)", .warning) }
    let pauses = pausesBeforeCutover
    return begin(.running(nil, isCancelling: false), in: &context) {
      .migrate($0, plan, options, confirms: pauses)
    }
  }

  private mutating func begin(
    _ phase: Phase, in context: inout Context, _ work: (TaskID) -> Effect
  ) -> [Effect] {
    let task = context.newTask()
    (self.task, self.phase) = (task, phase)
    return context.on(MappingScreen.self) { mapping, _ in mapping.codeTask.stop() ?? [] }
      + context.begin([work(task)])
  }

  private mutating func scroll(_ key: Key, _ context: Context) {
    let count = lines(context).count + outlook(context, .mono).count
    guard count > 0 else { return }
    receiptList.scrollPage(key, count: count, height: receiptHeight(context))
  }

  /// Has the verified result replace the store; the person has been asked.
  mutating func cutOver(in context: inout Context) -> [Effect] {
    guard let task, case .verified = phase else { return [] }
    context.note("the cut-over was confirmed")
    phase = .running(progress, isCancelling: false)
    return [.confirmCutover(task, true)]
  }

  /// Throws the verified result away.
  mutating func discard() -> [Effect] {
    guard let task, case .verified = phase else { return [] }
    phase = .running(progress, isCancelling: true)
    return [.confirmCutover(task, false)]
  }

  /// After a migration its own backup is offered, else all that are there.
  private mutating func rollBack(in context: inout Context) -> [Effect] {
    var wanted: String?
    if case .done(let receipt) = phase { wanted = receipt.backupPath }
    return context.show(BackupsLayer(wanted: wanted)) { layer, context in
      context.ask(&layer.task) { .find($0, .backups) }
    }
  }

  /// Rolls back to a backup; the person has been asked.
  mutating func rollBack(to entry: BackupEntry, in context: inout Context) -> [Effect] {
    guard !isRunning else { return [] }
    var options = StoreRollback.Options()
    options.from = entry.backup.path
    context.screen = .migrate
    context.note("rolling back to \(entry.name)")
    return begin(.rollingBack(nil, to: entry.name, isCancelling: false), in: &context) {
      .rollBack($0, options)
    }
  }
}
