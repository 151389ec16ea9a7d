import Files
import ManagedModel
import TestSupport
import Testing

@testable import Containers

@Suite("Keys of encrypted backups")
struct BackupCryptoTests {
  private static func bytes(_ hex: String) throws -> [UInt8] {
    try #require(ByteText.bytes(hex: hex))
  }

  private static func hex(_ secret: Secret?) -> String? {
    secret?.withBytes { ByteText.hex($0) }
  }

  @Test(
    "PBKDF2 gives the keys of RFC 6070, and those of SHA-256",
    arguments: [
      (false, 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
      (false, 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
      (false, 4096, "4b007901b765489abead49d926f721d065a429c1"),
      (true, 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
      (true, 2, "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"),
      (true, 4096, "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"),
    ])
  func derivation(isSHA256: Bool, rounds: Int, key: String) {
    let made = KeyDerivation.key(
      from: Secret(Array("password".utf8)), isSHA256 ? .sha256 : .sha1, salt: Array("salt".utf8),
      rounds: rounds, count: key.utf8.count / 2)
    #expect(Self.hex(made) == key)
  }

  @Test("no rounds, and more than the library counts, give no key")
  func refusedRounds() {
    for rounds in [0, -1, 1 << 40] {
      #expect(
        KeyDerivation.key(from: Secret([1]), .sha256, salt: [1], rounds: rounds) == nil)
    }
  }

  @Test(
    "keys are unwrapped as RFC 3394 has them",
    arguments: [
      (16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5", "00112233445566778899AABBCCDDEEFF"),
      (24, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D", "00112233445566778899AABBCCDDEEFF"),
      (
        32, "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21",
        "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F"
      ),
    ])
  func unwrapping(count: UInt8, wrapped: String, key: String) throws {
    let kek = Secret(Array(0..<count))
    var bytes = try Self.bytes(wrapped)
    #expect(Self.hex(KeyWrap.unwrapped(bytes, with: kek))?.uppercased() == key)
    for place in [0, bytes.count / 2, bytes.count - 1] {
      bytes[place] ^= 1
      #expect(KeyWrap.unwrapped(bytes, with: kek) == nil)
      bytes[place] ^= 1
    }
    #expect(KeyWrap.unwrapped(bytes, with: Secret([UInt8](repeating: 1, count: 32))) == nil)
    #expect(KeyWrap.unwrapped(Array(bytes.dropLast()), with: kek) == nil)
    #expect(KeyWrap.unwrapped([], with: kek) == nil)
  }

  @Test("what is encrypted is decrypted whole, in pieces, and from any place on")
  func decryption() throws {
    let key = [UInt8](repeating: 5, count: 32)
    let plain = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 31) }
    let encrypted = TestCrypto.encrypted(plain, with: key)
    #expect(encrypted.count == 1008)
    let whole = try #require(FileDecryption(Secret(key))).update(encrypted[...])
    #expect(Array(whole.prefix(1000)) == plain)
    #expect(whole.suffix(8).allSatisfy { $0 == 8 })
    let pieces = try #require(FileDecryption(Secret(key)))
    var all: [UInt8] = []
    var place = 0
    for length in [1, 15, 16, 17, 100, 859] {
      all += pieces.update(encrypted[place..<(place + length)])
      place += length
    }
    #expect(all == whole)

    let folder = try TemporaryFolder()
    try FileSystem.write(encrypted, to: folder.path("file"))
    let file = try DecryptedFile(OpenFile(folder.path("file")), Secret(key))
    for (offset, count) in [(0, 16), (0, 1), (15, 2), (16, 16), (500, 77), (999, 1), (990, 500)] {
      let expected = Array(whole.dropFirst(offset).prefix(count))
      #expect(try file.read(at: offset, count: count) == expected, "\(offset) \(count)")
    }
    #expect(try file.read(at: 5000, count: 1) == [])
    #expect(try file.read(at: -16, count: 16) == [])
  }

  @Test("a keybag is read, and one that is damaged is refused")
  func keybag() throws {
    let folder = try TemporaryFolder()
    let bag = try EncryptedBackupWriter(folder.path("Backup")).bag
    let keybag = try Keybag(bag)
    #expect(keybag.first?.rounds == 24 && keybag.second.rounds == 12 && keybag.rounds == 36)
    #expect(keybag.classKeys.count == EncryptedBackupWriter.classes.count + 2)
    #expect(keybag.classKeys.count { $0.isWrappedByDevice } == 2)
    for count in 0..<bag.count {
      // A cut within the last key leaves too little of it; between two keys, fewer keys.
      guard let cut = try? Keybag(Array(bag.prefix(count))) else { continue }
      #expect(cut.classKeys.count < keybag.classKeys.count)
    }
    let tag = try #require(bag.firstRange(of: Array("WPKY".utf8)))
    var odd = bag
    odd.replaceSubrange(tag.upperBound..<(tag.upperBound + 4), with: [255, 255, 255, 255])
    #expect(throws: CoreDataError.self) { try Keybag(odd) }
    #expect(throws: CoreDataError.self) { try Keybag([UInt8](repeating: 0, count: 1 << 17)) }
    #expect(throws: CoreDataError.self) { try Keybag([]) }
  }

  @Test("the record of a file gives its size and its key")
  func record() throws {
    let key: [UInt8] = [3, 0, 0, 0] + [UInt8](repeating: 9, count: 40)
    func record(_ size: Int, _ key: [UInt8]) -> BackupFileRecord? {
      BackupFileRecord(
        EncryptedBackupWriter.record(path: "a/b", size: size, key: key, protectionClass: 3))
    }
    let read = try #require(record(77, key))
    #expect(read.size == 77)
    #expect(read.key?.protectionClass == 3)
    #expect(read.key?.wrapped == Array(key.dropFirst(4)))
    #expect(record(-1, key) == nil)
    #expect(record(1, []) == nil)
    #expect(record(1, Array(key.dropLast())) == nil)
    #expect(BackupFileRecord([]) == nil)
    #expect(BackupFileRecord(PropertyList.binary(.string("no archive"))) == nil)
  }

  @Test("a secret has the bytes that it was made of, and compares by them")
  func secret() {
    let secret = Secret([1, 2, 3])
    #expect(secret.count == 3)
    #expect(secret.withBytes { Array($0) } == [1, 2, 3])
    #expect(secret == Secret([1, 2, 3]))
    #expect(secret != Secret([1, 2]))
    #expect(Secret(capacity: 8) { _ in 99 }.count == 8)
    // What is cleansed is zeros.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 7)
    Secret.cleanse(memory)
    #expect(memory.allSatisfy { $0 == 0 })
  }
}
