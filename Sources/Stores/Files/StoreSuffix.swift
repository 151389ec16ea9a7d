/// What is appended to the path of a store's main file for each file that belongs to it, and the name of its
/// support folder.
package enum StoreSuffix {
  /// The files besides the main one that hold content: a store is copied, measured and moved with them.
  ///
  /// The SQLite module has the same list, since it imports nothing: `ValueLimit.size(ofDatabaseAt:)`.
  package static let content = ["-wal", "-journal"]
  /// All files that SQLite keeps beside the main one. A -shm is only an index, but it would be used with the
  /// next file of the main one's name: none of these may be left there.
  package static let companions = ["-wal", "-shm", "-journal"]
  /// The main file and its companions: what is free, set aside or removed as one.
  package static let all = [""] + companions

  /// Whether SQLite gives such names to files beside a store.
  package static func isCompanion(_ name: String) -> Bool {
    companions.contains(where: name.hasSuffix)
  }

  /// Removes a store's main file and its companions; the support folder stays.
  package static func removeAll(of path: String) {
    for suffix in all { FileSystem.remove(path + suffix) }
  }

  /// Name of the folder in which Core Data keeps a store's external data, beside the store.
  package static func supportFolder(of store: String) -> String {
    "." + FileSystem.stem(of: store) + "_SUPPORT"
  }

  /// Whether a name is one of such a folder.
  package static func isSupportFolder(_ name: some StringProtocol) -> Bool {
    name.hasPrefix(".") && name.hasSuffix("_SUPPORT")
  }
}
