import ManagedModel

/// Objects before the first of several steps, followed by entity through all of them: a receipt shows
/// what the person had.
struct FirstCounts {
  private var before: [String: Int]
  /// Objects that a step so far has changed, by the entity they are of now.
  private var changed: [String: Int] = [:]
  private var gone: [MigrationReceipt.EntityCount] = []

  /// - Parameter counts: objects of each entity before anything ran.
  init(_ counts: [String: Int]) { before = counts }

  /// Puts the first counts into a step's report, where each object of a source entity went one way.
  mutating func follow(
    _ mapping: MappingModel, to destination: Model, into report: inout VerificationReport
  ) {
    var next: [String: Int] = [:]
    var nextChanged: [String: Int] = [:]
    var lost: [MigrationReceipt.EntityCount] = []
    for index in report.entities.indices {
      let entity = report.entities[index].entity
      let isThere = destination.entity(named: entity) != nil
      let sources =
        isThere
        ? mapping.entityMappings.filter { $0.destination == entity }.compactMap(\.source) : [entity]
      let isPlain = sources.allSatisfy { source in
        mapping.entityMappings.count { $0.source == source } == 1
      }
      if isPlain {
        report.entities[index].before = sources.reduce(0) { $0 + (before[$1] ?? 0) }
      }
      if isThere {
        let copied = mapping.entityMappings.filter { $0.destination == entity && $0.kind == .copy }
          .compactMap(\.source)
        // One that is copied stays what an earlier step made of it.
        let all =
          (report.entities[index].changed ?? 0) + copied.reduce(0) { $0 + (changed[$1] ?? 0) }
        report.entities[index].changed = min(all, report.entities[index].after)
        nextChanged[entity] = report.entities[index].changed
        next[entity] = report.entities[index].before
      } else {
        lost.append(report.entities[index])
      }
    }
    report.entities += gone
    gone += lost
    before = next
    changed = nextChanged
  }
}
