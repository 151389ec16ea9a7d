import Files
import ManagedModel

/// SQLite's locks on a store file, asked about without taking one.
package enum StoreLock {
  // SQLite locks bytes far into the file: https://www.sqlite.org/src/file?name=src/os.h
  static let pendingByte: off_t = 0x4000_0000
  static let length: off_t = 512

  /// The process that holds a lock with which readers must not go on: it is writing pages.
  package static func writer(of path: String) -> Int? {
    // The pending byte is held alone from the moment a writer waits for readers to leave; the
    // shared range is write-locked while it writes.
    holder(of: path, start: pendingByte, length: 1, type: Int16(F_RDLCK))
      ?? holder(of: path, start: pendingByte + 2, length: length - 2, type: Int16(F_RDLCK))
  }

  /// The process that has any lock on the file, reading or writing.
  ///
  /// In WAL mode every open connection holds the last of the nine lock bytes in the -shm, so that a
  /// -shm without a lock is one that nobody uses. Locks of this very process are never reported.
  package static func user(of path: String) -> Int? {
    holder(of: path, start: pendingByte, length: length, type: Int16(F_WRLCK))
      ?? holder(of: path + "-shm", start: 120, length: 9, type: Int16(F_WRLCK))
  }

  /// The refusal of a file that another program uses.
  ///
  /// - Parameters:
  ///   - what: what the file is.
  ///   - deed: what can be done again when that program is closed.
  package static func inUse(
    _ path: String, by user: Int? = nil, as what: String = "store", to deed: String = "try"
  ) -> CoreDataError {
    CoreDataError(
      .failed, code: .persistentStoreOpen,
      "another program\(user.map { " (process \($0))" } ?? "") is using the \(what)", path: path,
      hint: "Close it and \(deed) again. The store is unchanged.")
  }

  private static func holder(of path: String, start: off_t, length: off_t, type: Int16) -> Int? {
    // Opening a FIFO would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var lock = flock()
    lock.l_type = type
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = start
    lock.l_len = length
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
    return Int(lock.l_pid)
  }
}

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
    if let user = StoreLock.user(of: path) { throw StoreLock.inUse(path, by: user) }
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
      throw StoreLock.inUse(path, by: StoreLock.user(of: path))
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
