import Files

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
