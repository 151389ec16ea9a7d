import Interface
import ManagedModel
import ManagedStore
import Migration
import RowText
import Terminal

/// A plan as a person reads it.
struct PlanText {
  let plan: MigrationPlan
  let unallowed: [Loss]
  let console: Console

  func print() {
    if plan.isNothingToDo {
      console.line("nothing to do: the store is of that model already")
      for note in plan.notes { console.paragraph("note:", note) }
      for loss in plan.losses { print(loss) }
      for check in plan.checks { print(check) }
      return
    }
    StepText.print(plan.steps, on: console)
    let free = plan.bytesFree.map { " of \(NumberText.bytes($0)) free" } ?? ""
    console.line(
      "\(plan.strategy.rawValue), needs \(NumberText.bytes(plan.bytesNeeded))\(free), takes \(Self.duration(plan.secondsEstimated))"
    )
    for obstacle in plan.obstacles {
      console.paragraph("✗", obstacle.message + (obstacle.code.map { " (\($0))" } ?? ""))
      if let hint = obstacle.typedHint { console.paragraph(" ", hint) }
    }
    for note in plan.notes { console.paragraph("note:", note) }
    for loss in plan.losses { print(loss) }
    for check in plan.failures { print(check) }
    for check in plan.checks where check.isWarning { print(check) }
    if !unallowed.isEmpty {
      console.line(
        "refused unless allowed: "
          + unallowed.map { "--allow-loss \($0.name)" }.joined(separator: " "))
    } else if plan.failures.isEmpty, plan.obstacles.isEmpty {
      console.line("✓ it can run")
    }
  }

  private func print(_ loss: Loss) {
    let mark =
      loss.isIntended
      ? "deleted, as the recipe says" : unallowed.contains(loss) ? "! lost" : "lost, as allowed"
    let samples = loss.samples.isEmpty ? "" : ", such as " + loss.samples.joined(separator: ", ")
    console.paragraph(
      "\(mark):", "\(loss.name), \(loss.values) \(loss.noun)\(samples)")
    if let suggestion = loss.suggestion { console.paragraph(" ", suggestion) }
  }

  private func print(_ check: DataCheck) {
    let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
    console.paragraph(check.isWarning ? "warning:" : "✗", "\(place): \(check.summary)")
    if !check.first.isEmpty {
      console.paragraph(" ", "first: " + check.first.map(\.description).joined(separator: ", "))
    }
    console.paragraph(" ", check.typedHint)
  }

  /// A guess in words: no more exact than it is.
  private static func duration(_ seconds: Double) -> String {
    if seconds < 2 { return "a moment" }
    if seconds < 90 { return "about \(Int(seconds.rounded())) seconds" }
    let minutes = min(seconds / 60, 1e9).rounded()
    return minutes < 120 ? "about \(Int(minutes)) minutes" : "about \(Int(minutes / 60)) hours"
  }
}
