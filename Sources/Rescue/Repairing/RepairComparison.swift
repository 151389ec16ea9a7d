import ManagedModel
import ManagedStore
import Migration

/// Compares two stores object by object: whatever differs must be in the list of changes.
struct RepairComparison {
  let before: Store
  let after: Store
  let log: RepairLog
  let meter: ProgressMeter

  /// Differences that are reported at most.
  private static let most = 5

  private struct Found {
    var objects = 0
    var differences: [String] = []
  }

  /// - Returns: how many objects were compared, and what differs without being in the list.
  func run() throws -> (objects: Int, differences: [String]) {
    var found = Found()
    let names = Set(before.entityTables.map(\.entity) + after.entityTables.map(\.entity)).sorted()
    for name in names where found.differences.count < Self.most {
      try compare(name, &found)
    }
    return (found.objects, found.differences)
  }

  private func cursor(_ store: Store, _ entity: String) throws -> ObjectCursor? {
    guard let table = store.table(of: entity), store.database.contains(table.table) else {
      return nil
    }
    // Files are the same ones for both.
    return try ObjectCursor(store, entity: entity, fileLimit: 16)
  }

  /// One pass over the objects of an entity in both, by key.
  private func compare(_ entity: String, _ found: inout Found) throws {
    let (old, new) = (try cursor(before, entity), try cursor(after, entity))
    var (one, other) = (try old?.next(), try new?.next())
    while one != nil || other != nil, found.differences.count < Self.most {
      try meter.advance(by: 1)
      found.objects += 1
      let (left, right) = (one?.key ?? .max, other?.key ?? .max)
      if let object = one, let now = other, left == right {
        if let old, let new { try compare(object, old, now, new, entity, &found) }
      } else if try !log.tellsOfObject(entity, min(left, right)) {
        let id = ObjectID(entity: entity, key: min(left, right))
        found.differences.append(
          "\(id) was \(left < right ? "removed" : "added"), and no change records it")
      }
      if one != nil, left <= right { one = try old?.next() }
      if other != nil, right <= left { other = try new?.next() }
    }
  }

  private func compare(
    _ object: ObjectCursor.Object, _ old: ObjectCursor, _ now: ObjectCursor.Object,
    _ new: ObjectCursor, _ entity: String, _ found: inout Found
  ) throws {
    let id = ObjectID(entity: entity, key: object.key)
    func differ(_ property: String) {
      found.differences.append("\(id).\(property) changed, and no change records it")
    }
    let isSame = old.table.attributes.map(\.column) == new.table.attributes.map(\.column)
    guard isSame, object.relationships.count == now.relationships.count else {
      found.differences.append("\(entity) has other properties")
      return
    }
    for (index, entry) in old.table.attributes.enumerated()
    where !object.attributes[index].isSame(as: now.attributes[index]) {
      let name = entry.attribute.name
      if try log.tells(of: entity, object.key, name) { continue }
      guard entry.attribute.isDerived else {
        differ(name)
        continue
      }
      try log.add(
        RepairChange(
          kind: "derived", entity: entity, key: object.key, property: name,
          old: object.attributes[index].plainText, new: now.attributes[index].plainText))
    }
    for (index, entry) in old.table.relationships.enumerated()
    where object.relationships[index] != now.relationships[index] {
      let name = entry.relationship.name
      guard try !log.tells(of: entity, object.key, name),
        try !isTold(
          object.relationships[index], now.relationships[index], entry.relationship)
      else { continue }
      differ(name)
    }
  }

  /// Whether the change is reported at the other end: every object that came or went there.
  private func isTold(
    _ old: ObjectCursor.RelatedObjects, _ new: ObjectCursor.RelatedObjects,
    _ relationship: Relationship
  ) throws -> Bool {
    let (was, now) = (Set(old.objects), Set(new.objects))
    let moved = was.symmetricDifference(now)
    guard !moved.isEmpty else { return false }
    return try moved.allSatisfy { id in
      if try log.tellsOfObject(id.entity, id.key) { return true }
      guard let inverse = relationship.inverse else { return false }
      return try log.tells(of: id.entity, id.key, inverse)
    }
  }
}

extension ObjectCursor.RelatedObjects {
  fileprivate var objects: [ObjectID] {
    switch self {
    case .toOne(let id): id.map { [$0] } ?? []
    case .toMany(let ids): ids
    }
  }
}

extension PropertyValue {
  /// A value that was computed, as text.
  fileprivate var plainText: String? {
    guard case .value(let value) = self, value != .null else { return nil }
    return value.line
  }

  /// Whether both are one value; a number that is none is equal to itself here.
  fileprivate func isSame(as other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.value(.double(let one)), .value(.double(let two))),
      (.value(.date(let one)), .value(.date(let two))):
      one == two || one.isNaN && two.isNaN
    default: self == other
    }
  }
}
