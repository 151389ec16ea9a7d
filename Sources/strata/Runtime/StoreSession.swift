import Interface
import ManagedModel
import ManagedStore
import Migration

/// The owner of one handle on the store; everything that is read goes through it in turn.
actor StoreSession {
  private let executor: QueueExecutor
  private let source: StoreSource
  private var store: Store?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ label: String, source: StoreSource) {
    executor = QueueExecutor("strata.\(label)")
    self.source = source
  }

  /// Opens the store anew.
  func open() throws -> StoreSummary {
    store = nil
    return try summary(of: opened())
  }

  /// Lets go of the handle, and with it of a private copy; the next question opens it again.
  func close() { store = nil }

  func rows(_ query: RowQuery) throws -> RowPage {
    try Task.checkCancellation()
    return try opened().rows(query)
  }

  func object(_ id: ObjectID) throws -> Inspection? {
    try Task.checkCancellation()
    return try opened().object(id).map { Inspection($0, localTime: LocalTime.text) }
  }

  /// Counts a hierarchy after the other, telling what is known after each.
  func count(_ report: (([String: Int]) -> Void)) throws {
    let store = try opened()
    var counts: [String: Int] = [:]
    for table in store.entityTables where table.isWholeTable {
      try Task.checkCancellation()
      counts.merge(try store.count(hierarchyOf: table)) { first, _ in first }
      report(counts)
    }
  }

  func plan(from: String, to version: ModelVersion) throws -> MigrationPlan {
    try Task.checkCancellation()
    let store = try opened()
    // The version file that made the store knows renaming identifiers that the store may not.
    let made = try versions().first { $0.isStores }.flatMap { try? $0.result.get() }
    guard !version.path.isEmpty else {
      return try StoreMigration.plan(
        store, to: version.result.get(), names: (from, version.name), source: made)
    }
    // Read again for its archive, which goes into the store as it is.
    let destination = try ModelReference(version.path).load()
    return try StoreMigration.plan(
      store, to: destination.model, names: (from, version.name), source: made,
      archive: destination.archive)
  }

  func versions() throws -> [ModelVersion] {
    let store = try opened()
    return source.versions(of: store.model, hashes: store.metadata.versionHashes)
  }

  func opened() throws -> Store {
    if let store { return store }
    let store = try source.open()
    // Called within a statement, on the thread of the task that runs it.
    store.connection.onProgress { Task.isCancelled }
    self.store = store
    return store
  }

  private func summary(of store: Store) -> StoreSummary {
    var columns: [String: [RowColumn]] = [:]
    for table in store.entityTables {
      columns[table.entity] = try? store.columns(of: table.entity)
    }
    return StoreSummary(
      path: store.path, fileName: FileSystem.name(of: store.path), model: store.model,
      modelMatches: store.modelMatches, isRaw: store.modelSource == .raw, uuid: store.metadata.uuid,
      walFrames: store.wal.frames,
      access: store.access, warnings: store.warnings, columns: columns)
  }
}
