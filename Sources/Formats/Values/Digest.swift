#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// The two digests that Core Data's version hashes are made with, and the one of named UUIDs.
package enum Digest {
  /// The 32 bytes of SHA-256.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    digest(of: bytes, Self.sha256, count: 32)
  }

  /// The 64 bytes of SHA-512.
  package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
    digest(of: bytes, Self.sha512, count: 64)
  }

  /// The 20 bytes of SHA-1: no safeguard, but what a UUID of version 5 is made of.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    digest(of: bytes, Self.sha1, count: 20)
  }

  #if canImport(CommonCrypto)
    /// For OpenSSL alone, which has an algorithm to look up first.
    package static func prepare() {}

    private static func digest<Context>(
      of bytes: [UInt8], _ algorithm: CommonDigest<Context>, count: Int
    ) -> [UInt8] {
      var context = algorithm.empty
      _ = algorithm.begin(&context)
      algorithm.add(bytes, to: &context)
      var digest = [UInt8](repeating: 0, count: count)
      _ = algorithm.finish(&digest, &context)
      return digest
    }

    fileprivate static var sha256: CommonDigest<CC_SHA256_CTX> {
      CommonDigest(
        empty: CC_SHA256_CTX(), begin: CC_SHA256_Init, update: CC_SHA256_Update,
        finish: CC_SHA256_Final)
    }
    private static var sha512: CommonDigest<CC_SHA512_CTX> {
      CommonDigest(
        empty: CC_SHA512_CTX(), begin: CC_SHA512_Init, update: CC_SHA512_Update,
        finish: CC_SHA512_Final)
    }
    private static var sha1: CommonDigest<CC_SHA1_CTX> {
      CommonDigest(
        empty: CC_SHA1_CTX(), begin: CC_SHA1_Init, update: CC_SHA1_Update, finish: CC_SHA1_Final)
    }
  #else
    /// Has the algorithm of version hashes looked up, which takes OpenSSL most of a millisecond: for a
    /// thread with nothing to do while another reads what is to be hashed.
    package static func prepare() { _ = sha256 }

    private static func digest(
      of bytes: [UInt8], _ algorithm: OpaquePointer?, count: Int
    ) -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: count)
      _ = EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil)
      return digest
    }

    /// Fetched once: SHA256() and EVP_sha256() look the algorithm up under a lock each time.
    ///
    /// OpenSSL's method objects never change once made, so any thread may use them.
    nonisolated(unsafe) static let sha256 = EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) private static let sha512 = EVP_MD_fetch(nil, "SHA512", nil)
    nonisolated(unsafe) private static let sha1 = EVP_MD_fetch(nil, "SHA1", nil)
  #endif
}

/// SHA-256 of bytes that come a piece at a time, such as a file too large to hold.
package final class SHA256Stream {
  #if canImport(CommonCrypto)
    private var context = CC_SHA256_CTX()

    /// A stream that nothing was given to.
    package init() { _ = Digest.sha256.begin(&context) }

    /// Adds bytes to what the digest is of.
    package func update(_ bytes: some Sequence<UInt8>) {
      Digest.sha256.add(Array(bytes), to: &context)
    }

    /// The digest of everything given so far; the stream starts again.
    package func finish() -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      _ = Digest.sha256.finish(&digest, &context)
      _ = Digest.sha256.begin(&context)
      return digest
    }
  #else
    // An EVP context is a C object without a Swift representation; it is freed in `deinit`.
    private let context: OpaquePointer?

    /// A stream that nothing was given to.
    package init() {
      context = EVP_MD_CTX_new()
      _ = EVP_DigestInit_ex(context, Digest.sha256, nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes to what the digest is of.
    package func update(_ bytes: some Sequence<UInt8>) {
      let array = Array(bytes)
      _ = EVP_DigestUpdate(context, array, array.count)
    }

    /// The digest of everything given so far; the stream starts again.
    package func finish() -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      _ = EVP_DigestFinal_ex(context, &digest, nil)
      _ = EVP_DigestInit_ex(context, Digest.sha256, nil)
      return digest
    }
  #endif
}

#if canImport(CommonCrypto)
  /// The three functions of CommonCrypto that make one kind of digest.
  private struct CommonDigest<Context> {
    let empty: Context
    let begin: (UnsafeMutablePointer<Context>?) -> Int32
    let update: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, CC_LONG) -> Int32
    let finish: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32

    /// A length has 32 bits there: more bytes than that are given in pieces.
    func add(_ bytes: [UInt8], to context: inout Context) {
      bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
          _ = update(&context, piece.baseAddress, CC_LONG(piece.count))
          rest = rest.dropFirst(piece.count)
        }
      }
    }
  }
#endif

/// Digests by name, in the order of the names' bytes.
package struct NamedDigests {
  private var entries: [(name: String, digest: [UInt8])] = []

  /// None yet.
  package init() {}

  /// Keeps a digest in the place of its name, instead of another of that name.
  package mutating func set(_ name: String, _ digest: [UInt8]) {
    var place = entries.count
    while place > 0, name.precedes(entries[place - 1].name) { place -= 1 }
    if place > 0, entries[place - 1].name == name {
      entries[place - 1].digest = digest
    } else {
      entries.insert((name, digest), at: place)
    }
  }

  /// Adds them all to what is hashed.
  package func append(to bytes: inout [UInt8]) { for entry in entries { bytes += entry.digest } }
}

extension [UInt8] {
  /// Adds a text as UTF-8.
  package mutating func append(text: String) { append(contentsOf: text.utf8) }

  /// Adds a number, its lowest byte first.
  package mutating func append(number: UInt32) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
