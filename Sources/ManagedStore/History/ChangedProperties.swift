import ManagedModel

/// The order in which history's bitmap of written columns (ACHANGE.ZCOLUMNS) counts properties.
///
/// Bit n from the most significant bit of the first byte is the nth property that is not transient.
/// Recent frameworks count attributes and relationships in one list by name; a store of macOS 10.13
/// has bits that fit attributes before relationships. Which version changed that is not known, so
/// for the older ones names are only given where both orders give the same.
struct ChangedProperties {
  private let names: [String]

  /// Frameworks from iOS 13 and macOS 10.15 on are above this number.
  private static let ordered = 1_000

  /// `nil` where the order is not known.
  init?(_ model: Model, entity: String, framework: Int?) {
    let attributes = model.attributes(of: entity).filter { !$0.isTransient }.map(\.name)
    let relationships = model.relationships(of: entity).filter { !$0.isTransient }.map(\.name)
    let byKind = attributes.sortedByBytes(\.self) + relationships.sortedByBytes(\.self)
    names = (attributes + relationships).sortedByBytes(\.self)
    guard !names.isEmpty, (framework ?? 0) >= Self.ordered || names == byKind else { return nil }
  }

  /// Names of the bits that are set; `nil` for a bitmap of another length, or with bits past the
  /// last property: it was not written for these properties.
  func names(in bitmap: [UInt8]) -> [String]? {
    guard bitmap.count == (names.count + 7) / 8 else { return nil }
    var found: [String] = []
    for index in 0..<(bitmap.count * 8) where bitmap[index / 8] & (0x80 >> (index % 8)) != 0 {
      guard index < names.count else { return nil }
      found.append(names[index])
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
