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
    guard let main = files.main, try Self.isQuiet(files) else { return nil }
    let head = FileHeader(try main.read(at: 0, count: FileHeader.size))
    let size = FileSystem.status(main.path)?.size ?? 0
    let isCounted = head.pages > 0 && head.changeCounter == head.versionValidFor
    pageCount = isCounted ? head.pages : size / baseline.pageSize
    var logged: Set<Int> = []
    tail = try files.log.flatMap { try LogTail($0) }
    isLarge = (tail?.pageSize ?? head.pageSize) != baseline.pageSize
    if let log = files.log {
      while !isLarge, let transaction = try tail?.next(log) {
        pageCount = transaction.pageCount
        try tail?.pages(of: transaction, in: log) { page, bytes in
          logged.insert(page)
          try add(bytes, page, baseline)
        }
      }
    }
    if !isLarge { try addMain(main, besides: logged, baseline) }
    let after = try StoreState(files)
    guard tail == nil ? after == state : after.header == state.header, try Self.isQuiet(files)
    else { return nil }
    pages = pages.filter { $0.key <= pageCount }
  }

  /// Whether no program is writing pages of the main file.
  private static func isQuiet(_ files: WatchedFiles) throws -> Bool {
    try StoreLock.writer(of: files.names.path) == nil && !files.names.hasHotJournal()
  }

  private mutating func add(_ bytes: [UInt8], _ page: Int, _ baseline: Baseline) throws {
    if try baseline.page(page) == bytes {
      pages[page] = nil
    } else {
      pages[page] = bytes
      isLarge = isLarge || pages.count * baseline.pageSize > LogTail.mostBytes
    }
  }

  private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress
        else { return false }
        return memcmp(first, second, one.count) == 0
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
      guard !Self.isSame(now, former) else { continue }
      for start in Swift.stride(from: 0, to: now.count - size + 1, by: size) {
        let page = (offset + start) / size + 1
        guard !logged.contains(page) else { continue }
        let bytes = now[start..<start + size]
        if start + size <= former.count, bytes == former[start..<start + size],
          page <= baseline.pageCount
        {
          continue
        }
        try add(Array(bytes), page, baseline)
      }
    }
  }
}
