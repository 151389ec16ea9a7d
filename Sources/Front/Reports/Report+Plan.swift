import ManagedModel
import Migration

extension Loss {
  /// What goes, and the first of it.
  package func line(isAccepted: Bool) -> Report.Line {
    let how =
      isIntended ? "deleted, as the recipe says" : isAccepted ? "lost, as accepted" : "lost"
    let such = samples.isEmpty ? "" : ", such as " + samples.joined(separator: ", ")
    return Report.Line(
      isIntended ? .note : .warning,
      "\(how): \(name), \(NumberText.grouped(values)) \(noun)\(such)")
  }
}

extension DataCheck {
  /// `Recipe.title`, or the entity alone.
  package var place: String { property.map { "\(entity).\($0)" } ?? entity }

  /// Which rule is broken, in how many rows.
  package var line: Report.Line {
    Report.Line(isWarning ? .warning : .error, "\(place): \(summary)")
  }

  /// The rule, the first objects that break it, and what to do.
  package var lines: [Report.Line] {
    let first = first.map(\.description).joined(separator: ", ")
    return [line] + (first.isEmpty ? [] : [Report.Line("first: \(first)", as: .detail, depth: 1)])
      + [Report.Line(advice ?? "\(hint)", depth: 1)]
  }
}

extension CoreDataError {
  /// `Recipe.title`, or the entity alone; empty where it names none.
  package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

  /// What is refused of which property.
  package var reasonAtPlace: String {
    let reason = reason ?? message
    return place.isEmpty ? reason : "\(place): \(reason)"
  }

  fileprivate var suffix: String { code.map { " (\($0))" } ?? "" }

  fileprivate var help: [Report.Line] { advice.map { [Report.Line($0, depth: 1)] } ?? [] }
}

extension Report {
  /// What stands in the way of a plan and what it would lose, then whether it can run.
  ///
  /// - Parameters:
  ///   - allowed: names of losses that are accepted.
  ///   - remedy: what gives values to rows that break rules.
  package init(_ plan: MigrationPlan, allowing allowed: Set<String>, remedy: Advice? = nil) {
    let losses = Self.lines(plan.losses, allowing: allowed)
    guard !plan.isNothingToDo else {
      self.init([
        Section(
          [Line("nothing to do: the store already has that model")]
            + [Line](notes: plan.notes) + losses + plan.checks.flatMap(\.lines))
      ])
      return
    }
    let free = plan.bytesFree.map { " of \(NumberText.bytes($0)) free" } ?? ""
    let head = Line(
      "\(plan.strategy.rawValue), needs \(NumberText.bytes(plan.bytesNeeded))\(free), takes \(Self.duration(plan.secondsEstimated))"
    )
    let obstacles = plan.obstacles.flatMap { obstacle in
      [Line(.error, "\(obstacle.message)\(obstacle.suffix)")] + obstacle.help
    }
    let verdict =
      plan.isAcceptable(allowing: allowed)
      ? [Line(.success, "\(PlanVerdict.can)")]
      : Self.verdict(plan, allowing: allowed, remedy: remedy)
    self.init([
      Section(
        [head] + obstacles + [Line](notes: plan.notes) + losses + Self.lines(plan.checks) + verdict)
    ])
  }

  /// Everything that stands in the way of a migration that cannot be planned.
  ///
  /// - Parameters:
  ///   - allowed: names of losses that are accepted.
  ///   - remedy: what carries the changes that are refused.
  package init(_ plan: RefusedPlan, allowing allowed: Set<String>, remedy: Advice) {
    let error = plan.error
    // A path through versions ends somewhere between them.
    let isOfPath = error.code == .migrationMissingMappingModel
    let path = isOfPath ? [Line(.error, "\(error.message)\(error.suffix)")] + error.help : []
    let refusals = plan.refusals.flatMap { refusal in
      [Line(.error, "\(refusal.reasonAtPlace)\(refusal.suffix)")] + refusal.help
    }
    self.init([
      Section(
        [Line("\(plan.from) → \(plan.to)", as: .title)] + path + refusals
          + Self.lines(plan.checks) + Self.lines(plan.losses, allowing: allowed)
          + Self.verdict(plan.losses, allowing: allowed, isAlone: false)
          + [
            Line(
              .error,
              "refused: \(NumberText.counted(plan.refusals.count, "change")) cannot be inferred"),
            Line(remedy, depth: 1),
          ])
    ])
  }

  private static func lines(_ losses: [Loss], allowing allowed: Set<String>) -> [Line] {
    losses.flatMap { loss in
      [loss.line(isAccepted: loss.isAllowed(by: allowed))]
        + (loss.suggestion.map { [Line("\($0)", depth: 1)] } ?? [])
    }
  }

  /// What fails, then what is a warning.
  private static func lines(_ checks: [DataCheck]) -> [Line] {
    (checks.filter { !$0.isWarning } + checks.filter(\.isWarning)).flatMap(\.lines)
  }

  /// Why a plan cannot be carried out.
  private static func verdict(
    _ plan: MigrationPlan, allowing allowed: Set<String>, remedy: Advice?
  ) -> [Line] {
    let failures = plan.failures
    let isLossAlone = failures.isEmpty && plan.obstacles.isEmpty
    let losses = verdict(plan.losses, allowing: allowed, isAlone: isLossAlone)
    guard !isLossAlone else { return losses }
    let why = PlanVerdict(plan, allowing: allowed).reason.map { ": \($0)" } ?? ""
    return losses + [Line(.error, "\(PlanVerdict.cannot)\(why)")]
      + (failures.contains(where: \.lacksValue) ? remedy.map { [Line($0, depth: 1)] } ?? [] : [])
  }

  /// What accepts the losses that are left; empty where none is.
  ///
  /// - Parameter isAlone: whether nothing else stands in the way.
  private static func verdict(
    _ losses: [Loss], allowing allowed: Set<String>, isAlone: Bool
  ) -> [Line] {
    let unallowed = losses.filter { !$0.isAllowed(by: allowed) }
    guard !unallowed.isEmpty else { return [] }
    return [
      Line(
        .error,
        "\(isAlone ? "" : "also ")refused unless allowed: \(.allowedLosses, of: unallowed.map(\.name))",
        as: .code)
    ]
  }

  /// A guess in words: no more exact than it is.
  private static func duration(_ seconds: Double) -> String {
    if seconds < 2 { return "about 1 s" }
    if seconds < 90 { return "about \(Int(seconds.rounded())) seconds" }
    let minutes = min(seconds / 60, 1e9).rounded()
    return minutes < 120 ? "about \(Int(minutes)) minutes" : "about \(Int(minutes / 60)) hours"
  }
}
