import Files
import ManagedStore
import Salvage

/// The pages in which a store differs from a copy of it, for changes that no log shows.
///
/// All of both is read, but where the journals of all saves since were seen: they name the pages.
struct PageDifference {
  /// Those pages, as they are now.
  private(set) var pages: [Int: [UInt8]] = [:]
  /// Pages of the database now.
  private(set) var pageCount = 0
  /// Whether there are more than are kept in memory, or pages of another size.
  private(set) var isLarge = false
  /// The place in the -wal up to which it goes.
  private(set) var tail: LogTail?
  /// Commits to the -wal up to there, by the log's index; `nil` where nothing counts them.
  private(set) var commits: UInt32?
  /// What the files were.
  private(set) var state: StoreState

  /// Read so little at a time that no journal comes and goes meanwhile; and after how much it is asked whether one did.
  private static let (stride, check) = (1 << 17, 1 << 20)
  /// How often a moment is looked for in which no program writes, once all was read.
  private static let mostMoments = 10

  /// Compares both.
  ///
  /// - Parameter former: what the files were when the copy was as they were.
  /// - Returns: `nil` where the store was written to meanwhile.
  /// - Throws: ``CoreDataError`` where it cannot be read.
  init?(_ files: WatchedFiles, _ baseline: Baseline, since former: StoreState) throws {
    try files.refresh()
    state = try StoreState(files)
    guard let main = files.main, try Self.isQuiet(files) else { return nil }
    let head = FileHeader(try main.read(at: 0, count: FileHeader.size))
    pageCount = head.pageCount(ofBytes: main.bytes, pageSize: baseline.pageSize)
    var logged: Set<Int> = []
    tail = try files.logTail()
    isLarge = (tail?.pageSize ?? head.pageSize) != baseline.pageSize
    if let log = files.log {
      while !isLarge, let transaction = try tail?.next(log) {
        pageCount = transaction.pageCount
        try tail?.pages(of: transaction, in: log) { page, bytes in
          logged.insert(page)
          let former = try baseline.page(page) ?? []
          if Self.isSame(bytes, former, in: bytes.indices) {
            pages[page] = nil
          } else {
            add(bytes, page, baseline)
          }
        }
      }
    }
    if !isLarge, tail == nil, try addNamed(main, files, baseline, from: former, to: state) {
      // No more is read.
    } else if !isLarge {
      guard try addMain(main, besides: logged, baseline, files) else { return nil }
    }
    guard try isUnchanged(main, files, baseline) else { return nil }
    commits = files.commits(upTo: tail)
    pages = pages.filter { $0.key <= pageCount }
  }

  /// Whether the files are as they were read. What was saved meanwhile is read if the journals name it.
  private mutating func isUnchanged(
    _ main: OpenFile, _ files: WatchedFiles, _ baseline: Baseline
  ) throws -> Bool {
    for moment in 0..<Self.mostMoments {
      if moment > 0 { files.pause() }
      let isQuiet = try Self.isQuiet(files)
      let now = try StoreState(files)
      guard tail == nil else { return isQuiet && now.header == state.header }
      if isQuiet, now == state { return true }
      guard files.usesJournals, try files.areKnown(since: state) else { return false }
      guard isQuiet, try addNamed(main, files, baseline, from: state, to: now) else { continue }
      let isStill = try Self.isQuiet(files) && StoreState(files) == now
      state = now
      if isStill { return true }
    }
    return false
  }

  /// Whether no program is writing pages of the main file.
  private static func isQuiet(_ files: WatchedFiles) throws -> Bool {
    try StoreLock.writer(of: files.names.path) == nil && !files.names.hasHotJournal()
  }

  private mutating func add(_ bytes: [UInt8], _ page: Int, _ baseline: Baseline) {
    pages[page] = bytes
    isLarge = isLarge || pages.count * baseline.pageSize > LogTail.mostBytes
  }

  /// Whether both have the same bytes in a range; not where one of them ends before it does.
  private static func isSame(_ one: [UInt8], _ other: [UInt8], in range: Range<Int>) -> Bool {
    one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        guard range.upperBound <= min(one.count, other.count), let first = one.baseAddress,
          let second = other.baseAddress
        else { return false }
        return memcmp(first + range.lowerBound, second + range.lowerBound, range.count) == 0
      }
    }
  }

  /// Adds what differs of the pages that journals name.
  ///
  /// - Returns: false where they do not name all.
  private mutating func addNamed(
    _ main: OpenFile, _ files: WatchedFiles, _ baseline: Baseline, from former: StoreState,
    to state: StoreState
  ) throws -> Bool {
    let size = baseline.pageSize
    guard let pages = try files.pages(of: main, from: former, to: state, pageSize: size) else {
      return false
    }
    pageCount = pages.count
    for page in pages.named where !isLarge {
      let bytes = try main.read(at: (page - 1) * size, count: size)
      guard bytes.count == size else { continue }
      if try baseline.page(page) == bytes {
        self.pages[page] = nil
      } else {
        add(bytes, page, baseline)
      }
    }
    return true
  }

  /// Adds what differs of the whole main file.
  ///
  /// - Returns: false where it was saved to meanwhile, and the journal of a save was not seen.
  private mutating func addMain(
    _ main: OpenFile, besides logged: Set<Int>, _ baseline: Baseline, _ files: WatchedFiles
  ) throws -> Bool {
    let size = baseline.pageSize
    var now = [UInt8](repeating: 0, count: Self.stride)
    var former = now
    var offset = 0
    while offset < pageCount * size, !isLarge {
      let count = try now.withUnsafeMutableBytes { try main.read(at: offset, into: $0) }
      guard count > 0 else { return true }
      let known = try former.withUnsafeMutableBytes { try baseline.read(at: offset, into: $0) }
      defer { offset += count }
      files.lookForJournal()
      if files.usesJournals, offset % Self.check == 0, try !files.areKnown(since: state) {
        return false
      }
      // What is cut off within a page is read when it is whole.
      guard count != known || !Self.isSame(now, former, in: 0..<count) else { continue }
      for start in Swift.stride(from: 0, to: count - size + 1, by: size) {
        let page = (offset + start) / size + 1
        guard !logged.contains(page) else { continue }
        let range = start..<start + size
        if page <= baseline.pageCount, range.upperBound <= known,
          Self.isSame(now, former, in: range)
        {
          continue
        }
        add(Array(now[range]), page, baseline)
      }
    }
    return true
  }
}
