import ManagedModel
import SQLite
import StoreTables

/// How often each value of a property occurs among the objects of an entity.
public struct Frequencies: Sendable, Equatable {
  /// What is counted.
  public enum Kind: Sendable, Equatable {
    /// The values of an attribute.
    case attribute(AttributeType)
    /// The objects that a to-one relationship references.
    case toOne(destination: String)
    /// How many objects a to-many relationship references.
    case toManyCount
    /// Whether there is a value: bytes have no other frequencies.
    case presence
  }

  /// A value with the number of objects that have it.
  public struct Entry: Sendable, Equatable {
    /// The value; text of more than ``Frequencies/longestText`` characters is cut.
    public var value: PropertyValue
    /// Whether ``value`` is only the beginning of what is in the store.
    public var isCut = false
    /// Objects that have it.
    public var count: Int
    /// What a person would call the object that a to-one relationship references.
    public var label: String?
  }

  /// Characters of a text that an entry keeps.
  public static let longestText = 2_000

  /// The entity whose objects were counted, those of subentities included.
  public var entity: String
  /// The property, or the path of to-one relationships that leads to it.
  public var path: String
  /// What is counted.
  public var kind: Kind
  /// Objects in all.
  public var total: Int
  /// Objects without a value.
  public var nulls: Int
  /// Different values, NULL not among them.
  public var distinct: Int
  /// The most frequent values, most frequent first, then the least value; NULL is not among them.
  public var entries: [Entry]
  /// The least value of a number or a date.
  public var minimum: AttributeValue?
  /// The greatest value of a number or a date.
  public var maximum: AttributeValue?
  /// The mean of a number, or of the sizes of a to-many relationship.
  public var mean: Double?

  /// The part of all objects that a count is, from 0 to 1.
  public func share(of count: Int) -> Double {
    total == 0 ? 0 : Double(count) / Double(total)
  }
}

extension Frequencies {
  /// NSPredicate text for the objects that have a value; `nil` for one that no text can name: a
  /// text that was cut, bytes, a number that is none.
  public func predicate(for entry: Entry) -> String? {
    guard !entry.isCut else { return nil }
    switch entry.value {
    case .value where kind == .presence: return "\(name) != nil"
    case .value(let value):
      return PredicateText.constant(value).map { "\(name) == \($0)" }
    case .toOne(let id): return id.map { "\(name) == \(PredicateText.quoted("\($0)"))" }
    case .toMany(let many): return "\(name).@count == \(many.count)"
    case .data: return nil
    }
  }

  /// NSPredicate text for the objects without a value.
  public var predicateForNull: String { "\(name) == nil" }

  private var name: String { PredicateText.name(path) }
}

/// Values as NSPredicate text.
package enum PredicateText {
  /// Words that the language takes for its own, in any case.
  private static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI",
    "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE",
    "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST",
    "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO", "UTI-EQUALS", "TERNARY",
  ]

  static func isReserved(_ name: Substring) -> Bool { reserved.contains(name.uppercased()) }

  /// A path as a predicate takes it: a name that is a word of the language has a `#` before it.
  package static func name(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false)
      .map { isReserved($0) ? "#\($0)" : String($0) }.joined(separator: ".")
  }

  /// A constant that equals an attribute's value; `nil` if there is none.
  package static func constant(_ value: AttributeValue) -> String? {
    switch value {
    case .null: "nil"
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "YES" : "NO"
    case .double(let number): number.isFinite ? number.description : nil
    case .decimal(let digits): quoted(digits)
    case .string(let text), .uri(let text): quoted(text)
    case .date(let seconds): date(seconds)
    case .uuid(let bytes): quoted(UUIDText.text(bytes))
    case .bytes: nil
    }
  }

  /// A date as people write it where that is exactly it, else its number.
  private static func date(_ seconds: Double) -> String? {
    guard seconds.isFinite else { return nil }
    let text = CoreDataDate.text(seconds)
    if CoreDataDate.seconds(written: text) == seconds { return quoted(text) }
    return "CAST(\(quoted(seconds.description)), \"NSDate\")"
  }

  /// Text in quotes.
  package static func quoted(_ text: String) -> String { Expression.Constant.quoted(text) }
}

extension Store {
  /// Counts how often each value of a property occurs.
  ///
  ///     let kinds = try store.frequencies(of: "difficulty", in: "Recipe")
  ///     for entry in kinds.entries { print(entry.value, entry.count, kinds.share(of: entry.count)) }
  ///
  /// Every object is counted; SQLite does the work, which takes one pass over the entity and a sort.
  ///
  /// - Parameters:
  ///   - path: an attribute, a relationship, or one at the end of a path of to-one relationships:
  ///     `author.name`.
  ///   - filter: which of the entity's objects.
  ///   - limit: most values to name.
  ///   - isCancelled: asked every now and then; `true` ends in a ``CoreDataError`` of kind cancelled.
  /// - Throws: ``CoreDataError`` for an unknown entity or path, or when SQLite fails.
  public func frequencies(
    of path: String, in entity: String, where filter: RowFilter? = nil, limit: Int = 1_000,
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> Frequencies {
    let table = try knownTable(of: entity)
    var subject = try FrequencySubject(path, of: table, in: self)
    let source = try queryRows(RowQuery(entity: entity, filter: filter), table)
    var result = Frequencies(
      entity: entity, path: path, kind: subject.kind, total: 0, nulls: 0, distinct: 0, entries: [])
    guard database.contains(table.table) else { return result }
    let query: SQLText = """
      WITH g AS MATERIALIZED (SELECT \(subject.value) v, count(*) n \
      FROM \(source.from) \(source.restriction()) GROUP BY 1)
      SELECT 0, sum(n), sum(CASE WHEN v IS NULL THEN n END), count(v), min(v), max(v), \
      total(v * n) / total(CASE WHEN v IS NOT NULL THEN n END) FROM g
      UNION ALL SELECT * FROM (SELECT 1, n, length(v), NULL, \
      CASE WHEN typeof(v) IN ('text', 'blob') THEN substr(v, 1, \(own: String(Frequencies.longestText))) \
      ELSE v END, \(subject.entityNumber), NULL FROM g WHERE v IS NOT NULL ORDER BY n DESC, v \
      LIMIT \(own: String(max(0, limit))))
      """
    try reading {
      try connection.stopping(when: isCancelled) {
        let statement = try connection.prepare(query.sql)
        try statement.bind(query.values)
        while try statement.step() {
          if statement.integer(at: 0) == 0 {
            subject.takeTotals(statement, into: &result)
          } else {
            result.entries.append(subject.entry(statement, in: self))
          }
        }
      }
    }
    if case .toOne = subject.kind {
      let ids = result.entries.compactMap { entry in
        if case .toOne(let id) = entry.value { id } else { nil }
      }
      let labels = try names(of: ids)
      for (index, entry) in result.entries.enumerated() {
        if case .toOne(let id?) = entry.value { result.entries[index].label = labels[id] }
      }
    }
    return result
  }
}

/// What is counted, as SQL, and how its values are read back.
private struct FrequencySubject {
  let kind: Frequencies.Kind
  /// The value that rows are grouped by.
  let value: SQLText
  /// Z_ENT of the object that a to-one references, determined from its key `v`.
  let entityNumber: SQLText
  private let attribute: Attribute

  init(_ path: String, of table: EntityTable, in store: Store) throws {
    guard path.utf8.count <= 2_000, !path.isEmpty else {
      throw CoreDataError(.usage, "a property has a name", entity: table.entity)
    }
    // NSPredicate's quantifiers have no place here; a to-many is determined by its count.
    var compiler = ExpressionCompiler(
      scope: ExpressionScope(filtering: table.entity, in: store.layout), origin: .text(path))
    let place = 0..<path.utf8.count
    let operand = try compiler.path(path, place)
    let term: ExpressionTerm
    switch operand {
    case .term(let found): term = found
    case .collection(let many):
      guard case .object = many.element.kind else {
        throw CoreDataError(
          .usage, "“\(path)” has many values for one object", entity: table.entity,
          hint: "Count a to-many relationship itself, or its values from their own entity.",
          mark: TextMark(path, many.element.range ?? place))
      }
      guard case .term(let found) = try compiler.path(path + ".@count", place)
      else { throw CoreDataError(.usage, "“\(path)” cannot be counted", entity: table.entity) }
      kind = .toManyCount
      value = found.sql
      entityNumber = "NULL"
      attribute = Attribute("", .integer64)
      return
    case .constant, .list:
      throw CoreDataError(.usage, "“\(path)” is not a property", entity: table.entity)
    }
    let known = store.attribute(atPath: path, of: table.entity)
    attribute = known ?? Attribute("", .integer64)
    switch term.kind {
    case .object(let destination):
      kind = .toOne(destination: destination)
      value = term.sql
      entityNumber = SQLText(
        stringLiteral: store.entityExpression(
          key: "v", entityColumn: nil, destination: destination))
    case .data, .file, .composite:
      kind = .presence
      value = "(CASE WHEN \(term.sql) IS NOT NULL THEN 1 END)"
      entityNumber = "NULL"
    case .entity:
      // Each value is the number of an entity: shown as its name.
      kind = .attribute(.string)
      value = term.sql
      entityNumber = "v"
    default:
      kind = .attribute(known?.type ?? .integer64)
      value = term.sql
      entityNumber = "NULL"
    }
  }

  mutating func takeTotals(_ statement: Statement, into result: inout Frequencies) {
    result.total = Int(statement.integer(at: 1))
    result.nulls = Int(statement.integer(at: 2))
    result.distinct = Int(statement.integer(at: 3))
    let isDate = kind == .attribute(.date)
    var isNumber = kind == .toManyCount
    if case .attribute(let type) = kind { isNumber = type.isNumber }
    guard isDate || isNumber, result.distinct > 0 else { return }
    result.minimum = plain(statement, at: 4)
    result.maximum = plain(statement, at: 5)
    if isNumber, !statement.isNull(at: 6) {
      if case .real(let mean) = statement.value(at: 6) { result.mean = mean }
    }
  }

  private func plain(_ statement: Statement, at column: Int) -> AttributeValue? {
    guard case .value(let value) = decoder(nil).decode(statement.stored(at: column), of: attribute)
    else { return nil }
    return value == .null ? nil : value
  }

  private func decoder(_ store: Store?) -> ValueDecoder {
    ValueDecoder(files: store?.files ?? StoreFiles(path: ""), limit: Frequencies.longestText)
  }

  func entry(_ statement: Statement, in store: Store) -> Frequencies.Entry {
    let count = Int(statement.integer(at: 1))
    switch kind {
    case .toOne(let destination):
      let entity = store.entityNames[statement.integer(at: 5)] ?? destination
      return Frequencies.Entry(
        value: .toOne(ObjectID(entity: entity, key: statement.integer(at: 4))), count: count)
    case .toManyCount:
      return Frequencies.Entry(
        value: .toMany(ToMany(count: Int(statement.integer(at: 4)))), count: count)
    case .presence: return Frequencies.Entry(value: .value(.boolean(true)), count: count)
    case .attribute:
      if !statement.isNull(at: 5) {
        let number = statement.integer(at: 5)
        return Frequencies.Entry(
          value: .value(.string(store.entityNames[number] ?? "Z_ENT \(number)")), count: count)
      }
      let isCut: Bool
      switch statement.value(at: 4) {
      case .text, .blob: isCut = Int(statement.integer(at: 2)) > Frequencies.longestText
      default: isCut = false
      }
      return Frequencies.Entry(
        value: decoder(store).decode(
          statement.stored(at: 4, sizeAt: 2), of: attribute), isCut: isCut, count: count)
    }
  }
}

extension Store {
  /// The attribute at the end of a path of to-one relationships; `nil` where it ends in none.
  package func attribute(atPath path: String, of entity: String) -> Attribute? {
    var holder = entity
    var names = path.split(separator: ".").map { $0.hasPrefix("#") ? $0.dropFirst() : $0 }[...]
    while let name = names.popFirst() {
      guard let table = layout.table(of: holder) else { return nil }
      if let relationship = table.relationship(named: String(name))?.relationship {
        holder = relationship.destination
        continue
      }
      let path = [String(name)] + names.map(String.init)
      return table.attributes.first { path.starts(with: $0.path) }?.attribute
    }
    return nil
  }
}
