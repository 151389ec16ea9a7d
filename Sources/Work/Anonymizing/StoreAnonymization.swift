import DataMasking
import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Makes a copy of a store with other values, for somebody who is to look at its structure.
///
/// The result is pseudonymous: keys, references, counts, lengths, equality and order are those of the original. The
/// original is only read. The copy is made in a private folder and gets its name when it is whole.
package enum StoreAnonymization {
  /// What a person may ask for.
  package struct Options: Sendable {
    /// Attributes whose values stay, as `ENTITY.PROPERTY`.
    package var keep: [String] = []
    /// The replacements are computed from it: anybody who knows it can test guesses. Without one a random key is used.
    package var seed: String?
    /// Whether an app's own tables are copied as they are.
    package var keepsOwnTables = false

    /// Nothing is asked for.
    package init() {}
  }

  /// Anonymizes a store.
  ///
  /// - Parameters:
  ///   - output: where the new store is to be; nothing may be there.
  ///   - progress: called with rows done and rows in all.
  /// - Throws: ``CoreDataError`` of kind refused for a damaged store and one without its model; nothing is left of the
  ///   output where anything fails.
  package static func run(
    _ store: Store, to output: String, options: Options = Options(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> AnonymizationReport {
    try Connection.stoppingAll(when: isCancelled) {
      try refuseDamage(of: store, isCancelled)
      let kept = try KeptProperties(options.keep, in: store.model)
      try NewStorePlace.require(output, besides: [store.path])
      try SupportTree.place(of: store.files, beside: output)
      let key = options.seed.map { Pseudonyms.key(ofSeed: $0) } ?? Pseudonyms.randomKey()
      var report = AnonymizationReport(storePath: store.path, outputPath: output)
      report.kept = kept.list
      report.keepsOwnTables = options.keepsOwnTables
      report.isSeeded = options.seed != nil
      let pending = try PendingOutput(for: FileSystem.place(of: output))
      do {
        let support = try write(store, pending, kept, key, &report, isCancelled, progress)
        guard !isCancelled() else { throw CoreDataError(.cancelled, "cancelled") }
        guard !store.isChanged else {
          throw CoreDataError(
            .failed, "another program wrote to the store while it was read", path: store.path,
            hint: "Close that program and try again.")
        }
        try pending.finish(with: [support].compactMap { $0 })
      } catch let error as SQLiteError {
        throw CoreDataError(sqlite: error, path: output, kind: .failed)
      }
      return report
    }
  }

  private static func refuseDamage(of store: Store, _ isCancelled: @escaping () -> Bool) throws {
    try store.stopping(when: isCancelled) { try store.inspect() }
    try store.refuseDamage(
      "replaced",
      "Salvage it first, and anonymize the result: \(.deed("salvage"), of: [ShellText.quoted(store.path)])."
    )
    try store.requireModel(for: "which columns hold values")
    try store.refuseMissingTables(.refused)
  }

  /// - Returns: the name of the support folder beside the new store; `nil` if there is none.
  private static func write(
    _ store: Store, _ pending: PendingOutput, _ kept: KeptProperties, _ key: [UInt8],
    _ report: inout AnonymizationReport, _ isCancelled: @escaping () -> Bool,
    _ progress: @escaping (Int, Int) -> Void
  ) throws -> String? {
    let names = Pseudonyms(key: key, entities: Set(store.model.entities.map(\.name)))
    let data = DataPseudonyms(names)
    let columns = StoreColumns(of: store, keeping: kept)
    let name = FileSystem.name(of: pending.path)
    let file = try pending.folder.create(name)
    // Values of the original are in this one until all are replaced.
    let workName = name + ".work"
    _ = try pending.folder.create(workName)
    let work = pending.folder.path(of: workName)
    defer { StoreSuffix.removeAll(of: work) }
    do {
      let connection = try store.connection.clone(to: work)
      var rewriting = StoreRewriting(
        store: store, columns: columns, names: names, data: data, connection: connection)
      try rewriting.run(
        keepsOwnTables: report.keepsOwnTables, isCancelled: isCancelled, progress: progress)
      (report.replaced, report.unchanged) = (rewriting.replaced, rewriting.unchanged)
      report.unchangedColumns = rewriting.unchangedColumns
      (report.ownTables, report.uuid) = (rewriting.ownTables, rewriting.uuid)
      // Pages are written anew, so that nothing is left in free pages or behind the rows of others.
      try connection.run("VACUUM INTO ?", [.text(file.path)])
      connection.close()
    }
    if store.isLogged { try Connection(path: file.path, mode: .made).closeAsLogged() }
    try file.sync()
    try file.requireName()
    report.entities = try counts(of: file.path, like: store)
    try verify(columns.tables, of: file.path, against: store)
    let external = ExternalReplacement(store: store, data: data, kept: kept)
    let support = try external.write(beside: pending, &report) {
      if isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
    }
    (report.unreadable, report.shortened) = (data.unreadable, data.shortened)
    return support
  }

  /// Opens the new store as any other, and counts its objects.
  private static func counts(
    of path: String, like store: Store
  ) throws -> [(name: String, objects: Int)] {
    let copy = try Store(path: path, model: store.modelSource == .store ? nil : store.wholeModel)
    try copy.inspect()
    let (before, after) = (try store.counts(), try copy.counts())
    guard copy.damage?.concernsFile != true, copy.modelMatches, before == after else {
      throw mismatch("objects", path)
    }
    return after.sorted { $0.key < $1.key }.map { (name: $0.key, objects: $0.value) }
  }

  /// Most columns that are compared at once: SQLite bounds the depth of an expression.
  private static let batch = 100

  /// That keys, references and whatever else is not replaced are as they were, and that values are missing where they
  /// were, and as long.
  private static func verify(
    _ tables: [ReplacedTable], of path: String, against store: Store
  ) throws {
    let connection = try Connection(path: path, mode: .immutable)
    try connection.attach(store.connection, as: "src")
    for table in tables {
      let same = table.untouched.map { "a.\(quoted($0)) IS NOT b.\(quoted($0))" }
      let alike = table.columns.map { column in
        let (new, old) = ("a.\(quoted(column.name))", "b.\(quoted(column.name))")
        return """
          ((\(new) IS NULL) <> (\(old) IS NULL) OR typeof(\(old)) IN ('text', 'blob')
          AND length(CAST(\(new) AS BLOB)) IS NOT length(CAST(\(old) AS BLOB)))
          """
      }
      let conditions = ["b.rowid IS NULL"] + same + alike
      for start in stride(from: 0, to: conditions.count, by: batch) {
        let part = conditions[start..<min(conditions.count, start + batch)]
        let count = try connection.value(
          """
          SELECT count(*) FROM main.\(quoted(table.name)) a
          LEFT JOIN src.\(quoted(table.name)) b ON b.rowid = a.rowid
          WHERE \(part.joined(separator: " OR "))
          """)?.integer
        guard count == 0 else { throw mismatch("keys, references and lengths", path) }
      }
    }
  }

  private static func mismatch(_ what: String, _ path: String) -> CoreDataError {
    CoreDataError(
      .failed, "verification failed: the new store does not have the \(what) of the original",
      path: path, hint: "Nothing was kept of it. The store is unchanged.")
  }
}
