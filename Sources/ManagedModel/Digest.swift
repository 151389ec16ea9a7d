import CCrypto

/// The two digests that Core Data's version hashes are made with.
package enum Digest {
  /// The 32 bytes of SHA-256.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = SHA256(bytes, bytes.count, &digest)
    return digest
  }

  /// The 64 bytes of SHA-512.
  package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 64)
    _ = SHA512(bytes, bytes.count, &digest)
    return digest
  }
}

/// SHA-256 of bytes that come a piece at a time, such as a file too large to hold.
package final class SHA256Stream {
  // An EVP context is a C object without a Swift representation; it is freed in `deinit`.
  private let context: OpaquePointer?

  package init() {
    context = EVP_MD_CTX_new()
    _ = EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: some Sequence<UInt8>) {
    let array = Array(bytes)
    _ = EVP_DigestUpdate(context, array, array.count)
  }

  /// The digest of everything given so far; the stream starts anew.
  package func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = EVP_DigestFinal_ex(context, &digest, nil)
    _ = EVP_DigestInit_ex(context, EVP_sha256(), nil)
    return digest
  }
}
