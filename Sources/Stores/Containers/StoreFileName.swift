import Files

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the files of stores are called, and those beside them.
package enum StoreFileName {
  private static let endings = [".sqlite", ".sqlite3", ".db", ".storedata", ".store"]
  /// Those that are nothing else, also without a -wal.
  private static let plain = [".sqlite", ".sqlite3", ".storedata"]

  /// Whether apps give such names to stores.
  package static func isStore(_ name: String) -> Bool {
    let name = name.lowercased()
    return endings.contains { name.hasSuffix($0) }
  }

  /// Whether a file of such a name is one, whatever is in it: others have `.db` and `.store` as well.
  static func isStore(_ name: String, hasLog: Bool) -> Bool {
    let name = name.lowercased()
    return (hasLog ? endings : plain).contains { name.hasSuffix($0) }
  }

  /// Whether a folder of such a name is one of models.
  package static func isModelBundle(_ name: String) -> Bool {
    [".momd", ".xcdatamodeld", ".xcdatamodel"].contains { name.hasSuffix($0) }
  }

  /// Whether macOS made it beside a file, to keep that file's attributes in an archive.
  static func isResourceFork(_ name: String) -> Bool {
    name.hasPrefix("__MACOSX/") || name.hasPrefix("._")
      || strstr(name, "/._") != nil && FileSystem.name(of: name).hasPrefix("._")
  }
}
