import Values

/// Where a file may be written that a person names: a receipt, rows, a recipe, a model, a new store.
///
/// Never over a file of a store, nor where one of a store's would be: its main file, -wal, -shm,
/// -journal, its backups and its support folder; whichever way the path is spelled, and through links.
package enum OutputPlace {
  /// Why nothing may be written there; `nil` where it may.
  ///
  /// - Parameters:
  ///   - stores: the stores at hand, and those that are about to be made.
  ///   - what: what is to be written, such as `the receipt`.
  ///   - makesFolder: whether a folder that is not there will be made.
  package static func refusal(
    toWrite what: String, at path: String, besides stores: [String] = [], makesFolder: Bool = false
  ) -> CoreDataError? {
    func refusal(_ reason: String) -> CoreDataError {
      CoreDataError(
        .usage, "\(what) cannot be written there: \(reason)", path: path,
        hint: "Name another file.")
    }
    let place = resolved(path)
    let (stores, status) = (stores.map(resolved), FileSystem.status(path))
    if let status, status.kind != .file { return refusal("it is a folder, or not a regular file") }
    // It could lead anywhere by the time that it is written.
    if FileSystem.target(ofLink: path) != nil { return refusal("it is a symbolic link") }
    if let folder = supportFolder(in: place) {
      return refusal("\(folder) belongs to a store")
    }
    let name = FileSystem.name(of: place)
    for suffix in StoreSuffix.companions
    where name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count {
      let main = String(place.dropLast(suffix.count))
      if stores.contains(main) || FileSystem.isDatabase(main) {
        return refusal("SQLite would treat it as a file of \(FileSystem.name(of: main))")
      }
    }
    if stores.contains(place) {
      return refusal("it is the store itself")
    }
    guard let status else {
      return makesFolder ? nil : folderRefusal(what, FileSystem.parent(of: path) ?? ".")
    }
    // A second name of a store's file is that file.
    let own = stores.flatMap { store in StoreSuffix.all.map { store + $0 } }
    if own.contains(where: {
      guard let other = FileSystem.status($0) else { return false }
      return other.inode == status.inode && other.device == status.device
    }) {
      return refusal("it is a file of the store")
    }
    return FileSystem.isDatabase(path) || isLog(path)
      ? refusal("it is a store, a backup or a log of one")
      : folderRefusal(what, FileSystem.parent(of: path) ?? ".")
  }

  /// Why nothing can be made in a folder: what is written is first written beside its place.
  private static func folderRefusal(_ what: String, _ folder: String) -> CoreDataError? {
    guard FileSystem.isDirectory(folder) else {
      return CoreDataError(
        .usage, "the folder for \(what) does not exist", path: folder,
        hint: "Name a file in a folder that exists.")
    }
    guard FileSystem.isWritable(folder) else {
      return CoreDataError(
        .usage, "\(what) cannot be written into that folder", path: folder,
        hint: "Name a file in a folder that you may write to.")
    }
    return nil
  }

  /// The path without links, also of what is not there yet.
  private static func resolved(_ path: String) -> String {
    if FileSystem.status(path) != nil { return FileSystem.canonical(path) }
    let folder = FileSystem.canonical(FileSystem.parent(of: path) ?? ".")
    return (folder == "/" ? "" : folder) + "/" + FileSystem.name(of: path)
  }

  /// The support folder that a path is in.
  private static func supportFolder(in path: String) -> String? {
    path.split(separator: "/").dropLast().first(where: StoreSuffix.isSupportFolder)
      .map(String.init)
  }

  /// A -wal or -journal under whatever name.
  private static func isLog(_ path: String) -> Bool {
    guard let head = try? FileSystem.read(path, limit: 8), head.count >= 4 else { return false }
    return head.starts(with: [0x37, 0x7F, 0x06, 0x82])
      || head.starts(with: [0x37, 0x7F, 0x06, 0x83])
      || head == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
  }
}
