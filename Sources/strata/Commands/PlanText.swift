import ManagedStore
import Migration

/// A plan as a person reads it.
enum PlanText {
  static func print(_ plan: MigrationPlan, unallowed: [Loss], to console: Console) {
    if plan.isNothingToDo {
      console.line("nothing to do: the store is of that model already")
      return
    }
    for step in plan.steps {
      console.line("\(step.from) → \(step.to)  \(step.mapping.kind.rawValue)")
      let rows = step.mapping.entityMappings.map { mapping in
        [
          "  " + mapping.kind.name, mapping.source ?? "—", "→", mapping.destination ?? "—",
          String(step.rows[mapping.name] ?? 0), details(of: mapping),
        ]
      }
      console.write(
        TextTable.text([.left, .left, .left, .left, .right, .left], rows, limit: 100))
    }
    let free = plan.bytesFree.map { " of \(Size.text($0)) free" } ?? ""
    console.line(
      "\(plan.strategy.rawValue), needs \(Size.text(plan.bytesNeeded))\(free), takes \(duration(plan.secondsEstimated))"
    )
    for note in plan.notes { console.line("note: \(note)") }
    for loss in plan.losses {
      let mark = unallowed.contains(loss) ? "! lost" : "lost, as allowed"
      let what = loss.property == nil ? "objects" : "values"
      let samples =
        loss.samples.isEmpty ? "" : ", such as " + loss.samples.joined(separator: ", ")
      console.line("\(mark): \(loss.name), \(loss.values) \(what)\(samples)")
      if let suggestion = loss.suggestion { console.line("  \(suggestion)") }
    }
    for check in plan.checks {
      let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
      console.line("\(check.isWarning ? "warning:" : "✗") \(place): \(check.summary)")
      if !check.first.isEmpty {
        console.line("  first: " + check.first.map(\.description).joined(separator: ", "))
      }
      console.line("  \(check.hint)")
    }
    if !unallowed.isEmpty {
      console.line(
        "refused unless allowed: "
          + unallowed.map { "--allow-loss \($0.name)" }.joined(separator: " "))
    } else if plan.failures.isEmpty {
      console.line("✓ it can run")
    }
  }

  /// A guess in words: no more exact than it is.
  private static func duration(_ seconds: Double) -> String {
    if seconds < 2 { return "a moment" }
    if seconds < 90 { return "about \(Int(seconds.rounded())) seconds" }
    let minutes = min(seconds / 60, 1e9).rounded()
    return minutes < 120 ? "about \(Int(minutes)) minutes" : "about \(Int(minutes / 60)) hours"
  }

  private static func details(of mapping: EntityMapping) -> String {
    let attributes = mapping.attributes.compactMap { attribute -> String? in
      if attribute.source == nil { return "+ " + attribute.name }
      return attribute.isRenamed ? "\(attribute.source ?? "") → \(attribute.name)" : nil
    }
    let relationships = mapping.relationships.compactMap { relationship -> String? in
      if relationship.source == nil { return "+ " + relationship.name }
      return relationship.isRenamed
        ? "\(relationship.source ?? "") → \(relationship.name)" : nil
    }
    guard mapping.kind == .transform else { return "" }
    return (attributes + relationships).joined(separator: ", ")
  }
}

/// Sizes in decimal units.
enum Size {
  static func text(_ bytes: Int) -> String {
    var (value, unit) = (Double(bytes), 0)
    let units = ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    guard unit > 0 else { return "\(bytes) bytes" }
    return "\((value * 10).rounded() / 10) \(units[unit])"
  }
}
