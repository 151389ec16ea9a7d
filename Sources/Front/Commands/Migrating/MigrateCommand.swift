import Files
import JSON
import ManagedModel
import Migration
import Reports

/// `strata migrate`: carries a plan out, reporting how far it is, and prints the receipt.
package enum MigrateCommand {
  private static let stores = Argument(list: "STORE", .store, isRequired: true)
  package static let command = Command(
    "migrate", .migrate, "migrates one store, several, or a folder of them", arguments: [stores],
    options: [
      Option.to, Option.from, Option.via, Option.mapping, Option.strategy, Option.output,
      Option.allowLoss, Option.allowLossFile, Option.noBackup, CutoverConfirmation.option,
      Option.jobs, Option.receipt, Option.jsonProgress,
    ], example: "strata migrate Recipes.sqlite --to Recipes.xcdatamodeld --output New.sqlite",
    statuses:
      "3 if a store is refused, 5 if a migration failed, 130 if it was cancelled; the store is unchanged then",
    effect: .changesStoreWithoutOutput, run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let request = try MigrationArguments(arguments)
    let jobs = BatchWork.jobs(arguments)
    if request.options.output == nil {
      for path in arguments[Self.stores] { RecoveryNotice.restore(path, on: console) }
    }
    let stores = try StoreList(arguments[Self.stores])
    for link in stores.links {
      console.note("! \(link) is a symbolic link and was skipped: name it to use it.")
    }
    let file = try ReceiptFile(arguments, stores: stores.paths)
    let confirmation = try CutoverConfirmation(arguments, isOne: stores.isOne, console)
    if stores.isOne, let path = stores.paths.first {
      return try one(path, request, arguments[.json], file, confirmation, console)
    }
    guard request.options.output == nil else {
      throw CoreDataError(
        .usage, "--output takes the result of one store, and there are \(stores.paths.count)",
        hint: "Migrate them one by one, or leave out --output.")
    }
    let batch = StoreBatch(
      title: .migrated, isJSON: arguments[.json], receiptFile: file, console: console)
    RecoveryNotice.write(for: stores.paths, to: console)
    return try batch.run(stores.paths, jobs: jobs) { path, report in
      var plan: MigrationPlan
      do { plan = try request.plan(for: path) } catch let error as CoreDataError {
        return .refusal(try request.refusal(of: path, after: error.at(path: path)))
      }
      plan.notes += try request.unusedAllowances(of: plan)
      guard !plan.isNothingToDo else {
        var done = plan
        done.notes += StoreMigration.cleanUp(after: path)
        return .nothingToDo(
          done, faults: plan.faults(allowing: request.options.allowedLosses))
      }
      return .receipt(
        try StoreMigration.run(
          plan, options: request.options, progress: report,
          isCancelled: { Interruption.isRequested }))
    }
  }

  private static func one(
    _ path: String, _ request: MigrationArguments, _ isJSON: Bool, _ file: ReceiptFile?,
    _ confirmation: CutoverConfirmation?, _ console: Console
  ) throws -> CommandStatus {
    var plan: MigrationPlan
    do {
      plan = try Waiting.tell("looking at the store", on: console) { try request.plan(for: path) }
    } catch let error as CoreDataError {
      let refusal = try Waiting.tell("looking for all that is refused", on: console) {
        try request.refusal(of: path, after: error)
      }
      isJSON ? console.json { $0.refusedPlan(refusal.plan) } : console.refuse(path, refusal.report)
      return .refused
    }
    let unused = try request.unusedAllowances(of: plan)
    for warning in unused { console.note("warning: \(warning)") }
    if isJSON { plan.notes += unused }
    RecoveryNotice.write(for: [request.options.output ?? path], to: console)
    if plan.isNothingToDo, request.options.output == nil {
      for text in plan.notes + StoreMigration.cleanUp(after: path) {
        console.note("note: " + text)
      }
      try file?.write(JSONWriter.line { $0.null("receipt") })
      isJSON
        ? console.json { $0.null("receipt") }
        : console.line("nothing to do: the store already has that model")
      // Nothing was written, and the store is not what it looks like.
      let faults = plan.faults(allowing: request.options.allowedLosses)
      for fault in faults { console.note("! " + fault) }
      return faults.isEmpty ? .done : .refused
    }
    let reporter = ProgressReporter(console: console, isJSON: isJSON)
    var options = request.options
    options.confirmation = confirmation?.question(after: reporter.finish)
    let receipt: MigrationReceipt
    do {
      defer { reporter.finish() }
      receipt = try StoreMigration.run(
        plan, options: options, progress: { reporter.report($0) },
        isCancelled: { Interruption.isRequested })
    }
    isJSON
      ? console.json { $0.receipt(receipt) }
      : console.report(Report(receipt, plan.isNothingToDo ? .copied : .migrated))
    try file?.write(JSONWriter.line { $0.receipt(receipt) })
    return .done
  }
}

/// Shows a migration's progress: a bar on a terminal, or lines of JSON, at most ten times a second.
final class ProgressReporter {
  private let console: Console
  private let isJSON: Bool
  private let bar: ProgressBar
  private var last: ContinuousClock.Instant?
  /// Step and part of the last report: of each new one there is a line of JSON.
  private var place = [0, 0]

  init(console: Console, isJSON: Bool) {
    self.console = console
    self.isJSON = isJSON
    bar = ProgressBar(console)
  }

  func report(_ progress: MigrationProgress) {
    guard isJSON else { return bar.show(ProgressBar.Work(progress)) }
    let now = ContinuousClock.now
    if place == [progress.step, progress.current], let last, now - last < .milliseconds(100) {
      return
    }
    last = now
    place = [progress.step, progress.current]
    console.json { $0.progress(progress) }
  }

  /// Clears the line.
  func finish() { bar.clear() }
}

extension ProgressBar.Work {
  init(_ progress: MigrationProgress) {
    self.init(title: progress.steps > 1 ? "step \(progress.step) of \(progress.steps)  " : "")
    fraction = progress.fraction
    remaining = progress.remaining
    guard progress.parts.indices.contains(progress.current) else { return }
    let part = progress.parts[progress.current]
    title += part.title
    switch part.unit {
    case .bytes: done = "\(NumberText.bytes(part.done)) of \(NumberText.bytes(part.total))"
    case .rows, .items:
      done = "\(NumberText.grouped(part.done)) of \(NumberText.grouped(part.total))"
    }
    if part.unit == .rows, let rate = part.rate {
      self.rate = NumberText.grouped(Int(min(rate, 1e15))) + "/s"
    }
  }
}

extension JSONWriter {
  mutating func progress(_ progress: MigrationProgress) {
    object("progress") { json in
      json.fields([
        "fraction": progress.fraction, "elapsed": progress.elapsed, "remaining": progress.remaining,
        "step": progress.step, "steps": progress.steps, "current": progress.current,
        "rows": progress.rows, "bytesWritten": progress.bytesWritten,
      ])
      json.objects("parts", progress.parts) { part in
        [
          "kind": part.kind.rawValue, "title": part.title, "unit": part.unit.rawValue,
          "done": part.done, "total": part.total, "seconds": part.seconds,
          "finished": part.isFinished,
        ]
      }
    }
  }
}

/// `migrate --confirm`: the receipt so far, and a question at the terminal before the cut-over.
struct CutoverConfirmation {
  static let option = Option(
    "confirm", "show the verified result, and ask before the cut-over")

  private let console: Console

  /// `nil` where it was not asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage where nobody can be asked.
  init?(_ arguments: Arguments, isOne: Bool, _ console: Console) throws {
    guard arguments[Self.option] else { return nil }
    guard isOne, !arguments[.json] else {
      throw CoreDataError(
        .usage, "--confirm asks about one store, and not between lines of JSON",
        hint: "Migrate the stores one by one, or rehearse them first.")
    }
    guard Self.canAsk(on: console) else {
      throw CoreDataError(
        .usage, "--confirm needs a terminal to ask at",
        hint: "Leave it out, or look at the result with strata rehearse first.")
    }
    self.console = console
  }

  /// The question as the engine asks it.
  ///
  /// - Parameter clear: takes away what stands in the line.
  func question(after clear: @escaping () -> Void) -> @Sendable (MigrationReceipt) -> Bool {
    // Called by the run that waits for it, in its own thread.
    nonisolated(unsafe) let ask = { receipt in
      clear()
      return self.ask(receipt)
    }
    return { ask($0) }
  }

  /// Asks; anything but a yes is a no, and so is the end of the input or ^C.
  private func ask(_ receipt: MigrationReceipt) -> Bool {
    console.note(Report(receipt, .verified))
    let answer = Self.answer(to: "Replace the store? [y/N] ", on: console)
    return ["y", "yes"].contains(answer?.lowercased())
  }

  /// Whether somebody is at a terminal who can be asked.
  static func canAsk(on console: Console) -> Bool {
    console.isErrorTerminal && isatty(STDIN_FILENO) == 1
  }

  /// What a person types behind a question; `nil` at the end of the input, or when a signal asks to stop.
  static func answer(to question: String, on console: Console) -> String? {
    console.rewrite(question)
    let answer = line()
    if answer == nil { console.note("") }
    return answer
  }

  /// A line of standard input; `nil` at its end, or when a signal asks to stop.
  private static func line() -> String? {
    var bytes: [UInt8] = []
    while bytes.count < 256 {
      var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      let count = poll(&ready, 1, 200)
      if Interruption.isRequested { return nil }
      if count <= 0 { continue }
      var byte: UInt8 = 0
      guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
      if byte == 0x0A { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
  }
}
