import Files
import ManagedModel

/// A store of a container put together in a private folder, with its -wal and external data; gone
/// with all that is beside it when it is let go.
package final class StoreCopy {
  /// Where the copy of the main file is.
  package let path: String
  /// The store's path in the container.
  package let name: String
  /// The folder that stands for the container.
  package let root: String
  private let folder: PrivateFolder

  /// - Parameters:
  ///   - inner: the store's path in the container.
  ///   - rootName: what the folder in the private one is called.
  package init(
    of inner: String, in container: Container, rootName: String = "copy",
    progress: @escaping Container.Progress = { _ in }
  ) throws {
    let main = try container.main(named: inner)
    let group = try container.group(of: main)
    folder = try PrivateFolder()
    name = main.name
    root = folder.path + "/" + rootName
    path = root + "/" + main.name
    for entry in group.all {
      let place = root + "/" + entry.name
      try FileSystem.makeDirectory(
        FileSystem.parent(of: place) ?? root, permissions: 0o700)
    }
    let root = self.root
    try container.unpack(
      group.all.map { ($0, root + "/" + $0.name) }, progress: progress)
    try Self.requireFiles(root)
  }

  /// Links were never made; this makes sure.
  private static func requireFiles(_ folder: String) throws {
    for name in try FileSystem.list(folder) {
      let path = folder + "/" + name
      guard FileSystem.target(ofLink: path) == nil else {
        throw CoreDataError(.unreadable, "a link came to be in a private copy", path: path)
      }
      if FileSystem.isDirectory(path) { try requireFiles(path) }
    }
  }
}
