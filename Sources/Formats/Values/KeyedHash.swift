#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// HMAC-SHA-256 under one key.
///
/// One caller at a time: the states after the key are kept, so that a digest costs no more than its bytes.
package final class KeyedHash {
  private static let blockSize = 64
  #if canImport(CommonCrypto)
    private var inner = CCHmacContext()
  #else
    // EVP contexts are C objects without a Swift representation; they are freed in `deinit`.
    private let inner: OpaquePointer?
    private let outer: OpaquePointer?
    private let work: OpaquePointer?
  #endif

  /// A hash under a key of any length.
  package init(key: [UInt8]) {
    #if canImport(CommonCrypto)
      CCHmacInit(&inner, CCHmacAlgorithm(kCCHmacAlgSHA256), key, key.count)
    #else
      (inner, outer, work) = (EVP_MD_CTX_new(), EVP_MD_CTX_new(), EVP_MD_CTX_new())
      // A longer key counts as its digest, a shorter one is filled with zeros (RFC 2104).
      let short = key.count > Self.blockSize ? Digest.sha256(key) : key
      let block = short + [UInt8](repeating: 0, count: Self.blockSize - short.count)
      for (context, pad) in [(inner, UInt8(0x36)), (outer, 0x5C)] {
        let bytes = block.map { $0 ^ pad }
        _ = EVP_DigestInit_ex(context, Digest.sha256, nil)
        _ = EVP_DigestUpdate(context, bytes, bytes.count)
      }
    #endif
  }

  #if !canImport(CommonCrypto)
    deinit { for context in [inner, outer, work] { EVP_MD_CTX_free(context) } }
  #endif

  /// The 32 bytes of the hash of some bytes.
  package func digest(_ bytes: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    #if canImport(CommonCrypto)
      var context = inner
      CCHmacUpdate(&context, bytes, bytes.count)
      CCHmacFinal(&context, &result)
    #else
      _ = EVP_MD_CTX_copy_ex(work, inner)
      _ = EVP_DigestUpdate(work, bytes, bytes.count)
      _ = EVP_DigestFinal_ex(work, &result, nil)
      _ = EVP_MD_CTX_copy_ex(work, outer)
      _ = EVP_DigestUpdate(work, result, result.count)
      _ = EVP_DigestFinal_ex(work, &result, nil)
    #endif
    return result
  }
}

/// Pseudorandom bytes that follow from a hash's key and a label: the hash of the label with a counter.
package struct KeyedStream: RandomNumberGenerator {
  private let hash: KeyedHash
  private let seed: [UInt8]
  private var counter: UInt64 = 0
  private var block: [UInt8] = []
  private var place = 0

  /// - Parameter label: what the bytes are for; two labels have nothing in common.
  package init(_ hash: KeyedHash, _ label: [UInt8]) {
    self.hash = hash
    seed = hash.digest(label)
  }

  private mutating func refill() {
    var input = seed
    withUnsafeBytes(of: counter.littleEndian) { input.append(contentsOf: $0) }
    block = hash.digest(input)
    counter &+= 1
    place = 0
  }

  /// The next eight bytes.
  package mutating func next() -> UInt64 {
    if place + 8 > block.count { refill() }
    var value: UInt64 = 0
    for index in place..<place + 8 { value = value << 8 | UInt64(block[index]) }
    place += 8
    return value
  }

  /// As many bytes.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    while result.count < count {
      refill()
      result.append(contentsOf: block.prefix(count - result.count))
    }
    place = block.count
    return result
  }
}
