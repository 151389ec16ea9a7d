import Files
import Interface
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import SQLite

/// The owner of one handle on the store; everything that is read goes through it in turn.
actor StoreSession {
  private let executor: QueueExecutor
  let source: StoreSource
  let pause = ReaderPause()
  private var store: Store?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ label: String, source: StoreSource) {
    executor = QueueExecutor("strata.\(label)")
    self.source = source
  }

  /// Opens the store again.
  func open() throws -> StoreSummary {
    store = nil
    return try summary(of: opened())
  }

  /// Lets go of the handle, and with it of a private copy; the next question opens it again.
  func close() { store = nil }

  /// Asks the store, unless nobody waits for the answer any more.
  func ask<Answer: Sendable>(_ question: @Sendable (Store) throws -> Answer) throws -> Answer {
    try Task.checkCancellation()
    return try question(opened())
  }

  func export(
    _ request: ExportRequest, progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> (rows: Int, bytes: Int)? {
    try Task.checkCancellation()
    return try RowExport(
      store: opened(), own: source.path, request: request, pause: pause
    ).run(progress)
  }

  /// The plan; `outline` is called with what is known of it at once.
  func plan(
    _ request: PlanRequest, outline: @escaping @Sendable (PlanOutline) -> Void = { _ in }
  ) throws -> MigrationPlan {
    try Task.checkCancellation()
    let store = try opened()
    // The version file that made the store knows renaming identifiers that the store may not.
    let made = try versions().first { $0.isStores && !$0.path.isEmpty }?.model ?? store.wholeModel
    var asked = MigrationRequest(to: try request.to.loaded())
    asked.source = .init(model: made, name: request.from, path: "")
    asked.versions = try request.options.via.map { try ModelVersions(readingFrom: $0) }
    asked.documents = try MappingDocuments(paths: request.options.documents)
    if !request.edits.isEmpty {
      asked.documents.add(try request.edits.recipe(from: made, to: asked.destination.model))
    }
    do {
      return try StoreMigration.plan(store, asked, outline: outline)
    } catch var error as CoreDataError where error.path == MappingEdits.name {
      error.path = store.path
      throw error
    }
  }

  /// The versions at a path: all of a bundle, or the one that is named.
  func models(at path: String) throws -> [ModelVersion] {
    try Task.checkCancellation()
    return try source.versions(at: path, hashes: opened().metadata.versionHashes)
  }

  func versions() throws -> [ModelVersion] {
    let store = try opened()
    return source.versions(of: store.model, hashes: store.metadata.versionHashes)
  }

  func opened() throws -> Store {
    if let store { return store }
    let store = try Connection.stoppingAll(when: { Task.isCancelled }) { try source.openAnyhow() }
    // A store that was opened while statements were interrupted may lack what it has.
    try Task.checkCancellation()
    // A statement on a store that an app has open holds a lock: only between statements may it wait.
    let mayWait = store.access != .live
    // Called within a statement, on the thread of the task that runs it.
    store.connection.onProgress { [pause] in
      if mayWait { pause.point() }
      return Task.isCancelled
    }
    self.store = store
    return store
  }

  private func summary(of store: Store) -> StoreSummary {
    var columns: [String: [RowColumn]] = [:]
    var missing: Set<String> = []
    for table in store.entityTables {
      columns[table.entity] = try? store.columns(of: table.entity)
      if !store.database.contains(table.table) { missing.insert(table.entity) }
    }
    return StoreSummary(
      path: store.path, fileName: FileSystem.name(of: store.path), model: store.model,
      modelMatches: store.modelMatches, isRaw: store.modelSource == .raw, uuid: store.metadata.uuid,
      walFrames: store.wal.frames,
      access: store.access, warnings: store.warnings(naming: \.typed),
      gap: store.shortGap ?? store.shortFlaw,
      columns: columns,
      tables: store.entityTables,
      missing: missing,
      // Those that the store states, if it was just found that they are the model's.
      hashes: store.modelMatches && store.configuration == nil
        ? store.metadata.versionHashes : nil)
  }
}

extension ModelVersion {
  /// Read again for its archive, which goes into the store as it is.
  fileprivate func loaded() throws -> ModelReference.Loaded {
    var loaded =
      path.isEmpty
      ? ModelReference.Loaded(model: try result.get(), name: name, path: "")
      : try ModelReference(path).load()
    loaded.name = name
    return loaded
  }
}
