import ManagedModel

#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// AES key wrap (RFC 3394): a key encrypted with another, so that a wrong key shows.
enum KeyWrap {
  /// The key that was wrapped; `nil` where it was wrapped with another, or is damaged.
  ///
  /// - Parameter key: of 16, 24 or 32 bytes.
  static func unwrapped(_ wrapped: [UInt8], with key: Secret) -> Secret? {
    // Two blocks of eight bytes at least, and the eight that the check takes.
    guard wrapped.count >= 24, wrapped.count.isMultiple(of: 8), wrapped.count <= 4096,
      [16, 24, 32].contains(key.count)
    else { return nil }
    var count = 0
    let secret = key.withBytes { key in
      // The library may write as many bytes as it is given.
      Secret(capacity: wrapped.count) { memory in
        count = unwrap(wrapped, key, into: memory)
        return count
      }
    }
    return count == wrapped.count - 8 ? secret : nil
  }

  /// - Returns: how many bytes the key has; 0 where it does not open.
  private static func unwrap(
    _ wrapped: [UInt8], _ key: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
  ) -> Int {
    let out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let kek = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
    #if canImport(CommonCrypto)
      var count = memory.count
      let status = CCSymmetricKeyUnwrap(
        CCWrappingAlgorithm(kCCWRAPAES), CCrfc3394_iv, CCrfc3394_ivLen, kek, key.count, wrapped,
        wrapped.count, out, &count)
      return status == kCCSuccess ? count : 0
    #else
      guard let context = EVP_CIPHER_CTX_new() else { return 0 }
      defer { EVP_CIPHER_CTX_free(context) }
      EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
      let cipher =
        switch key.count {
        case 16: EVP_aes_128_wrap()
        case 24: EVP_aes_192_wrap()
        default: EVP_aes_256_wrap()
        }
      var count: Int32 = 0
      guard EVP_DecryptInit_ex(context, cipher, nil, kek, nil) == 1,
        EVP_DecryptUpdate(context, out, &count, wrapped, Int32(wrapped.count)) == 1, count > 0
      else { return 0 }
      return Int(count)
    #endif
  }
}

/// A key of a file as the backup keeps it: the protection class, and the key wrapped with the class's.
struct WrappedKey: Sendable, Equatable {
  /// The number of the class, which comes first, its lowest byte first.
  let protectionClass: UInt32
  let wrapped: [UInt8]

  /// - Returns: `nil` where there are not as many bytes as such a key has.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 + Keybag.wrappedCount else { return nil }
    protectionClass = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    wrapped = Array(bytes.dropFirst(4))
  }
}

/// The keys of the protection classes that a password has opened.
///
/// They live in memory as long as somebody may want a file, and are overwritten then.
package final class ClassKeys: Sendable, Equatable {
  private let keys: [UInt32: Secret]
  /// Classes whose keys the device has wrapped with its own.
  private let ofDevice: Set<UInt32>

  /// Opens the keys of a keybag.
  ///
  /// - Returns: `nil` at the first that does not open: the password is another one.
  init?(_ keybag: Keybag, with key: Secret) {
    var keys: [UInt32: Secret] = [:]
    var ofDevice: Set<UInt32> = []
    for classKey in keybag.classKeys {
      guard classKey.isWrappedByPassword else {
        ofDevice.insert(classKey.number)
        continue
      }
      guard let opened = KeyWrap.unwrapped(classKey.wrapped, with: key) else { return nil }
      if classKey.isWrappedByDevice {
        ofDevice.insert(classKey.number)
      } else {
        keys[classKey.number] = opened
      }
    }
    self.keys = keys
    self.ofDevice = ofDevice
  }

  package static func == (one: ClassKeys, other: ClassKeys) -> Bool { one === other }

  /// Why a file cannot be opened although the password is right.
  enum Fault: Error, Equatable {
    case onlyOnDevice(UInt32)
    case noClass(UInt32)
    case damaged

    /// What is to be said behind the file's name.
    var clause: String {
      switch self {
      case .onlyOnDevice(let number):
        "has a key that only the device itself can unwrap (protection class \(number))"
      case .noClass(let number): "has a key of class \(number), which the keybag does not have"
      case .damaged: "has a damaged key"
      }
    }
  }

  /// The key of a file.
  func unwrapped(_ key: WrappedKey) throws(Fault) -> Secret {
    guard let own = keys[key.protectionClass] else {
      throw ofDevice.contains(key.protectionClass)
        ? .onlyOnDevice(key.protectionClass) : .noClass(key.protectionClass)
    }
    guard let secret = KeyWrap.unwrapped(key.wrapped, with: own),
      secret.count == KeyDerivation.keyCount
    else { throw .damaged }
    return secret
  }
}
