import ManagedModel
import ManagedStore

/// One entity of the stores that are merged: the same properties, in columns that may have other names.
struct MergedEntity {
  /// An attribute, or an element of a composite one.
  struct Attribute {
    let path: [String]
    let old: String
    let new: String
    let base: String?
    let allowsFiles: Bool
    let isOptional: Bool
    /// Whether it is computed from other values, so that it cannot be in conflict.
    let isDerived: Bool

    var name: String { path.joined(separator: ".") }
  }

  /// A column with the key of another object: a to-one, or the owner in a to-many without an inverse.
  struct Reference {
    let name: String
    let old: String
    let new: String
    let base: String?
    /// The column with the other object's Z_ENT.
    let newEntity: String?
    /// The columns with the place among the other object's ordered objects.
    let oldPosition: String?
    let newPosition: String?
    /// The tables of the other object.
    let oldTarget: String
    let newTarget: String
    let isMandatory: Bool
    /// The inverse's name, where that is a to-one too: the two ends are linked together.
    let partner: String?
    /// The entity at the other end.
    let destination: String
  }

  let place: Int
  let name: String
  let lineage: [String]
  let old: EntityTable
  let new: EntityTable
  let base: EntityTable?
  /// Whether objects of the older store are taken over.
  let isIncluded: Bool
  let attributes: [Attribute]
  let references: [Reference]
  /// Names of attributes and to-ones that are unique together, by the entity that says so.
  let constraints: [[String]]

  init?(_ name: String, place: Int, _ stores: MergedStores, isIncluded: Bool) {
    guard let old = stores.old.table(of: name), let new = stores.new.table(of: name),
      stores.old.database.contains(old.table), stores.new.database.contains(new.table)
    else { return nil }
    let base = stores.base?.table(of: name)
    let model = stores.new.model
    (self.name, self.place, self.old, self.new, self.base) = (name, place, old, new, base)
    self.isIncluded = isIncluded
    lineage = model.lineage(of: name).map(\.name)
    constraints = model.lineage(of: name).flatMap(\.uniquenessConstraints)
    attributes = new.attributes.compactMap { column in
      guard let former = old.attributes.first(where: { $0.path == column.path }) else { return nil }
      return Attribute(
        path: column.path, old: former.column, new: column.column,
        base: base?.attributes.first { $0.path == column.path }?.column,
        allowsFiles: column.attribute.allowsExternalBinaryDataStorage,
        isOptional: column.attribute.isOptional, isDerived: column.attribute.derivation != nil)
    }
    var references: [Reference] = []
    for entry in new.relationships {
      guard let storage = entry.storage, let column = storage.toOneColumn,
        let former = old.storage(of: entry.relationship.name), let source = former.toOneColumn,
        let target = stores.tables(of: entry.relationship.destination)
      else { continue }
      let inverse = stores.new.schema.inverse(of: entry.relationship)
      references.append(
        Reference(
          name: entry.relationship.name, old: source, new: column,
          base: base?.toOneColumn(of: entry.relationship.name), newEntity: storage.entityColumn,
          oldPosition: former.inversePosition, newPosition: storage.inversePosition,
          oldTarget: target.old, newTarget: target.new, isMandatory: !entry.relationship.isOptional,
          partner: inverse.flatMap { $0.1.isToMany ? nil : $0.1.name },
          destination: entry.relationship.destination))
    }
    references += Self.owners(of: name, stores)
    self.references = references
  }

  /// The owners' keys of to-manys without an inverse, which are in the rows of their objects.
  private static func owners(of name: String, _ stores: MergedStores) -> [Reference] {
    var found: [Reference] = []
    for owner in stores.new.entityTables {
      for entry in owner.relationships {
        guard let storage = entry.storage, storage.kind == .withoutInverse,
          stores.new.model.isKind(name, of: entry.relationship.destination),
          !found.contains(where: { $0.new == storage.owner }),
          let former = stores.old.table(of: owner.entity)?.storage(of: entry.relationship.name),
          former.kind == .withoutInverse, let target = stores.tables(of: owner.entity)
        else { continue }
        let base = stores.base?.table(of: owner.entity)?.storage(of: entry.relationship.name)
        found.append(
          Reference(
            name: "\(owner.entity).\(entry.relationship.name)", old: former.owner,
            new: storage.owner, base: base?.owner, newEntity: nil, oldPosition: former.position,
            newPosition: storage.position, oldTarget: target.old, newTarget: target.new,
            isMandatory: false, partner: nil, destination: owner.entity))
      }
    }
    return found
  }

  /// Columns of the result that a constraint is about; `nil` where one of them is none.
  func columns(of constraint: [String]) -> [String]? {
    let found = constraint.compactMap { name in
      attributes.first { $0.name == name }?.new ?? references.first { $0.name == name }?.new
    }
    return found.count == constraint.count && !found.isEmpty ? found : nil
  }
}

/// The stores that are merged; all of them are only read.
struct MergedStores {
  let old: Store
  let new: Store
  let base: Store?

  var all: [Store] { [old, new] + [base].compactMap { $0 } }

  /// The tables of an entity's hierarchy.
  func tables(of entity: String) -> (old: String, new: String)? {
    guard let one = old.table(of: entity), let other = new.table(of: entity) else { return nil }
    return (one.table, other.table)
  }
}
