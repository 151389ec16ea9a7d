import ManagedModel
import SQLite

extension Store {
  /// Searches every entity for a text, a number, a UUID, an object's reference or a URI.
  ///
  /// Text is found in String and URI attributes as `CONTAINS[cd]` finds it; a number in attributes
  /// of numbers that equal it; a UUID, or four digits of one and more, in UUID attributes. Bytes,
  /// transformed values and dates are not searched. Objects are passed through in the order of their
  /// keys, entity after entity; memory stays the same however many there are.
  ///
  /// - Parameters:
  ///   - entities: only these; all without it.
  ///   - limit: most hits for each entity.
  ///   - isCancelled: asked every now and then; `true` ends in a ``CoreDataError`` of kind cancelled.
  ///   - report: gets the hits in batches, and at least one report for each entity.
  /// - Throws: ``CoreDataError`` for text of white space, or when SQLite fails.
  public func search(
    for text: String, in entities: [String]? = nil, limit: Int = 100,
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
      var place = SearchPlace()
      try reading {
        // Begun again behind a page that cannot be read: what was reported stays so.
        progress.hits = []
        place.found = place.reported
        try connection.stopping(when: isCancelled) {
          try search(table, for: needle, limit: max(1, limit), &place, &progress, report)
        }
      }
      progress.done += 1
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
    _ table: EntityTable, for needle: SearchNeedle, limit: Int, _ place: inout SearchPlace,
    _ progress: inout StoreSearchProgress, _ report: (StoreSearchProgress) throws -> Void
  ) throws {
    let columns = table.attributes.compactMap { entry in
      needle.condition(quoted(entry.column), entry.attribute.type).map { (entry, $0) }
    }
    guard !columns.isEmpty, database.contains(table.table) else { return }
    try connection.defineFunction("strata_occurs", arguments: 1) { arguments in
      if case .text(let text)? = arguments.first, needle.occurs(in: text) { return .integer(1) }
      return .integer(0)
    }
    // Whether each column has it, and of those that have only, the value.
    let parts = columns.map { entry, condition in
      "CASE WHEN \(condition.sql) THEN \(quoted(entry.column)) END"
    }
    let values = columns.flatMap { $0.1.values }
    let statement = try connection.prepare(
      """
      SELECT Z_PK, \(parts.joined(separator: ", ")) FROM \(quoted(table.table)) \(tableOnly)
      WHERE \(table.ownRows() ?? "1") AND Z_PK > \(place.key) AND (\(columns.map { $0.1.sql }.joined(separator: " OR ")))
      ORDER BY Z_PK
      """)
    try statement.bind(values + values)
    let decoder = ValueDecoder(files: files, limit: Self.pageSummary)
    while try statement.step() {
      for (index, (entry, _)) in columns.enumerated() where !statement.isNull(at: index + 1) {
        guard place.found < limit else {
          progress.isCut = true
          return
        }
        let value = decoder.decode(statement.stored(at: index + 1), of: entry.attribute)
        progress.hits.append(
          StoreSearchProgress.Hit(
            object: ObjectID(entity: table.entity, key: statement.integer(at: 0)),
            property: entry.attribute.name, excerpt: needle.excerpt(of: value)))
        place.found += 1
      }
      // All hits of an object are reported together, so that a key is a place to go on from.
      if progress.hits.count >= 20 {
        try report(progress)
        place.reported += progress.hits.count
        place.key = progress.hits.last?.object.key ?? place.key
        progress.hits = []
      }
    }
  }
}

/// How far a search came in one table.
private struct SearchPlace {
  /// Key of the last object whose hits were reported.
  var key = Int64.min
  /// Hits reported, and found in all.
  var reported = 0
  var found = 0
}

extension SearchNeedle {
  /// A condition on a column of an attribute; `nil` where no value of that type can match.
  func condition(_ column: String, _ type: AttributeType) -> SQLText? {
    let place = SQLText(stringLiteral: column)
    switch type {
    case .string, .uri: return "strata_occurs(\(place))"
    case .integer16, .integer32, .integer64:
      return integer.map { "\(place) = \(value: .integer($0))" }
    case .double, .float, .decimal:
      return real.map { "\(place) = \(value: integer.map { .integer($0) } ?? .real($0))" }
    case .uuid: return hex.map { "instr(hex(\(place)), \(value: .text($0))) > 0" }
    default: return nil
    }
  }

  func excerpt(of value: PropertyValue) -> String {
    switch value {
    case .value(.string(let text)), .value(.uri(let text)): excerpt(of: text)
    case .value(.date), .value(.boolean), .value(.bytes): ""
    case .value(let plain): String(plain.line.prefix(200)).printable
    case .data(let data): excerpt(of: String(decoding: data.bytes, as: UTF8.self))
    default: ""
    }
  }
}
