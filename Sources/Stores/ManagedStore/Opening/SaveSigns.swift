import Files
import Salvage

/// The signs in a store's files that it was saved to, cheap enough to look at ten times a second.
///
/// A look at a store at rest asks the file system and reads nothing. The main file is read through one
/// descriptor that stays open: POSIX drops all locks of a process on a file when it closes any descriptor of
/// it, and SQLite holds one while it reads a store that is in use.
package struct SaveSigns: Sendable {
  /// What happened between two looks.
  package enum Change: Sendable, Equatable {
    /// Transactions were committed; `nil` where nothing counts them.
    case saved(Int?)
    /// Another file has the store's name.
    case replaced
    /// Nothing has the store's name.
    case gone
  }

  /// Files by date and size, which a touch changes as a save does.
  private struct Dates: Equatable {
    var main: FileSnapshot?
    var wal: FileSnapshot?
    /// A -wal that comes and goes between two looks leaves its mark here.
    var folder: FileSnapshot?

    init(_ name: String, _ path: String) {
      main = FileSnapshot(of: name, followsLinks: true)
      wal = FileSnapshot(of: path + "-wal")
      folder = FileSnapshot(of: FileSystem.parent(of: path) ?? ".")
    }
  }

  /// The committed frames of a -wal, up to the last of them.
  private struct Log: Equatable {
    var salts: UInt64
    var commits = 0
    var frames = 0
    var end = LogHeader.size
    var sum: LogChecksum
  }

  private let name: String
  /// The same without links, as it was when the main file came to have the name.
  private var path: String
  private var dates: Dates
  private var main: OpenFile?
  private var header = FileHeader([])
  private var isLogged = false
  private var log: Log?
  /// The log's index, once it was asked for.
  private var index: OpenFile?
  /// Whether files had other dates at the last look: a write within the same tick of the clock gives them the
  /// same date again.
  private var isUnsettled = true

  /// Looks at the files of a store for the first time.
  ///
  /// - Parameter path: the store's path as it was given; links are followed at each look.
  package init(of path: String) {
    name = path
    self.path = FileSystem.canonical(path)
    dates = Dates(path, self.path)
    begin()
  }

  /// Looks again.
  ///
  /// - Returns: what happened since the last look; `nil` where nothing did, and for a mere touch or checkpoint.
  package mutating func look() -> Change? {
    let (former, now) = (dates, Dates(name, path))
    guard now != former || isUnsettled else { return nil }
    isUnsettled = now != former
    dates = now
    guard let file = now.main else { return former.main == nil ? nil : .gone }
    guard file.identity == former.main?.identity else {
      path = FileSystem.canonical(name)
      dates = Dates(name, path)
      begin()
      return .replaced
    }
    let (counter, log) = (header.changeCounter, self.log)
    read()
    switch (log, self.log) {
    case (let before?, let after?) where before.salts == after.salts:
      return after.commits > before.commits ? .saved(after.commits - before.commits) : nil
    case (nil, let after?): return after.commits > 0 ? .saved(after.commits) : nil
    case (.some, let after?): return after.commits > 0 ? .saved(nil) : nil
    case (.some, nil): return .saved(nil)
    case (nil, nil):
      let saves = Int(header.changeCounter &- counter)
      guard isLogged else { return saves > 0 ? .saved(saves) : nil }
      // The change counter does not count what went through a log.
      let isWritten = now.main != former.main
      return saves > 0 || isWritten && (now.wal != former.wal || now.folder != former.folder)
        ? .saved(nil) : nil
    }
  }

  /// Whether commits that were seen in the log are not in its index yet, through which programs read the log: a
  /// writer waits for the disk between the two.
  ///
  /// Format: https://www.sqlite.org/walformat.html, "The WAL-Index File Format".
  package mutating func isIndexBehind() -> Bool {
    guard let log, let identity = FileIdentity(of: path + "-shm") else { return false }
    if index?.identity != identity { index = try? OpenFile(path + "-shm") }
    // An index of other salts is that of the next log: then all of this one is in the main file.
    guard let bytes = try? index?.read(at: 0, count: 48), bytes.count == 48,
      LogHeader.salts(bytes, at: 32) == log.salts
    else { return false }
    let known = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) }
    return Int(known) < log.frames
  }

  private mutating func begin() {
    main = try? OpenFile(path)
    (log, index) = (nil, nil)
    read()
  }

  private mutating func read() {
    if let head = try? main?.read(at: 0, count: FileHeader.size), head.count == FileHeader.size {
      header = FileHeader(head)
      // The version that a program needs to write: https://www.sqlite.org/fileformat.html, "File format version numbers".
      isLogged = head[18] == 2
    }
    log = try? scan(path + "-wal")
  }

  /// Follows the log behind the last commit that is known; frames behind the last one there may be written over.
  private func scan(_ path: String) throws -> Log? {
    guard let size = dates.wal?.size, size > LogHeader.size else { return nil }
    let file = try OpenFile(path)
    let head = LogHeader(try file.read(at: 0, count: LogHeader.size))
    guard head.isWhole, let pageSize = head.pageSize else { return nil }
    var found =
      log.flatMap { $0.salts == head.salts ? $0 : nil }
      ?? Log(salts: head.salts, sum: head.checksum)
    let frameSize = LogHeader.frameHeaderSize + pageSize
    let batch = max(1, (1 << 20) / frameSize) * frameSize
    var (place, sum) = (found.end, found.sum)
    while true {
      let bytes = try file.read(at: place, count: batch)
      guard bytes.count >= frameSize else { return found }
      for frame in stride(from: 0, to: bytes.count - frameSize + 1, by: frameSize) {
        guard LogHeader.salts(bytes, at: frame + 8) == head.salts else { return found }
        sum.add(bytes, frame..<frame + 8, bigEndian: head.isBigEndian)
        sum.add(
          bytes, frame + LogHeader.frameHeaderSize..<frame + frameSize, bigEndian: head.isBigEndian)
        guard sum == LogChecksum(bytes, frame + 16) else { return found }
        place += frameSize
        guard BigEndian.word(bytes, frame + 4) != 0 else { continue }
        (found.commits, found.end, found.sum) = (found.commits + 1, place, sum)
        found.frames = (place - LogHeader.size) / frameSize
      }
    }
  }
}
