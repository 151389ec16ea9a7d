import Files
import ManagedModel

/// All of SQLite's locks on a store file, held by this process until the value is let go.
///
/// No other program can open the store meanwhile, and none has it open: SQLite keeps a lock on the
/// main file for as long as it uses a -wal. Works on a damaged file too, since SQLite itself is not
/// asked. POSIX drops the lock when this process closes any other handle on the file, so nothing may
/// open it meanwhile; renaming it is fine.
package final class HeldStoreLock {
  private let descriptor: Int32

  /// - Throws: ``CoreDataError`` when another program uses the store, or it cannot be opened.
  package init(_ path: String) throws {
    if let user = StoreLock.user(of: path) { throw Self.inUse(path, user) }
    // A lock for writing needs a file opened for writing; nothing is ever written through it.
    // The path is without links; one that is there by now is another's.
    let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen, "the store cannot be opened: \(reason)",
        path: path,
        hint: "Check the permissions of the store and of its folder.")
    }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = StoreLock.pendingByte
    lock.l_len = StoreLock.length
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
      close(descriptor)
      throw Self.inUse(path, StoreLock.user(of: path))
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private static func inUse(_ path: String, _ user: Int?) -> CoreDataError {
    CoreDataError(
      .failed, code: .persistentStoreOpen,
      "another program\(user.map { " (process \($0))" } ?? "") is using the store", path: path,
      hint: "Close it and try again. The store is as it was.")
  }
}
