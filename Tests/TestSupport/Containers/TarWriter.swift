import ManagedStore

/// A tar archive made byte by byte.
public struct TarWriter {
  private var body: [UInt8] = []

  public init() {}

  /// Adds a member of a type: `0` a file, `1` a hard link, `2` a symbolic one, `5` a folder.
  ///
  /// - Parameter size: what the header says, where that is not so.
  public mutating func add(
    _ name: String, _ content: [UInt8] = [], type: Character = "0", link: String = "",
    size: Int? = nil
  ) {
    if name.utf8.count > 100 {
      // As bsdtar writes long names: a line of attributes before the member.
      let text = " path=\(name)\n"
      var length = text.utf8.count
      while "\(length)".utf8.count + text.utf8.count != length {
        length = "\(length)".utf8.count + text.utf8.count
      }
      add("PaxHeader", Array("\(length)\(text)".utf8), type: "x")
    }
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, _ place: Int, _ room: Int) {
      for (index, byte) in text.utf8.prefix(room).enumerated() { block[place + index] = byte }
    }
    func octal(_ value: Int, _ digits: Int) -> String {
      let text = String(value, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(name, 0, 100)
    put("0000644", 100, 8)
    put(octal(size ?? content.count, 11), 124, 12)
    put("        ", 148, 8)
    put(String(type), 156, 1)
    put(link, 157, 100)
    put("ustar", 257, 5)
    put("00", 263, 2)
    let sum = block.reduce(0) { $0 + Int($1) }
    put(octal(sum, 6) + "\0 ", 148, 8)
    body += block + content
    body += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
  }

  public var bytes: [UInt8] { body + [UInt8](repeating: 0, count: 1024) }

  /// The archive packed, as a .tar.gz has it.
  public var packed: [UInt8] { get throws { try Self.gzip(bytes) } }

  public static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) } }
    return try [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + ModelCache.deflate(bytes)
      + number(ZipWriter.checksum(bytes)) + number(UInt32(truncatingIfNeeded: bytes.count))
  }
}
