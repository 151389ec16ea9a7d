import ManagedModel

/// Core Data's walk over a model, from which all names of a store's tables and columns come.
///
/// Which relationship of a many-to-many names the join table, and in which order columns stand that
/// the walk adds, follows from the order of Core Data's dictionaries. The walk repeats it: each
/// entity's keys are made and entered into a ``LateTable``, and then all entities are visited by name,
/// each through an ``EarlyTable`` of its keys. The rules are those of store-format-2 §1 and §2; the
/// columns of 374 tables of real stores and the names of their 224 join tables are as computed.
package struct ModelWalk: Sendable {
  /// A bit of ACHANGE.ZCOLUMNS.
  package enum ChangeBit: Sendable, Equatable {
    /// A column of the entity's table.
    case column(StoreSchema.Column)
    /// A to-many relationship, by the entity that declares it.
    case toMany(entity: String, name: String)
  }

  /// A statement of a new store.
  enum Statement: Sendable, Equatable {
    /// The table at that place.
    case table(Int)
    /// The join table at that place.
    case join(Int)
  }

  /// The table of each hierarchy, in the order of entity IDs.
  package private(set) var tables: [StoreSchema.Table] = []
  /// The join tables, in the order in which a new store gets them.
  package private(set) var joins: [StoreSchema.JoinTable] = []
  /// The order in which a new store gets its tables: each root's, and after each entity's own the
  /// join tables that it names.
  private(set) var statements: [Statement] = []

  private let walked: WalkedModel

  /// Walks over a model.
  ///
  /// - Parameter numbers: Z_ENT of each entity; what belongs to one without is left out.
  package init(_ model: Model, numbers: [String: Int64]) {
    var walked = WalkedModel(model, numbers)
    walked.visitAll()
    for entity in walked.entities.indices {
      if walked.entities[entity].root == entity {
        statements.append(.table(tables.count))
        tables.append(walked.table(of: entity))
      }
      for join in walked.joinsNamed(by: entity) {
        statements.append(.join(joins.count))
        joins.append(join)
      }
    }
    self.walked = walked
  }

  /// The bits of ACHANGE.ZCOLUMNS for an entity, from the highest of the first byte on; empty for an
  /// unknown one.
  ///
  /// Six blocks: keys of to-ones, their entity IDs, order keys, attributes, to-many relationships that
  /// a column of another row holds, and many-to-many ones (store-format-2 §7). The order within the
  /// last two is not proved.
  package func changeBits(of entity: String) -> [ChangeBit] { walked.changeBits(of: entity) }
}
