import ManagedModel
import Migration
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
  func lines(_ state: State) -> [ReceiptView.Line] {
    // The box takes four columns, the sign before each line two.
    ReceiptView.wrapped(whole(state), width: max(1, state.size.width - 6))
  }

  /// The same at full length.
  func whole(_ state: State) -> [ReceiptView.Line] {
    switch phase {
    case .done(let receipt): ReceiptView(receipt: receipt).lines
    case .verified(let receipt):
      ReceiptView(receipt: receipt, verb: "made and verified:", isInPlace: false).lines
    case .rolledBack(let receipt): RollbackText.lines(receipt)
    default: []
    }
  }
}
