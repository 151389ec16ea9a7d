/// What a store's -wal file holds, told from its bytes alone.
///
/// Format: https://www.sqlite.org/fileformat.html, "The Write-Ahead Log".
public struct WriteAheadLog: Sendable, Equatable {
  /// Whether the file is there, of whatever size.
  public var isPresent: Bool
  /// Frames up to the last commit: what SQLite would apply.
  public var frames: Int
  /// Frames whose salt or checksum does not fit: left over from before, or of another store.
  public var ignoredFrames: Int

  /// There is no log.
  public static let absent = WriteAheadLog(isPresent: false, frames: 0, ignoredFrames: 0)

  /// Reads the log beside a store.
  package init(besideStore path: String) {
    let path = path + "-wal"
    guard let status = FileSystem.status(path), status.kind == .file else {
      self = .absent
      return
    }
    self.init(isPresent: true, frames: 0, ignoredFrames: 0)
    guard let header = try? FileSystem.read(path, limit: 32), header.count == 32 else { return }
    let magic = Self.big(header, 0)
    guard magic == 0x377f_0682 || magic == 0x377f_0683 else { return }
    let isBigEndian = magic & 1 == 1
    let pageSize = Int(Self.big(header, 8))
    guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else { return }
    var sum = Self.checksum(header[0..<24], from: (0, 0), bigEndian: isBigEndian)
    let total = (status.size - 32) / (24 + pageSize)
    guard sum.0 == Self.big(header, 24), sum.1 == Self.big(header, 28) else {
      ignoredFrames = total
      return
    }
    // Frames are read in batches, so that a large log does not become a large array.
    let size = 24 + pageSize
    let batch = max(1, (4 << 20) / size)
    var index = 0
    scan: while index < total {
      guard let bytes = try? FileSystem.read(path, offset: 32 + index * size, limit: batch * size)
      else { break }
      for offset in stride(from: 0, to: bytes.count - size + 1, by: size) {
        let frame = bytes[offset..<(offset + size)]
        guard bytes[(offset + 8)..<(offset + 16)].elementsEqual(header[16..<24]) else { break scan }
        sum = Self.checksum(frame.prefix(8), from: sum, bigEndian: isBigEndian)
        sum = Self.checksum(frame.dropFirst(24), from: sum, bigEndian: isBigEndian)
        guard sum.0 == Self.big(bytes, offset + 16), sum.1 == Self.big(bytes, offset + 20) else {
          break scan
        }
        index += 1
        // A frame that commits says how large the database is then.
        if Self.big(bytes, offset + 4) != 0 { frames = index }
      }
      if bytes.count < batch * size { break }
    }
    ignoredFrames = total - frames
  }

  private init(isPresent: Bool, frames: Int, ignoredFrames: Int) {
    self.isPresent = isPresent
    self.frames = frames
    self.ignoredFrames = ignoredFrames
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
