import Files
import Salvage

extension WriteAheadLog {
  /// Reads the log beside a store.
  ///
  /// - Throws: ``CoreDataError`` where it is there and cannot be read: its rows are not to be taken
  ///   for missing.
  package init(besideStore path: String) throws {
    try self.init(at: path + "-wal", of: path)
  }

  /// Reads a log, wherever it is, as that of a store.
  ///
  /// - Parameter comparing: whether to find out if its frames are in the store already.
  package init(at path: String, of store: String, comparing: Bool = false) throws {
    self.init()
    guard try FileSystem.present(path) != nil else { return }
    isPresent = true
    let file = try OpenFile(path)
    guard file.size > 0 else { return }
    var reading = try LogReading(file, store: store)
    try reading.scan()
    frames = reading.frames
    pages = reading.pages
    unapplied = try reading.unapplied()
    isOlderThanStore = try reading.isOlderThanStore()
    if comparing { isCheckpointed = try reading.isCheckpointed() }
    try refuse(path, of: store)
  }

  /// Leaves out the frames of a log that does not belong to the main file.
  private mutating func refuse(_ path: String, of store: String) throws {
    // What a program is writing now is seen neither before nor after it.
    guard frames > 0, !isOlderThanStore, !isCheckpointed, StoreLock.user(of: store) == nil,
      let found = try LogKinship(of: path, store: store, journal: store + "-journal")?
        .contradiction()
    else { return }
    unapplied = Unapplied(
      reason: .foreign, frames: frames + (unapplied?.frames ?? 0), missing: frames,
      contradiction: found)
    (frames, pages) = (0, 0)
  }
}

/// One pass over the frames of a log, and what was seen on it.
private struct LogReading {
  private let file: OpenFile
  private let store: MainFile?
  private let header: LogHeader
  private let pageSize: Int
  /// Whole frames in the file, whatever they are.
  private let total: Int

  /// Frames up to the last commit.
  private(set) var frames = 0
  private(set) var pages = 0
  /// Frames in a row that are as they should be, those after the last commit among them.
  private var valid = 0
  /// Where the newest frame of each page is, of those that are applied.
  private var applied: [UInt32: Int] = [:]

  private var frameSize: Int { LogHeader.frameHeaderSize + pageSize }

  init(_ file: OpenFile, store path: String) throws {
    self.file = file
    store = FileSystem.isFile(path) ? try MainFile(path, journal: path + "-journal") : nil
    header = LogHeader(try file.read(at: 0, count: LogHeader.size))
    pageSize =
      if header.isMagic, let stated = header.pageSize {
        stated
      } else {
        FileHeader(try store?.read(at: 0, count: FileHeader.size) ?? []).pageSize ?? 4096
      }
    total = max(0, file.size - 32) / (24 + pageSize)
  }

  /// Follows the checksums as far as they go. Frames are read in batches, so that a large log does
  /// not become a large array.
  mutating func scan() throws {
    guard header.isWhole else { return }
    var sum = header.checksum
    let batch = max(1, (4 << 20) / frameSize)
    var pending: [UInt32: Int] = [:]
    while valid < total {
      let bytes = try file.read(at: 32 + valid * frameSize, count: batch * frameSize)
      guard bytes.count >= frameSize else { return }
      for offset in stride(from: 0, to: bytes.count - frameSize + 1, by: frameSize) {
        let page = BigEndian.word(bytes, offset)
        guard page > 0, LogHeader.salts(bytes, at: offset + 8) == header.salts else { return }
        sum.add(bytes, offset..<offset + 8, bigEndian: header.isBigEndian)
        sum.add(bytes, offset + 24..<offset + frameSize, bigEndian: header.isBigEndian)
        guard sum == LogChecksum(bytes, offset + 16) else { return }
        pending[page] = valid
        valid += 1
        // A frame that commits says how large the database is then.
        let size = BigEndian.word(bytes, offset + 4)
        if size != 0 {
          frames = valid
          pages = Int(size)
          applied.merge(pending) { $1 }
          pending.removeAll()
        }
      }
    }
  }

  /// What stands behind the last commit.
  mutating func unapplied() throws -> WriteAheadLog.Unapplied? {
    guard file.size >= 32 else { return .init(reason: .header, frames: 0, missing: 1) }
    guard let group = try group() else { return nil }
    let missing = try missing(in: group.frames) + (group.isCut ? 1 : 0)
    guard missing > 0 else { return nil }
    let isMoved = group.reason != .uncommitted && group.reason != .zeros
    return .init(
      reason: group.reason, frames: group.frames.count + (group.isCut ? 1 : 0), missing: missing,
      shift: isMoved ? try ByteShift.ofLog(file, pageSize: pageSize) : nil)
  }

  private struct Group {
    var reason: WriteAheadLog.Reason
    /// Numbers of the frames, from 0.
    var frames: [Int]
    /// Whether a part of a frame follows.
    var isCut = false
  }

  /// The frames that could hold what the store does not; `nil` where there are none.
  private func group() throws -> Group? {
    let own = header.isWhole ? header.saltBytes : nil
    let tail = Array(frames..<valid)
    guard valid < total else {
      // Behind whole frames of its own, a part of one is its own as well.
      let isCut = try partSalts().map { own == nil || $0 == own || $0.count < 8 } ?? false
      if own == nil { return isCut ? Group(reason: .header, frames: [], isCut: true) : nil }
      return tail.isEmpty && !isCut ? nil : Group(reason: .cutOff, frames: tail, isCut: isCut)
    }
    let head = try file.read(at: 32 + valid * frameSize, count: 24)
    let salts = Array(head[8..<16])
    if BigEndian.word(head, 0) == 0, salts.allSatisfy({ $0 == 0 }) {
      return Group(
        reason: header.isWhole ? .zeros : .header, frames: tail + Array(valid..<total))
    }
    guard let own else {
      let (run, isCut) = try run(from: valid, with: salts)
      return Group(reason: .header, frames: run, isCut: isCut)
    }
    if salts == own {
      let (run, isCut) = try run(from: valid, with: own)
      return Group(reason: .checksum, frames: tail + run, isCut: isCut)
    }
    // The first salt counts the generations. A log is only begun again when all of it was
    // checkpointed, so that what an older generation left behind newer frames is in the store, or
    // was replaced there.
    let age = BigEndian.word(header.saltBytes, 0) &- BigEndian.word(salts, 0)
    if frames > 0, age > 0, age < 1 << 16 {
      return tail.isEmpty ? nil : Group(reason: .uncommitted, frames: tail)
    }
    let (run, isCut) = try run(from: valid, with: salts)
    return Group(reason: .salts, frames: tail + run, isCut: isCut)
  }

  /// The frames from one on that have these salts, and whether a part of one more follows.
  private func run(from first: Int, with salts: [UInt8]) throws -> (frames: [Int], isCut: Bool) {
    var frames: [Int] = []
    for index in first..<total {
      let own = try file.read(at: 32 + index * frameSize + 8, count: 8)
      guard own == salts else { return (frames, false) }
      frames.append(index)
    }
    return (frames, try partSalts().map { $0 == salts || $0.count < 8 } ?? false)
  }

  /// The salts of the part of a frame at the end, as far as they are there; `nil` without one.
  private func partSalts() throws -> [UInt8]? {
    let start = 32 + total * frameSize
    guard file.size > start else { return nil }
    return try Array(file.read(at: start, count: 16).dropFirst(8))
  }

  /// How many pages of these frames are different in the store.
  private func missing(in frames: [Int]) throws -> Int {
    var newest: [UInt32: Int] = [:]
    var zeros = 0
    for index in frames {
      let page = BigEndian.word(try file.read(at: 32 + index * frameSize, count: 4), 0)
      if page == 0 { zeros += 1 } else { newest[page] = index }
    }
    var count = zeros
    for (page, index) in newest {
      let content = try file.read(at: 32 + index * frameSize + 24, count: pageSize)
      let present =
        if let other = applied[page] {
          try file.read(at: 32 + other * frameSize + 24, count: pageSize)
        } else {
          try store?.read(at: (Int(page) - 1) * pageSize, count: pageSize) ?? []
        }
      if content != present { count += 1 }
    }
    return count
  }

  /// Whether every frame that is applied is in the main file already.
  func isCheckpointed() throws -> Bool {
    for (page, index) in applied {
      let content = try file.read(at: 32 + index * frameSize + 24, count: pageSize)
      let present = try store?.read(at: (Int(page) - 1) * pageSize, count: pageSize)
      guard content == present else { return false }
    }
    return true
  }

  /// Pages that are compared where the log has no page 1.
  private static let mostCompared = 256

  /// The change counter of page 1 only grows, in the log as in the file. So does Z_OPT of every object:
  /// that shows it where the log has no page 1.
  func isOlderThanStore() throws -> Bool {
    guard let store else { return false }
    guard let first = applied[1] else { return try isEachObjectOlder(than: store) }
    let newest = try file.read(at: 32 + first * frameSize + 24, count: 100)
    let head = try store.read(at: 0, count: 100)
    guard newest.count == 100, head.count == 100,
      head.starts(with: FileHeader.magic),
      // A counter that another one vouches for.
      head[24..<28].elementsEqual(head[92..<96])
    else { return false }
    return Int32(bitPattern: BigEndian.word(head, 24) &- BigEndian.word(newest, 24)) > 0
  }

  private func isEachObjectOlder(than store: MainFile) throws -> Bool {
    var later = 0
    for (page, frame) in applied.sorted(by: { $0.key < $1.key }).prefix(Self.mostCompared) {
      let newest = try file.read(at: 32 + frame * frameSize + 24, count: pageSize)
      let main = try store.read(at: (Int(page) - 1) * pageSize, count: pageSize)
      guard newest != main, newest.count == pageSize, main.count == pageSize,
        let here = SaveCounts(newest, number: Int(page)),
        let there = SaveCounts(main, number: Int(page))
      else { continue }
      let compared = here.compared(to: there)
      guard compared.earlier == 0 else { return false }
      later += compared.later
    }
    return later > 0
  }
}
