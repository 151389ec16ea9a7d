import Commands
import Dispatch
import Files
import Interface
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import Rescue
import SQLite
import Synchronization

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
    _ request: ExportRequest, telling interval: Duration = .milliseconds(60),
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> (rows: Int, bytes: Int)? {
    try Task.checkCancellation()
    return try RowExport(
      store: opened(), own: source.path, request: request, pause: pause, interval: interval
    ).run(progress)
  }

  /// The plan; `outline` is called with what is known of it at once.
  func plan(
    _ request: PlanRequest, outline: @escaping @Sendable (PlanOutline) -> Void = { _ in }
  ) throws -> MigrationPlan {
    try Task.checkCancellation()
    let store = try opened()
    do {
      return try StoreMigration.plan(store, asked(request, of: store), outline: outline)
    } catch var error as CoreDataError where error.path == MappingEdits.name {
      error.path = store.path
      throw error
    }
  }

  /// The plan, or all that stands in its way.
  func answer(
    _ request: PlanRequest, outline: @escaping @Sendable (PlanOutline) -> Void
  ) throws -> Answer {
    do {
      return .planned(try plan(request, outline: outline))
    } catch let error as CoreDataError {
      guard error.kind == .refused, let store,
        let refused = try RefusedPlan(
          error, of: store, asked(request, of: store), isCancelled: { Task.isCancelled })
      else { throw error }
      return .refused(refused)
    }
  }

  private func asked(_ request: PlanRequest, of store: Store) throws -> MigrationRequest {
    // The version file that made the store knows renaming identifiers that the store may not.
    let made = try versions().first { $0.isStores && !$0.path.isEmpty }?.model ?? store.wholeModel
    var asked = MigrationRequest(to: try request.to.loaded())
    asked.source = .init(model: made, name: request.from, path: "")
    asked.versions = try request.options.via.map { try ModelVersions(readingFrom: $0) }
    asked.documents = try MappingDocuments(paths: request.options.documents)
    if !request.edits.isEmpty {
      asked.documents.add(try request.edits.recipe(from: made, to: asked.destination.model))
    }
    return asked
  }

  /// The versions at a path: all of a bundle, or the one that is named.
  func models(at path: String) throws -> [ModelVersion] {
    try Task.checkCancellation()
    return try source.versions(
      at: path, hashes: source.models.isEmpty ? opened().metadata.versionHashes : [:])
  }

  func versions() throws -> [ModelVersion] {
    guard source.models.isEmpty else { return try source.comparedVersions() }
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
    let misfit = source.misfit(of: store)
    var summary = StoreSummary(
      path: store.path, fileName: FileSystem.name(of: store.path), model: store.model,
      modelMatches: store.modelMatches, isRaw: store.modelSource == .raw, uuid: store.metadata.uuid,
      walFrames: store.wal.frames,
      access: store.access, warnings: (misfit.map { [$0] } ?? []) + store.warnings(naming: \.typed),
      misfit: misfit,
      gap: store.shortGap ?? store.shortFlaw,
      columns: columns,
      tables: store.entityTables, mirror: store.layout.mirror,
      missing: missing,
      // Those that the store states, if it was just found that they are the model's.
      hashes: store.modelMatches && store.configuration == nil
        ? store.metadata.versionHashes : nil)
    summary.hasHistory = store.hasHistory
    return summary
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

/// The owner of what was found of deleted objects: a private store that goes away with it.
actor RemainsSession {
  private let executor = QueueExecutor("strata.undelete")
  private var undeletion: Undeletion?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Looks through a store.
  ///
  /// - Returns: where the rows are, and all that was found, once the store that they are in is open.
  func search(
    _ path: String, model: Model?, progress: @escaping (Double) -> Void
  ) throws -> (StoreSource.Remains, @Sendable (StoreSummary) -> Remains) {
    undeletion = nil
    let found = try Undeletion(
      of: path, model: model, isCancelled: { Task.isCancelled }, progress: progress)
    undeletion = found
    let entities = found.entities.map {
      Remains.Entity(
        name: $0.name, deleted: $0.deleted, older: $0.older, unsaved: $0.unsaved, lost: $0.lost)
    }
    let (isWiped, notes, missed) = (found.isWiped, found.notes, found.missed)
    return (
      StoreSource.Remains(path: found.store.files.path, model: found.store.model),
      {
        var remains = Remains(entities: entities, isWiped: isWiped, notes: notes, store: $0)
        remains.missed = missed
        return remains
      }
    )
  }

  /// Where rows come from.
  func sources(of rows: [ObjectID]) throws -> [ObjectID: RecoveredRowSource] {
    try Task.checkCancellation()
    guard let undeletion else { return [:] }
    var sources: [ObjectID: RecoveredRowSource] = [:]
    for row in rows {
      sources[row] = try undeletion.origin(of: row).map { RecoveredRowSource($0, of: row) }
    }
    return sources
  }

  /// Writes a store in which some of them are back.
  func restore(
    _ order: RestoreOrder, progress: @escaping (Double) -> Void
  ) throws -> Restoration.Report {
    guard let undeletion else {
      throw CoreDataError(.failed, "what was found is gone; search for it again")
    }
    let choice: Restoration.Choice =
      switch order.choice {
      case .all(let entity): .all(entity: entity)
      case .only(let object): .only([object])
      case .matching(let filter): .matching(filter)
      }
    return try Restoration(undeletion).run(
      choice, output: order.output, isCancelled: { Task.isCancelled }, progress: progress)
  }

  /// Lets go of what was found.
  func close() { undeletion = nil }
}

extension RecoveredRowSource {
  fileprivate init(_ origin: RowOrigin, of row: ObjectID) {
    var words: [String] = []
    switch (origin.certainty, origin.key) {
    case (.certain, let key?):
      // Its own key was not free where it is shown.
      if key != row.key { words.append("key p\(key)") }
    case (_, let key?):
      words.append((key == row.key ? "key " : "key p\(key) ") + origin.certainty.rawValue)
    case (_, nil): words.append("key unknown")
    }
    words.append(origin.place)
    if origin.isFormer { words.append("of another time") }
    if !origin.isEntityKnown { words.append("entity unknown") }
    if origin.isLost { words.append("may be lost, not deleted") }
    if !origin.hasAllValues { words.append("in part") }
    if !origin.source.isSaved { words.append("never saved") }
    self.init(isDeleted: origin.isOfDeleted, text: words.joined(separator: ", "))
  }
}

/// The owner of the last repair, whose changes are kept to be written to a file on request.
actor RepairSession {
  private let executor = QueueExecutor("strata.repair")
  private var last: Repaired?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Repairs a store, with our own readers out of the way.
  func run(
    _ path: String, _ options: RepairOptions, _ hold: ReaderHold,
    progress: @escaping (MigrationProgress) -> Void
  ) throws -> RepairReceipt {
    last = nil
    hold.begin()
    defer { hold.end() }
    let repaired = try StoreRepair.run(
      path: path, options: options, isCancelled: { Task.isCancelled }, progress: progress)
    last = repaired
    return repaired.receipt
  }

  /// Writes the receipt with every change.
  func write(to file: ReceiptFile) throws {
    guard let last else { throw CoreDataError(.failed, "the receipt is gone") }
    try last.write(to: file)
  }
}

/// Keeps our own readers from the store while its name changes hands.
///
/// POSIX drops all locks of a process on a file when it closes any handle on it, so that a reader of
/// ours that opens or closes the store would undo the lock of the cut-over.
final class ReaderHold: Sendable {
  private let sessions: [StoreSession]
  private let entered = DispatchSemaphore(value: 0)
  private let release = DispatchSemaphore(value: 0)
  private let isUnderWay = Atomic<Bool>(false)
  /// How long a reader may take until it is gone on without.
  private let patience: DispatchTimeInterval

  init(_ sessions: [StoreSession], patience: DispatchTimeInterval = .seconds(2)) {
    self.sessions = sessions
    self.patience = patience
  }

  /// Closes the readers and keeps what is asked of them waiting until `end`.
  ///
  /// One in the middle of something long, such as an export, stops where it is, its handle open, and
  /// goes on afterwards with the file that it began with.
  func begin() {
    for session in sessions {
      session.pause.ask(self)
      Task { await session.hold() }
    }
    let deadline = DispatchTime.now() + patience
    for _ in sessions { _ = entered.wait(timeout: deadline) }
    isUnderWay.store(true, ordering: .sequentiallyConsistent)
  }

  /// Lets them go on, whether they are held by now or not.
  func end() { for _ in sessions { release.signal() } }

  /// Whether the cut-over may have begun: nothing is to be closed any more.
  fileprivate var isLate: Bool { isUnderWay.load(ordering: .sequentiallyConsistent) }

  fileprivate func wait() {
    entered.signal()
    release.wait()
  }
}

/// Where a session's reader can be made to wait in the middle of what it does.
final class ReaderPause: Sendable {
  private let hold = Mutex<ReaderHold?>(nil)

  /// Whether a hold waits for the reader to come here.
  var isAsked: Bool { hold.withLock { $0 != nil } }

  fileprivate func ask(_ hold: ReaderHold) { self.hold.withLock { $0 = hold } }

  fileprivate func take() -> ReaderHold? {
    hold.withLock { hold in
      defer { hold = nil }
      return hold
    }
  }

  /// Waits while a hold lasts; to be called where the handle holds no lock.
  func point() { take()?.wait() }
}

extension StoreSession {
  /// Closes the handle and blocks this session's own queue, which nothing else runs on.
  ///
  /// What waited at a ``ReaderPause`` comes here after the hold: its old handle is closed then.
  func hold() {
    guard let hold = pause.take() else { return close() }
    if !hold.isLate { close() }
    hold.wait()
    close()
  }
}
