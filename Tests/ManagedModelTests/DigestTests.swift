import Testing

@testable import Values

@Suite("digests")
struct DigestTests {
  /// Bytes of the vectors that NIST publishes with FIPS 180-4.
  private static let long = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)

  @Test(
    "SHA-256 without a library is that of the standard",
    arguments: [
      ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (long, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
      (
        [UInt8](repeating: 0x61, count: 1_000),
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
      ),
    ])
  func sha256(bytes: [UInt8], hex: String) {
    #expect(ByteText.hex(SHA256.digest(of: bytes)) == hex)
  }

  @Test("SHA-512 and SHA-1 without a library are those of the standard")
  func others() {
    let abc = Array("abc".utf8)
    #expect(
      ByteText.hex(SHA512.digest(of: abc))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    #expect(ByteText.hex(SHA1.digest(of: abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      ByteText.hex(SHA1.digest(of: Self.long)) == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
  }

  @Test("what is made here is what OpenSSL makes, wherever a block ends")
  func agreement() throws {
    guard let library = CryptoLibrary.installed else {
      print("libcrypto is not installed: nothing to compare with")
      return
    }
    for count in Array(0...260) + [1_000, 70_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251) }
      #expect(library.digest(of: bytes, library.sha256) == SHA256.digest(of: bytes), "\(count)")
      #expect(library.digest(of: bytes, library.sha512) == SHA512.digest(of: bytes), "\(count)")
      #expect(library.digest(of: bytes, library.sha1) == SHA1.digest(of: bytes), "\(count)")
      #expect(Digest.sha256(bytes) == SHA256.digest(of: bytes), "\(count)")
      #expect(Digest.sha512(bytes) == SHA512.digest(of: bytes), "\(count)")
      #expect(Digest.sha1(bytes) == SHA1.digest(of: bytes), "\(count)")
    }
  }

  @Test("a stream gives what the whole gives, with a library and without, and begins anew")
  func stream() {
    let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
    for library in [CryptoLibrary.installed, nil] {
      let stream = SHA256Stream(library: library)
      for size in [1, 63, 64, 65, 200, 5_000] {
        var rest = bytes[...]
        while !rest.isEmpty {
          stream.update(rest.prefix(size))
          rest = rest.dropFirst(size)
        }
        #expect(stream.finish() == SHA256.digest(of: bytes), "\(size) at a time")
      }
    }
  }
}
