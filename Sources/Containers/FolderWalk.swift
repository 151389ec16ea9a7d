import Files
import ManagedModel

/// All that is in a folder and below it; links are reported, and not followed.
struct FolderWalk {
  private(set) var entries: [ContainerEntry] = []
  /// Folders that could not be read.
  private(set) var unreadable: [String] = []

  private static let deepest = 64

  /// - Parameter followsLinks: whether a link to a file counts as that file.
  init(_ path: String, followsLinks: Bool, limits: ContainerLimits) throws {
    var folders: [(name: String, depth: Int)] = [("", 0)]
    // What cannot be read at all is an error; a folder in it is not.
    _ = try FileSystem.list(path)
    while let (folder, depth) = folders.popLast() {
      try Task.checkCancellation()
      let full = folder.isEmpty ? path : path + "/" + folder
      guard let names = try? FileSystem.list(full) else {
        unreadable.append(folder)
        continue
      }
      for name in names {
        guard entries.count < limits.entries else {
          throw CoreDataError(
            .unreadable, "the folder has more than \(limits.entries) files", path: path,
            hint: "Give a subfolder.")
        }
        let (inner, place) = (folder.isEmpty ? name : folder + "/" + name, full + "/" + name)
        var info = stat()
        guard lstat(place, &info) == 0 else { continue }
        var kind = Self.kind(info)
        if kind == .link, followsLinks, let status = FileSystem.status(place), status.kind == .file
        {
          kind = .file
          info.st_size = off_t(status.size)
        }
        if kind == .folder, depth < Self.deepest { folders.append((inner, depth + 1)) }
        entries.append(
          ContainerEntry(
            name: inner, kind: kind, bytes: kind == .file ? Int(info.st_size) : 0,
            place: .file(place)))
      }
    }
  }

  private static func kind(_ info: stat) -> ContainerEntry.Kind {
    switch info.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .other
    }
  }
}
