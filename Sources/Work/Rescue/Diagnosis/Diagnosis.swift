import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import SQLite
import Salvage

/// What is wrong with a store: one list, the gravest first.
///
///     let diagnosis = try Diagnosis(of: "Recipes.sqlite")
///     for finding in diagnosis.findings { print(finding.severity, finding.sentence) }
///
/// Reads only: the store, its -wal and its folder stay as they are, however damaged.
public struct Diagnosis: Sendable {
  /// The store's path as it was given.
  public let path: String
  /// What was found: a save that was interrupted, as all else may come of it or is reported for the store without
  /// it; then errors, warnings and notes, each in the order of ``FindingKind``.
  public private(set) var findings: [Finding] = []
  /// Whether anything of the store can be read, if only by salvaging it.
  public private(set) var isReadable = true
  /// Whether the objects were looked at: of a store that does not open only the file is checked.
  public private(set) var isComplete = false
  /// What a plan refuses any migration of the store for, as it says it.
  public private(set) var migrationChecks: [DataCheck] = []
  /// What kept the store from being opened; `nil` where it was.
  public private(set) var refusal: CoreDataError?
  /// Where the model came from; `nil` where the store was not opened.
  public private(set) var modelSource: Store.ModelSource?

  /// Looks at a store, layer by layer: file, -wal, what Core Data keeps for itself, data.
  ///
  /// - Parameters:
  ///   - model: look with this model instead of the one in the store.
  ///   - modelName: what commands call that model.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Throws: ``CoreDataError`` where there is no such file, or when cancelled (134120).
  public init(
    of path: String, model: Model? = nil, modelName: String? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    try self.init(
      of: path, files: StoreFiles(path: FileSystem.canonical(path)), model: model,
      modelName: modelName, isCancelled: isCancelled)
  }

  /// - Parameter files: where the store's external data is, besides its main file.
  init(
    of path: String, files: StoreFiles, model: Model? = nil, modelName: String? = nil,
    isCancelled: @escaping () -> Bool
  ) throws {
    self.path = path
    let place = StorePlace(path: path, model: modelName)
    try files.refuseNotDownloaded()
    guard FileSystem.isFile(files.path) else {
      try files.check()
      throw FileSystem.failure(.read, path)
    }
    let facts = try FileFacts(files.path)
    var store: Store?
    do {
      store = try Connection.stoppingAll(when: isCancelled) {
        try Self.open(path, files, model: model)
      }
    } catch {
      guard !isCancelled() else { throw ProgressMeter.cancelled.at(path: path) }
      refusal = CoreDataError(error, or: .unreadable).at(path: path)
    }
    if model != nil, let given = store {
      // The objects are judged by the model that made them.
      if let other = BookkeepingLayer(place: place, store: given).otherModel,
        let own = try? Connection.stoppingAll(
          when: isCancelled, { try Self.open(path, files, model: nil) }), own.modelSource != .raw
      {
        findings.append(other)
        store = own
      }
    }
    findings += try log(place, files, facts, store)
    if let store {
      modelSource = store.modelSource
      try store.stopping(when: isCancelled) { try look(at: store, place) }
    }
    // What is being written is neither whole nor damaged.
    if store == nil, StoreLock.writer(of: files.path) != nil {
      isReadable = false
      rank()
      return
    }
    let layer = FileLayer(
      place: place, facts: facts, log: knownLog,
      isDamaged: store.map { $0.damage?.concernsFile ?? false } ?? true)
    let file = try Connection.stoppingAll(when: isCancelled) { try layer.findings() }
    findings += file.all
    if store?.damage?.concernsFile ?? true,
      let image = try? DatabaseImage(
        path: files.path, log: nil, journal: files.journalPath, isRealigned: true),
      let sentence = try? SalvageSource.mixed(image)
    {
      findings.append(Finding(.mixedPages, sentence, in: place))
    }
    isReadable = store != nil || file.isReadable
    if store == nil, !isKeptFromSQLite,
      !findings.contains(where: { $0.severity == .error && $0.kind.isOfFile })
    {
      let found = Unopened(place: place, files: files, log: knownLog).findings()
      isReadable = !found.isEmpty
      findings += found
    }
    if store == nil, facts.size <= Store.readingCheckSize, Self.needsModel(files) {
      for index in findings.indices { findings[index].askForModel(place) }
    }
    findings += Finding.interrupted(StoreMigration.leftovers(of: path), of: path)
    findings += StoreMigration.leftoversOfApp(besideStore: path).map {
      Finding(.migrationLeftover, $0, in: place)
    }
    // A statement may have been interrupted whose answer can be done without.
    guard !isCancelled() else { throw ProgressMeter.cancelled.at(path: path) }
    rank()
  }

  private var knownLog = WriteAheadLog.absent
  /// Whether the store is not opened because of what is beside it, though its pages can be read.
  private var isKeptFromSQLite = false

  /// Whether the names of the tables and the model are lost, so that a salvage has to be given a model.
  private static func needsModel(_ files: StoreFiles) -> Bool {
    guard let source = try? SalvageSource(path: files.path, log: .ownIfFitting),
      !source.hasTables, !source.isForeign
    else { return false }
    return (try? source.model()) == nil
  }

  /// Opens the store as far as it opens.
  static func open(_ path: String, _ files: StoreFiles, model: Model?) throws -> Store {
    // What can only be read page by page is no store to SQLite and Core Data.
    let store = try Store(
      path: path, files: files, model: model, isLenient: true, salvages: false
    ) { metadata in
      ModelBundle.version(besideStore: path, making: metadata.versionHashes)?.model
    }
    if let failure = store.damage?.failure { throw failure }
    return store
  }

  private mutating func log(
    _ place: StorePlace, _ files: StoreFiles, _ facts: FileFacts, _ store: Store?
  ) throws -> [Finding] {
    let isInUse = store?.isInUse ?? (StoreLock.user(of: files.path) != nil)
    var found: [Finding] = []
    do {
      let main = try files.main()
      // That of a save that goes on is nobody's to roll back.
      if let journal = main.journal, !isInUse {
        found = JournalLayer(
          place: place, journal: journal
        ).findings()
        isKeptFromSQLite = journal.wrongPages != nil
      }
    } catch let error as CoreDataError {
      return [Finding(.journalUnreadable, error.message + ".", in: place)]
    }
    do {
      knownLog = try store?.wal ?? WriteAheadLog(besideStore: files.path)
    } catch let error as CoreDataError {
      return found + [Finding(.walUnreadable, error.message + ".", in: place)]
    }
    if let wrong = files.incredibleSize(knownLog) {
      found.append(Finding(.walUnreadable, wrong.message + ".", in: place))
      isKeptFromSQLite = true
    }
    let kinship =
      knownLog.frames > 0 && !isInUse
      ? try? LogKinship(of: files.walPath, store: files.path, journal: files.journalPath) : nil
    let mayBeForeign = (try? kinship?.hasKeysBeyondCounters()) ?? false
    return found
      + WALLayer(
        place: place, log: knownLog, mayBeForeign: mayBeForeign,
        unvouched: mayBeForeign ? 0 : (try? kinship?.unvouchedObjects()) ?? 0,
        strays: store?.strays ?? StrayLog.all(beside: files.path),
        placeholders: store?.placeholders ?? CloudPlaceholder.companions(ofStore: files.path),
        isRolledBack: facts.isRolledBack, isInUse: isInUse, isLogged: facts.isLogged
      ).findings()
  }

  private mutating func look(at store: Store, _ place: StorePlace) throws {
    try store.inspect()
    let data = DataLayer(place: place, store: store).checks
    let ahead = ChecksAhead(of: store, place, count: data.count)?.findings(
      helpedBy: store, place)
    let checks: [() throws -> [Finding]] =
      BookkeepingLayer(place: place, store: store).checks
      + data.enumerated().map { index, check in { try ahead?[index] ?? check() } }
      + [DeletionCheck(place: place, store: store).findings]
    isComplete = true
    for check in checks {
      do {
        findings += try store.translating(check)
      } catch let error as CoreDataError where error.kind != .cancelled {
        // One that fails leaves the others.
        findings.append(
          Finding(.unchecked, "A check could not be carried out: \(error.message).", in: place))
        isComplete = false
      }
    }
    // Last: reading finds out what else cannot be read.
    if let damage = store.damage {
      findings += PageLayer(place: place, damage: damage, tables: store.entityTables).findings()
    }
    do {
      migrationChecks = try store.translating { try StoreMigration.standingChecks(of: store) }
    } catch let error as CoreDataError where error.kind != .cancelled {
      findings.append(
        Finding(
          .unchecked, "What a plan would say could not be found out: \(error.message).", in: place))
      isComplete = false
    }
  }

  /// The gravest first, behind an interrupted save and a -wal that is older than its store; within a severity in the
  /// order of kinds, then the most.
  private mutating func rank() {
    let kinds = Dictionary(
      uniqueKeysWithValues: FindingKind.allCases.enumerated().map { ($1, $0) })
    // SQLite shows duplicates as well as the model does.
    let isUnique = findings.contains { $0.kind == .uniqueness && $0.entity != nil }
    findings.removeAll { isUnique && $0.kind == .uniqueness && $0.entity == nil }
    let order = findings.enumerated().sorted { first, second in
      let (one, two) = (first.element, second.element)
      if one.isOfHalfSave != two.isOfHalfSave { return one.isOfHalfSave }
      let (isOneHot, isTwoHot) = (one.kind == .journalHot, two.kind == .journalHot)
      if isOneHot != isTwoHot { return isOneHot }
      if one.severity != two.severity { return one.severity < two.severity }
      let (isOneOld, isTwoOld) = (one.kind == .walOlder, two.kind == .walOlder)
      if isOneOld != isTwoOld { return isOneOld }
      if one.kind != two.kind { return (kinds[one.kind] ?? 0) < (kinds[two.kind] ?? 0) }
      if one.count != two.count { return (one.count ?? .max) > (two.count ?? .max) }
      return first.offset < second.offset
    }
    findings = order.map(\.element)
    let cause =
      findings.first { $0.severity == .error && $0.kind.losesJournal }
      ?? findings.first { $0.severity == .error && $0.kind == .walOlder }
      ?? findings.first { $0.severity == .error && $0.kind.losesPages }
      ?? findings.first { $0.severity == .error && $0.kind.losesFrames }
      ?? findings.first { $0.kind == .notDownloaded }
    if let cause { for index in findings.indices { findings[index].putOff(for: cause) } }
  }

  /// Adds what a reader of another format found, which made the store that was looked at.
  ///
  /// - Parameters:
  ///   - sentence: what was found.
  ///   - count: how many objects or values it concerns.
  public mutating func add(
    _ kind: FindingKind, _ sentence: String, entity: String? = nil, property: String? = nil,
    count: Int? = nil, modelName: String? = nil
  ) {
    findings.append(
      Finding(
        kind, sentence, entity: entity, property: property, count: count,
        in: StorePlace(path: path, model: modelName)))
    rank()
  }

  /// Offers commands for a store of which a private copy was looked at.
  ///
  /// - Parameters:
  ///   - isContained: whether it is in an archive or a backup: commands write into the current folder then.
  ///   - isAtomic: whether it is an XML or binary store.
  package mutating func offer(modelName: String?, isContained: Bool, isAtomic: Bool) {
    findings.offer(
      for: StorePlace(
        path: path, model: modelName, isContained: isContained, isAtomic: isAtomic))
  }

  /// Takes out findings of kinds that mean nothing for the store.
  package mutating func remove(_ kinds: Set<FindingKind>) {
    findings.removeAll { kinds.contains($0.kind) }
  }

  /// How many there are of a severity.
  public func count(_ severity: Finding.Severity) -> Int {
    findings.count { $0.severity == severity }
  }
}
