import ExampleValues
import ManagedModel
import ManagedStore
import SQLite

/// Counts and distributions of a store, for making another one like it: how many objects, how often
/// there is no value, how long texts are, between which round numbers the numbers lie, how many links
/// there are. No value of the store is in it.
package struct StoreLikeness: Sendable, Equatable {
  /// What is known of the values of an attribute.
  package struct Values: Sendable, Equatable {
    /// Of a hundred objects, those without one.
    package var emptyPercent = 0
    /// Of a hundred that have one, those that are true.
    package var truePercent: Int?
    /// Lengths of texts, each for as many objects as any other, rounded.
    package var lengths: [Int] = []
    /// Round numbers that the numbers lie between; of dates, months.
    package var range: ClosedRange<Double>?
  }

  /// What is known of a relationship.
  package struct Links: Sendable, Equatable {
    /// Of a hundred objects, those that lead nowhere.
    package var emptyPercent = 0
    /// Links of those that lead somewhere, at an average.
    package var mean = 1.0
    /// Most links of one object, rounded up.
    package var most = 1
  }

  /// Objects of exactly each entity.
  package var objects: [String: Int] = [:]
  var values: [String: [String: Values]] = [:]
  var links: [String: [String: Links]] = [:]
  /// The model that the store was read with.
  let model: Model

  init(model: Model) { self.model = model }

  /// The entity of the store that an entity of another version is: by name, else by renaming identifier.
  private func counterpart(_ entity: String, in other: Model) -> String? {
    if model.entity(named: entity) != nil { return entity }
    guard let canonical = other.entity(named: entity)?.canonicalName else { return nil }
    return model.entities.first { $0.name == canonical || $0.canonicalName == canonical }?.name
  }

  /// How many objects of each concrete entity of a model there were; as many as in the middle of all
  /// where the store does not have the entity.
  func counts(of other: Model) -> [String: Int] {
    let present = objects.values.filter { $0 > 0 }.sorted()
    let usual = present.isEmpty ? 1 : max(1, present[present.count / 2])
    var counts: [String: Int] = [:]
    for entity in other.entities where !entity.isAbstract {
      counts[entity.name] =
        counterpart(entity.name, in: other).map { objects[$0] ?? 0 } ?? usual
    }
    return counts
  }

  /// How many links the objects of a pair have, counted from the side that writes them.
  func shape(of pair: LinkPair) -> LinkShape? {
    guard let relationship = pair.from.relationship,
      let found = find(links, pair.from.entity, [relationship.name, relationship.canonicalName])
    else { return nil }
    return LinkShape(
      emptyPercent: found.emptyPercent, mean: found.mean, most: max(1, found.most))
  }

  /// Has an attribute's values distributed as those of the store, as far as its rules allow it.
  func apply(to maker: inout ValueMaker, of entity: String) {
    let attribute = maker.attribute
    guard let found = find(values, entity, [attribute.name, attribute.canonicalName]) else {
      return
    }
    if attribute.isOptional { maker.emptyPercent = found.emptyPercent }
    maker.defaultPercent = 0
    switch maker.filling {
    case .flag: maker.filling = .flag(percent: found.truePercent ?? 50)
    case .whole(var topic):
      guard let range = found.range else { return }
      topic.range = range
      topic = topic.bounded(
        least: [maker.limits.least, attribute.type.wholeNumbers.map { Double($0.lowerBound) }]
          .compactMap { $0 }.max(),
        most: [maker.limits.most, attribute.type.wholeNumbers.map { Double($0.upperBound) }]
          .compactMap { $0 }.min())
      maker.filling = .whole(topic)
    case .real(var topic):
      guard let range = found.range else { return }
      topic.range = range
      maker.filling = .real(topic.bounded(least: maker.limits.least, most: maker.limits.most))
    case .decimal(var topic):
      guard let range = found.range else { return }
      topic.range = range
      maker.filling = .decimal(topic.bounded(least: maker.limits.least, most: maker.limits.most))
    case .moment:
      guard let range = found.range else { return }
      maker.dates = range
    case .text: maker.lengths = found.lengths
    default: return
    }
  }

  /// What is known under one of the names, of the entity or of one above or below it.
  private func find<Found>(
    _ known: [String: [String: Found]], _ entity: String, _ names: [String]
  ) -> Found? {
    let family = [entity] + model.lineage(of: entity).map(\.name) + model.subtree(of: entity)
    for entity in family {
      for name in names { if let found = known[entity]?[name] { return found } }
    }
    return nil
  }
}

extension StoreLikeness {
  /// Measures a store; it is only read.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read, or it was cancelled.
  package init(measuring store: Store, isCancelled: () -> Bool = { false }) throws {
    self.init(model: store.model)
    objects = try store.counts()
    do {
      for table in store.entityTables where (objects[table.entity] ?? 0) > 0 {
        guard store.database.contains(table.table) else { continue }
        try CoreDataError.check(isCancelled, store.path)
        try store.reading { try measure(table, store) }
      }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: store.path)
    }
  }

  private mutating func measure(_ table: EntityTable, _ store: Store) throws {
    let reader = LikenessReader(table: table, store: store, count: objects[table.entity] ?? 0)
    for entry in table.attributes {
      values[table.entity, default: [:]][entry.attribute.name] = try reader.values(of: entry)
    }
    for entry in table.relationships {
      guard let storage = entry.storage else { continue }
      links[table.entity, default: [:]][entry.relationship.name] = try reader.links(storage)
    }
  }
}

/// Asks SQLite for what is known of the objects of one entity.
private struct LikenessReader {
  let table: EntityTable
  let store: Store
  let count: Int

  private var rows: String { "FROM \(quoted(table.table)) t WHERE t.Z_ENT = \(table.entityID)" }

  private func percent(_ part: Int64, of whole: Int) -> Int {
    whole > 0 ? Int((Double(part) * 100 / Double(whole)).rounded()) : 0
  }

  func values(of entry: EntityTable.AttributeColumn) throws -> StoreLikeness.Values {
    let column = entry.place(in: "t")
    var known = StoreLikeness.Values()
    let present =
      try store.connection.value("SELECT count(\(column)) \(rows)")?.integer ?? 0
    known.emptyPercent = 100 - percent(present, of: count)
    switch entry.attribute.type {
    case .boolean:
      let on = try store.connection.value("SELECT sum(\(column) <> 0) \(rows)")?.integer ?? 0
      known.truePercent = percent(on, of: Int(present))
    case .integer16, .integer32, .integer64, .double, .float, .decimal, .date:
      known.range = try range(column, isDate: entry.attribute.type == .date)
    case .string: known.lengths = try lengths(column, Int(present))
    default: break
    }
    return known
  }

  /// Ten lengths that stand for all, rounded up beyond twenty letters.
  private func lengths(_ column: String, _ present: Int) throws -> [Int] {
    guard present > 0 else { return [] }
    var lengths: [Int] = []
    for tenth in 0..<10 {
      let place = min(present - 1, present * tenth / 10 + present / 20)
      let length =
        try store.connection.value(
          "SELECT length(\(column)) \(rows) AND \(column) IS NOT NULL ORDER BY 1 LIMIT 1 OFFSET \(place)"
        )?.integer ?? 0
      lengths.append(min(1 << 20, length > 20 ? Int((length + 4) / 5 * 5) : Int(length)))
    }
    return lengths
  }

  /// Between round numbers: what the greatest value was, cannot be seen from it.
  private func range(_ column: String, isDate: Bool) throws -> ClosedRange<Double>? {
    let found = try store.connection.rows(
      "SELECT min(\(column)), max(\(column)) \(rows) AND abs(\(column)) < 1e300"
    ).first
    guard let low = found?.first?.number, let high = found?.last?.number, low <= high else {
      return nil
    }
    if isDate {
      let month = 30.0 * 86_400
      return (low / month).rounded(.down) * month...((high / month).rounded(.down) + 1) * month
    }
    return Self.round(low, .down)...Self.round(high, .up)
  }

  /// One digit that counts: 1, 2 or 5 times a power of ten, away from the number.
  private static func round(
    _ number: Double, _ rule: FloatingPointRoundingRule
  ) -> Double {
    guard number != 0 else { return 0 }
    let isOutward = (number > 0) == (rule == .up)
    var power = 1.0
    let size = abs(number)
    while power <= size, power < 1e299 { power *= 10 }
    while power > size, power > 1e-299 { power /= 10 }
    let steps = [1.0, 2, 5, 10].map { $0 * power }
    let rounded =
      isOutward
      ? steps.first { $0 >= size } ?? steps[3] : steps.last { $0 <= size } ?? steps[0]
    return number < 0 ? -rounded : rounded
  }

  func links(_ storage: RelationshipStorage) throws -> StoreLikeness.Links {
    var known = StoreLikeness.Links()
    let pairs =
      "SELECT owner, count(*) AS n FROM (\(storage.pairs(of: [table.entityID]))) GROUP BY owner"
    let found = try store.connection.rows(
      """
      SELECT count(*), coalesce(sum(n), 0), coalesce(max(n), 0) FROM (\(pairs)) o
      WHERE o.owner IN (SELECT t.Z_PK \(rows))
      """
    ).first
    let owners = found?.first?.integer ?? 0
    known.emptyPercent = 100 - percent(owners, of: count)
    guard owners > 0, let sum = found?[1].integer, let most = found?[2].integer else {
      return known
    }
    known.mean = Double(sum) / Double(owners)
    known.most = Int(min(1 << 20, most <= 3 ? most : (most + 4) / 5 * 5))
    return known
  }
}
