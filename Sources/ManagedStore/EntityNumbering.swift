import ManagedModel

/// Which number in Z_PRIMARYKEY belongs to which entity of a model.
package enum EntityNumbering {
  /// Numbers from here on are Core Data's own: history, then CloudKit mirroring.
  package static let firstReserved: Int64 = 16000

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
}
