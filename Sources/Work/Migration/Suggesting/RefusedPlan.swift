import ManagedModel
import Mapping
import ModelWriting

/// A migration that cannot be planned: everything that stands in its way, where a plan stops at the first.
public struct RefusedPlan: Sendable, Equatable {
  /// What planning ended with.
  public let error: CoreDataError
  /// Name of the version that the store is of.
  public let from: String
  /// Name of the version to migrate to.
  public let to: String
  /// Each change for which no mapping can be inferred, in the order they are met; never empty.
  public private(set) var refusals: [CoreDataError]
  /// What would be lost besides what is refused.
  public private(set) var losses: [Loss] = []
  /// What the destination would not accept besides what is refused.
  public private(set) var checks: [DataCheck] = []
}

extension RefusedPlan {
  /// Looks for all that stands in the way of a migration that could not be planned.
  ///
  /// What is refused is set aside, as if the property were new, and the rest is planned.
  ///
  /// - Parameters:
  ///   - error: what planning ended with.
  ///   - isCancelled: asked now and then.
  /// - Returns: `nil` where no change between the two versions is the reason.
  /// - Throws: ``CoreDataError`` 134120 when cancelled.
  public init?(
    _ error: CoreDataError, of store: Store, _ request: MigrationRequest,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    guard case .found = request.course, error.isOfModels else { return nil }
    let source = request.source(of: store)
    let (from, to) = (source.name, request.destination.name)
    let part = store.part
    // Mappings are written for whole models.
    let isWritten = !request.documents.isEmpty
    let before = isWritten ? source.model : part.model(source.model)
    let after = isWritten ? request.destination.model : part.model(request.destination.model)
    let rest =
      isWritten
      ? MappingInference.remainder(
        from: before, to: after, documents: request.documents, names: (from, to))
      : MappingInference.remainder(from: before, to: after)
    guard !rest.refusals.isEmpty else { return nil }
    self.init(
      error: error, from: from, to: to, refusals: rest.refusals.map { $0.at(path: store.path) })
    guard let mapping = rest.mapping else { return }
    let step = MigrationStep(
      from: from, to: to, source: before, destination: rest.destination, mapping: mapping)
    var asked = MigrationRequest(
      steps: [step], to: .init(model: rest.destination, name: to, path: ""))
    (asked.policies, asked.origin) = (request.policies, request.origin)
    do {
      let plan = try StoreMigration.plan(store, asked, isCancelled: isCancelled)
      let refused = RefusedChanges(rest.refusals, from: before, to: after)
      losses = plan.losses.filter { !refused.contains($0) }
      checks = plan.checks.filter { !refused.contains($0) }
    } catch {
      // What the rest would meet is not known; what is refused is.
      guard error.kind != .cancelled else { throw error }
    }
  }
}

extension CoreDataError {
  /// Whether a change between two models keeps a mapping from being made.
  var isOfModels: Bool {
    kind == .refused
      && (code == .inferredMappingModel || code == .migrationMissingMappingModel
        || code == nil && entity != nil)
  }
}

/// Changes that cannot be inferred, and what of a plan without them comes of that.
struct RefusedChanges {
  let refusals: [CoreDataError]
  private let source: Model
  private let destination: Model
  private let difference: ModelDifference

  init(
    _ refusals: [CoreDataError], from source: Model, to destination: Model,
    _ difference: ModelDifference? = nil
  ) {
    (self.refusals, self.source, self.destination) = (refusals, source, destination)
    self.difference = difference ?? ModelDifference(from: source, to: destination)
  }

  /// Whether something is lost only because a refused change was set aside.
  func contains(_ loss: Loss) -> Bool {
    guard let entity = entity(loss.entity) else { return false }
    guard let property = loss.property else {
      // Objects of hierarchies that become one.
      return refusals.contains { refusal in
        guard refusal.property == nil, let root = refusal.entity, let now = entity.destination
        else { return false }
        return destination.isKind(now.name, of: root)
      }
    }
    if contains(property, of: entity) { return true }
    // Links are in both sides.
    guard let link = source.relationship(named: property, of: loss.entity),
      let inverse = link.inverse,
      let other = source.declaringEntity(of: inverse, in: link.destination).flatMap(self.entity)
    else { return false }
    return contains(inverse, of: other)
  }

  /// Whether rows break a rule only because a refused change was set aside.
  func contains(_ check: DataCheck) -> Bool {
    guard let property = check.property else { return false }
    return refusals.contains { refusal in
      refusal.property == property
        && refusal.entity.map { destination.root(of: $0) == destination.root(of: check.entity) }
          == true
    }
  }

  private func contains(_ property: String, of entity: EntityDifference) -> Bool {
    sequence(first: property, next: ElementPath.composite).contains { path in
      guard let now = entity.counterpart(of: path) else { return false }
      return refusals.contains { $0.property == now }
    }
  }

  private func entity(_ former: String) -> EntityDifference? {
    difference.entities.first { $0.source?.name == former }
  }
}

extension EntityDifference {
  /// What the destination calls a property of the source; `nil` where it is gone.
  func counterpart(of former: String) -> String? {
    guard let old = source, let new = destination else { return nil }
    if former.contains(".") {
      guard let composite = old.attribute(named: String(former.prefix { $0 != "." })),
        let now = counterpart(of: composite.name).flatMap(new.attribute(named:))
      else { return nil }
      return ElementAlignment(now, from: composite).pairs.first { $0.former?.name == former }?
        .element.name
    }
    return NameAlignment(
      source: old.attributes.map { ($0.name, $0.canonicalName) }
        + old.relationships.map { ($0.name, $0.canonicalName) },
      destination: new.attributes.map { ($0.name, $0.canonicalName) }
        + new.relationships.map { ($0.name, $0.canonicalName) }
    ).destinations[former]
  }
}
