/// What is called of OpenSSL's libcrypto, which is opened when it is needed, and may not be there.
///
/// OpenSSL's method objects never change once made, so any thread may use them.
struct CryptoLibrary: @unchecked Sendable {
  typealias Bytes = UnsafePointer<UInt8>
  typealias Output = UnsafeMutablePointer<UInt8>
  typealias Count = UnsafeMutablePointer<UInt32>
  typealias Fetch =
    @convention(c) (OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> OpaquePointer?
  typealias Whole =
    @convention(c) (Bytes, Int, Output, Count?, OpaquePointer?, OpaquePointer?) -> Int32
  typealias MakeContext = @convention(c) () -> OpaquePointer?
  typealias FreeContext = @convention(c) (OpaquePointer?) -> Void
  typealias Begin = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
  typealias Update = @convention(c) (OpaquePointer?, Bytes, Int) -> Int32
  typealias Finish = @convention(c) (OpaquePointer?, Output, Count?) -> Int32

  /// EVP_Digest
  private let whole: Whole
  /// EVP_MD_CTX_new
  let makeContext: MakeContext
  /// EVP_MD_CTX_free
  let freeContext: FreeContext
  /// EVP_DigestInit_ex
  let begin: Begin
  /// EVP_DigestUpdate
  let update: Update
  /// EVP_DigestFinal_ex
  let finish: Finish

  /// Fetched once: SHA256() and EVP_sha256() look the algorithm up under a lock each time.
  let sha256: OpaquePointer
  let sha512: OpaquePointer
  let sha1: OpaquePointer

  /// `nil` where there is none of version 3.
  static let installed = CryptoLibrary()

  /// By the names that programs link; macOS ends a program that opens one without a version.
  private init?() {
    guard
      let library = SharedLibrary([
        "libcrypto.so.3", "libcrypto.3.dylib", "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
        "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
      ]),
      let fetch: Fetch = library.function("EVP_MD_fetch"),
      let whole: Whole = library.function("EVP_Digest"),
      let makeContext: MakeContext = library.function("EVP_MD_CTX_new"),
      let freeContext: FreeContext = library.function("EVP_MD_CTX_free"),
      let begin: Begin = library.function("EVP_DigestInit_ex"),
      let update: Update = library.function("EVP_DigestUpdate"),
      let finish: Finish = library.function("EVP_DigestFinal_ex"),
      let sha256 = fetch(nil, "SHA256", nil), let sha512 = fetch(nil, "SHA512", nil),
      let sha1 = fetch(nil, "SHA1", nil)
    else { return nil }
    (self.whole, self.makeContext, self.freeContext) = (whole, makeContext, freeContext)
    (self.begin, self.update, self.finish) = (begin, update, finish)
    (self.sha256, self.sha512, self.sha1) = (sha256, sha512, sha1)
  }

  /// The digest of bytes by one of the algorithms; `nil` where the library cannot make it.
  func digest(of bytes: [UInt8], _ algorithm: OpaquePointer) -> [UInt8]? {
    // As long as the longest, SHA-512.
    var digest = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard whole(bytes, bytes.count, &digest, &count, algorithm, nil) == 1 else { return nil }
    return Array(digest.prefix(Int(count)))
  }
}
