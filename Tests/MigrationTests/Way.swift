import ManagedModel
import ManagedStore

@testable import Mapping
@testable import Migration

/// The ways in which one inferred mapping can be carried out; all must come to the same.
enum Way: String, CaseIterable, Sendable {
  /// A clone is altered.
  case inPlace
  /// A new file is filled, with what inference says.
  case copying
  /// A new file is filled as by a mapping model that says the same.
  case mapped
  /// A new file is filled object by object, by policies that leave all to their defaults.
  case policies

  /// Whether losses and checks are told as for a mapping model.
  var isMapped: Bool { self == .mapped || self == .policies }

  func plan(_ store: Store, to destination: Model) throws -> MigrationPlan {
    // The whole: what a store keeps of it is for the engine to know.
    let source = store.wholeModel
    var mapping = try MappingInference.mapping(from: source, to: destination)
    if isMapped, mapping.kind == .inferred { mapping.kind = .mapping }
    let step = MigrationStep(
      from: "before", to: "after", source: source, destination: destination, mapping: mapping)
    var bindings = PolicyBindings()
    if self == .policies {
      for entityMapping in mapping.entityMappings where entityMapping.destination != nil {
        bindings[entityMapping.name] = EntityMigrationPolicy.self
      }
    }
    return try store.plan(
      steps: [step], policies: bindings, strategy: self == .inPlace ? .inPlace : .copy)
  }
}
