import ManagedModel
import ManagedStore
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
      rule.kind, "\(NumberText.counted(count, "object")) of \(name) \(rule.what).",
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
