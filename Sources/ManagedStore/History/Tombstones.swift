import ManagedModel

/// What history keeps of deleted objects: the columns ACHANGE.ZTOMBSTONE0, ZTOMBSTONE1 and so on.
package enum Tombstones {
  /// Core Data keeps no more values of an object than these (store-format-2 §7).
  static let limit = 100

  /// The name of a tombstone column.
  package static func column(_ place: Int) -> String { "ZTOMBSTONE\(place)" }

  /// Whether a table's column is one.
  static func isColumn(_ name: String, of table: String) -> Bool {
    table == HistoryTable.change.name && name.hasPrefix("ZTOMBSTONE")
  }

  /// How many tombstone columns a store of a model needs: as many as the entity has attributes of which
  /// history keeps most values.
  ///
  /// 64 of 64 stores have exactly as many (store-format-2 §7). With fewer, a save that deletes an object fails.
  package static func count(for model: Model) -> Int {
    model.entities.map { model.tombstoneAttributes(of: $0.name).count }.max() ?? 0
  }

  /// How many a table has, of its columns' names.
  package static func count(in columns: Set<String>) -> Int {
    (0..<limit).first { !columns.contains(column($0)) } ?? limit
  }

  fileprivate static func limited(_ names: [String]) -> [String] { Array(names.prefix(limit)) }
}

extension Model {
  /// The attributes whose values history keeps of a deleted object, in the order of the tombstone columns.
  ///
  /// Those that are marked so, by name; where the user info of the entity or of an ancestor lists others
  /// (`NSPersistentHistoryTombstoneAttributes`, the older way), the entity's own list, then its parent's and so
  /// on, each name once (migration-2 §5).
  package func tombstoneAttributes(of entity: String) -> [String] {
    let lists = lineage(of: entity).reversed().compactMap {
      $0.userInfo["NSPersistentHistoryTombstoneAttributes"]
    }
    guard !lists.isEmpty else {
      return Tombstones.limited(
        attributes(of: entity).filter(\.preservesValueInHistoryOnDeletion).map(\.name)
          .sortedByBytes(\.self))
    }
    var names: [String] = []
    for name in lists.flatMap({ $0.split(separator: ",") }) {
      let name = String(name.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
      if !name.isEmpty, !names.contains(name) { names.append(name) }
    }
    return Tombstones.limited(names)
  }
}
