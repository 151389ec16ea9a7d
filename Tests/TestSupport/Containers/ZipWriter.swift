import ManagedStore

/// A ZIP archive made byte by byte, so that tests need no program, and can make wrong ones.
public struct ZipWriter {
  private var body: [UInt8] = []
  private var directory: [UInt8] = []
  private var count = 0

  public init() {}

  /// What a member's lines say that is not so.
  public struct Lie: Sendable {
    /// The size that it says it has.
    public var bytes: Int?
    /// The size that it says it takes.
    public var packed: Int?
    public var flags = 0
    public var checksum: UInt32?

    public init(
      bytes: Int? = nil, packed: Int? = nil, flags: Int = 0, checksum: UInt32? = nil
    ) {
      (self.bytes, self.packed, self.flags, self.checksum) = (bytes, packed, flags, checksum)
    }
  }

  /// Adds a member; `mode` is that of Unix with its type.
  public mutating func add(
    _ name: String, _ content: [UInt8], mode: Int = 0o100644, isPacked: Bool = true,
    lie: Lie = Lie()
  ) throws {
    let packed = isPacked ? try ModelCache.deflate(content) : content
    let checksum = lie.checksum ?? Self.checksum(content)
    let sizes = (lie.packed ?? packed.count, lie.bytes ?? content.count)
    // Larger numbers stand in a field of their own.
    let most = 0xFFFF_FFFF
    let isWide = sizes.0 >= most || sizes.1 >= most
    let extra = isWide ? number(1, 2) + number(16, 2) + number(sizes.1, 8) + number(sizes.0, 8) : []
    let common =
      number(lie.flags, 2) + number(isPacked ? 8 : 0, 2) + number(0, 4) + number(Int(checksum), 4)
      + number(isWide ? most : sizes.0, 4) + number(isWide ? most : sizes.1, 4)
      + number(name.utf8.count, 2)
    directory += number(0x0201_4B50, 4) + number(3 << 8 | 20, 2) + number(20, 2) + common
    directory += number(extra.count, 2) + number(0, 6) + number(mode << 16, 4)
    directory += number(body.count, 4) + Array(name.utf8) + extra
    body += number(0x0403_4B50, 4) + number(20, 2) + common + number(0, 2) + Array(name.utf8)
    body += packed
    count += 1
  }

  public var bytes: [UInt8] {
    body + directory + number(0x0605_4B50, 4) + number(0, 4) + number(count, 2) + number(count, 2)
      + number(directory.count, 4) + number(body.count, 4) + number(0, 2)
  }

  private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }

  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
