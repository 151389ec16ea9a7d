/// A digest of everything about an entity that affects storage: 32 bytes of SHA-256.
///
/// Two entities with equal hashes can share a table; renaming identifiers, defaults and validation
/// are left out on purpose, as Core Data does.
public struct VersionHash: Sendable, Hashable {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// - Returns: `nil` unless there are exactly 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// - Returns: `nil` unless the text is 64 hexadecimal digits.
  public init?(hex: String) {
    guard let bytes = ByteText.bytes(hex: hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// The digest of the bytes.
  init(of bytes: [UInt8]) { self.bytes = Digest.sha256(bytes) }

  /// 64 lowercase hexadecimal digits.
  public var hex: String { ByteText.hex(bytes) }
}

extension VersionHash: CustomStringConvertible {
  /// The hash in hexadecimal.
  public var description: String { hex }
}
