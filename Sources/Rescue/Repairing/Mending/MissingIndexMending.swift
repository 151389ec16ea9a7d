import ManagedStore
import SQLite

/// Indexes of the model that were never made are made, as SwiftData makes them in a new store.
struct MissingIndexMending {
  let work: RepairWork

  func run() throws {
    guard work.kinds.contains(.indexMissing) else { return }
    for index in MissingIndex.all(of: work.source) {
      try work.connection.execute(index.statement.sql)
      try work.note(
        RepairChange(
          kind: FindingKind.indexMissing.rawValue, entity: index.entity,
          property: index.properties.joined(separator: ","), new: index.statement.name))
    }
  }
}
