import Files
import ManagedStore
import Salvage

/// The files of a store that is watched, held open as long as they have their names.
///
/// None is closed before another has its name: POSIX would end the locks that this process may hold on it.
final class WatchedFiles {
  /// What has the store's name.
  enum Presence: Equatable {
    case missing
    case link
    case file(owner: UInt32)
  }

  /// Their names.
  let names: StoreFiles
  /// The main file; `nil` where it is missing.
  private(set) var main: OpenFile?
  /// The -wal; `nil` if there is none.
  private(set) var log: OpenFile?

  /// The -shm; `nil` if there is none.
  private var index: OpenFile?

  /// Raised where other files are the -wal and the -shm: these count commits from the beginning.
  private(set) var logNumber = 0

  /// The journals of saves without a log.
  let journals: SaveJournals

  /// Bytes of a main file that is not read whole for each save without a log: less is read in a moment.
  private static let fewestBytes = 4 << 20

  /// Nothing is opened before ``refresh()``.
  init(_ names: StoreFiles) {
    self.names = names
    journals = SaveJournals(path: names.journalPath)
  }

  /// Whether journals are worth being looked for, as the files were at the last ``refresh()``.
  private(set) var usesJournals = false

  /// Opens the journal of a save that is under way.
  func lookForJournal() {
    if usesJournals, let main { journals.look(main) }
  }

  /// Does what takes long. Journals are noticed meanwhile: if one is missed, all pages must be read again.
  func noticingJournals<Result>(_ work: () throws -> Result) rethrows -> Result {
    guard usesJournals, let main else { return try work() }
    return try journals.noticed(main, during: work)
  }

  /// Waits half a millisecond, and opens the journals that are there meanwhile.
  func pause() {
    let end = ContinuousClock.now + .microseconds(500)
    repeat {
      lookForJournal()
      usleep(usesJournals ? 20 : 500)
    } while ContinuousClock.now < end
    lookForJournal()
  }

  /// Whether the journal of every save without a log since a state was seen, up to the one that may be under way.
  ///
  /// - Throws: ``CoreDataError`` where the main file cannot be read.
  func areKnown(since state: StoreState) throws -> Bool {
    guard let main else { return false }
    // Before the journal: the one of a save that has begun to write is there, or was seen.
    let now = FileHeader(try main.read(at: 0, count: FileHeader.size)).changeCounter
    lookForJournal()
    return journals.areKnown(from: state.changeCounter, to: now)
  }

  /// The pages that saves without a log may have changed from one state to another, and how many there are; `nil`
  /// where that is not known.
  ///
  /// - Throws: ``CoreDataError`` where a file cannot be read.
  func pages(
    of file: OpenFile, from former: StoreState, to state: StoreState, pageSize: Int
  ) throws -> (named: Set<Int>, count: Int)? {
    let head = FileHeader(try file.read(at: 0, count: FileHeader.size))
    let count = head.pageCount(ofBytes: file.bytes, pageSize: pageSize)
    guard usesJournals, former.header.isEmpty, state.header.isEmpty else { return nil }
    return journals.pages(
      from: former.changeCounter, to: state.changeCounter, pageSize: pageSize, pageCount: count
    ).map { ($0.filter { $0 > 0 && $0 <= count }, count) }
  }

  /// What has the name now; a link is not followed.
  var presence: Presence {
    var info = stat()
    guard lstat(names.path, &info) == 0 else { return .missing }
    switch info.st_mode & S_IFMT {
    case S_IFREG: return .file(owner: info.st_uid)
    case S_IFLNK: return .link
    default: return .missing
    }
  }

  /// Opens what has the names now.
  ///
  /// - Throws: ``CoreDataError`` where a file is there and cannot be read.
  func refresh() throws {
    let former = (log?.identity, index?.identity)
    main = try Self.opened(names.path, main)
    log = try Self.opened(names.walPath, log)
    // Without it saves are not counted, and nothing else.
    index = try? Self.opened(names.shmPath, index)
    if former != (log?.identity, index?.identity) { logNumber += 1 }
    usesJournals = log == nil && (main?.bytes ?? 0) >= Self.fewestBytes
    lookForJournal()
  }

  /// The beginning of the -wal; `nil` if SQLite would use none.
  func logTail() throws -> LogTail? {
    try log.flatMap { try LogTail($0, mainBytes: main?.bytes ?? 0) }
  }

  /// A number that each commit to the -wal raises by one, by the log's index; `nil` where nothing keeps it.
  ///
  /// Format: https://www.sqlite.org/walformat.html, "The WAL-Index File Format". The header stands there twice.
  var logCommits: UInt32? { logIndex.map { Self.word($0, 8) } }

  /// The same where it counts just the transactions up to a place in the log; `nil` where it does not.
  ///
  /// A writer waits for the disk between the frames of a transaction and the index that counts it.
  func commits(upTo tail: LogTail?) -> UInt32? {
    guard let index = logIndex else { return nil }
    let frames = Int(Self.word(index, 16))
    // An index of other salts without frames is that of a log that is begun again with the next transaction.
    let isOwn = tail.map { LogHeader.salts(index, at: 32) == $0.header.salts } ?? true
    guard frames == (isOwn ? tail?.position ?? 0 : 0) else { return nil }
    return Self.word(index, 8)
  }

  private var logIndex: [UInt8]? {
    guard log != nil, let bytes = try? index?.read(at: 0, count: 96), bytes.count == 96,
      bytes[..<48].elementsEqual(bytes[48...]), bytes[12] == 1
    else { return nil }
    return bytes
  }

  /// A number of the index, which has the byte order of the machine.
  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    guard offset + 4 <= bytes.count else { return 0 }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }

  private static func opened(_ path: String, _ former: OpenFile?) throws -> OpenFile? {
    guard let identity = FileIdentity(of: path) else { return nil }
    if let former, former.identity == identity { return former }
    guard let file = try? OpenFile(path) else {
      // It may be gone in the meantime.
      guard FileIdentity(of: path) == identity else { return nil }
      return try OpenFile(path)
    }
    // A link would be another file.
    return file.identity == identity ? file : nil
  }
}

/// What shows that a store may have been written to.
struct StoreState: Equatable {
  /// The beginning of the -wal, which distinguishes its frames from older ones.
  var header: [UInt8]
  private var main: FileSnapshot?
  private var log: FileSnapshot?
  /// The modes of writing and reading; change counter, pages and list of free pages.
  private var counters: [UInt8]
  /// Whether the main file was written to so lately that its times may not show the next write. Without a log its
  /// change counter does.
  private var isFresh = false

  /// Asks for the state of files now.
  init(_ files: WatchedFiles) throws {
    main = FileSnapshot(of: files.names.path)
    counters = try files.main?.read(at: 18, count: 22) ?? []
    let isLogged = counters.first == 2
    if isLogged, let written = FileSystem.modification(files.names.path) {
      isFresh = abs(CoreDataDate.now - written) < 0.05
    }
    log = FileSnapshot(of: files.names.walPath)
    header = try files.log?.read(at: 0, count: LogHeader.size) ?? []
  }

  /// Counts the transactions that were written without a log; 0 where there is no main file.
  var changeCounter: UInt32 { BigEndian.word(counters, 6) }

  /// Whether nothing was written to the main file since.
  func hasSameMain(as other: StoreState) -> Bool {
    main == other.main && counters == other.counters && !other.isFresh
  }
}
