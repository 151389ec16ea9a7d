import CZlib
import Files
import ManagedModel
import ManagedStore

/// A ZIP archive: its members as the directory at its end has them, and their bytes.
///
/// Of one that is cut off, the members are those that lie whole before the cut, by their own headers.
final class ZipArchive {
  /// What the directory, or a header of its own, says of a member.
  struct Member {
    var name: String
    var kind: ContainerEntry.Kind
    var flags: Int
    var method: Int
    var checksum: Int
    var packed: Int
    var bytes: Int
    /// Where its own header is.
    var offset: Int

    var isEncrypted: Bool { flags & 1 != 0 }
    /// Whether sizes and checksum stand behind its bytes, since its writer did not know them before.
    var hasDescriptor: Bool { flags & 8 != 0 }
  }

  let file: OpenFile
  private(set) var members: [Member] = []
  /// Why not all members are there, where that is so.
  private(set) var fault: CoreDataError?
  /// Where the members end.
  private var end: Int

  /// Most bytes of a directory that are read.
  private static let directoryLimit = 256 << 20

  /// - Throws: ``CoreDataError`` where it is no ZIP archive, is damaged, or has too many members.
  init(_ path: String, limits: ContainerLimits) throws {
    file = try OpenFile(path)
    end = file.size
    guard let (offset, size) = try findDirectory() else {
      let scan = try ZipScan(file, limits: limits)
      (members, fault) = (scan.members, scan.fault)
      guard members.isEmpty else { return }
      throw CoreDataError(
        .unreadable,
        "the ZIP archive is cut off: its directory, which is at its end, is missing, and no file before the cut is whole",
        path: path, hint: "Ask for it again.")
    }
    end = offset
    try readDirectory(file.read(at: offset, count: size), limits)
  }

  private func readDirectory(_ directory: [UInt8], _ limits: ContainerLimits) throws {
    var place = 0
    while place + 46 <= directory.count, directory.number32(at: place) == 0x0201_4B50 {
      try Self.require(members.count, limits, file.path)
      let (nameLength, extraLength, noteLength) = (
        directory.number16(at: place + 28), directory.number16(at: place + 30),
        directory.number16(at: place + 32)
      )
      let extra = place + 46 + nameLength
      guard extra + extraLength <= directory.count else { throw damaged("its directory") }
      let name = String(decoding: directory[(place + 46)..<extra], as: UTF8.self)
      var member = Member(
        name: name, kind: .file, flags: directory.number16(at: place + 8),
        method: directory.number16(at: place + 10), checksum: directory.number32(at: place + 16),
        packed: directory.number32(at: place + 20), bytes: directory.number32(at: place + 24),
        offset: directory.number32(at: place + 42))
      // Who made it says whether the upper half of the attributes is a Unix mode.
      let mode = directory.number16(at: place + 40)
      let isUnix = [3, 19].contains(directory.number16(at: place + 4) >> 8)
      member.kind = Self.kind(name: name, mode: isUnix ? mode : 0)
      guard Self.widen(&member, with: Array(directory[extra..<(extra + extraLength)])) else {
        throw damaged("the directory entry of \(EntryName.quoted(name))")
      }
      members.append(member)
      place = extra + extraLength + noteLength
    }
    guard !members.isEmpty || directory.isEmpty else { throw damaged("its directory") }
    // A signature may follow the last entry.
    if place < directory.count, directory.number32(at: place) != 0x0505_4B50 {
      fault = damaged("the rest of its directory")
    }
  }

  static func require(_ count: Int, _ limits: ContainerLimits, _ path: String) throws {
    guard count < limits.entries else {
      throw CoreDataError(
        .unreadable, "the archive has more than \(limits.entries) files", path: path)
    }
  }

  /// A member that lies over another's bytes, or over the directory: none of an honest archive does, and
  /// many such members make a small file unpack to a large one.
  var overlapping: Member? {
    let order = members.indices.sorted { members[$0].offset < members[$1].offset }
    for (place, index) in order.enumerated() {
      let member = members[index]
      let next = place + 1 < order.count ? members[order[place + 1]].offset : end
      guard member.packed <= file.size, next - member.offset >= ZipScan.headerSize + member.packed
      else { return member }
    }
    return nil
  }

  static func kind(name: String, mode: Int) -> ContainerEntry.Kind {
    switch mode & 0o170000 {
    case 0o120000: .link
    case 0o040000: .folder
    case 0, 0o100000: name.utf8.last == UInt8(ascii: "/") ? .folder : .file
    default: .other
    }
  }

  /// Takes sizes of more than four bytes from the field that holds them.
  static func widen(_ member: inout Member, with extra: [UInt8]) -> Bool {
    let most = 0xFFFF_FFFF
    guard member.bytes == most || member.packed == most || member.offset == most else {
      return true
    }
    var place = 0
    while place + 4 <= extra.count {
      let (kind, size) = (extra.number16(at: place), extra.number16(at: place + 2))
      defer { place += 4 + size }
      guard kind == 1 else { continue }
      var (next, end) = (place + 4, min(extra.count, place + 4 + size))
      func take(_ value: inout Int) -> Bool {
        guard value == most else { return true }
        guard next + 8 <= end, let number = extra.number64(at: next) else { return false }
        (value, next) = (number, next + 8)
        return true
      }
      end = min(end, extra.count)
      return take(&member.bytes) && take(&member.packed) && take(&member.offset)
    }
    return false
  }

  /// Where the directory is: the end of the archive says so, before a comment; `nil` where it does not.
  private func findDirectory() throws -> (offset: Int, size: Int)? {
    let tail = min(file.size, 22 + 65_535)
    let start = file.size - tail
    let bytes = try file.read(at: start, count: tail)
    guard bytes.count >= 22 else { return nil }
    for end in stride(from: bytes.count - 22, through: 0, by: -1)
    where bytes[end] == 0x50 && bytes.number32(at: end) == 0x0605_4B50 {
      if let found = try directory(before: end, in: bytes, from: start) { return found }
      // The last of the file is its own. One before the cut of another may be of an archive in it.
      if end + 22 + bytes.number16(at: end + 20) == bytes.count { throw damaged("its directory") }
    }
    return nil
  }

  /// The directory that a record at the end of the archive leads to; `nil` where none is there.
  private func directory(
    before end: Int, in bytes: [UInt8], from start: Int
  ) throws -> (offset: Int, size: Int)? {
    var (size, offset) = (bytes.number32(at: end + 12), bytes.number32(at: end + 16))
    // A locator before it leads to one with wider numbers.
    if end >= 20, bytes.number32(at: end - 20) == 0x0706_4B50,
      let place = bytes.number64(at: end - 12)
    {
      let wide = try file.read(at: place, count: 56)
      guard wide.number32(at: 0) == 0x0606_4B50, let wideSize = wide.number64(at: 40),
        let wideOffset = wide.number64(at: 48)
      else { return nil }
      (size, offset) = (wideSize, wideOffset)
    }
    guard offset <= start + end, size <= start + end - offset, size <= Self.directoryLimit,
      try size == 0 || file.read(at: offset, count: 4).number32(at: 0) == 0x0201_4B50
    else { return nil }
    return (offset, size)
  }

  /// Reads a member's bytes a piece at a time, and checks them in the end.
  ///
  /// - Parameter chunk: how many are read and unpacked at a time: few where only the first are wanted.
  func read(
    _ member: Member, chunk: Int = 1 << 17, _ output: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    let name = EntryName.quoted(member.name)
    guard !member.isEncrypted else {
      throw CoreDataError(
        .unreadable, "\(name) in the archive is encrypted", path: file.path,
        hint: "Unpack the archive with its password and give the folder.")
    }
    let header = try file.read(at: member.offset, count: ZipScan.headerSize)
    guard header.number32(at: 0) == ZipScan.signature else { throw damaged(name) }
    let nameLength = header.number16(at: 26)
    let ownName = try file.read(at: member.offset + ZipScan.headerSize, count: nameLength)
    guard member.agrees(with: header, name: ownName) else {
      throw CoreDataError(
        .unreadable,
        "what the archive's directory says of \(name) is not what is said before its bytes",
        path: file.path, hint: "The archive is damaged or malicious: ask for another.")
    }
    var place = member.offset + ZipScan.headerSize + nameLength + header.number16(at: 28)
    guard place <= file.size, member.packed <= file.size - place else { throw damaged(name) }
    let end = place + member.packed
    let inflation: Inflation?
    switch member.method {
    case 0: inflation = nil
    case 8: inflation = try Inflation(.raw, chunk: chunk)
    default:
      throw CoreDataError(
        .unreadable,
        "\(name) in the archive uses a compression method that strata does not read (\(member.method))",
        path: file.path, hint: "Unpack the archive and give the folder.")
    }
    var (done, checksum) = (0, crc32(0, nil, 0))
    func take(_ piece: ArraySlice<UInt8>) throws {
      done += piece.count
      guard done <= member.bytes else {
        throw CoreDataError(
          .unreadable,
          "\(name) in the archive is larger than the \(member.bytes) bytes that are stated",
          path: file.path, hint: "The archive is damaged or malicious: ask for another.")
      }
      checksum = piece.withUnsafeBufferPointer {
        crc32(checksum, $0.baseAddress, UInt32($0.count))
      }
      try output(piece)
    }
    while place < end {
      try Task.checkCancellation()
      let bytes = try file.read(at: place, count: min(chunk, end - place))
      guard !bytes.isEmpty else { throw damaged(name) }
      place += bytes.count
      if let inflation {
        guard try inflation.read(bytes, take) else { throw damaged(name) }
      } else {
        try take(bytes[...])
      }
    }
    guard done == member.bytes, inflation?.isFinished != false, Int(checksum) == member.checksum
    else { throw damaged(name) }
  }

  private func damaged(_ what: String) -> CoreDataError {
    CoreDataError(
      .unreadable, "the ZIP archive is damaged: \(what) cannot be read", path: file.path,
      hint: "Ask for it again, or unpack what is left of it and give the folder.")
  }
}

extension ZipArchive.Member {
  /// Whether a member's own header says the same of it: programs that go by the one would else see
  /// another file than those that go by the other.
  fileprivate func agrees(with header: [UInt8], name own: [UInt8]) -> Bool {
    let isLater = header.number16(at: 6) & 8 != 0
    func isSame(_ place: Int, _ value: Int) -> Bool {
      let stated = header.number32(at: place)
      // Wider numbers stand elsewhere.
      return stated == value || stated == 0xFFFF_FFFF || isLater && stated == 0
    }
    return String(decoding: own, as: UTF8.self).utf8.elementsEqual(name.utf8)
      && header.number16(at: 6) & 1 == flags & 1 && header.number16(at: 8) == method
      && isSame(14, checksum) && isSame(18, packed) && isSame(22, bytes)
  }
}

extension [UInt8] {
  /// A whole number of two bytes, the lowest first; 0 where they are not all there.
  func number16(at offset: Int) -> Int { number(at: offset, bytes: 2) }
  /// A whole number of four bytes.
  func number32(at offset: Int) -> Int { number(at: offset, bytes: 4) }

  /// A whole number of eight bytes; `nil` where it is larger than any file.
  func number64(at offset: Int) -> Int? {
    let (low, high) = (number32(at: offset), number32(at: offset + 4))
    return high < 1 << 30 ? high << 32 | low : nil
  }

  private func number(at offset: Int, bytes: Int) -> Int {
    guard offset >= 0, offset <= count - bytes else { return 0 }
    return (0..<bytes).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }
}
