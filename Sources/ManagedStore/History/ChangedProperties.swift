import ManagedModel

/// The bits of history's bitmap of written columns (ACHANGE.ZCOLUMNS), as properties of an entity.
///
/// The order is that of ``ModelWalk/changeBits(of:)``: keys of to-ones, their entity IDs, order keys,
/// attributes, and then the to-many relationships, those that a column of another row holds before those of a
/// join table. Within one of the last two groups the order is not proved by any store.
struct ChangedProperties {
  private struct Bit {
    var name: String
    /// Whether the bit is this property's for certain.
    var isCertain: Bool
  }

  private let bits: [Bit]

  init(_ walk: ModelWalk, entity: String, model: Model) {
    let changeBits = walk.changeBits(of: entity)
    func isJoined(_ entity: String, _ name: String) -> Bool {
      guard let own = model.relationship(named: name, of: entity), let inverse = own.inverse else {
        return false
      }
      return model.relationship(named: inverse, of: own.destination)?.isToMany == true
    }
    var counts = [false: 0, true: 0]
    for case .toMany(let owner, let name) in changeBits {
      counts[isJoined(owner, name), default: 0] += 1
    }
    bits = changeBits.map { bit in
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

  /// Names of the bits that are set, each once; one that ends in `?` may be another to-many's of its group.
  ///
  /// - Returns: `nil` for a bitmap of another length, or with bits past the last property: it was not written
  ///   for these properties.
  func names(in bitmap: [UInt8]) -> [String]? {
    guard bitmap.count == (bits.count + 7) / 8 else { return nil }
    var found: [String] = []
    for index in 0..<(bitmap.count * 8) where bitmap[index / 8] & (0x80 >> (index % 8)) != 0 {
      guard index < bits.count else { return nil }
      let name = bits[index].name + (bits[index].isCertain ? "" : "?")
      if !found.contains(name) { found.append(name) }
    }
    return found
  }
}

extension Model {
  /// The attributes whose values history keeps of a deleted object, in the order of the tombstone
  /// columns: as the older user info lists them, else those that are marked so, by name.
  func tombstoneAttributes(of entity: String) -> [String] {
    for ancestor in lineage(of: entity).reversed() {
      guard let list = ancestor.userInfo["NSPersistentHistoryTombstoneAttributes"] else { continue }
      return list.split(separator: ",").map {
        String($0.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
      }
    }
    return attributes(of: entity).filter(\.preservesValueInHistoryOnDeletion).map(\.name)
      .sortedByBytes(\.self)
  }
}
