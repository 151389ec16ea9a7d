import ManagedModel
import ManagedStore
import SQLite

/// What a migration would do to a store whose tables do not fit its own model.
///
/// Tables are rebuilt from the model, so a column that it does not know goes with its values, and rows
/// of no entity would be given one: neither may happen unsaid.
package struct DriftAnalysis {
  let store: Store

  /// Columns with values that the model does not know; allowed as `Entity.ZCOLUMN`.
  ///
  /// - Parameter isKept: whether the migration keeps a column of a table, by their names.
  func losses(unless isKept: (_ column: String, _ table: String) -> Bool) throws -> [Loss] {
    let roots = Dictionary(
      first: store.entityTables.filter(\.isWholeTable).map { ($0.table, $0.entity) })
    return try store.reading {
      try store.drift.unexpectedColumns.compactMap { column in
        guard !isKept(column.column, column.table) else { return nil }
        let (table, name) = (quoted(column.table), quoted(column.column))
        let count = try store.connection.number(
          "SELECT count(*) FROM \(table) WHERE \(name) IS NOT NULL")
        guard count > 0 else { return nil }
        return Loss(
          entity: roots[column.table] ?? column.table, property: column.column, values: count)
      }
    }
  }

  /// What brings a missing table back.
  private static func advice(_ table: StoreDrift.Table, _ path: String) -> Advice {
    let path = [ShellText.quoted(path)]
    return table.isUnused
      ? "No object of \(table.entity) was ever saved: an empty table is all that is missing. To create it: \(.deed("repair-tables"), of: path)"
      : "\(table.lastKey.map { "Z_MAX shows that \(NumberText.counted($0, "key was", plural: "keys were")) given out in it. " } ?? "")Its rows may still be in the file: \(.deed("undeletion"), of: path). Or use another copy of the store."
  }

  /// What brings a missing join table back.
  package static func advice(_ join: StoreDrift.Join, _ path: String) -> Advice {
    let path = [ShellText.quoted(path)]
    return join.isUnused
      ? "It never held a link: an empty table is all that is missing. To create it: \(.deed("repair-tables"), of: path)"
      : "Its rows may still be in the file: \(.deed("salvage"), of: path). To go on without these links: \(.deed("repair-tables-forced"), of: path)"
  }

  private func check(
    _ entity: String, _ property: String? = nil, rows: Int = 0, says message: String, hint: Advice
  ) -> DataCheck {
    DataCheck(
      code: .persistentStoreIncompatibleSchema, entity: entity, property: property, rows: rows,
      message: message, hint: hint.text, advice: hint)
  }

  /// Tables and columns that are not there.
  ///
  /// - Parameter taken: the entities whose objects are taken over; a table of others may be missing. `nil` for all.
  func missing(taking taken: Set<String>?) -> [DataCheck] {
    var checks = store.drift.missingTables.filter { table in
      taken?.contains { store.model.root(of: $0) == table.entity } ?? true
    }.map { table in
      check(
        table.entity, says: "the table \(table.table) is missing",
        hint: Self.advice(table, store.path))
    }
    checks += store.drift.joins.filter { $0.found == nil && isTaken($0, taken) }.map { join in
      check(
        join.entity, join.relationship, says: "the join table \(join.expected) is missing",
        hint: Self.advice(join, store.path))
    }
    checks += store.drift.missingColumns.map { column in
      check(
        column.entity ?? column.table, column.property,
        says: "the column \(column.column) of \(column.table) is missing",
        hint: "Recover it from another copy of the store, or add an empty column of that name.")
    }
    return checks
  }

  /// Rows that belong to no entity of their table, and tables and columns that are not there: their
  /// values are lost already, and a migration would hide it.
  ///
  /// - Parameter taken: as of ``missing(taking:)``.
  func checks(taking taken: Set<String>? = nil) throws -> [DataCheck] {
    let checks =
      missing(taking: taken)
      + store.drift.numbers.compactMap { number in
        guard number.problem == .missing, number.number != nil else { return nil }
        return check(
          number.entity, says: "Z_PRIMARYKEY has no row for the entity",
          hint:
            "Its keys are counted there: new objects would get keys that are in use. Take another copy of the store."
        )
      }
    return try checks
      + store.rowsOfUnknownEntities().map { rows in
        check(
          rows.table, rows: rows.count,
          says: "the entity ID \(rows.number) belongs to no entity of the table",
          hint: "Correct Z_ENT of these rows, or delete them, in a copy of the store.")
      }
  }

  /// Join tables and columns that a migration reads under the names that they have, and that Core Data does
  /// not find: the app does not open the store, and does not migrate it.
  func names() -> [DataCheck] {
    let (drift, path) = (store.drift.misnamed, [ShellText.quoted(store.path)])
    func check(
      _ entity: String, _ property: String, _ found: String, _ expected: String
    )
      -> DataCheck
    {
      let hint: Advice = "A repair renames it: \(.deed("repair"), of: path)"
      return DataCheck(
        code: .persistentStoreIncompatibleSchema, entity: entity, property: property, rows: 0,
        message: "it is kept in \(found), and Core Data looks for \(expected)", hint: hint.text,
        advice: hint)
    }
    return drift.joins.map { join in
      let names = [join.found == join.expected ? nil : join.expected] + join.columns
      return check(
        join.entity, join.relationship, join.found ?? "",
        names.compactMap { $0 }.joined(separator: ", "))
    }
      + drift.columnNames.map {
        check($0.entity, $0.relationship, "\($0.table).\($0.found)", $0.expected)
      }
  }

  /// Whether a plan takes over objects at an end of a join table.
  private func isTaken(_ join: StoreDrift.Join, _ taken: Set<String>?) -> Bool {
    guard let taken else { return true }
    let other = store.model.relationship(named: join.relationship, of: join.entity)?.destination
    return taken.contains { entity in
      store.model.isKind(entity, of: join.entity)
        || other.map { store.model.isKind(entity, of: $0) } ?? false
    }
  }
}
