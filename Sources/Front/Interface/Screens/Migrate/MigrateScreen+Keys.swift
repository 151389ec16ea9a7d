import Migration
import Reports
import Terminal

extension MigrateScreen {
  func bindings(_ context: Context) -> [Binding] {
    let busy = context.work.map { "\($0) is running" }
    let hasReceipt = if case .done = phase { true } else { false }
    let isReady = canStart
    let mapping = Binding(["m"], "mapping", .show(.mapping), footer: !isRunning)
    let other = Binding(
      ["o"], "other version", does("chooseVersion") { $0.chooseVersion(in: &$1) },
      unless: busy
        ?? (context.versionsTask == nil ? nil : "still looking for versions"),
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
        command: context.known.command("rollback"),
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
      return "still looking for versions"
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
    if let work = context.work(of: .rescue) { return "\(work) is running" }
    return context.isDiagnosing ? "5 Rescue is still checking the store" : nil
  }

  /// Why nothing is put in the place of a store that came out of an archive or a backup.
  private func reasonOfCopy(_ context: Context) -> String? {
    context.copy?.refusal
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

  private func receiptFile(_ context: Context) -> NewFileLayer? {
    receipt.map { NewFileLayer(.migration($0), Report($0), storePath: $0.storePath) }
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
