import ManagedModel
import Migration
import Reports

/// What a migration's checks say, for build servers.
extension CheckReport {
  /// What asks for it.
  static let option = Option(
    "format", "FORMAT", among: Format.allCases,
    "print the results for a build server instead")

  /// The format that was asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage where JSON is asked for as well.
  static func format(_ arguments: Arguments) throws -> Format? {
    guard let format = arguments[option] else { return nil }
    guard !arguments[.json] else {
      throw CoreDataError(
        .usage, "--format \(format.rawValue) and --json exclude each other",
        hint: "Give one of them.")
    }
    return format
  }

  /// Runs a command whose refusal is reported in the format that was asked for.
  static func reporting(
    _ name: String, of place: String, _ arguments: Arguments, _ console: Console,
    _ body: (Format?) throws -> CommandStatus
  ) throws -> CommandStatus {
    let format = try format(arguments)
    do {
      return try body(format)
    } catch let error as CoreDataError {
      guard let format, error.kind != .usage, error.kind != .cancelled else { throw error }
      console.write(CheckReport(name, error, at: place).text(format))
      return CommandStatus(error.kind)
    }
  }

  /// A plan: a case for each loss, each check and each allowance that allows nothing.
  init(_ plan: MigrationPlan, allowing allowed: Set<String>, unused: [String]) {
    self.init(name: "strata plan")
    let place = plan.storePath
    notes = plan.notes
    add(plan.losses, plan.checks, place, allowing: allowed)
    for obstacle in plan.obstacles {
      add("obstacle", place, .error, [obstacle.description, obstacle.typedHint])
    }
    for sentence in unused { add("allowed losses", place, .warning, [sentence]) }
    if cases.isEmpty {
      let names = [plan.steps.first?.from, plan.steps.last?.to].compactMap { $0 }
      cases = [Case(name: names.joined(separator: " → "), group: place)]
    }
  }

  /// A migration that cannot be planned: a case for each refusal, each loss and each check.
  init(_ plan: RefusedPlan, of place: String, allowing allowed: Set<String>) {
    self.init(name: "strata plan")
    for refusal in plan.refusals {
      add("refused: \(refusal.place)", place, .error, [refusal.description, refusal.typedHint])
    }
    add(plan.losses, plan.checks, place, allowing: allowed)
  }

  private mutating func add(
    _ losses: [Loss], _ checks: [DataCheck], _ place: String, allowing allowed: Set<String>
  ) {
    for loss in losses {
      let isAllowed = loss.isAllowed(by: allowed)
      let lines = [loss.line(isAccepted: isAllowed).text.typed, loss.suggestion]
      add(
        "loss: \(loss.name)", place, isAllowed ? .notice : .error,
        lines + [isAllowed ? nil : "--allow-loss \(ShellText.quoted(loss.name)) accepts it."])
    }
    for check in checks {
      add(
        "check: \(check.place)", place, check.isWarning ? .warning : .error,
        check.lines.map(\.text.typed))
    }
  }

  /// A comparison: a case for each difference, or one that passed.
  init(_ report: VerificationReport, of before: String, and after: String) {
    self.init(name: "strata verify")
    notes = report.notes
    for difference in report.differences {
      add(
        difference.place.isEmpty ? "difference" : difference.place, after, .error,
        difference.lines.map(\.text.typed))
    }
    if cases.isEmpty { cases = [Case(name: "\(before) → \(after)", group: after)] }
  }

  /// A command that could not be carried out.
  init(_ name: String, _ error: CoreDataError, at place: String) {
    self.init(name: name)
    add("carried out", error.path ?? place, .error, [error.description, error.typedHint])
  }

  private mutating func add(
    _ name: String, _ path: String, _ level: Problem.Level, _ lines: [String?]
  ) {
    let message = lines.compactMap { $0 }.joined(separator: "\n")
    cases.append(
      Case(
        name: name, group: path,
        problems: [Problem(level: level, title: name, message: message, path: path)]))
  }
}

extension CheckReport.Case {
  /// One store of several.
  init(_ outcome: StoreBatch.Outcome, of path: String, group: String, seconds: Double) {
    self.init(name: path, group: group)
    self.seconds = seconds
    func add(_ level: CheckReport.Problem.Level, _ title: String, _ message: String) {
      problems.append(.init(level: level, title: title, message: message, path: path))
    }
    func add(_ error: CoreDataError) {
      let lines = [error.description, error.typedHint].compactMap { $0 }
      add(.error, "\(error.kind.rawValue)", lines.joined(separator: "\n"))
    }
    switch outcome {
    case .receipt(let receipt): for note in receipt.notes { add(.notice, "note", note) }
    case .nothingToDo(let plan, let faults):
      for fault in faults { add(.error, "the store", fault) }
      for note in plan.notes { add(.notice, "note", note) }
    case .rehearsal(let result):
      for fault in result.faults { add(.error, "the store", fault) }
      for failure in result.failures { add(.error, "expectation", failure) }
      for note in (result.receipt?.notes ?? []) + result.notes { add(.notice, "note", note) }
    case .refusal(let refusal): refusal.plan.refusals.forEach(add)
    case .failure(let error): add(error)
    }
  }
}
