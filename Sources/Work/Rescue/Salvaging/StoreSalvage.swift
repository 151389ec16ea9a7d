import Files
import ManagedModel
import ManagedStore
import Migration
import ModelWriting
import SQLite

/// Makes a new, whole store of everything that can still be read in a damaged one.
///
/// The damaged one is read page by page, without SQLite, and is as it was afterwards.
package enum StoreSalvage {
  /// What a person may ask for.
  package struct Options: Sendable {
    /// The model that made the store, where the store itself no longer has it.
    package var model: Model?
    /// The versions of the model that are known, from the first to the last.
    package var versions: [Version] = []
    /// Whether the store is to show which of the versions is its own; `model` is for one that does not.
    package var choosesVersion = false
    /// Which -wal is laid over the main file.
    package var log = SalvageSource.LogChoice.own
    /// A healthy store of the same version, which shows what lost tables are like.
    package var sibling: SiblingStore?
    /// Whether the report says for each page which rows are from it.
    package var tellsPages = false
    /// Where the file was made of a store of another kind, what of that store is not in it, as sentences.
    package var unread: [String]?
    /// Whether links to what is not there are reported for a store that lost nothing, too.
    package var tellsLinks = false

    /// A version of a model, with its name.
    package struct Version: Sendable {
      let name: String
      package let model: Model

      /// One that was read.
      package init(name: String, model: Model) {
        self.name = name
        self.model = model
      }
    }

    /// Nothing is asked for.
    package init() {}
  }

  /// Salvages a store.
  ///
  /// - Parameters:
  ///   - output: where the new store is to be; nothing may be there.
  ///   - progress: called with how much of the file was read, from 0 to 1.
  ///   - adding: puts more into the new store, before its bookkeeping is made.
  /// - Throws: ``CoreDataError`` where nothing can be read, the output cannot be written, or it was
  ///   cancelled; nothing is left of the output then.
  package static func run(
    path: String, output: String, options: Options = Options(),
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in },
    adding: (SalvagedCopy) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    try Connection.stoppingAll(when: isCancelled) {
      try salvaged(path, output, options, isCancelled, progress, adding)
    }
  }

  private static func salvaged(
    _ path: String, _ output: String, _ options: Options, _ isCancelled: @escaping () -> Bool,
    _ progress: @escaping (Double) -> Void, _ adding: (SalvagedCopy) throws -> Void
  ) throws -> SalvageReport {
    try NewStorePlace.require(output, besides: [path])
    let files = StoreFiles(path: FileSystem.canonical(path))
    try SupportTree.place(of: files, beside: output)
    let before = StoreFingerprint(of: files.path)
    let source = try SalvageSource(path: path, log: options.log)
    var report = SalvageReport(storePath: path, outputPath: output, logPath: source.logPath)
    let models = try SalvageModels(options, source, isCancelled: isCancelled)
    let model = models.model
    guard model != nil || source.hasTables else {
      if source.isForeign { throw StoreMetadata.noStore(path) }
      throw CoreDataError(
        .unreadable,
        "the store's schema is gone, and with it the names of its tables and columns",
        path: path, advice: "Give the model that made the store with \(.model).")
    }
    let pending = try PendingOutput(for: FileSystem.place(of: output))
    let name = FileSystem.name(of: pending.path)
    let work = pending.folder.path(of: name)
    var file = try pending.folder.create(name)
    let empty = report
    // The indexes that a row of their table is not in, once for each row.
    var lacking: [String] = []
    // Whether indexes that were copied with their tables do not agree with them.
    var isDoubted = false
    // Nobody writes to the new store while it is checked.
    var sync: EarlySync?
    // What was copied page for page and is not right after all is made again row by row.
    for copiesTrees in [true, false] {
      report = empty
      if !copiesTrees {
        StoreSuffix.removeAll(of: work)
        file = try pending.folder.create(name)
      }
      do {
        let copy = try SalvagedCopy(
          of: source, at: work, model: model, versions: models.earlier, like: options.sibling,
          copiesTrees: copiesTrees, isCancelled: isCancelled, progress: progress)
        report.notes += source.notes + models.notes
        report.unplaced = copy.unplaced
        report.undecided = copy.undecided
        report.lostTables = copy.lostTables
        report.unreadable = copy.unreadable
        report.zeroed = copy.doubtful
        report.unbalanced = copy.unbalanced
        report.misplaced = copy.misplaced + source.pagesOutOfPlace
        (report.isPartial, report.isMixed) = (source.isPartial, source.isMixed)
        report.lacksOwnLog = source.lacksOwnLog
        report.missingPages = try source.missingPages + source.pagesOfNothing()
        report.unknownHoles = copy.unknownHoles
        (report.unread, report.isModelMade) = (options.unread, MadeModels.has(path))
        if options.tellsPages { try copy.origins { report.pages.append($0) } }
        try adding(copy)
        if report.missingPages + report.unknownHoles > 0 {
          report.openKeys = try copy.openKeys()
        }
        report.gone = try copy.goneTables(of: source)
        report.needsModel = copy.lacksStatements || copy.lacksRelationships
        report.lacksRelationships = copy.lacksRelationships
        // A person has to name it for what looks into the store.
        report.sourceLacksModel = try source.model() == nil
        report.knowsVersions = options.versions.count > 1
        // Before the counters are rebuilt: of those that are lost nobody knows how far keys went.
        report.tables = try tables(of: copy)
        // Counting the keys reads every row, so it is done only if there are no rows.
        report.gaveOutNoKey =
          try report.tables.allSatisfy { $0.entity == nil || $0.rows == 0 }
          && copy.openKeys().allSatisfy { $0.value == 0 }
        let completed = try SalvagedBookkeeping(copy.connection).complete(
          with: model, copy.schema)
        report.notes += completed.notes
        // What was lost of these is there again.
        for index in report.tables.indices
        where completed.rebuilt.contains(report.tables[index].name) {
          report.tables[index].cut = [:]
        }
        let schema =
          options.tellsLinks || report.isShort || !report.gone.isEmpty ? copy.schema : nil
        let placeOfLinks = report.notes.count
        // What is put in must not set off what an app's triggers do with a save.
        try copy.makeTriggers()
        report.notes += copy.notes
        try copy.connection.execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
        copy.connection.close()
        sync = EarlySync(of: work)
        let result = try Connection(path: work, mode: .immutable)
        defer { result.close() }
        let (problems, facts) = try problems(
          result, report.tables, asking: schema?.linkQuestions ?? [:])
        if copy.hasCopiedTrees, !problems.isEmpty {
          lacking = problems.filter { $0.contains("missing from index") }
            .compactMap(PageLayer.indexName)
          isDoubted = true
          continue
        }
        report.doubtful = lacking.count
        if isDoubted || report.isShort || !copy.hasCopiedIndexes {
          let entries = try IndexEvidence(of: source, in: work)
          report.missing = entries.missing.mapValues { $0.sorted() }
          report.doubtful = max(
            lacking.count { !entries.confirms(rowsOf: $0) },
            entries.different.values.reduce(0) { $0 + $1.count })
        }
        if let schema, let note = try DanglingLinks.note(result, schema, knowing: facts) {
          report.notes.insert(note, at: placeOfLinks)
        }
        report.notes += problems.map { "SQLite finds of the new store: \($0)" }
        break
      } catch let error as SQLiteError {
        guard !copiesTrees else { continue }
        throw CoreDataError(sqlite: error, path: output, kind: .failed)
      } catch let error as CoreDataError {
        guard copiesTrees, error.kind != .cancelled else { throw error }
      }
    }
    try sync?.wait()
    try open(work, &report)
    report.isChanged = StoreFingerprint(of: files.path) != before
    let support = try SupportTree.copyWhatIsReadable(
      of: files, for: output, into: pending.folder,
      check: { if isCancelled() { throw CoreDataError(.cancelled, "cancelled") } })
    report.notes += support?.notes ?? []
    report.unreadableFiles =
      support?.unreadable.map { .init(path: $0.path, reason: $0.reason) } ?? []
    guard !isCancelled() else { throw CoreDataError(.cancelled, "cancelled") }
    try file.sync()
    try file.requireName()
    try pending.finish(with: [support?.name].compactMap { $0 })
    // The new store is in its place: a request to stop comes too late.
    report.missingFiles = try? Connection.finishing {
      try missingFiles(of: output, instead: files)
    }
    return report
  }

  private static func tables(of copy: SalvagedCopy) throws -> [SalvageReport.Table] {
    let schema = copy.schema
    let entities = try copy.entities()
    return try copy.tables.compactMap { table in
      let entity = entities[table.name]
      let greatest = try entity.flatMap { schema?.numbers[$0] }.flatMap {
        try copy.greatestKey(of: $0, in: table.name)
      }
      let holes = try table.holes.map { keys in
        let end = keys.upperBound == .max ? greatest : keys.upperBound
        guard let end else { return SalvageReport.Hole(keys: keys, missing: nil) }
        let known = keys.lowerBound...max(keys.lowerBound, end)
        return SalvageReport.Hole(
          keys: known,
          missing: end < keys.lowerBound ? 0 : try copy.keys(in: known, lackedBy: table.name))
      }
      return SalvageReport.Table(
        name: table.name, entity: entity, rows: table.rows, guessed: table.guessed,
        refused: table.refused, cut: table.cut, holes: holes)
    }
  }

  /// Asks SQLite whether the new file is sound.
  ///
  /// - Returns: what is wrong with it, and what was found out by the way of one that is sound.
  private static func problems(
    _ connection: Connection, _ saved: [SalvageReport.Table],
    asking questions: [String: ReadFacts.Question]
  ) throws -> ([String], ReadFacts?) {
    try connection.execute("PRAGMA cache_size = -4000")
    let rows = Dictionary(saved.map { ($0.name, $0.rows) }) { first, _ in first }
    // The largest table with its indexes first, so that no thread ends with it.
    let tables = try connection.rows(
      """
      SELECT m.name, (SELECT count(*) FROM sqlite_master i WHERE i.type = 'index' \
      AND i.tbl_name = m.name) FROM sqlite_master m WHERE m.type = 'table'
      """
    ).compactMap { row in
      row.first?.text.map { name in
        (name: name, work: (rows[name] ?? 0) * (1 + Int(clamping: row.last?.integer ?? 0)))
      }
    }.sorted { ($1.work, $0.name) < ($0.work, $1.name) }.map(\.name)
    do {
      let check = IntegrityCheck(
        of: connection.path, tables: tables, isWhole: false, asking: questions)
      let problems = try check.problems(helpedBy: connection)
      return (problems, problems.isEmpty ? check.facts : nil)
    } catch let error as SQLiteError where error.isEvaluation {
      // An index over a function that only Core Data has cannot be checked.
      return ([], nil)
    }
  }

  /// Files of external data that did not come along; `nil` where all are there, or none is named.
  private static func missingFiles(
    of output: String, instead files: StoreFiles
  ) throws -> SalvageReport.MissingFiles? {
    let store = try Store(path: output)
    let named = try store.externalFiles(limit: .max).files.filter { $0.state != .orphaned }
    let missing = named.filter { $0.state == .missing }
    guard !missing.isEmpty else { return nil }
    let properties = missing.compactMap { file in
      file.object.flatMap { object in file.property.map { "\(object.entity).\($0)" } }
    }
    return .init(
      count: missing.count, of: named.count, properties: Set(properties).sorted(),
      folders: (
        FileSystem.name(of: files.supportFolder), FileSystem.name(of: store.files.supportFolder)
      ))
  }

  /// Opens the new file as a store.
  private static func open(_ path: String, _ report: inout SalvageReport) throws {
    do {
      let store = try Store(path: path)
      report.opens = true
      report.entities = try store.counts().sorted { $0.key < $1.key }.map {
        .init(name: $0.key, objects: $0.value)
      }
      report.isComplete =
        store.modelSource == .store && store.modelMatches && !store.lacksTables
      report.lacksModel = store.modelSource != .store
      report.unfetchedRows = store.findUnfetchedRows()
      // What is said of an entity's lost table is more than that the new one has none.
      var drift = store.drift
      drift.missingTables.removeAll { report.gone[$0.entity] != nil }
      report.lacking = drift.losses
      report.lacks =
        !store.lacksTables
        ? nil
        : !drift.missingColumns.isEmpty
          ? .columns : report.lacking.isEmpty && report.gone.isEmpty ? .unusedTables : .tables
      if !report.lacksModel, !store.modelMatches {
        report.notes.append(
          "The model in the new store is not the one that its metadata names: Core Data will ask for a migration, or refuse it."
        )
      }
    } catch let error as CoreDataError {
      report.obstacle = error.message
    }
  }
}

extension SalvagedCopy {
  /// The last key that was given out in an entity's hierarchy, as its counter has it; `nil` if there is none,
  /// or where it is less than a key that is there.
  fileprivate func greatestKey(of number: Int64, in table: String) throws -> Int64? {
    let columns = try DatabaseTables(connection).columns(of: "Z_PRIMARYKEY")
    guard columns.isSuperset(of: ["Z_ENT", "Z_MAX"]),
      let given = try PrimaryKeys(connection).given(number)
    else { return nil }
    let last = try connection.value("SELECT max(rowid) FROM \(quoted(table))")?.integer ?? 0
    return given >= last ? given : nil
  }
}

/// The model that a damaged store is read with, and what else is known of its versions.
struct SalvageModels {
  /// The model; `nil` where none is given and none is in the store.
  let model: Model?
  /// The versions before it, from the first, where it came with others.
  let earlier: [Model]
  /// What a person should know of the choice, as sentences.
  private(set) var notes: [String] = []

  /// Chooses among the versions that are given: by what is left of the store's metadata, else by the model
  /// in it, else by its rows.
  ///
  /// - Throws: ``CoreDataError`` where nothing shows which version it is, and none is the current one.
  init(
    _ options: StoreSalvage.Options, _ source: SalvageSource, isCancelled: () -> Bool
  ) throws {
    if let sibling = options.sibling {
      let hashes = try source.versionHashes()
      guard hashes.isEmpty || hashes == sibling.versionHashes else {
        throw CoreDataError(
          .usage,
          "\(FileSystem.name(of: sibling.path)) is of another version of the model: its tables may differ",
          path: sibling.path, hint: "Take a store that the same version of the app made.")
      }
    }
    let chosen =
      options.choosesVersion
      ? try Self.choice(options, source, isCancelled, &notes)
      : try options.model ?? source.model() ?? options.sibling?.model
    model = chosen
    let versions = options.versions.map(\.model)
    let place =
      versions.lastIndex { $0 == chosen }
      ?? versions.lastIndex { $0.versionHashes == chosen?.versionHashes }
    earlier = place.map { Array(versions[..<$0]) } ?? []
  }

  private static func choice(
    _ options: StoreSalvage.Options, _ source: SalvageSource, _ isCancelled: () -> Bool,
    _ notes: inout [String]
  ) throws -> Model {
    let versions = options.versions.map(\.model)
    let hashes = try source.versionHashes()
    let named = versions.last {
      !hashes.isEmpty
        && ($0.versionHashes == hashes
          || !$0.configurations(matching: hashes, of: $0.versionHashes).isEmpty)
    }
    if let named { return named }
    if let cached = try source.model() {
      let known = cached.versionHashes
      if let version = versions.last(where: { $0.versionHashes == known }) { return version }
      notes.append(
        "None of the versions of the model that was given made the store: the model in the store was used."
      )
      return cached
    }
    let fit = try VersionFit(of: versions, source, isCancelled: isCancelled)
    guard let best = fit.best.last else {
      guard let current = options.model else {
        throw CoreDataError(
          .usage, "nothing in the store shows which version of the model made it",
          advice: "Name the version with \(.model), as PATH@VERSION.")
      }
      notes.append(
        "Nothing in the store shows which version of the model made it: the current one was used.")
      return current
    }
    let others = fit.best.dropLast().map { "“\(options.versions[$0].name)”" }
    notes.append(
      "The store no longer says which version of the model made it: its rows fit “\(options.versions[best].name)” best"
        + (others.isEmpty ? "." : ", and as well \(others.joined(separator: ", ")).")
        + " Look at its values before you rely on them.")
    return versions[best]
  }
}
