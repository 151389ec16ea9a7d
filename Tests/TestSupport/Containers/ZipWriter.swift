import ManagedStore

/// A ZIP archive made byte by byte, so that tests need no program, and can make wrong ones.
public struct ZipWriter {
  private var body: [UInt8] = []
  private var directory: [UInt8] = []
  private var count = 0
  /// Whether numbers of eight bytes are needed.
  private var hasWide = false

  public init() {}

  /// What a member's lines say that is not so.
  public struct Lie: Sendable {
    /// The size that it says it has.
    public var bytes: Int?
    /// The size that it says it takes.
    public var packed: Int?
    public var flags = 0
    public var checksum: UInt32?
    /// Where the directory says that the member's own header is.
    public var offset: Int?
    /// The name in the member's own header.
    public var ownName: String?

    public init(
      bytes: Int? = nil, packed: Int? = nil, flags: Int = 0, checksum: UInt32? = nil,
      offset: Int? = nil, ownName: String? = nil
    ) {
      (self.bytes, self.packed, self.flags, self.checksum) = (bytes, packed, flags, checksum)
      (self.offset, self.ownName) = (offset, ownName)
    }
  }

  /// How sizes are written that an archive's writer could also leave to other places.
  public enum Sizes: Sendable {
    /// Before the bytes, where they fit into four bytes.
    case plain
    /// Behind the bytes, as programs do that write to a pipe; with or without a signature.
    case descriptor(isMarked: Bool)
    /// In the fields of eight bytes that large files have (Zip64).
    case wide
  }

  /// Adds a member; `mode` is that of Unix with its type.
  public mutating func add(
    _ name: String, _ content: [UInt8], mode: Int = 0o100644, isPacked: Bool = true,
    sizes form: Sizes = .plain, lie: Lie = Lie()
  ) throws {
    let packed = isPacked ? try ModelCache.deflate(content) : content
    let checksum = Int(lie.checksum ?? Self.checksum(content))
    let sizes = (packed: lie.packed ?? packed.count, bytes: lie.bytes ?? content.count)
    let offset = lie.offset ?? body.count
    // Larger numbers stand in a field of their own.
    let most = 0xFFFF_FFFF
    var (isWide, isLater, isMarked) = (sizes.packed >= most || sizes.bytes >= most, false, false)
    switch form {
    case .plain: break
    case .wide: isWide = true
    case .descriptor(let mark): (isLater, isMarked) = (true, mark)
    }
    let flags = number(lie.flags | (isLater ? 8 : 0), 2)
    let kind = flags + number(isPacked ? 8 : 0, 2) + number(0, 4)
    func stated(_ isLater: Bool) -> [UInt8] {
      number(isLater ? 0 : checksum, 4)
        + number(isLater ? 0 : isWide ? most : sizes.packed, 4)
        + number(isLater ? 0 : isWide ? most : sizes.bytes, 4)
    }
    func field(_ numbers: [Int]) -> [UInt8] {
      isWide ? number(1, 2) + number(numbers.count * 8, 2) + numbers.flatMap { number($0, 8) } : []
    }
    let extra = field([sizes.bytes, sizes.packed, offset])
    directory += number(0x0201_4B50, 4) + number(3 << 8 | 20, 2) + number(20, 2)
    directory += kind + stated(false) + number(name.utf8.count, 2)
    directory += number(extra.count, 2) + number(0, 6) + number(mode << 16, 4)
    directory += number(isWide ? most : offset, 4) + Array(name.utf8) + extra
    let (ownName, ownExtra) = (lie.ownName ?? name, field([sizes.bytes, sizes.packed]))
    body += number(0x0403_4B50, 4) + number(20, 2) + kind + stated(isLater)
    body += number(ownName.utf8.count, 2) + number(ownExtra.count, 2) + Array(ownName.utf8)
    body += ownExtra + packed
    if isLater { body += (isMarked ? number(0x0807_4B50, 4) : []) + stated(false) }
    count += 1
    hasWide = hasWide || isWide
  }

  /// The members alone, as an archive has them that was cut off before its directory.
  public var members: [UInt8] { body }

  public var bytes: [UInt8] {
    let most = 0xFFFF_FFFF
    let wide =
      number(0x0606_4B50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8)
      + number(count, 8) + number(count, 8) + number(directory.count, 8) + number(body.count, 8)
      + number(0x0706_4B50, 4) + number(0, 4) + number(body.count + directory.count, 8)
      + number(1, 4)
    let (size, place) = hasWide ? (most, most) : (directory.count, body.count)
    return body + directory + (hasWide ? wide : []) + number(0x0605_4B50, 4) + number(0, 4)
      + number(count, 2) + number(count, 2) + number(size, 4) + number(place, 4) + number(0, 2)
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
