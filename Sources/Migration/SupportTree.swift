import ManagedModel
import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A store's support folder with all that lies in it: external data, and what else an app keeps there.
enum SupportTree {
  /// Makes a second folder of the same content: files that are the same files where `links` says so
  /// and the file system can, else copies that were compared; links stay links.
  ///
  /// Core Data never writes to an external data file twice, so that two names of one are safe.
  static func clone(
    _ source: String, to destination: String, links: Bool, check: () throws -> Void
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
        try clone(source + "/" + name, to: destination + "/" + name, links: links, check: check)
      }
      FileAttributes.copy(from: source, to: destination)
      try FileSystem.sync(destination)
    case S_IFLNK:
      guard let target = FileSystem.target(ofLink: source), symlink(target, destination) == 0 else {
        throw unreadable(source)
      }
    case S_IFREG:
      if links, FileSystem.link(source, to: destination) { return }
      try FileSystem.createEmpty(destination)
      try FileSystem.copy(source, to: destination) { _ in try check() }
      guard try FileSystem.sha256(source) == FileSystem.sha256(destination) else {
        throw CoreDataError(
          .failed, "an external data file is not what was copied", path: destination)
      }
      FileAttributes.copy(from: source, to: destination)
      try FileSystem.sync(destination)
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
