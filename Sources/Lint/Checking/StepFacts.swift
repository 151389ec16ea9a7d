import ManagedModel
import Migration
import ModelWriting

/// What many findings of one step ask for, found out once.
///
/// A model can have 20,000 entities, and each of them can have changed: what looked through all of
/// them for each finding took minutes.
final class StepFacts {
  private let from: Model
  private let to: Model
  private let mapping: MappingModel?

  init(from: Model, to: Model, mapping: MappingModel?) {
    (self.from, self.to, self.mapping) = (from, to, mapping)
  }

  /// What differs between the two versions.
  lazy var difference = ModelDifference(from: from, to: to)

  private lazy var differences = (
    Dictionary(
      difference.entities.compactMap { entity in entity.destination.map { ($0.name, entity) } }
    ) { first, _ in first },
    Dictionary(
      difference.entities.compactMap { entity in entity.source.map { ($0.name, entity) } }
    ) { first, _ in first }
  )

  /// How an entity of the later version differs; of the earlier version where the later one does not have it.
  func difference(of entity: String) -> EntityDifference? {
    differences.0[entity] ?? differences.1[entity]
  }

  /// Which entity of each version goes on as which, identifiers that are claimed twice included.
  lazy var alignment = to.entityAlignment(from: from, isEqual: false)

  // MARK: What could be something that is gone

  /// What is gone of one kind from what becomes one entity.
  private struct Group: Hashable {
    let kind: Omission.Kind
    let destination: String?
  }

  private var groups: [Group: [Omission]] = [:]

  /// What the step drops.
  func setOmissions(_ omissions: [Omission]) {
    groups = Dictionary(grouping: omissions) { Group(kind: $0.kind, destination: $0.destination) }
  }

  /// What else of the same kind is gone from there.
  func omissions(like omission: Omission) -> [Omission] {
    groups[Group(kind: omission.kind, destination: omission.destination)] ?? []
  }

  /// What could be something that is gone, under another name.
  lazy var renames = RenameGuess(mapping, from: from, to: to)
}
