import Files
import ManagedModel

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
  }
}

/// One pass over the frames of a log, and what was seen on it.
private struct LogReading {
  private let file: OpenFile
  private let store: OpenFile?
  private let header: [UInt8]
  private let isHeaderWhole: Bool
  private let isBigEndian: Bool
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

  private var frameSize: Int { 24 + pageSize }

  init(_ file: OpenFile, store path: String) throws {
    self.file = file
    store = FileSystem.isFile(path) ? try OpenFile(path) : nil
    header = try file.read(at: 0, count: 32)
    let magic = Self.big(header, 0)
    let isMagic = magic == 0x377f_0682 || magic == 0x377f_0683
    isBigEndian = magic & 1 == 1
    let stated = Int(Self.big(header, 8))
    let isSize = stated >= 512 && stated <= 65536 && stated & (stated - 1) == 0
    var isWhole = header.count == 32 && isMagic && isSize && Self.big(header, 4) == 3_007_000
    if isWhole {
      let sum = Self.checksum(header[0..<24], from: (0, 0), bigEndian: isBigEndian)
      isWhole = sum.0 == Self.big(header, 24) && sum.1 == Self.big(header, 28)
    }
    isHeaderWhole = isWhole
    pageSize = isMagic && isSize ? stated : try Self.pageSize(of: store)
    total = max(0, file.size - 32) / (24 + pageSize)
  }

  /// The size that a database's own header states.
  private static func pageSize(of store: OpenFile?) throws -> Int {
    guard let head = try store?.read(at: 16, count: 2), head.count == 2 else { return 4096 }
    let size = Int(head[0]) << 8 | Int(head[1])
    return size == 1 ? 65536 : size >= 512 && size & (size - 1) == 0 ? size : 4096
  }

  /// Follows the checksums as far as they go. Frames are read in batches, so that a large log does
  /// not become a large array.
  mutating func scan() throws {
    guard isHeaderWhole else { return }
    var sum = (Self.big(header, 24), Self.big(header, 28))
    let batch = max(1, (4 << 20) / frameSize)
    var pending: [UInt32: Int] = [:]
    while valid < total {
      let bytes = try file.read(at: 32 + valid * frameSize, count: batch * frameSize)
      guard bytes.count >= frameSize else { return }
      for offset in stride(from: 0, to: bytes.count - frameSize + 1, by: frameSize) {
        let frame = bytes[offset..<(offset + frameSize)]
        let page = Self.big(bytes, offset)
        guard page > 0, bytes[(offset + 8)..<(offset + 16)].elementsEqual(header[16..<24]) else {
          return
        }
        sum = Self.checksum(frame.prefix(8), from: sum, bigEndian: isBigEndian)
        sum = Self.checksum(frame.dropFirst(24), from: sum, bigEndian: isBigEndian)
        guard sum.0 == Self.big(bytes, offset + 16), sum.1 == Self.big(bytes, offset + 20) else {
          return
        }
        pending[page] = valid
        valid += 1
        // A frame that commits says how large the database is then.
        let size = Self.big(bytes, offset + 4)
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
    return .init(
      reason: group.reason, frames: group.frames.count + (group.isCut ? 1 : 0), missing: missing)
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
    let own = isHeaderWhole ? Array(header[16..<24]) : nil
    let tail = Array(frames..<valid)
    guard valid < total else {
      // Behind whole frames of its own, a part of one is its own as well.
      let isCut = try partSalts().map { own == nil || $0 == own || $0.count < 8 } ?? false
      if own == nil { return isCut ? Group(reason: .header, frames: [], isCut: true) : nil }
      return tail.isEmpty && !isCut ? nil : Group(reason: .cutOff, frames: tail, isCut: isCut)
    }
    let head = try file.read(at: 32 + valid * frameSize, count: 24)
    let salts = Array(head[8..<16])
    if Self.big(head, 0) == 0, salts.allSatisfy({ $0 == 0 }) {
      return Group(
        reason: isHeaderWhole ? .zeros : .header, frames: tail + Array(valid..<total))
    }
    guard let own else {
      let (run, isCut) = try run(from: valid, with: salts)
      return Group(reason: .header, frames: run, isCut: isCut)
    }
    if salts == own {
      let (run, isCut) = try run(from: valid, with: own)
      return Group(reason: .checksum, frames: tail + run, isCut: isCut)
    }
    // The first salt counts the generations. A log is only begun anew when all of it was
    // checkpointed, so that what an older generation left behind newer frames is in the store, or
    // was replaced there.
    let age = Self.big(header, 16) &- Self.big(salts, 0)
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
      let page = Self.big(try file.read(at: 32 + index * frameSize, count: 4), 0)
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

  /// The change counter of page 1 only grows, in the log as in the file.
  func isOlderThanStore() throws -> Bool {
    guard let first = applied[1], let store else { return false }
    let newest = try file.read(at: 32 + first * frameSize + 24, count: 100)
    let head = try store.read(at: 0, count: 100)
    guard newest.count == 100, head.count == 100,
      head.starts(with: Array("SQLite format 3\0".utf8)),
      // A counter that another one vouches for.
      head[24..<28].elementsEqual(head[92..<96])
    else { return false }
    return Int32(bitPattern: Self.big(head, 24) &- Self.big(newest, 24)) > 0
  }

  private static func big(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
    return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func checksum(
    _ bytes: ArraySlice<UInt8>, from start: (UInt32, UInt32), bigEndian: Bool
  ) -> (UInt32, UInt32) {
    bytes.withUnsafeBytes { buffer in
      var (first, second) = start
      for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
        let a = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let b = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first = first &+ (bigEndian ? a.bigEndian : a.littleEndian) &+ second
        second = second &+ (bigEndian ? b.bigEndian : b.littleEndian) &+ first
      }
      return (first, second)
    }
  }
}
