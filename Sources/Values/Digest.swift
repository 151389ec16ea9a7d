import Synchronization

/// The two digests that Core Data's version hashes are made with, and the one of named UUIDs.
///
/// OpenSSL makes them with what the processor has for it. Loading it takes longer than all the hashes
/// of a model, so that it is opened for a large input, or when many small ones were made here.
package enum Digest {
  /// How many bytes are hashed here before OpenSSL is worth its loading.
  private static let patience = 1 << 16

  /// How many bytes were hashed here.
  private static let hashed = Atomic<Int>(0)

  /// The 32 bytes of SHA-256.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    library(for: bytes.count).flatMap { $0.digest(of: bytes, $0.sha256) }
      ?? SHA256.digest(of: bytes)
  }

  /// The 64 bytes of SHA-512.
  package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
    library(for: bytes.count).flatMap { $0.digest(of: bytes, $0.sha512) }
      ?? SHA512.digest(of: bytes)
  }

  /// The 20 bytes of SHA-1: no safeguard, but what a UUID of version 5 is made of.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    library(for: bytes.count).flatMap { $0.digest(of: bytes, $0.sha1) } ?? SHA1.digest(of: bytes)
  }

  private static func library(for count: Int) -> CryptoLibrary? {
    let before = hashed.add(min(count, patience), ordering: .relaxed).oldValue
    guard before + count > patience else { return nil }
    // It is not counted on: a sum that is large stays large.
    hashed.store(patience, ordering: .relaxed)
    return CryptoLibrary.installed
  }
}

/// SHA-256 of bytes that come a piece at a time, such as a file too large to hold.
package final class SHA256Stream {
  private let library: CryptoLibrary?
  // An EVP context is a C object without a Swift representation; it is freed in `deinit`.
  private let context: OpaquePointer?
  private var own = SHA256()

  /// A stream that nothing was given to.
  package convenience init() { self.init(library: CryptoLibrary.installed) }

  /// - Parameter library: `nil` to do without one.
  init(library: CryptoLibrary?) {
    context = library?.makeContext()
    self.library = context == nil ? nil : library
    begin()
  }

  deinit { library?.freeContext(context) }

  private func begin() {
    own = SHA256()
    if let library { _ = library.begin(context, library.sha256, nil) }
  }

  /// Adds bytes to what the digest is of.
  package func update(_ bytes: some Sequence<UInt8>) {
    let array = Array(bytes)
    if let library {
      _ = library.update(context, array, array.count)
    } else {
      own.update(array)
    }
  }

  /// The digest of everything given so far; the stream starts anew.
  package func finish() -> [UInt8] {
    defer { begin() }
    guard let library else { return own.finish() }
    var digest = [UInt8](repeating: 0, count: 32)
    _ = library.finish(context, &digest, nil)
    return digest
  }
}
