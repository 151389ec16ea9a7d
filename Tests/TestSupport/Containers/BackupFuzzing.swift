import Containers
import Files
import ManagedModel
import ManagedStore
import SQLite

/// Encrypted backups of which one part is damaged, under the right keys: what a reader meets after the password.
public struct BackupFuzzing: Sendable {
  /// The part that is damaged.
  enum Part: CaseIterable {
    /// The keybag in Manifest.plist.
    case keybag
    /// The record of a file: an archive of an object of class MBFile.
    case record
    /// The list of files before it is encrypted.
    case list
    /// Manifest.plist as a whole.
    case properties
    /// The list of files as it is stored.
    case storedList
    /// Info.plist.
    case info
    /// A store before it is encrypted.
    case store
    /// The store's -wal before it is encrypted.
    case log
  }

  private static let password = "horse"
  private static let domain = "AppDomain-x"
  private static let file = "Documents/App.sqlite"

  private let temporary: TemporaryFolder
  private let folder: String
  private let recordsPath: String
  /// Each part as it is before anything is damaged.
  private let sound: [Part: [UInt8]]
  private let properties: [String: PropertyListValue]
  private let listKey: [UInt8]
  private let (store, log): (Place, Place)

  /// A file of the backup and its key.
  private struct Place {
    var path: String
    var key: [UInt8]
  }

  /// A target for each part.
  public static func targets(in folder: TemporaryFolder) throws -> [Fuzzing.Target] {
    let fuzzing = try BackupFuzzing(in: folder)
    return try Part.allCases.map { part in
      Fuzzing.Target("\(part)", corpus: [try fuzzing.soundBytes(of: part)]) {
        try fuzzing.read($0, as: part)
      }
    }
  }

  private init(in temporary: TemporaryFolder) throws {
    self.temporary = temporary
    folder = temporary.path("Backup")
    var list: [UInt8] = []
    let writer = try EncryptedBackupWriter(folder) { options in
      options.password = Self.password
      (options.rounds, options.innerRounds) = (1, 1)
      options.list = {
        list = $0
        return $0
      }
    }
    let path = temporary.path("App.sqlite")
    try Fuzzing.sampleStore(at: path, model: Model(contents: Array(Fuzzing.modelText.utf8)))
    func lastKey() throws -> [UInt8] {
      guard let key = writer.secrets.last else {
        throw CoreDataError(.failed, "the backup has no key")
      }
      return key
    }
    let storeBytes = try FileSystem.read(path)
    func add(_ suffix: String, _ contents: [UInt8]) throws -> Place {
      Place(path: try writer.add(Self.domain, Self.file + suffix, contents), key: try lastKey())
    }
    store = try add("", storeBytes)
    log = try add("-wal", Fuzzing.walBytes)
    try writer.finish()
    listKey = try lastKey()
    let stored = try FileSystem.read(folder + "/Manifest.plist")
    guard case .dictionary(let properties) = try PropertyList.read(stored) else {
      throw CoreDataError(.failed, "the backup has no properties")
    }
    self.properties = properties
    let info = PropertyList.binary(
      .dictionary([
        "Device Name": .string("A\u{1B}[2J"), "Product Version": .string("18.1"),
        "Last Backup Date": .date(785_000_000),
      ]))
    try FileSystem.write(info, to: folder + "/Info.plist")
    recordsPath = temporary.path("records.db")
    try FileSystem.write(list, to: recordsPath)
    sound = [
      .store: storeBytes, .log: Fuzzing.walBytes, .keybag: writer.bag, .list: list,
      .properties: stored, .info: info, .record: try Self.record(in: recordsPath),
      .storedList: try FileSystem.read(folder + "/Manifest.db"),
    ]
  }

  /// The store's own record.
  private static func record(in list: String) throws -> [UInt8] {
    let rows = try Connection(path: list, mode: .readOnly).rows(
      "SELECT file FROM Files WHERE relativePath = ?", [.text(file)])
    guard rows.count == 1, case .blob(let bytes)? = rows[0].first else {
      throw CoreDataError(.failed, "the list has no record of \(file)")
    }
    return bytes
  }

  private func soundBytes(of part: Part) throws -> [UInt8] {
    guard let bytes = sound[part] else {
      throw CoreDataError(.failed, "the \(part) of the backup was not made")
    }
    return bytes
  }

  /// Puts a damaged part in its place, reads the backup, and makes it sound again.
  private func read(_ input: [UInt8], as part: Part) throws {
    prepare(part) { try write(part, input) }
    defer { prepare(part) { try restore(part) } }
    let unlocking = BackupUnlocking(ring: BackupKeyRing()) { backup, attempt in
      requirePrintable(backup.text)
      return attempt == 0 ? Secret(Array(Self.password.utf8)) : nil
    }
    let container = try Container(folder, unlocking: unlocking)
    for store in try container.stores() {
      let copy = try StoreCopy(of: store.name, in: container)
      // Bytes: to Swift, a slash and a letter's accent behind it are one character.
      let root = FileSystem.canonical(copy.root) + "/"
      guard FileSystem.canonical(copy.path).utf8.starts(with: root.utf8) else {
        preconditionFailure("a name leads elsewhere: \(store.name)")
      }
    }
    for note in container.notes { requirePrintable(note) }
  }

  /// Changes the backup. A failure is a mistake of this file: to the fuzzer, an error is an answer to the input.
  private func prepare(_ part: Part, _ change: () throws -> Void) {
    do {
      try change()
    } catch {
      preconditionFailure("the \(part) was not put in place: \(error)")
    }
  }

  private func requirePrintable(_ text: String) {
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    else { preconditionFailure("a control character in \(text.debugDescription)") }
  }

  private func write(_ part: Part, _ bytes: [UInt8]) throws {
    switch part {
    case .keybag:
      var properties = properties
      properties["BackupKeyBag"] = .data(Self.quick(bytes))
      try FileSystem.write(
        PropertyList.binary(.dictionary(properties)), to: folder + "/Manifest.plist")
    case .record:
      let records = try Connection(path: recordsPath, mode: .readWrite)
      try records.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
      try records.run(
        "UPDATE Files SET file = ? WHERE relativePath = ?", [.blob(bytes), .text(Self.file)])
      guard records.changes == 1 else {
        throw CoreDataError(.failed, "\(records.changes) records of \(Self.file)")
      }
      try writeList(FileSystem.read(recordsPath))
    case .list: try writeList(bytes)
    case .properties: try FileSystem.write(Self.quick(bytes), to: folder + "/Manifest.plist")
    case .storedList: try FileSystem.write(bytes, to: folder + "/Manifest.db")
    case .info: try FileSystem.write(bytes, to: folder + "/Info.plist")
    case .store: try write(bytes, at: store)
    case .log: try write(bytes, at: log)
    }
  }

  private func write(_ plain: [UInt8], at place: Place) throws {
    try FileSystem.write(TestCrypto.encrypted(plain, with: place.key), to: place.path)
  }

  private func writeList(_ plain: [UInt8]) throws {
    try FileSystem.write(
      TestCrypto.encrypted(plain, with: listKey), to: folder + "/Manifest.db")
  }

  private func restore(_ part: Part) throws {
    let whole: Part =
      switch part {
      case .keybag: .properties
      case .record, .list: .storedList
      default: part
      }
    try write(whole, soundBytes(of: whole))
  }

  /// The same with few rounds where there are so many as to take seconds, and not too many.
  private static func quick(_ bag: [UInt8]) -> [UInt8] {
    var bag = bag
    for tag in ["DPIC", "ITER"] {
      for place in bag.indices.dropLast(11) where bag[place...].starts(with: tag.utf8) {
        let value = bag[(place + 8)..<(place + 12)].reduce(0) { $0 << 8 | Int($1) }
        if (1000...50_000_000).contains(value) {
          bag.replaceSubrange((place + 8)..<(place + 12), with: [0, 0, 0, 2])
        }
      }
    }
    return bag
  }
}
