import Files
import ManagedStore
import Salvage

/// The pages in which a store differs from a copy of it, for changes that no log shows: all of both is read.
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
  let state: StoreState

  private static let stride = 1 << 20

  /// Compares both.
  ///
  /// - Returns: `nil` where the store was written to meanwhile.
  /// - Throws: ``CoreDataError`` where it cannot be read.
  init?(_ files: WatchedFiles, _ baseline: Baseline) throws {
    try files.refresh()
    state = try StoreState(files)
    commits = files.logCommits
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
    if !isLarge { try addMain(main, besides: logged, baseline) }
    let after = try StoreState(files)
    guard tail == nil ? after == state : after.header == state.header, try Self.isQuiet(files)
    else { return nil }
    if files.logCommits != commits { commits = nil }
    pages = pages.filter { $0.key <= pageCount }
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

  private mutating func addMain(
    _ main: OpenFile, besides logged: Set<Int>, _ baseline: Baseline
  ) throws {
    let size = baseline.pageSize
    var offset = 0
    while offset < pageCount * size, !isLarge {
      let now = try main.read(at: offset, count: Self.stride)
      guard !now.isEmpty else { return }
      let former = try baseline.read(at: offset, count: Self.stride)
      defer { offset += now.count }
      // What is cut off within a page is read when it is whole.
      guard now.count != former.count || !Self.isSame(now, former, in: now.indices) else {
        continue
      }
      for start in Swift.stride(from: 0, to: now.count - size + 1, by: size) {
        let page = (offset + start) / size + 1
        guard !logged.contains(page) else { continue }
        let range = start..<start + size
        if page <= baseline.pageCount, Self.isSame(now, former, in: range) { continue }
        add(Array(now[range]), page, baseline)
      }
    }
  }
}
