import Files
import ManagedStore
import SQLite
import Salvage

/// A store as it was when it was last looked at, and what later changes of its pages do to its objects.
final class Baseline {
  /// What became of a change.
  enum Outcome {
    case saved(ObservedSave)
    /// Rows could not be followed: all objects must be compared.
    case unfollowed
  }

  /// The copy, read as a store.
  let store: Store
  /// What the files were when it was made.
  let state: StoreState
  /// The file that it is a copy of.
  let identity: FileIdentity?
  /// Commits to the -wal that it has, by the log's index; `nil` where nothing counts them.
  let commits: UInt32?
  /// Bytes of a page.
  let pageSize: Int
  /// The place in the -wal up to which it goes; `nil` without one.
  var tail: LogTail?
  /// The number of the last transaction of history.
  private(set) var lastTransaction: Int64 = 0
  private let copy: DatabaseCopy
  private let files: WatchedFiles
  private var trees: TableTrees?
  /// The tables that are followed, by the first pages of their trees.
  private var roots: [Int: String] = [:]
  private var reader: RowReader?

  /// Where a copy comes from, and what is copied.
  struct Source {
    var files: WatchedFiles
    var model: Model?
    var fallback: (StoreMetadata) -> Model?
    /// Bytes of a main file that is copied where the file system cannot share its blocks.
    var mostCopied = Int.max
    var isCancelled: () -> Bool = { false }
  }

  /// How long a moment is waited for in which no program writes.
  ///
  /// A save without a log takes until the disk has it: at some saves a second such a moment is short.
  enum Patience {
    /// At the beginning, since there is nothing to go on with.
    static let first = Duration.seconds(10)
    /// Between two looks, the next of which tries again.
    static let later = Duration.milliseconds(500)
  }

  /// Looks at a journal that nobody writes: the save is not under way, but was broken off.
  private static let mostDeserted = 100

  /// Copies a store in one state, without a lock.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read or copied, where programs write to it all that time, and when
  ///   cancelled.
  init(of source: Source, patience: Duration) throws {
    let (files, names) = (source.files, source.files.names)
    let end = ContinuousClock.now + patience
    var (isFirst, deserted) = (true, 0)
    while isFirst || ContinuousClock.now < end && deserted < Self.mostDeserted {
      if source.isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
      if !isFirst { usleep(2000) }
      isFirst = false
      try files.refresh()
      try names.check()
      let isQuiet = { try StoreLock.writer(of: names.path) == nil && !names.hasHotJournal() }
      guard try isQuiet() else {
        deserted = StoreLock.user(of: names.path) == nil ? deserted + 1 : 0
        continue
      }
      let before = try StoreState(files)
      guard let main = files.main else { continue }
      var tail = try files.logTail()
      let copy = try DatabaseCopy(
        of: main, pageSize: tail?.pageSize, copyingAtMost: source.mostCopied,
        meanwhile: files.lookForJournal)
      var pageCount = copy.pageCount
      if let log = files.log, tail != nil {
        // The frames of a log that is another store's are not applied.
        let counts = try WriteAheadLog(besideStore: names.path).frames > 0
        while let transaction = try tail?.next(log) {
          guard counts else { continue }
          pageCount = transaction.pageCount
          try tail?.pages(of: transaction, in: log) { try copy.write($1, to: $0) }
        }
      }
      try copy.finish(pageCount: pageCount)
      var (state, after) = (before, try StoreState(files))
      if tail == nil, after != before, try isQuiet(),
        try copy.follow(main, files, from: before, to: after)
      {
        (state, after) = (after, try StoreState(files))
      }
      // Whatever a checkpoint wrote meanwhile is in the log that was read behind the main file.
      guard tail == nil ? after == state : after.header == state.header, try isQuiet() else {
        continue
      }
      (self.files, self.copy, self.tail, pageSize) = (files, copy, tail, copy.pageSize)
      (self.state, identity) = (state, main.identity)
      commits = files.commits(upTo: tail)
      store = try Store(
        path: copy.path, files: StoreFiles(path: copy.path, externalDataOf: names),
        model: source.model, fallback: source.fallback)
      return
    }
    throw CoreDataError(
      .failed, code: .persistentStoreOpen,
      "programs write to the store all the time, or a save was not finished", path: names.path,
      hint: "Try again when less is written.")
  }

  /// Makes ready to follow changes; of no use for a store that is damaged.
  func begin(_ request: WatchRequest, isCancelled: () -> Bool) throws {
    try store.followWrites()
    lastTransaction = try newestTransaction()
    let reader = RowReader(store, request)
    self.reader = reader
    var tables = reader.tables
    if store.hasHistory { tables.insert(HistoryTable.transaction.name) }
    roots = try store.connection.rows(
      "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"
    ).reduce(into: [:]) { roots, row in
      guard let name = row.first?.text, let root = row.last?.integer, tables.contains(name) else {
        return
      }
      roots[Int(root)] = name
    }
    trees = try TableTrees(roots: Array(roots.keys), pageCount: copy.pageCount) { page in
      if isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
      return try copy.page(page)
    }
  }

  /// Looks again for what is outside of rows.
  func lookAgain() { reader?.lookAgain() }

  /// Pages of the database.
  var pageCount: Int { copy.pageCount }

  /// A page; `nil` where the database has none of that number.
  func page(_ number: Int) throws -> [UInt8]? { try copy.page(number) }

  /// Reads bytes of the copy from an offset on: as many as fit, or fewer where it ends.
  func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try copy.read(at: offset, into: memory)
  }

  /// Raised where the list of tables changes, and by VACUUM.
  func schemaCookie() throws -> UInt32? {
    try copy.page(1).map { FileHeader($0).schemaCookie }
  }

  // MARK: Following

  /// Writes pages, and finds what that does to objects.
  ///
  /// - Returns: what was saved; its number of saves is 1.
  func follow(
    _ pages: [Int: [UInt8]], pageCount: Int, _ outlet: SaveOutlet
  ) throws -> Outcome {
    guard let reader, trees != nil, store.damage == nil,
      LogTail.isLikely(pageCount, of: copy.pageCount + pages.count)
    else { return .unfollowed }
    if let first = pages[1], try FileHeader(first).schemaCookie != schemaCookie() {
      return .unfollowed
    }
    guard let found = try trees?.rows(writing: pages, pageCount: pageCount, old: copy.page) else {
      trees = nil
      return .unfollowed
    }
    do {
      return .saved(try save(found, pages, pageCount, reader, outlet))
    } catch {
      // The copy may be of either state.
      trees = nil
      throw error
    }
  }

  /// Rows are read before and after a part at a time: objects of a save need the memory of one part.
  ///
  /// Each part begins with the state in which the part before it ended, so that the pages are written once for each.
  private func save(
    _ found: [Int: [Int64]], _ pages: [Int: [UInt8]], _ pageCount: Int, _ reader: RowReader,
    _ outlet: SaveOutlet
  ) throws -> ObservedSave {
    var rows: [String: [Int64]] = [:]
    for (root, keys) in found { rows[roots[root] ?? ""] = keys }
    let transactions = rows.removeValue(forKey: HistoryTable.transaction.name) ?? []
    var save = ObservedSave(time: CoreDataDate.now, saves: 1)
    guard !rows.isEmpty else {
      try write(pages, pageCount)
      try addTransactions(transactions, to: &save)
      return save
    }
    try copy.keep(pages.keys)
    let parts = RowReader.parts(of: rows)
    var done: Set<RowReader.Candidate> = []
    var moment = RowReader.Moment.before
    func turn() throws {
      moment = moment.other
      if moment == .after { try write(pages, pageCount) } else { try copy.restore() }
    }
    for part in parts {
      reader.clear()
      let first = moment
      var values: [RowReader.Moment: [RowReader.Candidate: [[Value]]]] = [:]
      try reading {
        values[first] = try reader.values(of: part)
        let objects = reader.objects(part)
        try reader.read(objects, first, owners: parts.count > 1 ? objects : [])
      }
      try turn()
      var (candidates, owners): (Set<RowReader.Candidate>, Set<RowReader.Candidate>) = ([], [])
      try reading {
        values[moment] = try reader.values(of: part)
        owners = reader.owners(part, values[.before] ?? [:], values[.after] ?? [:])
        candidates = reader.candidates(part, of: rows, owners).subtracting(done)
        // Links of an object may be in another part than its row.
        if parts.count > 1 { owners = candidates }
        try reader.read(candidates, moment, owners: owners)
      }
      let missing = reader.missing(of: candidates, first, owners: owners)
      if !missing.isEmpty {
        // What links lead from, and what is not there any more.
        try turn()
        try reading { try reader.read(missing, first, owners: owners) }
        if parts.count > 1 { done.formUnion(missing) }
      }
      try reader.compare(candidates, into: &save, outlet)
    }
    if moment == .before { try turn() }
    reader.clear()
    if parts.count > 1 { save.sort() }
    try addTransactions(transactions, to: &save)
    return save
  }

  /// Reads the copy in one transaction: else each statement locks it, and asks whether it was written to.
  private func reading(_ body: () throws -> Void) throws {
    let connection = store.connection
    try connection.execute("BEGIN")
    defer { try? connection.execute("COMMIT") }
    try body()
  }

  private func write(_ pages: [Int: [UInt8]], _ pageCount: Int) throws {
    for (page, bytes) in pages { try copy.write(bytes, to: page) }
    try copy.finish(pageCount: pageCount)
  }

  // MARK: History

  private func addTransactions(_ changed: [Int64], to save: inout ObservedSave) throws {
    guard changed.contains(where: { $0 > lastTransaction }) else { return }
    save.add(try transactions(after: lastTransaction))
    lastTransaction = max(lastTransaction, changed.max() ?? 0)
  }

  /// Transactions of history behind a number, oldest first: at most a hundred.
  func transactions(after number: Int64) throws -> [HistoryTransaction] {
    (try store.transactions(limit: 100) ?? []).filter { $0.number > number }.reversed()
  }

  /// The number of the last transaction that the store has; 0 without history.
  func newestTransaction() throws -> Int64 {
    guard store.hasHistory else { return 0 }
    return try store.connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer ?? 0
  }
}

extension ObservedSave {
  /// Names the transactions of history that came with it, and takes the time of the last.
  mutating func add(_ found: [HistoryTransaction]) {
    transactions = found
    time = found.last?.timestamp ?? time
  }
}
