import ManagedModel
import ManagedStore

/// What CloudKit mirroring has to know about a step.
extension StepSchemas {
  /// Whether the mirroring has to fetch everything again: the store is mirrored, and a table was added, altered or
  /// removed, or entity IDs changed.
  ///
  /// Core Data notes that in the same cases (cloudkit.md).
  var needsZoneFetch: Bool {
    guard store.isMirrored else { return false }
    let kept = keptTables
    let names = Set(destination.tables.map(\.name) + destination.joins.map(\.name))
    let former = store.schema.tables.map(\.name) + store.schema.joins.map(\.name)
    return !keepsNumbers || !names.isSubset(of: kept) || !names.isSuperset(of: former)
  }
}

extension StepSchemas {
  /// The mirroring's tables whose rows name objects by entity ID and key.
  var numberedMirrorTables: [String] {
    store.database.tables.keys.filter {
      $0.hasPrefix("ANSCK") && store.database.columns(of: $0).contains("ZENTITYID")
    }.sorted()
  }

  /// A side of a many-to-many whose links the mirroring keeps by name, and what it is called afterwards.
  struct MirroredLink {
    var entity: String
    var relationship: String
    /// `nil` for a relationship that goes.
    var now: (entity: String, relationship: String)?
  }

  /// The sides of many-to-manys that go or get another name.
  var mirroredLinks: [MirroredLink] {
    guard
      store.database.columns(of: "ANSCKMIRROREDRELATIONSHIP").isSuperset(of: [
        "ZCDENTITYNAME", "ZRELATIONSHIPNAME",
      ])
    else { return [] }
    return store.schema.joins.flatMap { join in
      [(join.entity, join.relationship), (join.inverseEntity, join.inverse)]
    }.compactMap { entity, relationship in
      let to = mapping.mapping(fromSource: entity)
      guard let name = to?.destination,
        let now = to?.relationships.first(where: { $0.source == relationship })?.name
      else { return MirroredLink(entity: entity, relationship: relationship) }
      guard name != entity || now != relationship else { return nil }
      return MirroredLink(entity: entity, relationship: relationship, now: (name, now))
    }
  }
}

/// Something that a step calls by another name.
struct Renaming: Equatable {
  /// `Entity` or `Entity.property` before.
  var from: String
  /// The same afterwards.
  var to: String
}

extension MappingModel {
  /// Entities and properties that get another name, each once, where it is declared.
  func renamings(from source: Model, to destination: Model) -> [Renaming] {
    var found: [Renaming] = []
    func add(_ former: String, _ name: String, _ entityMapping: EntityMapping) {
      guard let from = entityMapping.source, let to = entityMapping.destination, former != name,
        let declared = source.declaringEntity(of: former, in: from),
        let declaring = destination.declaringEntity(of: name, in: to)
      else { return }
      let renaming = Renaming(from: "\(declared).\(former)", to: "\(declaring).\(name)")
      if !found.contains(renaming) { found.append(renaming) }
    }
    for entityMapping in entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
      if from != to, destination.entity(named: from) == nil {
        found.append(Renaming(from: from, to: to))
      }
      for attribute in entityMapping.attributes {
        if let former = attribute.source { add(former, attribute.name, entityMapping) }
      }
      for relationship in entityMapping.relationships where relationship.through == nil {
        if let former = relationship.source { add(former, relationship.name, entityMapping) }
      }
    }
    return found
  }
}

/// What renaming means for a store that is mirrored to CloudKit.
enum MirroredRenaming {
  /// A sentence; `nil` where nothing is renamed.
  static func sentence(_ renamings: [Renaming]) -> String? {
    guard !renamings.isEmpty else { return nil }
    let names = renamings.prefix(5).map { "\($0.from) to \($0.to)" }.joined(separator: ", ")
    let rest = renamings.count > 5 ? " and \(renamings.count - 5) more" : ""
    return
      "The app’s own lightweight migration refuses to rename in a store that is mirrored to CloudKit (134110): \(names)\(rest). Records in iCloud keep the old \(renamings.count == 1 ? "name" : "names")."
  }
}
