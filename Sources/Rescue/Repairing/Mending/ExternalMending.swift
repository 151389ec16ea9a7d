import ManagedModel
import ManagedStore
import SQLite

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
