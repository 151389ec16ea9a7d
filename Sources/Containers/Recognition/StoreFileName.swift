/// What apps call the files of their stores.
enum StoreFileName {
  private static let endings = [".sqlite", ".sqlite3", ".db", ".storedata", ".store"]
  /// Those that are nothing else, also without a -wal.
  private static let plain = [".sqlite", ".sqlite3", ".storedata"]

  /// Whether a name is that of a store, as far as a name tells.
  static func isStore(_ name: String, hasLog: Bool) -> Bool {
    let name = name.lowercased()
    return (hasLog ? endings : plain).contains { name.hasSuffix($0) }
  }

  /// Whether SQLite gives such names to files beside a store.
  static func isCompanion(_ name: String) -> Bool {
    ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
  }

  /// Whether macOS made it beside a file, to keep that file's attributes in an archive.
  static func isResourceFork(_ name: String) -> Bool {
    name.hasPrefix("__MACOSX/")
      || name.utf8.split(separator: UInt8(ascii: "/")).last?
        .starts(with: "._".utf8) == true
  }
}
