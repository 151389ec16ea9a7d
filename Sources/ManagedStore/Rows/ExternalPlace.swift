import Files
import ManagedModel

/// Where the file is that a row names as its external data.
package enum ExternalPlace: Sendable, Equatable {
  /// A file in the store's own folder; a link that leads to one in it is as good.
  case file(path: String, bytes: Int, isLink: Bool)
  /// Nothing is there, or the name is none of Core Data's.
  case missing
  /// A link leads out of the folder. It is never followed: a store that came from elsewhere could
  /// name any file of its reader's.
  case outside
}

extension StoreFiles {
  /// The hidden folder beside the store: `.<name>_SUPPORT`.
  package var supportFolder: String {
    FileSystem.parent(of: externalDataFolder) ?? externalDataFolder
  }

  /// Finds the file of a name that a row holds.
  package func externalPlace(of name: String) -> ExternalPlace {
    guard let path = externalData(named: name), let kind = Self.kind(of: path) else {
      return .missing
    }
    let hasLink =
      kind == S_IFLNK || Self.kind(of: externalDataFolder) == S_IFLNK
      || Self.kind(of: supportFolder) == S_IFLNK
    if hasLink {
      guard FileSystem.status(path) != nil else { return .missing }
      guard isInside(path) else { return .outside }
    }
    guard let status = FileSystem.status(path), status.kind == .file else { return .missing }
    return .file(path: path, bytes: status.size, isLink: hasLink)
  }

  /// Whether a path, its links followed, is in the support folder itself.
  package func isInside(_ path: String) -> Bool {
    let folder = FileSystem.canonical(FileSystem.parent(of: supportFolder) ?? ".")
    let root = (folder == "/" ? "" : folder) + "/" + FileSystem.name(of: supportFolder) + "/"
    return FileSystem.canonical(path).hasPrefix(root)
  }

  private static func kind(of path: String) -> mode_t? {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & S_IFMT : nil
  }
}
