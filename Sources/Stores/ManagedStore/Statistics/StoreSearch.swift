import ManagedModel
import SQLite
import StoreTables

/// What a search through all entities has found so far: a batch, not all of it.
public struct StoreSearchProgress: Sendable, Equatable {
  /// A property of an object in which the text occurs.
  public struct Hit: Sendable, Equatable {
    /// The object.
    public var object: ObjectID
    /// The attribute; empty where the object itself was named by its reference.
    public var property: String
    /// The words around the text: at most 200 characters, in one line, without control characters.
    public var excerpt: String
  }

  /// The entity that is being searched, or was last.
  public var entity: String
  /// Entities that are done.
  public var done: Int
  /// Entities in all.
  public var total: Int
  /// What was found since the last report.
  public var hits: [Hit] = []
  /// Whether the entity has more hits than were asked for.
  public var isCut = false
  /// Whether this is the entity's last report.
  public var isEntityDone = false
  /// Values of the entity that could not be looked into, or not as a whole, where that was asked for.
  public var unreadValues = 0
  /// Which the first of them is, and why, as a clause.
  public var firstUnread = ""
}

extension Store {
  /// Searches every entity for a text, a number, a UUID, an object's reference or a URI.
  ///
  /// Text is found in String and URI attributes as `CONTAINS[cd]` finds it; a number in attributes
  /// of numbers that equal it; a UUID, or four digits of one and more, in UUID attributes. Dates are not
  /// searched, nor are bytes and transformed values unless that is asked for. Objects are passed through in
  /// the order of their keys, entity after entity; memory stays the same however many there are.
  ///
  /// - Parameters:
  ///   - entities: only these; all without it.
  ///   - limit: most hits for each entity.
  ///   - isDeep: whether Binary and Transformable attributes are looked into: what is packed with gzip,
  ///     archives, property lists, JSON and other text, also within one another. A value that is larger than
  ///     ``DecodedData/mostBytes``, damaged or made to exhaust its reader is counted.
  ///   - isCancelled: asked every now and then; `true` ends in a ``CoreDataError`` of kind cancelled.
  ///   - report: gets the hits in batches, and at least one report for each entity.
  /// - Throws: ``CoreDataError`` for text of white space, or when SQLite fails.
  public func search(
    for text: String, in entities: [String]? = nil, limit: Int = 100, isDeep: Bool = false,
    isCancelled: @escaping () -> Bool = { false }, report: (StoreSearchProgress) throws -> Void
  ) throws {
    guard text.utf8.count <= 10_000, let needle = SearchNeedle(text) else {
      throw CoreDataError(.usage, "there is nothing to search for", path: path)
    }
    let tables = try entities.map { try $0.map(knownTable) } ?? entityTables
    var progress = StoreSearchProgress(
      entity: tables.first?.entity ?? "", done: 0, total: tables.count)
    if let named = try namedObject(text) {
      progress.entity = named.object.entity
      progress.hits = [named]
      try report(progress)
    }
    for table in tables {
      progress.entity = table.entity
      progress.hits = []
      progress.isCut = false
      progress.isEntityDone = false
      (progress.unreadValues, progress.firstUnread) = (0, "")
      var place = SearchPlace()
      try reading {
        // Begun again behind a page that cannot be read: what was reported stays so.
        progress.hits = []
        place.found = place.reported
        (progress.unreadValues, progress.firstUnread) = (place.unread, place.firstUnread)
        let deep = isDeep ? DeepSearch(needle, isCancelled: isCancelled) : nil
        try connection.stopping(when: isCancelled) {
          try search(table, for: needle, deep, limit: max(1, limit), &place, &progress, report)
        }
      }
      progress.done += 1
      progress.isEntityDone = true
      try report(progress)
    }
  }

  /// The object that the text is the reference or the URI of.
  private func namedObject(_ text: String) throws -> StoreSearchProgress.Hit? {
    guard let id = try? objectID(text.trimmed), let table = layout.table(of: id.entity),
      database.contains(table.table)
    else { return nil }
    let number = try reading {
      try connection.value(
        "SELECT Z_ENT FROM \(quoted(table.table)) WHERE Z_PK = ?", [.integer(id.key)])?.integer
    }
    guard let number, table.numbers.contains(number) else { return nil }
    let own = ObjectID(entity: entityNames[number] ?? id.entity, key: id.key)
    return StoreSearchProgress.Hit(
      object: own, property: "", excerpt: try names(of: [own])[own]?.printable ?? "")
  }

  private func search(
    _ table: EntityTable, for needle: SearchNeedle, _ deep: DeepSearch?, limit: Int,
    _ place: inout SearchPlace, _ progress: inout StoreSearchProgress,
    _ report: (StoreSearchProgress) throws -> Void
  ) throws {
    let columns = table.attributes.compactMap { entry -> SearchedColumn? in
      let name = quoted(entry.column)
      if deep != nil, let condition = DeepSearch.condition(name, entry.attribute.type) {
        return SearchedColumn(entry: entry, condition: condition, isDeep: true)
      }
      return needle.condition(name, entry.attribute.type)
        .map { SearchedColumn(entry: entry, condition: $0, isDeep: false) }
    }
    guard !columns.isEmpty, database.contains(table.table) else { return }
    try connection.defineFunction("strata_occurs", arguments: 1) { arguments in
      if case .text(let text)? = arguments.first, needle.occurs(in: text) { return .integer(1) }
      return .integer(0)
    }
    // Whether each column has it, and of those that have only, the value.
    let parts = columns.map { column in
      "CASE WHEN \(column.condition.sql) THEN \(quoted(column.entry.column)) END"
    }
    let values = columns.flatMap { $0.condition.values }
    let statement = try connection.prepare(
      """
      SELECT Z_PK, \(parts.joined(separator: ", ")) FROM \(quoted(table.table)) \(tableOnly)
      WHERE \(table.ownRows() ?? "1") AND Z_PK > \(place.key) AND (\(columns.map { $0.condition.sql }.joined(separator: " OR ")))
      ORDER BY Z_PK
      """)
    try statement.bind(values + values)
    let decoder = ValueDecoder(files: files, limit: Self.pageSummary)
    let contents = ValueDecoder(files: files, limit: DecodedData.mostBytes)
    while try statement.step() {
      let object = ObjectID(entity: table.entity, key: statement.integer(at: 0))
      for (index, column) in columns.enumerated() where !statement.isNull(at: index + 1) {
        guard place.found < limit else {
          progress.isCut = true
          return
        }
        let attribute = column.entry.attribute
        let excerpt: String?
        if column.isDeep, let deep {
          let value = contents.decode(statement.stored(at: index + 1), of: attribute)
          let found = try deep.look(into: value)
          if let problem = found.problem {
            if progress.unreadValues == 0 {
              progress.firstUnread = "\(object) \(attribute.name): \(problem)"
            }
            progress.unreadValues += 1
          }
          excerpt = found.excerpt
        } else {
          excerpt = needle.excerpt(
            of: decoder.decode(statement.stored(at: index + 1), of: attribute))
        }
        guard let excerpt else { continue }
        progress.hits.append(
          StoreSearchProgress.Hit(object: object, property: attribute.name, excerpt: excerpt))
        place.found += 1
      }
      // All hits of an object are reported together, so that a key is a place to go on from.
      if progress.hits.count >= 20 {
        try report(progress)
        place.reported += progress.hits.count
        place.key = progress.hits.last?.object.key ?? place.key
        (place.unread, place.firstUnread) = (progress.unreadValues, progress.firstUnread)
        progress.hits = []
      }
    }
  }
}

/// A column that is searched.
private struct SearchedColumn {
  let entry: EntityTable.AttributeColumn
  let condition: SQLText
  /// Whether its values are looked into: the condition says only that there is one.
  let isDeep: Bool
}

/// How far a search came in one table.
private struct SearchPlace {
  /// Key of the last object whose hits were reported.
  var key = Int64.min
  /// Hits reported, and found in all.
  var reported = 0
  var found = 0
  /// Values up to the key that were not looked at as a whole, and the first of them.
  var unread = 0
  var firstUnread = ""
}
