import ManagedModel
import ManagedStore

/// What can be said of a plan at once: by which steps it goes, and how many objects there are.
///
/// What would be lost, and what the destination would not accept, takes a look at every row.
public struct PlanOutline: Sendable, Equatable {
  /// The steps; the ``MigrationStep/rows`` of each have the mappings whose objects are counted so far.
  public private(set) var steps: [MigrationStep]

  /// Whether the objects of all mappings are counted.
  package var isCounted: Bool {
    steps.allSatisfy { step in
      step.mapping.entityMappings.allSatisfy { step.rows[$0.name] != nil }
    }
  }

  init(_ steps: [MigrationStep]) { self.steps = steps }

  /// With the objects that each mapping takes, as far as these show.
  ///
  /// - Parameter counts: objects of exactly each entity of the version that the first step begins at.
  func counted(_ counts: [String: Int], _ policies: PolicyBindings) -> PlanOutline {
    var outline = self
    var known = counts
    for (index, step) in steps.enumerated() where step.mapping.kind != .none {
      var next: [String: Int?] = [:]
      for mapping in step.mapping.entityMappings {
        let rows = mapping.source == nil ? 0 : mapping.source.flatMap { known[$0] }
        outline.steps[index].rows[mapping.name] = rows
        guard let destination = mapping.destination else { continue }
        next[destination] = .some(
          rows.flatMap { rows in next[destination, default: 0].map { $0 + rows } })
      }
      // What comes of a mapping with conditions is known by carrying it out.
      guard step.isInferredOnly(policies) else { break }
      known = next.compactMapValues { $0 }
    }
    return outline
  }

  /// Reports what is known of a plan, and then what is counted in no time.
  static func tell(_ plan: MigrationPlan, of store: Store, to report: (PlanOutline) -> Void) {
    let outline = PlanOutline(plan.steps)
    report(outline)
    store.earlyCounts { report(outline.counted($0, plan.policies)) }
  }
}
