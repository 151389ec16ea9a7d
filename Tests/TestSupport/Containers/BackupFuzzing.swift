import Containers
import Files
import ManagedModel

/// Encrypted backups with a damaged part: the keybag, the record of a file, or the list of files in plain.
public enum BackupFuzzing {
  private static let password = "horse"

  /// Input whose first byte says which part the rest is.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let path = folder.path("Backup")
    var list: [UInt8] = []
    let writer = try backup(path) { options in
      options.list = {
        list = $0
        return $0
      }
    }
    try add(to: writer) { $0 }
    try writer.finish()
    let record = EncryptedBackupWriter.record(
      path: "Documents/App.sqlite", size: 4096,
      key: [3, 0, 0, 0] + [UInt8](repeating: 9, count: 40),
      protectionClass: 3)
    return Fuzzing.Target(
      "encrypted backup", corpus: [[0] + writer.bag, [1] + record, [2] + list]
    ) { input in
      let part = Array(input.dropFirst())
      let kind = input.first.map { $0 % 3 }
      FileSystem.removeTree(path)
      let writer = try backup(path) { options in
        if kind == 0 { options.keybag = { _ in quick(part) } }
        if kind == 2 { options.list = { _ in part } }
      }
      try add(to: writer) { kind == 1 ? part : $0 }
      try writer.finish()
      let container = try Container(
        path,
        unlocking: BackupUnlocking(ring: BackupKeyRing()) { backup, attempt in
          _ = backup.text
          return attempt == 0 ? Secret(Array(password.utf8)) : nil
        })
      for store in try container.stores() { _ = try StoreCopy(of: store.name, in: container) }
    }
  }

  private static func backup(
    _ path: String, _ change: (inout EncryptedBackupWriter.Options) -> Void
  ) throws -> EncryptedBackupWriter {
    try EncryptedBackupWriter(path) { options in
      options.password = password
      (options.rounds, options.innerRounds) = (1, 1)
      change(&options)
    }
  }

  private static func add(
    to writer: EncryptedBackupWriter, record: @escaping ([UInt8]) -> [UInt8]
  ) throws {
    try writer.add(
      "AppDomain-x", "Documents/App.sqlite",
      Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080)
    ) { $0.record = record }
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
