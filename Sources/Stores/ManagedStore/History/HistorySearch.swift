import ManagedModel
import SQLite
import StoreTables

/// What of persistent history is about a text: objects, which need not be there any more, and transactions.
public struct HistoryMatch: Sendable, Equatable {
  /// The text.
  public var text: String
  /// Objects of which history has changes: one that the text names, those in whose values it occurs, deleted ones by
  /// the values that history kept, and all of an entity of that name.
  public internal(set) var objects: [ObjectID] = []
  /// Entities of that name.
  var entities: [String] = []
  /// Whether there are more objects than were asked for.
  public internal(set) var isCut = false
}

extension Store {
  /// Looks for what history has of a text: an object's reference, such as Recipe/p12 or p12 alone, the name of an
  /// entity, or a text, number or UUID as ``search(for:in:limit:isDeep:isCancelled:report:)`` finds it.
  ///
  ///     let match = try store.historyMatch(for: "soup")
  ///     let page = try store.transactions(matching: match)
  ///
  /// - Parameters:
  ///   - limit: most objects.
  ///   - isCancelled: asked every now and then; `true` ends in a ``CoreDataError`` of kind cancelled.
  /// - Throws: ``CoreDataError`` for text of white space, or when SQLite fails.
  public func historyMatch(
    for text: String, limit: Int = 1000, isCancelled: @escaping () -> Bool = { false }
  ) throws -> HistoryMatch {
    guard text.utf8.count <= 10_000, let needle = SearchNeedle(text) else {
      throw CoreDataError(.usage, "there is nothing to search for", path: path)
    }
    var match = HistoryMatch(text: text)
    guard hasHistory else { return match }
    let trimmed = text.trimmed
    match.entities = model.entities.map(\.name).filter { $0.lowercased() == trimmed.lowercased() }
    var known: Set<ObjectID> = []
    func add(_ object: ObjectID) {
      guard !known.contains(object) else { return }
      guard known.count < limit else {
        match.isCut = true
        return
      }
      known.insert(object)
      match.objects.append(object)
    }
    // One that is named alone is meant alone.
    if let named = try? objectID(trimmed) {
      add(named)
      return match
    }
    try reading {
      try connection.stopping(when: isCancelled) {
        for object in try changedObjects(underKey: trimmed) + tombstones(of: needle, limit: limit) {
          add(object)
        }
      }
    }
    try search(for: text, limit: limit, isCancelled: isCancelled) { progress in
      for hit in progress.hits { add(hit.object) }
    }
    return match
  }

  /// Objects of which history has changes under a key that a text such as `p12` is.
  private func changedObjects(underKey text: String) throws -> [ObjectID] {
    guard text.first == "p" || text.first == "P", let key = Int64(text.dropFirst()) else {
      return []
    }
    return try objects("ZENTITYPK = ?", [.integer(key)])
  }

  private func objects(
    _ condition: String, _ values: [Value], limit: Int = 1000
  ) throws
    -> [ObjectID]
  {
    try connection.rows(
      "SELECT DISTINCT ZENTITY, ZENTITYPK FROM ACHANGE WHERE \(condition) LIMIT \(max(1, limit) + 1)",
      values
    ).compactMap { row in
      guard row.count == 2, let number = row[0].integer, let key = row[1].integer else {
        return nil
      }
      return ObjectID(entity: entityName(number), key: key)
    }
  }

  /// Deleted objects by the values that history kept of them.
  private func tombstones(of needle: SearchNeedle, limit: Int) throws -> [ObjectID] {
    try connection.defineFunction("strata_occurs", arguments: 1) { arguments in
      if case .text(let text)? = arguments.first, needle.occurs(in: text) { return .integer(1) }
      return .integer(0)
    }
    let count = Tombstones.count(in: database.columns(of: HistoryTable.change.name))
    var found: [ObjectID] = []
    for (number, entity) in entityNames.sorted(by: { $0.key < $1.key }) {
      let conditions = model.tombstoneAttributes(of: entity).prefix(count).enumerated()
        .compactMap { place, name -> SQLText? in
          guard let attribute = model.attribute(named: name, of: entity) else { return nil }
          return needle.condition(Tombstones.column(place), attribute.type)
        }
      guard !conditions.isEmpty else { continue }
      let any = SQLText.joined(conditions, "OR")
      found += try objects(
        "ZCHANGETYPE = 2 AND ZENTITY = \(number) AND (\(any.sql))", any.values, limit: limit)
    }
    return found
  }

  /// SQL that is true of the changes that a match is about.
  func changes(matching match: HistoryMatch) -> String {
    let roots = Dictionary(grouping: match.objects) { model.root(of: $0.entity) }
    var conditions = roots.sorted { $0.key < $1.key }.compactMap { _, objects in
      objects.first.map {
        "(\(changedEntities(of: $0.entity)) AND ZENTITYPK IN (\(objects.map(\.key).sorted().list)))"
      }
    }
    conditions += match.entities.map {
      "ZENTITY IN (\(model.subtree(of: $0).compactMap { entityNumber(named: $0) }.list))"
    }
    return conditions.isEmpty ? "0" : "(\(conditions.joined(separator: " OR ")))"
  }
}
