import ManagedModel
import SQLite

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
}

/// What a person typed to search for, as the values it could be.
struct SearchNeedle {
  /// As `CONTAINS[cd]` compares.
  let folded: String
  /// The folded text, where it is ASCII: then text can be searched without folding it.
  private let ascii: ByteNeedle?
  let integer: Int64?
  let real: Double?
  /// Hexadecimal digits of a UUID, or of a part of one.
  let hex: String?

  /// `nil` for text of white space.
  init?(_ text: String) {
    let text = text.trimmed
    guard !text.isEmpty else { return nil }
    folded = FoldedText.fold(text, ignoringCase: true, ignoringMarks: true)
    guard !folded.isEmpty else { return nil }
    ascii = folded.utf8.allSatisfy { $0 < 0x80 } ? ByteNeedle(folded) : nil
    integer = Int64(text)
    real = Double(text).flatMap { $0.isFinite ? $0 : nil }
    let digits = text.filter { $0 != "-" }
    let isHex = digits.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...70).contains(byte & 0xDF)
    }
    hex = isHex && (4...32).contains(digits.utf8.count) ? digits.uppercased() : nil
  }

  /// Whether a text contains it.
  func occurs(in text: String) -> Bool {
    guard let ascii else { return fold(text).contains(folded) }
    var text = text
    return text.withUTF8 { bytes -> Bool in
      // Any letter beyond ASCII may be one of the needle's with a mark.
      if ascii.first(in: bytes, from: 0) != nil { return true }
      guard bytes.contains(where: { $0 >= 0x80 }) else { return false }
      return fold(String(decoding: bytes, as: UTF8.self)).contains(folded)
    }
  }

  private func fold(_ text: String) -> String {
    FoldedText.fold(text, ignoringCase: true, ignoringMarks: true)
  }

  /// The words around the first occurrence in a text.
  func excerpt(of text: String) -> String {
    let limit = 200
    var start = text.startIndex
    let folded = fold(text)
    if let place = folded.utf8.firstRange(of: self.folded.utf8)?.lowerBound {
      // Folding leaves the number of characters as it is but in odd cases, and an excerpt may be
      // off by a few.
      let offset = folded.distance(from: folded.startIndex, to: place)
      let before = max(0, offset - 60)
      start = text.index(start, offsetBy: before, limitedBy: text.endIndex) ?? start
    }
    var line = start > text.startIndex ? "…" : ""
    var count = line.count
    var isSpace = true
    var index = start
    while index < text.endIndex {
      let character = text[index]
      index = text.index(after: index)
      if character.isWhitespace || character.isNewline {
        if !isSpace {
          line += " "
          count += 1
        }
        isSpace = true
      } else {
        let safe = String(character.unicodeScalars.prefix(8).map(Character.init)).printable
        if count + safe.count > limit - 1 {
          line += "…"
          break
        }
        line += safe
        count += safe.count
        isSpace = false
      }
      if count >= limit - 1, index < text.endIndex {
        line += "…"
        break
      }
    }
    return line
  }
}

/// Bytes to be found among others; letters of ASCII count the same in either case.
struct ByteNeedle {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = text.utf8.map(Self.lowered) }

  var isEmpty: Bool { bytes.isEmpty }
  var count: Int { bytes.count }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (65...90).contains(byte) ? byte | 0x20 : byte
  }

  func first(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let first = bytes.first, text.count - start >= bytes.count else { return nil }
    search: for place in start...(text.count - bytes.count)
    where Self.lowered(text[place]) == first {
      for index in 1..<max(1, bytes.count)
      where Self.lowered(text[place + index]) != bytes[index] { continue search }
      return place
    }
    return nil
  }
}

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
