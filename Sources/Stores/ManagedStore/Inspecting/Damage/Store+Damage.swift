import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// Size up to which a file is checked whole whenever it is opened: some 25 ms.
  static let checkedSize = 8 << 20
  /// Size up to which a command checks it before it reads: some 200 ms.
  package static let readingCheckSize = 64 << 20

  /// What a person should know of the store: things of the model, of its -wal, of its file.
  ///
  /// What only reading finds out is among them from then on.
  public var warnings: [String] { warnings(naming: \.text) }

  /// The same, with words for the values that they name.
  package func warnings(naming text: (Advice) -> String) -> [String] {
    openingWarnings.map(text) + wal.sentences(isInUse: isInUse)
      + strays.map { $0.sentence(store: files.path, isNeeded: isNeeded($0)) }
      + placeholders.map(\.sentence)
      + (damage?.sentences(entityTables) ?? [])
  }

  static let mismatch: Advice =
    "The model's version hashes are not those of the store (134100): values may be missing, or appear under another name."

  /// That the model is not the one that made the store, as a sentence; `nil` where it is.
  package var modelMismatch: String? {
    openingWarnings.contains(Self.mismatch) ? Self.mismatch.text : nil
  }

  /// What of the store's rows is lost or may be, and what an index has that is no row, as sentences; empty for a
  /// whole store.
  public var gaps: [String] {
    let rows = rowGaps + schemaGaps
    guard let damage, !damage.costsRows else { return rows }
    return rows + damage.rows.straySentences(entityTables)
  }

  /// Tables and columns of the store's own model that it lacks and that may have held something, as sentences.
  ///
  /// By a model that did not make the store, anything may be missing.
  private var schemaGaps: [String] { modelMatches || modelSource == .raw ? drift.losses : [] }

  /// The same without what an index alone is wrong about: the rows are as they were then.
  package var rowGaps: [String] {
    var result: [String] = []
    if wal.mayMissRows(isInUse: isInUse) { result += wal.sentences(isInUse: isInUse) }
    result += strays.filter(isNeeded).map { $0.sentence(store: files.path, isNeeded: true) }
    result += placeholders.map(\.sentence)
    if let damage, damage.costsRows { result += damage.sentences(entityTables) }
    return result
  }

  /// Rows of entities that are not of their table, where it is by their entity that rows are found, as
  /// sentences; empty also for a file that was not checked whole.
  package var unfetchedRows: [String] { isInspected ? findUnfetchedRows() : [] }

  /// The same, whether the file was checked or not.
  package func findUnfetchedRows() -> [String] {
    let shared = Set(entityTables.filter { $0.numbers.count > 1 }.map(\.table))
    var drift = StoreDrift()
    drift.rows =
      (try? rowsOfUnknownEntities(in: entityTables.filter { shared.contains($0.table) })) ?? []
    return drift.sentences
  }

  /// How many rows there are of which a part stands on pages that are another's, or that are gone, by entity.
  package var cutRows: [String: Int] {
    var result: [String: Int] = [:]
    for (table, keys) in damage?.rows.cut ?? [:] {
      let own = entityTables.filter { $0.table == table }
      guard let root = (own.first(where: \.isWholeTable) ?? own.first)?.entity else { continue }
      for key in keys {
        let row = "SELECT Z_ENT FROM \(quoted(table)) WHERE Z_PK = ?"
        let number = try? connection.value(row, [.integer(key)])?.integer
        result[number.flatMap { entityNames[$0] } ?? root, default: 0] += 1
      }
    }
    return result
  }

  /// Rows of which an index has other values, as sentences: they are there, and may be of another time.
  package var doubts: [String] {
    (damage?.rows.doubtful ?? [:]).sorted { $0.key < $1.key }.map { table, keys in
      let entity = entityTables.first { $0.table == table && $0.isWholeTable }?.entity
      let first = keys.prefix(5).map { "p\($0)" }.joined(separator: ", ")
      return
        "\(NumberText.counted(keys.count, "row")) of \(entity ?? table) \(keys.count == 1 ? "has" : "have") different values in an index (\(first)\(keys.count > 5 ? " …" : "")): one of the two is older, or damaged."
    }
  }

  /// What is wrong with a file of which every row could be read, as sentences.
  package var faults: [String] {
    guard let damage, damage.holes.isEmpty, damage.failure == nil, damage.rows.isEmpty else {
      return []
    }
    return damage.sentences(entityTables)
  }

  /// Whether a private copy of what can be read of a damaged file is read in its place.
  package var isMended: Bool { mended != nil }

  /// The gaps in a few words, for a line that has no room; `nil` for a whole store.
  public var shortGap: String? {
    if let damage, !damage.holes.isEmpty {
      return "rows lost in \(NumberText.counted(damage.holes.count, "place"))"
    }
    if let damage, !damage.rows.isEmpty { return "rows damaged" }
    if damage?.failure != nil { return "does not open: read page by page" }
    let frames = unappliedFrames
    if frames > 0 { return "wal: \(NumberText.counted(frames, "frame")) not applied" }
    if strays.contains(where: { $0.kind == .journal && isNeeded($0) }) {
      return "journal: under another name"
    }
    if let placeholder = placeholders.first {
      return "\(placeholder.isLog ? "wal" : "journal"): not downloaded"
    }
    if !rowGaps.isEmpty { return "wal: older than the store" }
    return gaps.isEmpty ? nil : "tables or columns missing"
  }

  /// What of the bookkeeping was done without, in a few words; `nil` for a store that opens as it is.
  package var shortFlaw: String? {
    if flaws.metadata != nil { return "no metadata" }
    return flaws.modelCache == nil || modelSource == .file ? nil : "model cache unreadable"
  }

  /// Frames that hold rows which are not in the store: of its -wal, or of a file that looks like it.
  package var unappliedFrames: Int {
    let own = wal.mayMissRows(isInUse: isInUse) ? wal.unapplied?.frames ?? 0 : 0
    return own
      + strays.filter { $0.kind == .log && isNeeded($0) }.reduce(0) { $0 + $1.frames }
  }

  /// Whether the store has no such file of its own, so that rows may be missing without it, or half saved.
  package func isNeeded(_ stray: StrayLog) -> Bool {
    switch stray.kind {
    case .log: wal.frames == 0
    case .journal: !isRolledBack && !stray.isOfAnotherTime
    }
  }

  /// Things to know that are no reason to worry, as sentences.
  public var notes: [String] {
    let missing =
      isLogged && !wal.isPresent && !strays.contains { $0.kind == .log }
        && !placeholders.contains(where: \.isLog)
      ? "The store is in WAL mode and has no -wal: if it was copied while the app ran, the last saves are in the missing -wal."
      : nil
    let interrupted =
      isRolledBack
      ? "A save was interrupted: the store is read as it was before, by the -journal beside it."
      : nil
    return [deferral, interrupted, missing].compactMap { $0 }
  }

  /// Whether indexes can be relied on: the file was checked, or its indexes were rebuilt.
  var trustsIndexes: Bool { isInspected || mended != nil }

  /// SQL behind a table's name that keeps to its own b-tree where its indexes may be wrong.
  var tableOnly: String { trustsIndexes ? "" : "NOT INDEXED" }

  /// Cursors over relationships jump about in the file: SQLite's 2 MB would read pages again.
  package static let cacheSize = 12_000
  /// For what is sorted: beyond that it goes to a file. Several cursors sort at once.
  private static let sorterSize = 2000

  /// Sets how many kilobytes of the file a connection keeps, and in how many it sorts.
  package static func setCache(of connection: Connection, kilobytes: Int) {
    // One that cannot be set is SQLite's own.
    try? connection.execute("PRAGMA cache_size = -\(kilobytes)")
  }

  /// Runs what begins a sorted statement: where no index gives the order, SQLite sorts then.
  func sortingInLittleMemory<T>(_ body: () throws -> T) rethrows -> T {
    guard !trustsIndexes else { return try body() }
    Self.setCache(of: connection, kilobytes: Self.sorterSize)
    defer { Self.setCache(of: connection, kilobytes: Self.cacheSize) }
    return try body()
  }

  /// Checks the whole file, unless that was done.
  ///
  /// From then on a damaged one is read through a private copy of all that can be read.
  ///
  /// - Parameters:
  ///   - limit: a larger file is left unchecked.
  ///   - isForPlan: whether what a plan asks of all rows is found out by the way; it takes memory for
  ///     their keys.
  /// - Throws: ``CoreDataError`` where SQLite fails, or is interrupted.
  package func inspect(upTo limit: Int = .max, isForPlan: Bool = true) throws {
    guard !isInspected, mended == nil else { return }
    guard files.size <= limit else { return }
    try translating {
      let found = try Soundness(
        checking: connection, asking: isForPlan ? schema.questions(entityTables) : schema.counts)
      isInspected = true
      damage = found.damage
      facts = found.facts
      if let copy = found.mended { use(copy) }
    }
  }

  /// Where all is that is read of the store, in one file that is read as if it could not change; `nil`
  /// where some of it is in a log, and where a copy is read in its place.
  package var wholeFile: String? {
    access == .immutable && mended == nil && connection.isImmutable ? connection.path : nil
  }

  /// Takes the file for checked: another handle on it did that.
  package func trustAsInspected() { isInspected = true }

  /// Runs `body` while `isCancelled` is asked too, within long statements as well.
  package func stopping<T>(
    when isCancelled: @escaping () -> Bool, _ body: () throws -> T
  ) rethrows -> T {
    // The connection is another one afterwards, where the file is damaged.
    let connection = connection
    return try connection.stopping(when: isCancelled, body)
  }

  /// Goes on with a private copy of what can be read; false where that is what is read already.
  @discardableResult
  func mend() throws -> Bool {
    guard mended == nil else { return false }
    let found = try Soundness(mending: connection)
    damage = found.damage
    guard let copy = found.mended else { return false }
    use(copy)
    return true
  }

  /// Goes on with a private copy whose texts are encoded as another store's, where its own are not.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  package func takeEncoding(of other: Store) throws {
    guard let encoding = try other.encoding(), try self.encoding() != encoding else { return }
    try translating { use(try MendedCopy(of: connection, encoding: encoding)) }
  }

  /// Refuses a store whose texts are encoded otherwise than another one's: SQLite does not read both at once.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, or when SQLite fails.
  package func requireEncoding(of other: Store) throws {
    guard let own = try encoding(), let others = try other.encoding(), own != others else { return }
    throw CoreDataError(
      .refused, code: .sqlite,
      "its texts are in \(own), and those of \(other.path) in \(others): SQLite does not read both at once",
      path: path,
      advice: "\(.deed("store-comparison")) reads each by itself.")
  }

  private func encoding() throws -> String? {
    try translating { try connection.value("PRAGMA encoding")?.text }
  }

  /// Whether rows of a table may be missing since what holds them could not be read.
  package func mayLackRows(of table: String) -> Bool {
    guard let damage else { return false }
    return damage.openKeys != nil || damage.holes.contains { $0.table == table }
  }

  private func use(_ copy: MendedCopy) {
    copy.connection.takeOver(from: connection)
    // They are defined on the other connection: here they cannot fail otherwise than there.
    try? StoreFunctions.define(on: copy.connection)
    connection = copy.connection
    facts = nil
    mended = copy
  }

  /// Runs `body`, reporting SQLite's failures as failures of this store. Where a page cannot be read,
  /// `body` runs once more, on all that can be: it must begin its statements itself.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    try translating {
      do {
        return try body()
      } catch let error as SQLiteError where error.isDamage {
        guard try mend() else { throw error }
        return try body()
      }
    }
  }

  /// Runs `body` once, reporting SQLite's failures as failures of this store.
  package func translating<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
  }

  /// Refuses a store of which a part cannot be read: what is made of the rest would be taken for the whole.
  ///
  /// - Parameter deed: what cannot be done with that part: “merged”.
  package func refuseDamage(_ deed: String, _ advice: Advice) throws {
    guard isMended || damage?.concernsFile == true else { return }
    throw CoreDataError(
      .refused, "the store is damaged: what cannot be read cannot be \(deed)", path: path,
      advice: advice)
  }

  /// Whether tables or columns of its model are missing, and be it some that never held anything.
  package var lacksTables: Bool { drift.firstMissing(evenIfUnused: true) != nil }

  /// Refuses a store that lacks tables or columns of its model: what is made of the rest would be taken for the whole.
  ///
  /// - Parameters:
  ///   - kind: what the error is, by what was to be done.
  ///   - isUnused: whether tables count, too, that never held anything.
  package func refuseMissingTables(
    _ kind: CoreDataError.Kind, evenIfUnused isUnused: Bool = false
  ) throws {
    guard let missing = drift.firstMissing(evenIfUnused: isUnused) else { return }
    throw CoreDataError(
      kind, code: .persistentStoreIncompatibleSchema, missing, path: path,
      advice:
        "\(.deed("diagnosis"), of: [ShellText.quoted(path)]) shows what is wrong, and what helps.")
  }

  /// Refuses a store that is not read by the model that made it.
  ///
  /// - Parameter rest: what is not known without that.
  package func requireModel(for rest: String) throws {
    guard modelSource == .raw || !modelMatches else { return }
    throw modelNeeded(for: rest, .refused)
  }

  /// That the store cannot be worked on without the model that made it.
  package func modelNeeded(for rest: String, _ kind: CoreDataError.Kind) -> CoreDataError {
    CoreDataError(
      kind, code: .migrationMissingSourceModel,
      "the model that made the store is not known, and with it \(rest)", path: path,
      advice: "Give the model with \(.model, "MODEL").")
  }
}

extension SQLiteError {
  /// That the keys of a table's tree do not rise, which SQLite does not look at while it reads.
  static func disorder(of table: String) -> SQLiteError {
    SQLiteError(
      extendedCode: 11,
      message: "the keys of \(table) are not in ascending order: its pages are mixed up")
  }
}
