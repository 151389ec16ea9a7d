import ManagedModel
import ManagedStore
import SQLite

/// Triggers that call a function or name a table or column that is not there: whatever writes to
/// their table fails.
///
/// SQLite compiles the triggers of a table with each statement that sets them off; nothing is run.
struct TriggerCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    let tables = Set(store.database.triggers.values).sorted()
    return try tables.flatMap { table -> [Finding] in
      // A view has triggers of its own, which only those know who made it.
      guard let columns = store.database.tables[table], !columns.isEmpty else { return [] }
      return try findings(of: table, columns.map { quoted($0.name) })
    }
  }

  /// Statements that set off every trigger of a table.
  static func statements(for table: String, _ columns: [String]) -> [String] {
    let name = quoted(table)
    return [
      "EXPLAIN INSERT INTO \(name) DEFAULT VALUES",
      "EXPLAIN UPDATE \(name) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))",
      "EXPLAIN DELETE FROM \(name)",
    ]
  }

  private func findings(of table: String, _ columns: [String]) throws -> [Finding] {
    let statements = Self.statements(for: table, columns)
    // They are compiled as for a program that writes, and not run.
    store.connection.trustSchema(true)
    defer { store.connection.trustSchema(false) }
    var told: [String] = []
    for statement in statements {
      guard
        let reason = try store.translating({ try Self.reason(of: statement, on: store.connection) }
        ),
        !told.contains(reason)
      else { continue }
      told.append(reason)
    }
    return told.map { reason in
      let missing = reason.split(separator: " ").last.map(String.init) ?? ""
      let bare = missing.split(separator: ".").last.map(String.init) ?? missing
      let names = store.database.triggers.filter { $0.value == table }.keys.sorted()
      let own = names.filter { store.database.sql[$0]?.contains(bare) == true }
      let entity = store.entityTables.first { $0.table == table && $0.isWholeTable }?.entity
      return Finding(
        .triggers, "Writing to the table \(table) fails in a trigger: \(reason).",
        entity: entity ?? table, count: own.isEmpty ? 1 : own.count,
        first: Array((own.isEmpty ? names : own).prefix(5)), in: place)
    }
  }

  /// Why a statement cannot be compiled; `nil` where it can.
  static func reason(of statement: String, on connection: Connection) throws -> String? {
    // Each round gives SQLite one function that Core Data brings.
    for _ in 0..<20 {
      do {
        _ = try connection.prepare(statement)
        return nil
      } catch let error as SQLiteError where error.message.hasPrefix("no such ") {
        let name = error.message.split(separator: " ").last.map(String.init) ?? ""
        guard error.message.hasPrefix("no such function: NSCoreData") else {
          return error.message.hasPrefix("no such module") ? nil : error.message
        }
        try connection.defineNullFunction(name)
      } catch is SQLiteError {
        // A store that may not be written, or a table that takes no such statement: no trigger's fault.
        return nil
      }
    }
    return nil
  }
}
