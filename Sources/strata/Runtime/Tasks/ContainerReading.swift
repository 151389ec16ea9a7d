import Containers
import Files
import Interface

/// The stores of an archive, a backup or an app's data, to be picked from as those of a folder are.
enum ContainerReading {
  /// - Returns: `nil` for a folder with files under their own names.
  static func list(_ path: String) throws -> (FolderListing, [String: StorePeek])? {
    guard let form = ContainerForm(at: path), form != .folder else { return nil }
    let container = try Container(FileSystem.canonical(path))
    var peeks: [String: StorePeek] = [:]
    let entries = try container.stores().map { store in
      let path = container.path + "//" + store.name
      peeks[path] = store.peek
      return FolderListing.Entry(
        name: store.name, path: path, kind: .file,
        bytes: store.bytes + (store.logBytes ?? 0) + store.externalBytes)
    }
    return (
      FolderListing(
        path: container.path, parent: FileSystem.parent(of: container.path), entries: entries),
      peeks
    )
  }
}

extension ContainedStore {
  fileprivate var peek: StorePeek {
    switch look {
    case .store(let entities, _): .store(entities: entities.count)
    case .database: .database
    case .damaged, .nothing: .damaged("damaged")
    case .notDownloaded: .damaged("not downloaded")
    }
  }
}
