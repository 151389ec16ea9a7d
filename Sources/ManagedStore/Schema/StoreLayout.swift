import ManagedModel

/// Where a store keeps its entities, without the store itself: enough to compile a filter.
package struct StoreLayout: Sendable, Equatable {
  let path: String
  let uuid: String
  /// The model that the store is read with.
  package let model: Model
  /// In the order of their numbers.
  package let entityTables: [EntityTable]
  private let tablesByEntity: [String: EntityTable]

  /// Puts together what is known of a store; of two tables of an entity the first counts.
  package init(path: String, uuid: String, model: Model, entityTables: [EntityTable]) {
    self.path = path
    self.uuid = uuid
    self.model = model
    self.entityTables = entityTables
    tablesByEntity = Dictionary(entityTables.map { ($0.entity, $0) }) { first, _ in first }
  }

  /// Where a store of a schema's making keeps them.
  ///
  /// - Parameter database: the tables that are there; `nil` where all are.
  init(schema: StoreSchema, in database: DatabaseTables? = nil) {
    let tables = schema.model.entitiesInStoreOrder.compactMap { entity in
      schema.entityTable(of: entity.name).map { table in
        database.map { table.fitted(to: $0) } ?? table
      }
    }
    self.init(path: "", uuid: "", model: schema.model, entityTables: tables)
  }

  /// Where an entity's objects are; `nil` for one that the store has not.
  package func table(of entity: String) -> EntityTable? { tablesByEntity[entity] }

  /// Where an entity's objects are.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for one that the store has not.
  package func knownTable(of entity: String) throws(CoreDataError) -> EntityTable {
    guard let table = tablesByEntity[entity] else {
      throw CoreDataError(
        unknownEntity: entity, of: "the store", known: entityTables.map(\.entity), path: path)
    }
    return table
  }

  /// The refusal of a name in a text that is no entity's here.
  func unknownName(ofEntity name: String) -> UnknownName {
    UnknownName("entity", name, of: "the store", known: entityTables.map(\.entity))
  }
}
