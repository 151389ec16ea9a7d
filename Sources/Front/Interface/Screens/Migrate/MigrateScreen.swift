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
        "written and verified; the store is not replaced yet"
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
      context.notice = Notice("rolled back; the store has the content of the backup", .success)
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
      context.notice = Notice("\(error.message); the store is unchanged", .warning)
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
    context.notice = Notice("stopping; the store stays unchanged", .warning)
    return [.cancel(task)]
  }

  /// The lines of the receipt in sight, for scrolling.
  func lines(_ context: Context) -> [ReportView.Line] {
    // The box takes four columns, the sign before each line two.
    report(context).map {
      ReportView.lines(
        $0, keys: ["rollback": "b", "rollback-from": "b"], width: max(1, context.size.width - 6))
    } ?? []
  }

  /// What came of the last run; `nil` where nothing is done, or something runs.
  func report(_ context: Context) -> Report? {
    switch phase {
    case .done(let receipt): Report(receipt)
    case .verified(let receipt): Report(receipt, .verified)
    case .rolledBack(let receipt):
      Report(receipt, version: receipt.contents.name(among: context.versions))
    default: nil
    }
  }
}
