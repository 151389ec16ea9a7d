import Files
import ManagedModel

/// What tells that a store's files have not changed since they were looked at.
///
/// Asked of the file system only: opening the file a second time and closing it again would drop
/// the locks that this process holds on it, as POSIX has it.
package struct StoreFingerprint: Equatable, Sendable {
  private struct File: Equatable, Sendable {
    var inode: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0 else {
        // Only what is not there is none: a file that cannot be asked about is another.
        let number = errno
        guard number != ENOENT, number != ENOTDIR else { return nil }
        (inode, size, seconds, nanoseconds) = (0, -1, Int(number), 0)
        return
      }
      inode = UInt64(info.st_ino)
      size = Int64(info.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (info.st_mtimespec.tv_sec, info.st_mtimespec.tv_nsec)
      #else
        (seconds, nanoseconds) = (info.st_mtim.tv_sec, info.st_mtim.tv_nsec)
      #endif
    }
  }

  private let main: File?
  /// `nil` where there is no -wal or an empty one, which come and go with a mere look.
  private let wal: File?

  /// Whether there was a main file.
  package var exists: Bool { main != nil }

  /// Whether the name still stands for the same file, whatever was done to its content.
  package func isSameFile(as other: StoreFingerprint) -> Bool { main?.inode == other.main?.inode }

  /// Whether something was written into the main file since: what is read of it alone may be of two states.
  package func isWritten(since earlier: StoreFingerprint) -> Bool {
    guard let main, let former = earlier.main else { return false }
    // Of one that was put in its place the former is read on.
    return main.inode == former.inode && main != former
  }

  /// What to say where a store is no longer what it was when it was looked at.
  package static func changed(_ path: String) -> CoreDataError {
    var error = CoreDataError(
      .failed, code: .migration, "the store was changed by another program meanwhile", path: path,
      hint: "Close that program and try again. The store is as it is now.")
    if FileSystem.status(path) == nil {
      error.message = "the store was moved or deleted meanwhile"
      error.hint = "Nothing was written. Find out which program did it, and try again."
    }
    error.isStale = true
    return error
  }

  /// Looks at the store's files as they are now, also where there are none.
  package init(of storePath: String) {
    main = File(storePath)
    wal = File(storePath + "-wal").flatMap { $0.size == 0 ? nil : $0 }
  }
}
