import Files
import ManagedModel
import SQLite

/// An encrypted iOS backup made from the public format, of files that the tests choose.
public final class EncryptedBackupWriter {
  /// What is odd about it.
  public struct Options {
    public var password = "correct horse"
    /// Rounds of the first derivation: low, since each takes its time.
    public var rounds: UInt32 = 24
    public var innerRounds: UInt32 = 12
    public var device = "Anna’s iPhone"
    public var hasKeybag = true
    /// Bytes put in the place of the keybag's.
    public var keybag: ([UInt8]) -> [UInt8] = { $0 }
    /// Bytes put in the place of the list of files in plain.
    public var list: ([UInt8]) -> [UInt8] = { $0 }
    /// Bytes put in the place of the encrypted list of files.
    public var manifest: ([UInt8]) -> [UInt8] = { $0 }
    /// Whether the list of files is encrypted too, as since iOS 10.2.
    public var encryptsManifest = true

    public init() {}
  }

  /// What is odd about a file.
  public struct FileOptions {
    public var protectionClass: UInt32 = 3
    /// Its name in the backup instead of the digest.
    public var name: String?
    /// The size that the list says.
    public var size: Int?
    public var isPadded = true
    /// Bytes of the record put in the place of its own.
    public var record: ([UInt8]) -> [UInt8] = { $0 }

    public init() {}
  }

  /// Classes whose keys the password opens.
  public static let classes: [UInt32] = [1, 2, 3, 4, 6, 7, 8]
  /// The class that only the device opens, and one that both wrap.
  public static let deviceClass: UInt32 = 11
  public static let bothClass: UInt32 = 9

  private let folder: String
  private let options: Options
  private var list: Connection?
  private let listPath: String
  private let temporary: TemporaryFolder
  private var generator: SeededGenerator
  private var classKeys: [UInt32: [UInt8]] = [:]
  private let salts: (first: [UInt8], second: [UInt8])
  /// The keybag before anything was put in its place.
  public private(set) var bag: [UInt8] = []
  /// Every key that was made: none may be found in a file.
  public private(set) var secrets: [[UInt8]] = []

  public init(
    _ folder: String, seed: UInt64 = 1, _ change: (inout Options) -> Void = { _ in }
  )
    throws
  {
    var options = Options()
    change(&options)
    self.options = options
    self.folder = folder
    temporary = try TemporaryFolder()
    generator = SeededGenerator(seed: seed)
    var random = generator
    func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
    salts = (bytes(20), bytes(20))
    for number in Self.classes + [Self.deviceClass, Self.bothClass] {
      classKeys[number] = bytes(32)
    }
    generator = random
    secrets = classKeys.values.map { $0 }
    try FileSystem.makeDirectory(folder)
    listPath = temporary.path("Manifest.db")
    let list = try Connection(path: listPath, mode: .create)
    try list.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
    try list.execute(
      """
      CREATE TABLE Files (
        fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)
      """)
    self.list = list
    bag = makeKeybag()
  }

  private func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  private static func block(_ tag: String, _ value: [UInt8]) -> [UInt8] {
    Array(tag.utf8) + number(UInt32(value.count)) + value
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] { number(value).reversed() }

  private func makeKeybag() -> [UInt8] {
    let first = TestCrypto.derived(
      Array(options.password.utf8), isSHA256: true, salt: salts.first,
      // Nobody gets to use the key of a backup with more.
      rounds: options.rounds > 20_000_000 ? 1 : Int(options.rounds))
    let key = TestCrypto.derived(
      first, isSHA256: false, salt: salts.second, rounds: Int(options.innerRounds))
    secrets += [first, key]
    var bag =
      Self.block("VERS", Self.number(5)) + Self.block("TYPE", Self.number(1))
      + Self.block("UUID", random(16)) + Self.block("HMCK", random(40))
      + Self.block("WRAP", Self.number(0)) + Self.block("SALT", salts.second)
      + Self.block("ITER", Self.number(options.innerRounds))
      + Self.block("DPWT", Self.number(0)) + Self.block("DPIC", Self.number(options.rounds))
      + Self.block("DPSL", salts.first)
    for (number, classKey) in classKeys.sorted(by: { $0.key < $1.key }) {
      let wrap: UInt32 = number == Self.deviceClass ? 1 : number == Self.bothClass ? 3 : 2
      bag +=
        Self.block("UUID", random(16)) + Self.block("CLAS", Self.number(number))
        + Self.block("WRAP", Self.number(wrap)) + Self.block("KTYP", Self.number(0))
        + Self.block(
          "WPKY",
          TestCrypto.wrapped(classKey, with: number == Self.deviceClass ? random(32) : key))
    }
    return bag
  }

  private func wrapped(_ key: [UInt8], in number: UInt32) -> [UInt8] {
    Self.littleEndian(number)
      + TestCrypto.wrapped(key, with: classKeys[number] ?? [UInt8](repeating: 0, count: 32))
  }

  /// The record of a file as iOS archives it.
  public static func record(
    path: String, size: Int, key: [UInt8], protectionClass: UInt32
  )
    -> [UInt8]
  {
    func type(_ names: [String]) -> PropertyListValue {
      .dictionary([
        "$classname": .string(names[0]), "$classes": .array(names.map { .string($0) }),
      ])
    }
    return PropertyList.binary(
      .dictionary([
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
        "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([
          .string("$null"),
          .dictionary([
            "$class": .uid(5), "Size": .integer(Int64(size)), "RelativePath": .uid(2),
            "EncryptionKey": .uid(3), "ProtectionClass": .integer(Int64(protectionClass)),
            "Mode": .integer(0o100644), "LastModified": .integer(1_700_000_000),
            "Birth": .integer(1_700_000_000), "Flags": .integer(0),
          ]),
          .string(path), .dictionary(["NS.data": .data(key), "$class": .uid(4)]),
          type(["NSMutableData", "NSData", "NSObject"]), type(["MBFile", "NSObject"]),
        ]),
      ]))
  }

  /// Adds a file.
  ///
  /// - Returns: where its encrypted bytes are.
  @discardableResult
  public func add(
    _ domain: String, _ path: String, _ content: [UInt8],
    _ change: (inout FileOptions) -> Void = { _ in }
  ) throws -> String {
    var file = FileOptions()
    change(&file)
    let name = file.name ?? ByteText.hex(Digest.sha1(Array("\(domain)-\(path)".utf8)))
    let key = random(32)
    secrets.append(key)
    let record = Self.record(
      path: path, size: file.size ?? content.count, key: wrapped(key, in: file.protectionClass),
      protectionClass: file.protectionClass)
    try list?.run(
      "INSERT INTO Files VALUES (?, ?, ?, 1, ?)",
      [.text(name), .text(domain), .text(path), .blob(file.record(record))])
    let place = folder + "/" + name.prefix(2) + "/" + name
    guard !name.contains("/") else { return place }
    try FileSystem.makeDirectory(folder + "/" + name.prefix(2))
    try FileSystem.write(
      TestCrypto.encrypted(content, with: key, isPadded: file.isPadded), to: place)
    return place
  }

  /// Writes the lists; nothing is added afterwards.
  public func finish() throws {
    list = nil
    let key = random(32)
    secrets.append(key)
    let plain = options.list(try FileSystem.read(listPath))
    let stored = options.encryptsManifest ? TestCrypto.encrypted(plain, with: key) : plain
    try FileSystem.write(options.manifest(stored), to: folder + "/Manifest.db")
    var properties: [String: PropertyListValue] = [
      "IsEncrypted": .boolean(true), "Date": .date(785_000_000), "Version": .string("10.0"),
      "Lockdown": .dictionary([
        "DeviceName": .string(options.device), "ProductVersion": .string("18.1"),
        "ProductType": .string("iPhone16,1"),
      ]),
    ]
    if options.hasKeybag { properties["BackupKeyBag"] = .data(options.keybag(bag)) }
    if options.encryptsManifest { properties["ManifestKey"] = .data(wrapped(key, in: 4)) }
    try FileSystem.write(
      PropertyList.binary(.dictionary(properties)), to: folder + "/Manifest.plist")
  }
}
