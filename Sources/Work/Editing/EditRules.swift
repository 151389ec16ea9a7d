import ManagedModel
import ManagedStore
import Migration
import SQLite

/// What a save in the app would ask of the objects that an edit changed: asked before anything is put in place.
///
/// Only properties that the edit changed are looked at. What was broken before, and is left as it was, is no fault of
/// the edit.
struct EditRules {
  let store: Store
  let connection: Connection

  /// - Throws: ``CoreDataError`` of kind refused for the first rule that is broken, with Core Data's code, the
  ///   property and the objects; its hint has the others.
  func check() throws {
    var broken: [CoreDataError] = []
    func collect(_ work: () throws -> Void) throws {
      do { try work() } catch let error as CoreDataError where error.kind == .refused {
        broken.append(error)
      }
    }
    for table in try changedTables() {
      let entity = table.entity
      let changed = try changedProperties(of: table)
      for entry in table.attributes where changed.contains(entry.attribute.name) {
        try collect {
          try check(
            DestinationRule.all(
              of: entry.attribute, in: entity,
              AskedValue(column: "t." + quoted(entry.column), isComputed: true)), table)
        }
      }
      try collect {
        try check(
          DestinationRule.composites(of: entity, in: store.model) { path in
            table.column(of: path).map { "t." + quoted($0) }
          }.filter { rule in
            changed.contains { $0 == rule.property || $0.hasPrefix((rule.property ?? "") + ".") }
          }, table)
      }
      for entry in table.relationships where changed.contains(entry.relationship.name) {
        try collect { try checkCount(entry, table) }
      }
    }
    guard var first = broken.first else { return }
    let others = broken.dropFirst().prefix(Self.mostNamed).map { error in
      error.message + (error.code.map { " (\(error.property ?? ""), \($0.rawValue))" } ?? "")
    }
    if !others.isEmpty {
      let more = broken.count - 1 - others.count
      first.hint =
        "Also: \(others.joined(separator: "; "))\(more > 0 ? "; and \(more) more" : ""). \(first.hint ?? "")"
    }
    throw first
  }

  /// The entities of which objects were changed.
  func changedTables() throws -> [EntityTable] {
    try connection.rows("SELECT DISTINCT number FROM listed.changes ORDER BY 1").compactMap { row in
      row.first?.integer.flatMap { store.entityNames[$0] }.flatMap(store.table(of:))
    }
  }

  /// The properties that were changed of objects of an entity; an element of a composite attribute by its path.
  func changedProperties(of table: EntityTable) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT DISTINCT property FROM listed.changes WHERE number = ?", [.integer(table.entityID)]
      ).compactMap { $0.first?.text })
  }

  /// Broken rules that are named beside the first.
  private static let mostNamed = 5

  /// Objects whose property was changed.
  func touched(_ property: String, _ table: EntityTable) -> String {
    let name = Value.text(property).literal
    let within = Value.text(property + ".").literal
    return """
      t.Z_PK IN (SELECT key FROM listed.changes WHERE number = \(table.entityID) AND (property = \(name)
      OR substr(property, 1, length(\(within))) = \(within)))
      """
  }

  private func check(_ rules: [DestinationRule], _ table: EntityTable) throws {
    for rule in rules {
      // A value that is missing is Core Data's 1570 in a save, whatever a migration calls it.
      let isMissing = rule.code == .migration && !rule.isOfType
      try refuse(
        rule.condition, rule.property ?? "", table,
        isMissing
          ? .validationMissingMandatoryProperty : rule.code == .migration ? nil : rule.code,
        isMissing ? "no value in a mandatory attribute" : rule.message)
    }
  }

  private func refuse(
    _ condition: String, _ property: String, _ table: EntityTable, _ code: CoreDataError.Code?,
    _ message: String
  ) throws {
    let found = try FoundRows(
      """
      FROM main.\(quoted(table.table)) t WHERE \(touched(property, table)) AND (\(condition))
      """, key: "t.Z_PK", of: table.entity, on: connection)
    guard found.count > 0 else { return }
    throw Self.refusal(message, found, table.entity, property, code)
  }

  /// The refusal of a rule, with the objects that break it.
  static func refusal(
    _ message: String, _ found: FoundRows, _ entity: String, _ property: String,
    _ code: CoreDataError.Code?
  ) -> CoreDataError {
    let names = found.first.map(\.description).joined(separator: ", ")
    return CoreDataError(
      .refused, code: code,
      found.count == 1
        ? "\(names) would have \(message)"
        : "\(NumberText.counted(found.count, "object")) would have \(message) (first: \(names))",
      entity: entity, property: property,
      hint: "The app could not save that. The store is unchanged.")
  }

  private func checkCount(_ entry: EntityTable.RelationshipColumns, _ table: EntityTable) throws {
    let relationship = entry.relationship
    guard let storage = entry.storage else { return }
    let name = relationship.name
    let isEmpty = storage.isEmpty("t", in: "main.")
    guard relationship.isToMany else {
      if !relationship.isOptional {
        try refuse(
          isEmpty, name, table, .validationMissingMandatoryProperty,
          "no object in a mandatory relationship")
      }
      return
    }
    let count = storage.count(of: SQLText(own: "t.Z_PK"), in: "main.").sql
    if !relationship.isOptional {
      try refuse(
        isEmpty, name, table,
        relationship.minCount > 0
          ? .validationRelationshipLacksMinimumCount : .validationMissingMandatoryProperty,
        "no objects in a mandatory relationship")
    }
    if relationship.minCount > 0 {
      try refuse(
        "NOT (\(isEmpty)) AND \(count) < \(relationship.minCount)", name, table,
        .validationRelationshipLacksMinimumCount,
        "fewer objects than the minimum count \(relationship.minCount)")
    }
    if relationship.maxCount > 0 {
      try refuse(
        "\(count) > \(relationship.maxCount)", name, table,
        .validationRelationshipExceedsMaximumCount,
        "more objects than the maximum count \(relationship.maxCount)")
    }
  }
}

/// Uniqueness constraints of which an edit sets a property.
///
/// Their indexes are away while rows change, since a value may be another row's until that has its new one.
struct EditedConstraints {
  private let store: Store
  private let connection: Connection
  private let constraints:
    [(entity: String, table: EntityTable, names: [String], columns: [String])]
  private var indexes: [(name: String, sql: String)] = []

  /// Takes the indexes out.
  init(of edit: StoreEdit, _ store: Store, on connection: Connection) throws {
    (self.store, self.connection) = (store, connection)
    let properties = edit.properties
    constraints = store.model.entities.flatMap { entity in
      entity.uniquenessConstraints.compactMap { names in
        guard names.contains(where: properties.contains), let table = store.table(of: entity.name)
        else { return nil }
        let columns = names.compactMap { table.column(of: $0) ?? table.toOneColumn(of: $0) }
        return columns.count == names.count && !columns.isEmpty
          ? (entity.name, table, names, columns) : nil
      }
    }
    for table in Set(constraints.map(\.table.table)) {
      let columns = Set(constraints.filter { $0.table.table == table }.flatMap(\.columns))
      let found = try connection.rows(
        """
        SELECT l.name, m.sql FROM pragma_index_list(?) l JOIN main.sqlite_master m
        ON m.name = l.name AND m.type = 'index' WHERE l."unique" AND m.sql IS NOT NULL
        """, [.text(table)])
      for row in found {
        guard row.count == 2, let name = row[0].text, let sql = row[1].text else { continue }
        let parts = try connection.rows(
          "SELECT name FROM pragma_index_info(?)", [.text(name)]
        ).compactMap { $0.first?.text }
        if !columns.isDisjoint(with: parts) { indexes.append((name, sql)) }
      }
    }
    for index in indexes { try connection.execute("DROP INDEX main.\(quoted(index.name))") }
  }

  /// Refuses objects that are equal now, and makes the indexes again.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, 1551, naming the properties and the objects.
  func finish() throws {
    for constraint in constraints {
      let table = constraint.table
      let columns = constraint.columns.map { quoted($0) }
      let list = columns.joined(separator: ", ")
      let kinds = table.kindRows() ?? "1"
      let changed = """
        SELECT \(list) FROM main.\(quoted(table.table)) WHERE Z_PK IN
        (SELECT key FROM listed.changes WHERE number IN (\(table.numbers.list)))
        """
      let select = """
        SELECT * FROM main.\(quoted(table.table)) WHERE \(kinds) AND (\(list)) IN (\(changed))
        """
      guard
        let found = try Duplicates(
          of: select, by: columns, entity: constraint.entity, on: connection)
      else { continue }
      throw try refusal(of: found, select, list, constraint.entity, constraint.names)
    }
    for index in indexes { try connection.create(.index, index.sql) }
  }

  /// The refusal of equal objects, with those of the first group.
  private func refusal(
    of found: Duplicates, _ select: String, _ list: String, _ entity: String, _ names: [String]
  ) throws -> CoreDataError {
    let first = found.rows.first.first?.key ?? 0
    let equal = try connection.rows(
      """
      SELECT Z_ENT, Z_PK FROM (\(select)) WHERE (\(list)) =
      (SELECT \(list) FROM (\(select)) WHERE Z_PK = ?) ORDER BY Z_PK LIMIT 6
      """, [.integer(first)]
    ).compactMap { row in
      row.last?.integer.map {
        ObjectID(entity: row.first?.integer.flatMap { store.entityNames[$0] } ?? entity, key: $0)
      }
    }
    let shown =
      equal.prefix(5).map(\.description).joined(separator: ", ") + (equal.count > 5 ? ", …" : "")
    let count = NumberText.counted(found.rows.count, "object")
    let what = names.joined(separator: " and ")
    let rule = names.count == 1 ? "which must be unique" : "which must be unique together"
    return CoreDataError(
      .refused, code: .validationUniqueness,
      found.groups == 1
        ? "\(count) would have the same \(what), \(rule): \(shown)"
        : "\(count) would have the same \(what) as another, \(rule) (first: \(shown))",
      entity: entity, property: names.joined(separator: ", "),
      hint: "The app could not save that. The store is unchanged.")
  }
}

extension CoreDataError.Code {
  /// NSManagedObjectConstraintValidationError.
  static let validationUniqueness: CoreDataError.Code = 1551
}
