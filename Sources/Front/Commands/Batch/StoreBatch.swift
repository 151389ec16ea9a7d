import Files
import JSON
import ManagedModel
import Migration
import Reports
import SQLite

/// Several stores migrated at once: a receipt or an error for each, and one table in the end.
struct StoreBatch {
  /// How one store fared.
  enum Outcome: Sendable {
    case receipt(MigrationReceipt)
    /// The store is of the model already; what is wrong with it all the same, as sentences.
    case nothingToDo(MigrationPlan, faults: [String])
    /// A rehearsal, with what was expected and is not so.
    case rehearsal(Rehearsal.Result)
    /// No mapping can be inferred.
    case refusal(MigrationArguments.Refusal)
    case failure(CoreDataError)

    var status: CommandStatus {
      switch self {
      case .receipt: .done
      case .nothingToDo(_, let faults): faults.isEmpty ? .done : .refused
      case .rehearsal(let result):
        result.faults.isEmpty ? (result.failures.isEmpty ? .done : .no) : .refused
      case .refusal: .refused
      case .failure(let error): CommandStatus(error.kind)
      }
    }

    var isFailure: Bool { if case .failure = self { true } else { false } }
  }

  private enum Event: Sendable {
    case progress(MigrationProgress)
    case outcome(Outcome, seconds: Double)
  }

  /// What a receipt begins with: migrated, or rehearsed.
  let title: Report.Outcome
  let isJSON: Bool
  /// For a build server, in the place of everything else that is printed.
  var format: CheckReport.Format?
  /// Where the receipts go besides.
  var receiptFile: ReceiptFile?
  /// Where the names of all losses go besides.
  var lossOutput: LossOutput?
  /// Whether one store was named: its receipt is no array then.
  var isOne = false
  /// Whether the stores were made for this, and nobody has them.
  var isSeeded = false
  /// What the stores are migrated to, where that is said at the beginning.
  var destination: MigrationArguments?
  let console: Console
  /// What a store is called in the table.
  var shown: (String) -> String = { $0 }

  typealias Work =
    @Sendable (_ path: String, _ report: @escaping (MigrationProgress) -> Void) throws -> Outcome

  /// Works on all stores; one that fails does not stop the others, ^C stops all.
  ///
  /// - Throws: ``CoreDataError`` where the receipts cannot be written.
  /// - Returns: done where all are, else the gravest status of any.
  func run(_ paths: [String], jobs: Int, work: @escaping Work) throws -> CommandStatus {
    var rows = [Row?](repeating: nil, count: paths.count)
    // Receipts of many stores take memory: only those are kept of which something is still to be reported.
    var outcomes = [Outcome?](repeating: nil, count: paths.count)
    let keepsAll = receiptFile != nil || format != nil || lossOutput != nil
    let isText = !isJSON && format == nil
    if isText, let destination { console.line("to \(destination.destinationText)") }
    // What is to be known of every version of a bundle is said once.
    var notes: [String]?
    var (done, told) = (0, 0)
    let bar = ProgressBar(console)
    let begin = ContinuousClock.now
    BatchWork.run(paths, jobs: jobs) { path, send in
      let start = ContinuousClock.now
      let outcome = Self.outcome(path, work) { send(Event.progress($0)) }
      send(.outcome(outcome, seconds: (ContinuousClock.now - start) / .seconds(1)))
    } handle: { index, event in
      switch event {
      case .progress(let progress):
        if isJSON {
          console.json { json in
            json.field("store", paths[index])
            json.progress(progress)
          }
        } else {
          bar.show(Self.work(paths[index], progress, done: done, of: paths.count))
        }
      case .outcome(let outcome, let seconds):
        bar.clear()
        rows[index] = Row(paths[index], outcome, seconds)
        outcomes[index] = outcome
        done += 1
        if isSeeded, !isJSON, !bar.isVisible, let row = rows[index] {
          console.note(
            "\(done) of \(paths.count)  \(shown(row.path)): \(row.result), \(row.time) s")
        }
        if isSeeded, case .rehearsal(let result) = outcome, result.receipt != nil {
          notes = notes.map { $0.filter(result.notes.contains) } ?? result.notes
        }
        if isJSON { write(outcome, seconds, paths[index]) }
        // In the order named, whichever is done first.
        while told < outcomes.count, let next = outcomes[told] {
          if isText { print(next, paths[told]) }
          if !keepsAll, isJSON || !next.isFailure { outcomes[told] = nil }
          told += 1
        }
      }
    }
    let all = rows.compactMap { $0 }
    let kept = zip(all, outcomes).compactMap { row, outcome in outcome.map { (row, $0) } }
    let status = all.map(\.status).max { $0.rawValue < $1.rawValue } ?? .done
    if let format {
      let title = "strata " + (title == .rehearsed ? "rehearse" : "migrate")
      let cases = kept.map { row, outcome in
        CheckReport.Case(outcome, of: row.path, group: title, seconds: row.seconds)
      }
      console.write(CheckReport(name: title, cases: cases).text(format))
    } else if isJSON {
      write(all, status, seconds: (ContinuousClock.now - begin) / .seconds(1))
    } else {
      print(all)
      for note in notes ?? [] { console.line("note: \(note)") }
      printWays(kept.map { ($0.path, $1) })
    }
    try receiptFile?.write(receipts(kept))
    try lossOutput?.write(
      Self.losses(kept.map { (shown($0.path), $1) }), of: title.rawValue + " stores", console)
    return status
  }

  /// The names of what is lost of any store, each with the stores that would lose it.
  private static func losses(_ outcomes: [(name: String, outcome: Outcome)]) -> [LossOutput.Line] {
    var stores: [String: [String]] = [:]
    var names: [String] = []
    for (store, outcome) in outcomes {
      let own: [String] =
        switch outcome {
        case .receipt(let receipt): receipt.losses.filter { !$0.isIntended }.map(\.name)
        case .rehearsal(let result):
          (result.receipt?.losses ?? []).filter { !$0.isIntended }.map(\.name)
        case .refusal(let refusal): refusal.plan.losses.filter { !$0.isIntended }.map(\.name)
        case .failure(let error): error.advice?.values(of: .allowedLosses) ?? []
        case .nothingToDo: []
        }
      for name in own where stores[name]?.last != store {
        if stores[name] == nil { names.append(name) }
        stores[name, default: []].append(store)
      }
    }
    return names.map { name in
      let own = stores[name] ?? []
      let first = own.prefix(5).joined(separator: ", ")
      return (name, "\(own.count) of \(outcomes.count): \(first)\(own.count > 5 ? ", …" : "")")
    }
  }

  /// One line for all stores: the one that reported last.
  private static func work(
    _ path: String, _ progress: MigrationProgress, done: Int, of count: Int
  ) -> ProgressBar.Work {
    var work = ProgressBar.Work(progress)
    work.title = "\(done) of \(count)  \(FileSystem.name(of: path))  \(work.title)"
    return work
  }

  private static func outcome(
    _ path: String, _ work: Work, send: @escaping (MigrationProgress) -> Void
  ) -> Outcome {
    guard !Interruption.isRequested else {
      return .failure(
        CoreDataError(
          .cancelled, code: .migrationCancelled, "cancelled", path: path,
          hint: "Nothing was started."
        ))
    }
    // At most ten times a second: what waits to be reported takes memory.
    var last: ContinuousClock.Instant?
    do {
      return try Connection.stoppingAll(when: { Interruption.isRequested }) {
        try work(path) { progress in
          let now = ContinuousClock.now
          if let last, now - last < .milliseconds(100) { return }
          last = now
          send(progress)
        }
      }
    } catch {
      return .failure(RecoveryNotice.explaining(CoreDataError(error, or: .failed).at(path: path)))
    }
  }

  private func print(_ outcome: Outcome, _ path: String) {
    switch outcome {
    case .receipt(let receipt): console.report(Report(receipt, title))
    case .rehearsal(let result): return result.print(path, to: console)
    case .nothingToDo(let plan, let faults):
      console.line("nothing to do: \(path) already has that model")
      for note in plan.notes { console.line("note: \(note)") }
      for fault in faults { console.note("! " + fault) }
    case .refusal(let refusal): return console.refuse(path, refusal.report)
    case .failure(let error): return console.report(error, asJSON: false)
    }
    console.line()
  }

  private func print(_ rows: [Row]) {
    var table = [["store", "from → to", "objects", "seconds", "result"]]
    table += rows.map { row in
      [
        shown(row.path), row.from.map { "\($0) → \(row.to ?? "")" } ?? "—",
        row.objects.map(String.init) ?? "—", row.time,
        row.result,
      ]
    }
    console.table([.left, .left, .right, .right, .left], table, limit: 100)
  }

  /// One line, as soon as it is known: it is a program's to act on before the last store is done.
  private func write(_ outcome: Outcome, _ seconds: Double, _ path: String) {
    console.json { json in
      write(outcome, path, to: &json)
      json.field("status", Int(outcome.status.rawValue))
      json.field("seconds", seconds)
    }
  }

  private func write(_ outcome: Outcome, _ path: String, to json: inout JSONWriter) {
    json.field("store", path)
    switch outcome {
    case .receipt(let receipt): json.receipt(receipt)
    case .rehearsal(let result): result.write(to: &json)
    case .nothingToDo(_, let faults):
      json.null("receipt")
      json.field("faults", faults)
    case .refusal(let refusal): json.refusedPlan(refusal.plan)
    case .failure(let error): json.error(error)
    }
  }

  private func receipts(_ outcomes: [(row: Row, outcome: Outcome)]) -> [UInt8] {
    var json = JSONWriter()
    func write(_ json: inout JSONWriter) {
      for (row, outcome) in outcomes {
        json.object { self.write(outcome, row.path, to: &$0) }
      }
    }
    if isOne { write(&json) } else { json.array(write) }
    json.newline()
    return json.bytes
  }

  private func write(_ rows: [Row], _ status: CommandStatus, seconds: Double) {
    console.json { json in
      json.fields([
        "stores": rows.count, "done": rows.count { $0.status == .done },
        "status": Int(status.rawValue), "seconds": seconds,
      ])
      if let model = destination?.destination {
        json.object("destination", ["name": model.name, "path": model.path])
      }
      json.objects("summary", rows) { row in
        [
          "store": row.path, "from": row.from, "to": row.to, "result": row.result,
          "objects": row.objects, "seconds": row.seconds, "status": Int(row.status.rawValue),
        ]
      }
    }
  }

  /// A line of the table in the end.
  private struct Row {
    let path: String
    let seconds: Double
    let status: CommandStatus
    var from: String?
    var to: String?
    var objects: Int?
    var result: String

    /// Seconds with two digits behind the point.
    var time: String { String((seconds * 100).rounded() / 100) }

    init(_ path: String, _ outcome: Outcome, _ seconds: Double) {
      self.path = path
      self.seconds = seconds
      status = outcome.status
      var receipt: MigrationReceipt?
      switch outcome {
      case .receipt(let done): (receipt, result) = (done, "done")
      case .rehearsal(let rehearsal):
        receipt = rehearsal.receipt
        let what = rehearsal.receipt == nil ? Self.nothing(rehearsal.faults) : "done"
        result =
          rehearsal.failures.isEmpty ? what : "\(rehearsal.failures.count) expectations failed"
      case .nothingToDo(let plan, let faults):
        result = Self.nothing(faults)
        (from, to) = (plan.steps.first?.from, plan.steps.last?.to)
      case .refusal(let refusal): result = Self.refused(refusal.plan.error)
      case .failure(let error): result = Self.refused(error)
      }
      guard let receipt else { return }
      (from, to) = (receipt.from, receipt.to)
      objects = receipt.entities.reduce(0) { $0 + $1.after }
    }

    private static func refused(_ error: CoreDataError) -> String {
      "\(error.kind.rawValue): \(error.message)"
    }

    private static func nothing(_ faults: [String]) -> String {
      faults.first.map { "nothing to do, but: " + $0 } ?? "nothing to do"
    }
  }
}

extension StoreBatch {
  /// Reports what lets the refused stores pass all together, where that is more than each says for itself.
  func printWays(_ outcomes: [(path: String, outcome: Outcome)]) {
    let refused = outcomes.compactMap { path, outcome -> (path: String, advice: Advice)? in
      guard case .failure(let error) = outcome, error.kind == .refused, let advice = error.advice
      else { return nil }
      return (path, advice)
    }
    let losing = refused.map { $0.advice.values(of: .allowedLosses) }.filter { !$0.isEmpty }
    let losses = losing.joined().reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if losing.count > 1 {
      let options = losses.map { "--allow-loss \(ShellText.quoted($0))" }.joined(separator: " ")
      console.paragraph("to accept what all of them would lose: \(options)", indent: 2)
    }
    guard isSeeded, let unwritten = refused.last(where: { $0.advice.names(.documents) }) else {
      return
    }
    let version = ShellText.quoted(unwritten.path)
    console.paragraph(
      "a recipe to start with: strata seed \(version) NEW-STORE, then strata plan NEW-STORE --to MODEL --mapping FOLDER --write-recipe FILE, with the folder of the mapping models",
      indent: 2)
  }
}
