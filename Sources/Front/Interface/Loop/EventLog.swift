import ManagedModel
import Migration
import Reports
import Rescue

/// What happened when: the last thousand things, for reading afterwards.
struct EventLog: Sendable, Equatable {
  enum Kind: Sendable { case plain, success, warning, error }

  struct Entry: Sendable, Equatable {
    var time: String
    var kind: Kind
    var text: String
  }

  private static let limit = 1000

  private(set) var entries: [Entry] = []

  mutating func add(_ text: String, _ kind: Kind = .plain, at time: String) {
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append(Entry(time: time, kind: kind, text: text))
  }
}

extension State {
  /// Adds to the log.
  mutating func note(_ text: String, _ kind: EventLog.Kind = .plain) {
    log.add(text, kind, at: clock)
  }

  /// Writes down what a message shows, before it is taken in.
  mutating func record(_ message: Message) {
    switch message {
    case .answer(let task, .opened(let store)) where task == known.openTask:
      note("opened \(store.fileName)")
      for warning in store.warnings { note(warning, .warning) }
    case .answer(let task, .planned(let plan)) where task == mapping.task: record(plan)
    case .answer(let task, .progress(let progress)) where task == migrate.task: record(progress)
    case .answer(let task, .verified(let receipt)) where task == migrate.task:
      note("made and verified, \(NumberText.bytes(receipt.bytes)); waiting for an answer", .success)
    case .answer(let task, .migrated(let receipt)) where task == migrate.task:
      for loss in receipt.losses { note("lost: \(loss.name), \(loss.values)", .warning) }
      for text in receipt.notes { note(text) }
      note("migrated to “\(receipt.to)” in \(NumberText.seconds(receipt.seconds))", .success)
      if let backup = receipt.backupPath { note("backup: \(backup)") }
    case .answer(let task, .rolledBack(let receipt)) where task == migrate.task:
      note("rolled back to \(receipt.backup.path)", .success)
      if let undone = receipt.undonePath { note("kept: \(undone)") }
    case .answer(_, .wroteReceipt(let path)): note("receipt written: \(path)")
    case .answer(let task, .diagnosed(let condition)) where task == rescue.lookTask:
      note("looked for what is wrong: \(condition.summary)")
    case .answer(_, .unopened(let error, let condition)):
      note(error.message, .error)
      note("looked for what is wrong: \(condition.summary)")
    case .answer(let task, .found(let remains)) where task == rescue.task:
      for text in remains.notes { note(text) }
      note(remains.summary, remains.isEmpty ? .warning : .success)
    case .answer(let task, .rescued(let receipt)) where task == rescue.task: record(receipt)
    case .leftovers(let found): for text in found.sentences { note(text, .warning) }
    case .answer(_, .recovered(let sentences)): for text in sentences { note(text, .warning) }
    case .storeChanged(let change)
    where change != .saved(0) && known.news.change?.word != change.word:
      note(change.sentence, .warning)
    case .saved where known.news.change == nil: note(StoreChange.saved(nil).sentence, .warning)
    case .failed(let task, let error)
    where error.kind != .cancelled || task == migrate.task || task == rescue.task:
      let code = error.code.map { " (\($0))" } ?? ""
      note(
        (error.place.isEmpty ? "" : error.place + ": ") + error.message + code,
        error.kind == .cancelled ? .warning : .error)
    default: break
    }
  }

  private mutating func record(_ receipt: RescueReceipt) {
    for line in receipt.report.sections.dropFirst().flatMap(\.lines) where line.mark != .none {
      note(
        ([line.words()] + line.numbers).joined(separator: ": "),
        line.mark == .warning || line.mark == .error ? .warning : .plain)
    }
    let backup: String? =
      switch receipt {
      case .repaired(let receipt): receipt.backupPath
      case .edited(let receipt): receipt.backupPath
      case .salvaged, .restored: nil
      }
    if let backup { note("backup: \(backup)") }
    note(receipt.notice, receipt.isLossy ? .warning : .success)
  }

  private mutating func record(_ plan: MigrationPlan) {
    guard let to = plan.steps.last?.to, !plan.isNothingToDo else { return }
    let rows = plan.steps.first?.rows.values.reduce(0, +) ?? 0
    note(
      "planned \(plan.steps.first?.from ?? "") → \(to): \(NumberText.counted(rows, "object")), "
        + "\(NumberText.counted(plan.losses.count, "loss", plural: "losses")), "
        + "\(NumberText.counted(plan.failures.count, "failing check"))",
      plan.failures.isEmpty && plan.losses.isEmpty ? .plain : .warning)
  }

  /// The parts that are over since the last report, with what each took.
  private mutating func record(_ progress: MigrationProgress) {
    let former = migrate.progress
    if former?.step != progress.step, progress.steps > 1 {
      for part in former?.parts ?? [] where !part.isFinished { note("\(part.title) done") }
      let step = MigrationProgressView.step(progress, of: mapping.plan?.steps ?? [])
      let path = step.map { ": \($0.from) → \($0.to)" } ?? ""
      note("step \(progress.step) of \(progress.steps)\(path)")
    }
    let known = former?.step == progress.step ? former?.parts ?? [] : []
    for (index, part) in progress.parts.enumerated() where part.isFinished {
      if known.indices.contains(index), known[index].isFinished { continue }
      let amount =
        switch part.unit {
        case .bytes: ", " + NumberText.bytes(part.total)
        case .rows: ", " + NumberText.counted(part.total, "row")
        case .items: ""
        }
      note("\(part.title)\(amount) in \(NumberText.seconds(part.seconds))", .success)
    }
  }
}
