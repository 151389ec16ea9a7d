import ManagedModel
import SQLite

/// Which number in Z_PRIMARYKEY belongs to which entity of a model.
package enum EntityNumbering {
  /// Numbers from here on are Core Data's own: history from 16001, CloudKit mirroring from 17001.
  package static let firstReserved: Int64 = 16001

  /// Refuses a model that has more entities than a new store has numbers for.
  ///
  /// A store in which the numbers of two entities are the same could not be distinguished from a sound one, and
  /// history would be attributed to the wrong entity. Every store that is made, and every migration,
  /// numbers the entities of its model from 1.
  ///
  /// - Parameter path: the store that was to be made.
  /// - Throws: ``CoreDataError`` of kind refused.
  package static func requireRoom(for model: Model, path: String) throws {
    guard model.entities.count >= firstReserved else { return }
    let most = Int(firstReserved - 1)
    throw CoreDataError(
      .refused,
      "the model has \(model.entities.count) entities; a store has numbers for \(most), since Core Data numbers its persistent history from \(firstReserved) on",
      path: path,
      hint: "Divide the model: a store of a configuration holds the entities of that configuration."
    )
  }

  /// Entity name to Z_ENT.
  ///
  /// Names decide. A store that was migrated in place can keep a renamed entity's old name, so what
  /// is left over is matched by renaming identifier, and then by the number that a fresh store
  /// would give.
  package static func match(model: Model, rows: [(number: Int64, name: String)]) -> [String: Int64]
  {
    let own = rows.filter { $0.number < firstReserved }
    var free = Dictionary(own.map { ($0.name, $0.number) }) { first, _ in first }
    var numbers: [String: Int64] = [:]
    for entity in model.entities {
      if let number = free.removeValue(forKey: entity.name) { numbers[entity.name] = number }
    }
    for entity in model.entities where numbers[entity.name] == nil {
      guard let former = entity.renamingIdentifier, let number = free.removeValue(forKey: former)
      else { continue }
      numbers[entity.name] = number
    }
    let fresh = StoreSchema.freshNumbers(of: model)
    var left = Set(free.values)
    for entity in model.entities where numbers[entity.name] == nil {
      guard let number = fresh[entity.name], left.remove(number) != nil else { continue }
      numbers[entity.name] = number
    }
    return numbers
  }

  /// Numbers of entities that have no row: those that a fresh store would give, where the objects in
  /// the tables have them.
  static func told(
    byRowsOf model: Model, besides known: [String: Int64], _ database: DatabaseTables,
    _ connection: Connection
  ) throws -> [String: Int64] {
    let missing = model.entities.filter { known[$0.name] == nil }
    guard !missing.isEmpty else { return [:] }
    let fresh = StoreSchema.freshNumbers(of: model)
    var result: [String: Int64] = [:]
    for root in Set(missing.map { model.root(of: $0.name) }) {
      let table = StoreSchema.tableName(root: root)
      guard database.columns(of: table).contains("Z_ENT") else { continue }
      let found = Set(
        try connection.rows(
          "SELECT DISTINCT Z_ENT FROM \(quoted(table)) NOT INDEXED LIMIT 1000"
        ).compactMap { $0.first?.integer })
      let members = model.subtree(of: root)
      let numbers = members.compactMap { known[$0] ?? fresh[$0] }
      for name in members where known[name] == nil {
        guard let number = fresh[name], !known.values.contains(number), found.isSubset(of: numbers)
        else { continue }
        result[name] = number
      }
    }
    return result
  }
}
