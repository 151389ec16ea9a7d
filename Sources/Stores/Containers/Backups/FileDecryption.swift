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

  /// - Parameter vector: the encrypted block before the first that is decrypted; zeros if there is none.
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
  /// Bytes of the file by the backup's list; `nil` for the list itself.
  let stated: Int?

  /// Begins to decrypt.
  func decryption() throws(ClassKeys.Fault) -> FileDecryption {
    guard let decryption = FileDecryption(try keys.unwrapped(key)) else { throw .damaged }
    return decryption
  }
}

/// The end of an encrypted file: its last block is filled up, each byte of the filling being its length
/// (PKCS #7).
///
/// The list's size is no measure: of a file that an app had open during the backup it is often another. The
/// padding decides, and the size only if there is no padding.
enum FileEnd {
  /// Bytes of the last block that belong to the file; `nil` where the file is shorter than it should be.
  ///
  /// - Parameters:
  ///   - last: the last block in plain.
  ///   - total: bytes of the whole file with it.
  static func kept(of last: [UInt8], total: Int, stated: Int?) -> Int? {
    guard stated != total else { return last.count }
    if let padding = padding(of: last) { return last.count - padding }
    guard let stated else { return last.count }
    guard stated <= total else { return nil }
    // What was written before the last block is not taken back.
    return max(0, min(last.count, stated - (total - last.count)))
  }

  private static func padding(of block: [UInt8]) -> Int? {
    guard block.count == FileDecryption.block, let length = block.last.map(Int.init),
      (1...block.count).contains(length), block.suffix(length).allSatisfy({ $0 == block.last })
    else { return nil }
    return length
  }
}

/// A file that is decrypted a piece at a time, without what fills up its last block.
struct PlainPieces {
  private let decryption: FileDecryption?
  private let stated: Int?
  /// The last block so far.
  private var last: [UInt8] = []
  private var written = 0

  /// - Parameter entry: a file of a container, encrypted or not.
  init(_ entry: ContainerEntry) throws(ClassKeys.Fault) {
    decryption = try entry.cipher?.decryption()
    stated = entry.cipher?.stated
  }

  /// The next bytes as they are to be written.
  mutating func plain(_ piece: ArraySlice<UInt8>) -> [UInt8] {
    guard let decryption else { return Array(piece) }
    let plain = last + decryption.update(piece)
    last = Array(plain.suffix(FileDecryption.block))
    let ready = Array(plain.dropLast(FileDecryption.block))
    written += ready.count
    return ready
  }

  /// The bytes that remain when all have come; `nil` where the file is shorter than it should be.
  func end() -> [UInt8]? {
    guard decryption != nil else { return [] }
    return FileEnd.kept(of: last, total: written + last.count, stated: stated).map {
      Array(last.prefix($0))
    }
  }
}
