import Files

/// Where a store is that a person names: a file, or `PATH//inner/path` in a container.
package enum StoreLocation: Sendable, Equatable {
  /// An ordinary path, whatever is there.
  case file(String)
  /// A folder in which a store may be, under its own name.
  case folder(String)
  /// In a container; `nil` where it is not said which of its stores.
  case inside(container: String, inner: String?)

  /// Reads a path as it was typed.
  package init(_ text: String) {
    for (container, inner) in Self.splits(text) {
      switch ContainerForm(at: container) {
      case .archive, .appData:
        self = .inside(container: container, inner: inner)
        return
      case .backup where FileSystem.status(text) == nil:
        self = .inside(container: container, inner: inner)
        return
      case .folder where FileSystem.status(text) == nil:
        if let (backup, rest) = Self.backup(below: container, inner) {
          self = .inside(container: backup, inner: rest)
          return
        }
      default: continue
      }
    }
    switch ContainerForm(at: text) {
    case .folder: self = .folder(text)
    case .appData, .backup, .archive: self = .inside(container: text, inner: nil)
    case nil: self = .file(text)
    }
  }

  /// The path before and after each double slash, where both are something.
  private static func splits(_ text: String) -> [(String, String)] {
    let bytes = Array(text.utf8)
    let slash = UInt8(ascii: "/")
    return bytes.indices.dropFirst().compactMap { index in
      guard bytes[index] == slash, index + 1 < bytes.count, bytes[index + 1] == slash,
        bytes[index - 1] != slash
      else { return nil }
      let inner = bytes[index...].drop { $0 == slash }
      guard !inner.isEmpty else { return nil }
      return (
        String(decoding: bytes[..<index], as: UTF8.self), String(decoding: inner, as: UTF8.self)
      )
    }
  }

  /// The backup in a folder that the first parts of a path lead to, as the list of the folder has it.
  private static func backup(below folder: String, _ inner: String) -> (String, String)? {
    for way in EntryName.folders(of: inner) {
      let path = folder + "/" + way
      guard FileSystem.isDirectory(path) else { return nil }
      if BackupManifest.isBackup(path) {
        return (path, String(decoding: inner.utf8.dropFirst(way.utf8.count + 1), as: UTF8.self))
      }
    }
    return nil
  }
}
