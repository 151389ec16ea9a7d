import ManagedModel
import ManagedStore
import Migration
import SQLite

/// The rules of the model for the rows of one entity.
struct RowRules {
  let place: StorePlace
  let store: Store

  /// SQLite takes no more columns in one result than this, by far.
  private static let batch = 200

  /// What rows of exactly an entity break.
  func findings(of table: EntityTable) throws -> [Finding] {
    try ValidationFunctions.define(on: store.connection)
    let rules =
      AttributeRules(table: table, encoding: try encoding()).rules()
      + RelationshipRules(table: table, store: store).rules() + composites(table)
      + foreignValues(table) + abstract(table)
    var found: [Finding] = []
    for start in stride(from: 0, to: rules.count, by: Self.batch) {
      found += try findings(of: table, rules[start..<min(rules.count, start + Self.batch)])
    }
    return found
  }

  private func encoding() throws -> String {
    try store.reading { try store.connection.value("PRAGMA encoding")?.text ?? "UTF-8" }
  }

  private func findings(
    of table: EntityTable, _ rules: ArraySlice<RowRule>
  ) throws -> [Finding] {
    let rows = "FROM \(quoted(table.table)) t WHERE t.Z_ENT = \(table.entityID)"
    return try store.reading {
      let sums = rules.map { "sum(\($0.condition))" }.joined(separator: ", ")
      let counts = try store.connection.rows("SELECT \(sums) \(rows)").first ?? []
      return try zip(rules, counts).compactMap { rule, count in
        guard let count = count.integer, count > 0 else { return nil }
        let first = try store.connection.rows(
          "SELECT t.Z_PK \(rows) AND (\(rule.condition)) ORDER BY 1 LIMIT 5")
        return finding(rule, table.entity, Int(count), first.compactMap { $0.first?.integer })
      }
    }
  }

  private func finding(
    _ rule: RowRule, _ entity: String, _ count: Int, _ keys: [Int64]
  ) -> Finding {
    let name = [entity, rule.property].compactMap { $0 }.joined(separator: ".")
    let objects = keys.map { ObjectID(entity: entity, key: $0) }
    let look =
      rule.predicate.map { Remedy.rows(entity: entity, predicate: $0) }
      ?? .objects(objects, of: entity)
    var finding = Finding(
      rule.kind,
      "\(NumberText.counted(count, "object")) of \(name) \(NumberText.agreeing(count, rule.what)).",
      severity: rule.severity, code: rule.code, entity: entity, property: rule.property,
      count: count,
      first: objects.map(\.description), in: place,
      remedy: rule.kind.remedy == .none || rule.isLookedAt ? look : nil, advice: rule.advice,
      hasConsequence: rule.advice == nil)
    finding.predicate = rule.predicate
    return finding
  }

  /// Values in columns that only other entities of the table have, as rows have whose Z_ENT was
  /// changed. A default stands in all rows of a table, those of other entities too.
  private func foreignValues(_ table: EntityTable) -> [RowRule] {
    let own = Set(
      table.attributes.map(\.column) + table.relationships.compactMap { $0.storage?.toOneColumn })
    var foreign: Set<String> = []
    for other in store.entityTables
    where other.table == table.table && other.entity != table.entity {
      for entry in other.attributes where entry.attribute.defaultValue == nil {
        foreign.insert(entry.column)
      }
      foreign.formUnion(other.relationships.compactMap { $0.storage?.toOneColumn })
      for entry in other.attributes where entry.attribute.defaultValue != nil {
        foreign.remove(entry.column)
      }
    }
    let columns = foreign.subtracting(own).sorted().map { "t.\(quoted($0))" }
    // SQLite's functions take a hundred arguments or so.
    let parts = stride(from: 0, to: columns.count, by: 100).map { start in
      "coalesce(\(columns[start..<min(columns.count, start + 100)].joined(separator: ", ")), NULL) IS NOT NULL"
    }
    guard !parts.isEmpty else { return [] }
    return [
      RowRule(
        kind: .entityWrong, property: nil, condition: "(\(parts.joined(separator: " OR ")))",
        what: "have values that only another entity of their table has")
    ]
  }

  /// Composite attributes that may not be without a value, though each of their elements may: enums
  /// and structs of SwiftData that a migration added.
  private func composites(_ table: EntityTable) -> [RowRule] {
    store.model.mandatoryComposites(of: table.entity).filter { !$0.isElement }.map { composite in
      RowRule(
        kind: .mandatory, property: composite.name,
        condition: "(\(composite.isMissing { table.attribute(named: $0)?.place(in: "t") }))",
        what:
          "have no value, which the model requires: an app with SwiftData crashes when it reads it",
        predicate: composite.elements.map { "\($0) == nil" }.joined(separator: " AND "))
    }
  }

  /// An entity that no object can be of.
  private func abstract(_ table: EntityTable) -> [RowRule] {
    guard store.model.entity(named: table.entity)?.isAbstract == true else { return [] }
    return [
      RowRule(
        kind: .entityUnknown, severity: .warning, isLookedAt: true, property: nil, condition: "1",
        what: "are of an abstract entity")
    ]
  }
}

/// What the attributes of an entity ask of its rows.
struct AttributeRules {
  let table: EntityTable
  /// The text encoding of the database.
  let encoding: String

  func rules() -> [RowRule] { table.attributes.flatMap(rules) }

  private func rules(_ entry: EntityTable.AttributeColumn) -> [RowRule] {
    let attribute = entry.attribute
    let column = entry.place(in: "t")
    var rules: [RowRule] = []
    func add(
      _ kind: FindingKind, _ condition: String, _ what: String, predicate: String? = nil,
      severity: Finding.Severity? = nil, advice: Advice? = nil
    ) {
      rules.append(
        RowRule(
          kind: kind, severity: severity, advice: advice, property: attribute.name,
          condition: condition, what: what, predicate: predicate))
    }
    // What a migration refuses is missing; the rest is what a save asks for.
    let asked = DestinationRule.all(of: attribute, in: table.entity, AskedValue(column: column))
    for rule in asked where !rule.isWarning {
      add(
        .mandatory, rule.condition, "have no value, which the model requires",
        predicate: "\(attribute.name) == nil")
    }
    if let classes = attribute.type.storageClasses {
      let list = classes.map { "'\($0)'" }.joined(separator: ", ")
      add(
        .storageClass, "typeof(\(column)) NOT IN (\(list), 'null')",
        "have values that are not of type \(attribute.type.name)")
    }
    if let range = attribute.type.wholeNumbers {
      add(
        .range,
        "typeof(\(column)) = 'integer' AND \(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)",
        "have numbers outside the range of \(attribute.type.name)")
    }
    if attribute.type == .date {
      let dates = CoreDataDate.sensible
      add(
        .range,
        "typeof(\(column)) IN ('integer', 'real') AND NOT (\(column) >= \(dates.lowerBound) AND \(column) < \(dates.upperBound))",
        "have dates before the year -9999 or after the year 9999", severity: .note,
        advice:
          "Core Data stores a date as a number of seconds, and reads these values as they are.")
    }
    if attribute.type == .uuid {
      add(
        .range, "typeof(\(column)) = 'blob' AND length(\(column)) <> 16",
        "have UUIDs that are not 16 bytes long")
    }
    if attribute.type == .string || attribute.type == .uri, encoding == "UTF-8" {
      add(
        .textEncoding, "strata_utf8(\(column)) = 0", "have texts that are not valid UTF-8")
    }
    if attribute.type == .transformable, !attribute.allowsExternalBinaryDataStorage {
      add(.archive, broken(attribute, column), "have archives that cannot be read")
    }
    return rules
      + asked.filter(\.isWarning).map { rule in
        RowRule(
          kind: .validation, code: rule.code, property: attribute.name, condition: rule.condition,
          what: "have \(rule.message)")
      }
  }

  /// Of a transformer that archives, every value is an archive; of an app's own, what begins as one.
  private func broken(_ attribute: Attribute, _ column: String) -> String {
    let isArchive =
      attribute.isArchived
      ? "length(\(column)) > 0" : "substr(\(column), 1, 8) = x'62706C6973743030'"
    return """
      CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) <= \(ValidationFunctions.largestArchive) \
      AND \(isArchive) THEN strata_opens(\(column)) = 0 ELSE 0 END
      """
  }
}

/// Something that is true of a row that breaks a rule of the model.
struct RowRule {
  let kind: FindingKind
  var severity: Finding.Severity?
  /// The error of Core Data's that it is, where it is not the kind's.
  var code: CoreDataError.Code?
  /// What to do about it, where that is not the kind's advice; Core Data says nothing of it then.
  var advice: Advice?
  /// Whether a look at the objects is all that helps, other than with the rest of the kind.
  var isLookedAt = false
  let property: String?
  /// SQL over the row `t`.
  let condition: String
  /// What such objects have, as the rest of a sentence.
  let what: String
  /// NSPredicate text that takes these rows; `nil` where none does.
  var predicate: String?
}

/// SQL functions that decide whether a value can be read as what it is said to be.
enum ValidationFunctions {
  /// Archives are read whole; larger ones are left.
  static let largestArchive = 8 << 20

  /// Most texts are: eight bytes at once show.
  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    var bits: UInt64 = 0
    while place + 8 <= bytes.count {
      bits |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      place += 8
    }
    while place < bytes.count {
      bits |= UInt64(bytes[place])
      place += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  static func define(on connection: Connection) throws {
    // Whether a text is UTF-8, which SQLite does not ask; NULL for what is no text.
    try connection.defineTest("strata_utf8", of: .text) { bytes in
      isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }
    // Whether bytes are a property list that can be read to its end, as an archive is.
    try connection.defineTest("strata_opens", of: .blob) { bytes in
      (try? PropertyList.read([UInt8](bytes))) != nil
    }
  }
}

/// Rules for an attribute's value that are neither a bound nor a pattern, as NSPredicates.
struct PredicateCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try store.model.entities.flatMap { entity in
      try entity.attributes.flatMap { attribute in
        try attribute.validation.predicates.compactMap {
          try finding($0, attribute.name, of: entity.name)
        }
      }
    }
  }

  private func finding(
    _ text: String, _ attribute: String, of entity: String
  ) throws -> Finding? {
    // What strata's predicates do not know is not checked; Core Data's own know more.
    guard store.table(of: entity)?.column(of: attribute) != nil,
      let rule = (try? Predicate(format: text))?.about(attribute)
    else { return nil }
    let broken = "\(attribute) != nil AND NOT (\(rule))"
    guard let filter = try? RowFilter(broken, entity: entity, store: store) else { return nil }
    let count = try store.count(of: entity, filter: filter)
    guard count > 0 else { return nil }
    let first = try store.rows(
      RowQuery(entity: entity, limit: 5, properties: [], filter: filter))
    return Finding(
      .validation,
      "\(NumberText.counted(count, "object")) of \(entity).\(attribute) break the rule “\(text)”.",
      entity: entity, property: attribute, count: count,
      first: first.rows.map(\.id.description), in: place,
      remedy: .rows(entity: entity, predicate: broken))
  }
}
