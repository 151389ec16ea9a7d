import CZlib
import Files
import ManagedModel
import ManagedStore

/// The members of a ZIP archive by the headers before them, from the first to where it was cut off.
struct ZipScan {
  /// Bytes of a member's header before its name.
  static let headerSize = 30
  /// What a member's header begins with.
  static let signature = 0x0403_4B50

  /// Those that lie whole in it.
  private(set) var members: [ZipArchive.Member] = []
  /// Where it ends, as a sentence.
  private(set) var fault: CoreDataError

  private let file: OpenFile
  private let limits: ContainerLimits

  /// What may follow a member: another, the directory, or what precedes its end.
  private static let followers: Set<Int> = [signature, 0x0201_4B50, 0x0606_4B50, 0x0605_4B50]
  /// What a descriptor may begin with.
  private static let descriptor = 0x0807_4B50

  /// - Throws: ``CoreDataError`` where there are too many members, or one is larger than the limits.
  init(_ file: OpenFile, limits: ContainerLimits) throws {
    self.file = file
    self.limits = limits
    fault = CoreDataError(.unreadable, "", path: file.path)
    var (place, last): (Int?, String?) = (0, nil)
    while let start = place {
      try Task.checkCancellation()
      guard let (member, next) = try member(at: start, &last) else { break }
      try ZipArchive.require(members.count, limits, file.path)
      members.append(member)
      place = next
    }
    fault.message =
      "the ZIP archive is cut off or damaged"
      + (last.map { " in or after \(EntryName.quoted($0))" } ?? "")
    fault.hint = "Ask for it again, or unpack what is left of it and give the folder."
  }

  /// The member whose header is at a place, and where what follows it begins; `nil` where none is whole there.
  ///
  /// - Parameter name: gets the name of one that begins there.
  private func member(
    at place: Int, _ name: inout String?
  ) throws -> (ZipArchive.Member, next: Int?)? {
    let header = try file.read(at: place, count: Self.headerSize)
    guard header.count == Self.headerSize, header.number32(at: 0) == Self.signature else {
      return nil
    }
    let (nameLength, extraLength) = (header.number16(at: 26), header.number16(at: 28))
    let rest = try file.read(at: place + Self.headerSize, count: nameLength + extraLength)
    guard rest.count == nameLength + extraLength else { return nil }
    let own = String(decoding: rest[..<nameLength], as: UTF8.self)
    name = own
    var member = ZipArchive.Member(
      name: own, kind: ZipArchive.kind(name: own, mode: 0), flags: header.number16(at: 6),
      method: header.number16(at: 8), checksum: header.number32(at: 14),
      packed: header.number32(at: 18), bytes: header.number32(at: 22), offset: place)
    // Its offset is known, and may be as large as what says that a number stands elsewhere.
    member.offset = 0
    guard ZipArchive.widen(&member, with: Array(rest[nameLength...])) else { return nil }
    member.offset = place
    let start = place + Self.headerSize + rest.count
    if member.hasDescriptor, member.packed == 0 {
      guard try measure(&member, from: start) else { return nil }
    }
    guard member.packed <= file.size - start else { return nil }
    let end = start + member.packed
    return (member, member.hasDescriptor ? try follower(after: end) : end)
  }

  /// Unpacks a member whose size is not known before it, to find out.
  ///
  /// - Returns: false where its end is not there, or cannot be known.
  private func measure(_ member: inout ZipArchive.Member, from start: Int) throws -> Bool {
    // Bytes that are stored, or encrypted, end nowhere; a folder has none.
    guard member.method == 8, !member.isEncrypted else {
      return try member.method == 0 && follower(after: start) != nil
    }
    let inflation = try Inflation(.raw, chunk: 1 << 14)
    var (place, bytes, checksum) = (start, 0, crc32(0, nil, 0))
    // Most are small, and may be many.
    var size = 1 << 12
    while place < file.size, !inflation.isFinished {
      try Task.checkCancellation()
      let packed = try file.read(at: place, count: min(size, file.size - place))
      guard !packed.isEmpty else { return false }
      size = min(size * 2, 1 << 17)
      place += packed.count
      let isSound = try inflation.read(packed) { piece in
        bytes += piece.count
        guard !limits.isBomb(bytes: bytes, packed: place - start), bytes <= limits.fileBytes else {
          throw ContainerLimits.bomb(
            bytes: bytes, packed: place - start, in: EntryName.quoted(member.name)
          ).at(path: file.path)
        }
        checksum = piece.withUnsafeBufferPointer {
          crc32(checksum, $0.baseAddress, UInt32($0.count))
        }
      }
      guard isSound else { return false }
    }
    guard inflation.isFinished else { return false }
    let end = start + inflation.consumed
    let stated = try file.read(at: end, count: 8)
    let isMarked = stated.number32(at: 0) == Self.descriptor
    guard stated.count == 8, stated.number32(at: isMarked ? 4 : 0) == Int(checksum) else {
      return false
    }
    (member.bytes, member.packed, member.checksum) = (bytes, inflation.consumed, Int(checksum))
    return true
  }

  /// Where the next header is behind a member's descriptor, which has four lengths; `nil` where none is.
  private func follower(after place: Int) throws -> Int? {
    let bytes = try file.read(at: place, count: 28)
    return [16, 24, 12, 20, 0].first { Self.followers.contains(bytes.number32(at: $0)) }
      .map { place + $0 }
  }
}
