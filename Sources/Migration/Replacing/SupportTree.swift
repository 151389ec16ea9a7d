import Files
import ManagedModel
import ManagedStore

/// A store's support folder with all that lies in it: external data, and what else an app keeps there.
package enum SupportTree {
  /// Copies a store's support folder for another store, which knows nothing of the first.
  ///
  /// Links that lead to something in the folder stay links, or become files where they name it by its
  /// whole path.
  ///
  /// - Parameter isToStay: whether it is brought to the disk, and not removed in the end as a rehearsal's
  ///   is.
  /// - Returns: what a person should know of its links, as sentences.
  /// - Throws: ``CoreDataError`` of kind refused for a link that leads out of the folder: it is never
  ///   followed, since a store that came from elsewhere could name any file of its reader's.
  package static func copy(
    of files: StoreFiles, to destination: String, isToStay: Bool = true, check: () throws -> Void
  ) throws -> [String] {
    var notes: [String] = []
    try lookThrough(files.supportFolder, of: files, &notes)
    try clone(
      files.supportFolder, to: destination, links: false, isToStay: isToStay,
      resolving: { FileSystem.target(ofLink: $0)?.hasPrefix("/") == true && FileSystem.isFile($0) },
      check: check)
    return notes
  }

  /// The same, to where a store that is about to be made at a path looks for it; nothing where there is
  /// none.
  package static func copy(
    of files: StoreFiles, beside output: String, check: () throws -> Void
  ) throws -> [String] {
    guard let target = try place(of: files, beside: output) else { return [] }
    return try copy(of: files, to: target, check: check)
  }

  /// Where the support folder of a store that is about to be made at a path is to be; `nil` where there
  /// is none to be copied.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where something is there.
  @discardableResult
  package static func place(of files: StoreFiles, beside output: String) throws -> String? {
    let target = StoreFiles(path: output).supportFolder
    guard FileIdentity(of: files.supportFolder) != nil, target != files.supportFolder else {
      return nil
    }
    guard FileIdentity(of: target) == nil else {
      throw CoreDataError(
        .refused, "a support folder of that name is there already", path: target,
        hint: "Move it away, or name another output. The store is as it was.")
    }
    return target
  }

  /// Before anything is copied.
  private static func lookThrough(
    _ path: String, of files: StoreFiles, _ notes: inout [String]
  ) throws {
    guard let target = FileSystem.target(ofLink: path) else {
      guard FileSystem.isDirectory(path) else { return }
      for name in try FileSystem.list(path) {
        try lookThrough(path + "/" + name, of: files, &notes)
      }
      return
    }
    guard FileSystem.status(path) != nil else {
      notes.append("The link \(path) leads to nothing, and was copied as it is.")
      return
    }
    guard files.isInside(path), !target.hasPrefix("/") || FileSystem.isFile(path) else {
      throw CoreDataError(
        .refused, "a link leads out of the store's support folder and is not followed", path: path,
        hint: "Put what it leads to in its place, or remove it. The store is as it was.")
    }
    notes.append(
      target.hasPrefix("/")
        ? "\(path) is a link within the folder: what it leads to was copied."
        : "\(path) is a link within the folder, and was copied as such.")
  }

  /// Makes a second folder of the same content: files that are the same files where `links` says so
  /// and the file system can, else copies that were compared; links stay links.
  ///
  /// Core Data never writes to an external data file twice, so that two names of one are safe.
  ///
  /// - Parameters:
  ///   - isToStay: whether it is brought to the disk.
  ///   - resolving: whether a link becomes the file that it leads to.
  static func clone(
    _ source: String, to destination: String, links: Bool, isToStay: Bool = true,
    resolving: (String) -> Bool = { _ in false }, check: () throws -> Void
  ) throws {
    try check()
    var info = stat()
    guard lstat(source, &info) == 0 else { throw unreadable(source) }
    switch info.st_mode & S_IFMT {
    case S_IFDIR:
      guard mkdir(destination, 0o700) == 0 else {
        throw CoreDataError(
          .failed, "cannot make the folder: \(String(cString: strerror(errno)))", path: destination)
      }
      for name in try FileSystem.list(source) {
        try clone(
          source + "/" + name, to: destination + "/" + name, links: links, isToStay: isToStay,
          resolving: resolving, check: check)
      }
      FileAttributes.copy(from: source, to: destination)
      if isToStay { try FileSystem.sync(destination) }
    case S_IFLNK where !resolving(source):
      guard let target = FileSystem.target(ofLink: source), symlink(target, destination) == 0 else {
        throw unreadable(source)
      }
    case S_IFREG, S_IFLNK:
      if links, FileSystem.link(source, to: destination) { return }
      try FileSystem.createEmpty(destination)
      try FileSystem.copy(source, to: destination) { _ in try check() }
      guard try FileSystem.sha256(source) == FileSystem.sha256(destination) else {
        throw CoreDataError(
          .failed, "an external data file is not what was copied", path: destination)
      }
      FileAttributes.copy(from: source, to: destination)
      if isToStay { try FileSystem.sync(destination) }
    default:
      if links, FileSystem.link(source, to: destination) { return }
      throw CoreDataError(
        .refused, "neither a file, a folder nor a link lies in the support folder", path: source,
        hint: "Move it away. The store is as it was.")
    }
  }

  /// Moves what lies in one folder into another where its name is free there; what it does not take
  /// stays.
  static func merge(_ source: String, into destination: String) throws {
    for name in try FileSystem.list(source) {
      let (from, to) = (source + "/" + name, destination + "/" + name)
      if FileIdentity(of: to) == nil {
        try FileSystem.renameExclusively(from, to: to)
      } else if FileSystem.isDirectory(from), FileSystem.isDirectory(to) {
        try merge(from, into: to)
      }
    }
    rmdir(source)
  }

  private static func unreadable(_ path: String) -> CoreDataError {
    CoreDataError(
      .unreadable, "cannot read: \(String(cString: strerror(errno)))", path: path,
      hint: "Check its permissions. The store is as it was.")
  }
}
