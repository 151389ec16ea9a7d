import Files
import ManagedStore
import Salvage

extension FileHeader {
  /// Pages of a database without a log: as many as the header counts, where that is valid.
  func pageCount(ofBytes bytes: Int, pageSize: Int) -> Int {
    let isCounted = pages > 0 && changeCounter == versionValidFor
    return isCounted && LogTail.isLikely(pages, of: bytes / pageSize) ? pages : bytes / pageSize
  }
}

extension OpenFile {
  /// Its size now.
  var bytes: Int { FileSystem.status(path)?.size ?? size }
}

/// A private copy of a database in one file, into which the pages of later transactions are written.
///
/// It keeps its name while it is open, since SQLite opens no file by its descriptor: it follows the links of /proc to a
/// name that is gone. What a program that was killed leaves is removed by the next one that makes a private folder.
final class DatabaseCopy {
  /// Where it is, in a folder that only this user can look into.
  let path: String
  /// Bytes of a page.
  let pageSize: Int
  /// Pages of the database.
  private(set) var pageCount = 0
  /// Raised with each change: SQLite reads pages again where it finds another number.
  private var counter: UInt32 = 0
  private let file: WritableFile
  private let folder: PrivateFolder
  /// Pages that were kept, in the order of their places in the file that has them.
  private var kept: (pages: [Int], count: Int, file: WritableFile)?

  /// Copies the main file, in whatever state it is.
  ///
  /// - Parameters:
  ///   - pageSize: that of the -wal; `nil` if there is none.
  ///   - most: bytes of a file that may be copied where the file system cannot share its blocks.
  ///   - meanwhile: called again and again while it is copied.
  /// - Throws: ``CoreDataError`` where it cannot be read, or there is no room for it, and of kind refused for one that
  ///   is larger than that.
  init(
    of main: OpenFile, pageSize known: Int?, copyingAtMost most: Int = .max, meanwhile: () -> Void
  ) throws {
    folder = try PrivateFolder(.disk)
    path = folder.path + "/" + FileSystem.name(of: main.path)
    if !FileSystem.clone(main, to: path) {
      guard main.bytes <= most else {
        throw CoreDataError(
          .refused,
          "the store has \(NumberText.bytes(main.bytes)), and its file system copies all of them",
          path: main.path)
      }
      try FileSystem.copy(main, into: FileSystem.createEmpty(path)) { _ in meanwhile() }
    }
    file = try WritableFile(path)
    let head = FileHeader(try file.read(at: 0, count: FileHeader.size))
    pageSize = known ?? head.pageSize ?? 4096
    pageCount = head.pageCount(ofBytes: main.bytes, pageSize: pageSize)
    counter = head.changeCounter
  }

  /// A page; `nil` where the database has none of that number.
  func page(_ number: Int) throws -> [UInt8]? {
    guard number > 0, number <= pageCount else { return nil }
    let bytes = try file.read(at: (number - 1) * pageSize, count: pageSize)
    // Pages that were never written stand behind the end of the file.
    return bytes + [UInt8](repeating: 0, count: pageSize - bytes.count)
  }

  /// Reads bytes from an offset on: as many as fit, or fewer where the file ends.
  func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    try file.read(at: offset, into: memory)
  }

  /// Copies again what was saved without a log while the file was copied.
  ///
  /// - Returns: false where journals do not name all of it.
  /// - Throws: ``CoreDataError`` where a file cannot be read or written.
  func follow(
    _ main: OpenFile, _ files: WatchedFiles, from former: StoreState, to state: StoreState
  ) throws -> Bool {
    guard let pages = try files.pages(of: main, from: former, to: state, pageSize: pageSize) else {
      return false
    }
    for page in pages.named {
      try write(main.read(at: (page - 1) * pageSize, count: pageSize), to: page)
    }
    try finish(pageCount: pages.count)
    return true
  }

  /// Writes a page, which nobody may read before ``finish(pageCount:)``.
  func write(_ bytes: [UInt8], to page: Int) throws {
    guard page > 0, bytes.count == pageSize else { return }
    try file.write(bytes, at: (page - 1) * pageSize)
  }

  /// Ends a change.
  func finish(pageCount count: Int) throws {
    pageCount = count
    counter &+= 1
    if count > 0, try file.read(at: count * pageSize - 1, count: 1).isEmpty {
      try file.write([0], at: count * pageSize - 1)
    }
    // Without a log: all of it is in this file.
    try file.write([1, 1], at: 18)
    try file.write(Self.bytes(counter) + Self.bytes(UInt32(clamping: count)), at: 24)
    try file.write(Self.bytes(counter), at: 92)
  }

  /// Keeps pages as they are, outside of memory, for ``restore()``.
  func keep(_ pages: some Sequence<Int>) throws {
    let file = try kept?.file ?? makeFile("former")
    var numbers: [Int] = []
    for number in pages {
      guard let bytes = try page(number) else { continue }
      try file.write(bytes, at: numbers.count * pageSize)
      numbers.append(number)
    }
    kept = (numbers, pageCount, file)
  }

  /// Makes the database what it was when pages were kept last: those pages are all that may have been written since.
  func restore() throws {
    guard let kept else { return }
    for (place, number) in kept.pages.enumerated() {
      try write(kept.file.read(at: place * pageSize, count: pageSize), to: number)
    }
    try finish(pageCount: kept.count)
  }

  private func makeFile(_ name: String) throws -> WritableFile {
    let path = folder.path + "/." + name
    _ = try FileSystem.createEmpty(path)
    return try WritableFile(path)
  }

  private static func bytes(_ word: UInt32) -> [UInt8] {
    withUnsafeBytes(of: word.bigEndian) { Array($0) }
  }
}
