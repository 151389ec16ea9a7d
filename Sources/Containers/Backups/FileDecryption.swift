import Files
import ManagedModel

#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// AES-256-CBC, from its beginning on or from any block on; what pads the last block stays with it.
final class FileDecryption {
  /// Bytes of a block.
  static let block = 16
  // The library's own object, without a Swift representation; it is freed in `deinit`.
  #if canImport(CommonCrypto)
    private var cryptor: CCCryptorRef?
  #else
    private let context: OpaquePointer?
  #endif

  /// - Parameter vector: the encrypted block before the first that is decrypted; zeros where there is none.
  /// - Returns: `nil` where the library refuses, as for a key of another length.
  init?(_ key: Secret, vector: [UInt8] = [UInt8](repeating: 0, count: block)) {
    guard key.count == KeyDerivation.keyCount, vector.count == Self.block else { return nil }
    #if canImport(CommonCrypto)
      let status = key.withBytes {
        CCCryptorCreate(
          CCOperation(kCCDecrypt), CCAlgorithm(kCCAlgorithmAES), 0, $0.baseAddress, $0.count,
          vector,
          &cryptor)
      }
      guard status == kCCSuccess else { return nil }
    #else
      context = EVP_CIPHER_CTX_new()
      let isReady = key.withBytes {
        EVP_DecryptInit_ex(
          context, EVP_aes_256_cbc(), nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
          vector)
      }
      guard isReady == 1, EVP_CIPHER_CTX_set_padding(context, 0) == 1 else { return nil }
    #endif
  }

  deinit {
    #if canImport(CommonCrypto)
      CCCryptorRelease(cryptor)
    #else
      EVP_CIPHER_CTX_free(context)
    #endif
  }

  /// The next bytes in plain; what is not a whole block comes with the next piece.
  func update(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard let length = Int32(exactly: bytes.count), length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: bytes.count + Self.block) { plain, count in
      bytes.withUnsafeBufferPointer { bytes in
        #if canImport(CommonCrypto)
          var moved = 0
          let status = CCCryptorUpdate(
            cryptor, bytes.baseAddress, bytes.count, plain.baseAddress, plain.count, &moved)
          count = status == kCCSuccess ? moved : 0
        #else
          var moved: Int32 = 0
          let isDone = EVP_DecryptUpdate(
            context, plain.baseAddress, &moved, bytes.baseAddress, length)
          count = isDone == 1 ? Int(moved) : 0
        #endif
      }
    }
  }
}

/// How a file of an encrypted backup is read.
struct FileCipher: Sendable, Equatable {
  /// The file's own key.
  let key: WrappedKey
  /// What opens that.
  let keys: ClassKeys
  /// Bytes of the file as it is stored: whole blocks.
  let stored: Int

  /// Begins to decrypt.
  func decryption(vector: [UInt8]? = nil) throws(ClassKeys.Fault) -> FileDecryption {
    let secret = try keys.unwrapped(key)
    guard
      let decryption = vector.map({ FileDecryption(secret, vector: $0) }) ?? FileDecryption(secret)
    else { throw .damaged }
    return decryption
  }
}

/// A file that is decrypted a piece at a time: no more than its size comes out.
struct PlainPieces {
  private let decryption: FileDecryption?
  private var left: Int

  /// - Parameter entry: a file of a container, encrypted or not.
  init(_ entry: ContainerEntry) throws(ClassKeys.Fault) {
    decryption = try entry.cipher?.decryption()
    left = entry.bytes
  }

  /// The next bytes as they are to be written.
  mutating func plain(_ piece: ArraySlice<UInt8>) -> [UInt8] {
    guard let decryption else { return Array(piece) }
    let plain = decryption.update(piece)
    let kept = min(left, plain.count)
    left -= kept
    return kept == plain.count ? plain : Array(plain[..<kept])
  }

  /// Whether all of the file has come.
  var isWhole: Bool { decryption == nil || left == 0 }
}
