import Files
import ManagedModel

/// A store of a container put together in a private folder, with its -wal and external data, or a
/// bundle of models; gone with all that is beside it when it is let go.
package final class StoreCopy {
  /// Where the copy of the main file is.
  package let path: String
  /// The container it came out of, links followed.
  package let container: String
  /// The store's path in the container.
  package let name: String
  /// What of the container could not be looked into or is missing, as sentences.
  package let notes: [String]
  /// Files elsewhere in the container that look like its -wal.
  package let distantLogs: [DistantLog]
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
    let (wanted, main) = try Self.wanted(inner, in: container)
    folder = try PrivateFolder()
    self.container = FileSystem.canonical(container.path)
    name = main
    notes = container.notes
    distantLogs = container.distantLogs(of: [main])
    root = folder.path + "/" + rootName
    path = root + "/" + main
    let root = self.root
    try container.unpack(
      wanted.map { ($0, root + "/" + $0.name) }, progress: progress)
    try Self.requireFiles(root)
  }

  /// What belongs to a store, or what is in a bundle of models.
  private static func wanted(
    _ inner: String, in container: Container
  ) throws -> (entries: [ContainerEntry], name: String) {
    if let (files, name) = try container.models(named: inner) { return (files, name) }
    let main = try container.main(named: inner)
    let group = try container.group(of: main)
    return (
      group.all + container.strayLogs(beside: main) + container.models(beside: main), main.name
    )
  }

  /// Links were never made; this makes sure.
  private static func requireFiles(_ folder: String) throws {
    for name in try FileSystem.list(folder) {
      let path = folder + "/" + name
      guard FileSystem.target(ofLink: path) == nil else {
        throw CoreDataError(.unreadable, "a link appeared in a private copy", path: path)
      }
      if FileSystem.isDirectory(path) { try requireFiles(path) }
    }
  }
}
