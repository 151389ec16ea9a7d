import ManagedModel

/// The bits of history's bitmap of written columns (ACHANGE.ZCOLUMNS), as properties of an entity.
///
/// The order is that of ``ModelWalk/changeBits(of:)``: keys of to-ones, their entity IDs, order keys,
/// attributes, and then the to-many relationships, those that a column of another row holds before those of a
/// join table. Within one of the last two groups the order is not proved by any store.
package struct ChangedProperties {
  private struct Bit {
    var name: String
    /// Whether the bit is this property's for certain.
    var isCertain: Bool
  }

  /// What each bit stands for, from the highest of the first byte on.
  package let order: [ModelWalk.ChangeBit]
  private let bits: [Bit]

  /// - Parameter entity: one that the walk does not know has no bits.
  package init(_ walk: ModelWalk, entity: String, model: Model) {
    order = walk.changeBits(of: entity)
    func isJoined(_ entity: String, _ name: String) -> Bool {
      guard let own = model.relationship(named: name, of: entity), let inverse = own.inverse else {
        return false
      }
      return model.relationship(named: inverse, of: own.destination)?.isToMany == true
    }
    var counts = [false: 0, true: 0]
    for case .toMany(let owner, let name) in order {
      counts[isJoined(owner, name), default: 0] += 1
    }
    bits = order.map { bit in
      switch bit {
      case .column(let column):
        return Bit(name: Self.name(of: column.content), isCertain: true)
      case .toMany(let owner, let name):
        return Bit(name: name, isCertain: counts[isJoined(owner, name)] == 1)
      }
    }
  }

  /// The owner of a to-many without an inverse has no property of its own in this entity: it is named by the
  /// relationship that it is in.
  private static func name(of content: StoreSchema.Content) -> String {
    switch content {
    case .attribute(_, let name), .toOne(_, let name), .toOneEntity(_, let name),
      .toOneOrder(_, let name):
      name
    case .owner(let entity, let name), .ownerOrder(let entity, let name): "\(entity).\(name)"
    }
  }

  /// Ends the name of a property whose bit may be another's.
  package static let doubt: Character = "?"

  /// Names of the bits that are set, each once; one that ends in `?` may be another to-many's of its group.
  ///
  /// - Returns: `nil` for a bitmap of another length, or with bits past the last property: it was not written
  ///   for these properties.
  package func names(in bitmap: [UInt8]) -> [String]? {
    guard let places = places(in: bitmap) else { return nil }
    var found: [String] = []
    for index in places {
      let name = bits[index].name + (bits[index].isCertain ? "" : String(Self.doubt))
      if !found.contains(name) { found.append(name) }
    }
    return found
  }

  /// The bits that are set, in order; `nil` for a bitmap that was not written for these properties.
  package func places(in bitmap: [UInt8]) -> [Int]? {
    guard bitmap.count == byteCount else { return nil }
    let places = (0..<(bitmap.count * 8)).filter { bitmap[$0 / 8] & (0x80 >> ($0 % 8)) != 0 }
    return places.last.map { $0 < bits.count } ?? true ? places : nil
  }

  /// The bitmap in which the given bits are set.
  package func bitmap(of places: some Sequence<Int>) -> [UInt8] {
    var bitmap = [UInt8](repeating: 0, count: byteCount)
    for place in places where bits.indices.contains(place) {
      bitmap[place / 8] |= 0x80 >> (place % 8)
    }
    return bitmap
  }

  private var byteCount: Int { (bits.count + 7) / 8 }
}

/// What history keeps of deleted objects: the columns ACHANGE.ZTOMBSTONE0, ZTOMBSTONE1 and so on.
package enum Tombstones {
  /// Core Data keeps no more values of an object than these (store-format-2 §7).
  static let limit = 100

  /// The name of a tombstone column.
  package static func column(_ place: Int) -> String { "ZTOMBSTONE\(place)" }

  /// Whether a table's column is one.
  package static func isColumn(_ name: String, of table: String) -> Bool {
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
