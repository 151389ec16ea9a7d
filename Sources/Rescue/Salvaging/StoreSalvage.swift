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
    /// Whether the -wal is left out.
    package var ignoresLog = false

    /// Nothing is asked for.
    package init() {}
  }

  /// Salvages a store.
  ///
  /// - Parameters:
  ///   - output: where the new store is to be; nothing may be there.
  ///   - progress: told how much of the file was read, from 0 to 1.
  ///   - adding: puts more into the new store, before its bookkeeping is made.
  /// - Throws: ``CoreDataError`` where nothing can be read, the output cannot be written, or it was
  ///   cancelled; nothing is left of the output then.
  package static func run(
    path: String, output: String, options: Options = Options(),
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in },
    adding: (SalvagedCopy) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    if let refusal = OutputPlace.refusal(toWrite: "the new store", at: output, besides: [path]) {
      throw refusal
    }
    guard FileSystem.status(output) == nil else {
      throw CoreDataError(
        .refused, "the file exists already", path: output, hint: "Name a file that does not exist.")
    }
    guard FileSystem.isDirectory(FileSystem.parent(of: output) ?? ".") else {
      throw CoreDataError(
        .usage, "there is no such folder for the new store", path: output,
        hint: "Name a file in a folder that exists.")
    }
    let source = try SalvageSource(path: path, ignoresLog: options.ignoresLog)
    var report = SalvageReport(storePath: path, outputPath: output, logPath: source.logPath)
    let found = options.model == nil ? try source.model() : nil
    let model = options.model ?? found
    guard model != nil || source.hasTables else {
      throw CoreDataError(
        .unreadable,
        "the store's schema is gone, and with it what its tables and columns are called",
        path: path, advice: "Give the model that made the store with \(.model).")
    }
    let work = FileSystem.place(of: output) + ".salvaging"
    FileSystem.remove(work)
    try FileSystem.createEmpty(work)
    defer {
      for suffix in ["", "-wal", "-shm", "-journal"] { FileSystem.remove(work + suffix) }
    }
    do {
      let copy = try SalvagedCopy(
        of: source, at: work, model: model, isCancelled: isCancelled, progress: progress)
      report.notes += source.notes + copy.notes
      report.unplaced = copy.unplaced
      report.unreadable = copy.unreadable
      report.missingPages = source.missingPages
      report.unknownHoles = copy.unknownHoles
      try adding(copy)
      report.notes += try SalvagedBookkeeping(copy.connection).complete(with: model, copy.schema)
      report.tables = try tables(of: copy)
      try copy.connection.execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
      copy.connection.close()
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: output, kind: .failed)
    }
    try verify(work, &report)
    report.notes += try SupportTree.copy(
      of: StoreFiles(path: FileSystem.canonical(path)), beside: output,
      check: { if isCancelled() { throw CoreDataError(.cancelled, "cancelled") } })
    try FileSystem.sync(work)
    guard FileSystem.link(work, to: output) else {
      throw CoreDataError(.failed, "the store could not be put in its place", path: output)
    }
    try? FileSystem.sync(FileSystem.parent(of: output) ?? ".")
    return report
  }

  private static func tables(of copy: SalvagedCopy) throws -> [SalvageReport.Table] {
    let schema = copy.schema
    return try copy.tables.compactMap { table in
      let entity = schema?.table(named: table.name)?.root
      let greatest = try copy.connection.greatestKey(of: entity)
      let holes = try table.holes.map { keys in
        let end = keys.upperBound == .max ? greatest : keys.upperBound
        guard let end else { return SalvageReport.Hole(keys: keys, missing: nil) }
        let keys = keys.lowerBound...max(keys.lowerBound, end)
        let there =
          try copy.connection.value(
            "SELECT count(*) FROM \(quoted(table.name)) WHERE rowid BETWEEN ? AND ?",
            [.integer(keys.lowerBound), .integer(keys.upperBound)])?.integer ?? 0
        return SalvageReport.Hole(
          keys: keys, missing: end < keys.lowerBound ? 0 : max(0, keys.count - Int(there)))
      }
      return SalvageReport.Table(
        name: table.name, entity: entity, rows: table.rows, guessed: table.guessed,
        refused: table.refused, cut: table.cut, holes: holes)
    }
  }

  /// Asks SQLite whether the new file is sound, and opens it as a store.
  private static func verify(_ path: String, _ report: inout SalvageReport) throws {
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      for row in try connection.rows("PRAGMA integrity_check") {
        guard let text = row.first?.text, text != "ok" else { continue }
        report.notes.append("SQLite finds of the new store: \(text)")
      }
    } catch let error as SQLiteError {
      // An index over a function that only Core Data has cannot be checked.
      guard error.isEvaluation else {
        throw CoreDataError(sqlite: error, path: path, kind: .failed)
      }
    }
    do {
      let store = try Store(path: path)
      report.entities = try store.counts().sorted { $0.key < $1.key }.map {
        .init(name: $0.key, objects: $0.value)
      }
      report.isComplete = store.modelSource == .store && store.modelMatches
      if !report.isComplete {
        report.notes.append(
          "The model in the new store is not the one that its metadata names: Core Data will ask for a migration, or refuse it."
        )
      }
    } catch let error as CoreDataError {
      report.notes.append("The new store does not open as one of Core Data's: \(error.message).")
    }
  }
}

extension Connection {
  /// The last key that was given out in an entity's hierarchy, as Z_PRIMARYKEY has it.
  fileprivate func greatestKey(of entity: String?) throws -> Int64? {
    guard let entity else { return nil }
    return try value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", [.text(entity)])?.integer
  }
}
