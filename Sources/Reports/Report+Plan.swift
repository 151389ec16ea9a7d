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

extension Report {
  /// What stands in the way of a plan and what it would lose, then whether it can run.
  ///
  /// - Parameter allowed: names of losses that are accepted.
  package init(_ plan: MigrationPlan, allowing allowed: Set<String>) {
    let unallowed = plan.unallowedLosses(allowed)
    let losses = plan.losses.flatMap { loss in
      [loss.line(isAccepted: !unallowed.contains(loss))]
        + (loss.suggestion.map { [Line("\($0)", depth: 1)] } ?? [])
    }
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
      [Line(.error, "\(obstacle.message)\(obstacle.code.map { " (\($0))" } ?? "")")]
        + (obstacle.advice.map { [Line($0, depth: 1)] } ?? [])
    }
    let verdict =
      !unallowed.isEmpty
      ? [
        Line(
          .error, "refused unless allowed: \(.allowedLosses, of: unallowed.map(\.name))", as: .code)
      ]
      : plan.failures.isEmpty && plan.obstacles.isEmpty ? [Line(.success, "it can run")] : []
    self.init([
      Section(
        [head] + obstacles + [Line](notes: plan.notes) + losses
          + (plan.failures + plan.checks.filter(\.isWarning)).flatMap(\.lines) + verdict)
    ])
  }

  /// A guess in words: no more exact than it is.
  private static func duration(_ seconds: Double) -> String {
    if seconds < 2 { return "a moment" }
    if seconds < 90 { return "about \(Int(seconds.rounded())) seconds" }
    let minutes = min(seconds / 60, 1e9).rounded()
    return minutes < 120 ? "about \(Int(minutes)) minutes" : "about \(Int(minutes / 60)) hours"
  }
}
