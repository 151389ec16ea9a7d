import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Triggers that call what is not there. No row of their table could be changed with them: they are
/// taken out before anything else is mended, and come back afterwards, as they were or rebuilt.
struct TriggerMending {
  private struct Broken {
    let name: String
    let table: String
    let sql: String
  }

  let work: RepairWork
  private let broken: [Broken]

  init(_ work: RepairWork) throws {
    self.work = work
    let database = try DatabaseTables(work.connection)
    try work.connection.defineTriggerFunctions(in: work.source.triggerStatements)
    broken = try Set(database.triggers.values).sorted().flatMap { table in
      try Self.broken(of: table, database, work.connection)
    }
    for trigger in broken {
      try work.connection.execute("DROP TRIGGER main.\(quoted(trigger.name))")
    }
  }

  private static func broken(
    of table: String, _ database: DatabaseTables, _ connection: Connection
  ) throws -> [Broken] {
    let columns = (database.tables[table] ?? []).map { quoted($0.name) }
    guard !columns.isEmpty else { return [] }
    let statements = TriggerCheck.statements(for: table, columns)
    func isSound() throws -> Bool {
      try statements.allSatisfy { try TriggerCheck.reason(of: $0, on: connection) == nil }
    }
    guard try !isSound() else { return [] }
    let own = database.triggers.filter { $0.value == table }.keys.sorted().compactMap { name in
      database.sql[name].map { Broken(name: name, table: table, sql: $0) }
    }
    // Each by itself, so that the sound ones stay.
    try connection.execute("SAVEPOINT strata_triggers")
    defer { try? connection.execute("ROLLBACK TO strata_triggers; RELEASE strata_triggers") }
    for trigger in own { try connection.execute("DROP TRIGGER main.\(quoted(trigger.name))") }
    return try own.filter { trigger in
      try connection.create(.trigger, trigger.sql)
      let isBroken = try !isSound()
      try connection.execute("DROP TRIGGER main.\(quoted(trigger.name))")
      return isBroken
    }
  }

  /// Puts them back, or what the model asks for in their place.
  func finish() throws {
    let groups = work.source.modelSource == .raw ? [] : work.source.schema.triggerGroups
    var made: Set<String> = []
    for trigger in broken {
      guard work.kinds.contains(.triggers) else {
        try work.connection.create(.trigger, trigger.sql)
        continue
      }
      if let group = groups.first(where: { $0.owns(trigger.name, on: trigger.table) }),
        !group.statements.isEmpty
      {
        guard made.insert("\(group.entity).\(group.attribute)").inserted else { continue }
        try make(group, instead: trigger)
      } else if work.options.names(.triggers) {
        // An app may define its function when it runs; nobody makes a table that is gone.
        try note(trigger, new: nil)
      } else {
        try work.connection.create(.trigger, trigger.sql)
      }
    }
  }

  private func make(_ group: TriggerGroup, instead trigger: Broken) throws {
    let there = try DatabaseTables(work.connection)
    for (name, table) in there.triggers where group.owns(name, on: table) {
      try work.connection.execute("DROP TRIGGER main.\(quoted(name))")
    }
    for statement in group.statements { try work.connection.create(.trigger, statement.sql) }
    let same = group.statements.first { $0.name == trigger.name }
    try note(trigger, new: same?.sql ?? group.statements.map(\.name).joined(separator: ", "))
  }

  private func note(_ trigger: Broken, new: String?) throws {
    try work.note(
      RepairChange(
        kind: FindingKind.triggers.rawValue, entity: trigger.table, property: trigger.name,
        old: trigger.sql, new: new))
  }
}

/// References to files of external data that are gone are emptied, where that was asked for by name:
/// the files may turn up again.
struct ExternalMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.externalMissing), work.options.names(.externalMissing) else {
      return
    }
    for table in source.entityTables where source.database.contains(table.table) {
      for entry in table.attributes where entry.attribute.allowsExternalBinaryDataStorage {
        try empty(entry, of: table)
      }
    }
  }

  private func empty(_ entry: EntityTable.AttributeColumn, of table: EntityTable) throws {
    let column = quoted(entry.column)
    let name = entry.attribute.name
    let statement = try source.connection.prepare(
      "SELECT \(MarkedBytes.reference(column)), Z_PK \(entry.rowsInFiles(of: table))")
    let external = ExternalFolder(source.files)
    var isAny = false
    while try statement.step() {
      guard case .file(let file) = MarkedBytes(statement.bytes(at: 0)),
        // A file that cannot be read is not missing: its value is kept.
        external.place(of: file).isMissing
      else { continue }
      isAny = true
      try work.note(
        RepairChange(
          kind: FindingKind.externalMissing.rawValue, entity: table.entity,
          key: statement.integer(at: 1), property: name, old: file))
    }
    guard isAny else { return }
    try work.connection.execute(
      """
      UPDATE main.\(quoted(table.table)) SET \(column) = NULL WHERE Z_PK IN (
        SELECT key FROM log.changes WHERE kind = \(FindingKind.externalMissing.rawValue.literal)
        AND entity = \(table.entity.literal) AND property = \(name.literal))
      """)
  }
}
