import Files
import ManagedModel
import ManagedStore

/// The file of a journal: opened without following a link, locked, and trusted by its owner.
final class JournalFile {
  let path: String
  private let descriptor: Int32
  /// What an interrupted run wrote.
  private(set) var records: [JournalRecord] = []

  /// Another strata has the lock.
  struct Busy: Error {}

  /// Tries to get the lock, a fiftieth of a second apart: who only looks holds it for a moment.
  private static let tries = 5
  /// No journal is longer.
  private static let limit = 64 << 20

  /// Opens the store's journal, or makes it, and takes its lock.
  init(_ names: StoreNames, _ storePath: String) throws {
    path = names.path(names.journal)
    var taken: Int32 = -1
    for _ in 0..<100 where taken < 0 {
      let opened = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard opened >= 0 else { throw Self.refusal(path, storePath) }
      do {
        try Self.lock(opened, path)
        // Whoever held it may have removed the name meanwhile: the lock is on no file then.
        var info = stat()
        guard fstat(opened, &info) == 0, FileIdentity(of: path) == FileIdentity(info) else {
          close(opened)
          continue
        }
        try Self.requireTrust(info, path, storePath)
        taken = opened
      } catch {
        close(opened)
        throw error
      }
    }
    guard taken >= 0 else { throw Busy() }
    descriptor = taken
    records = JournalRecord.decode(Self.bytes(descriptor))
    // The store's owner may put right what root began.
    if geteuid() == 0, let owner = Self.owner(of: storePath, names.folder) {
      _ = fchown(descriptor, owner.uid, owner.gid)
    }
  }

  deinit { close(descriptor) }

  /// Reads the journal as it is, without taking its lock for longer than a look; `nil` where there is
  /// none that can be read.
  static func look(_ names: StoreNames) -> (records: [JournalRecord], isBusy: Bool)? {
    let path = names.path(names.journal)
    let opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    let isBusy = flock(opened, LOCK_SH | LOCK_NB) != 0
    return (JournalRecord.decode(bytes(opened)), isBusy)
  }

  /// Begins anew with these records, which are on the disk then.
  func replace(with records: [JournalRecord]) throws {
    guard ftruncate(descriptor, 0) == 0 else { throw failure() }
    try append(records)
  }

  /// Adds records, which are on the disk then.
  func append(_ records: [JournalRecord]) throws {
    let bytes = JournalRecord.encode(records)
    guard !bytes.isEmpty else { return }
    var offset = lseek(descriptor, 0, SEEK_END)
    guard offset >= 0 else { throw failure() }
    var done = 0
    while done < bytes.count {
      let wrote = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, offset)
      }
      if wrote < 0, errno == EINTR { continue }
      guard wrote > 0 else { throw failure() }
      done += wrote
      offset += off_t(wrote)
    }
    guard fsync(descriptor) == 0 else { throw failure() }
  }

  /// Removes the name while the lock is held, so that nobody waits for a file that is gone.
  ///
  /// - Returns: whether it is gone.
  func remove() -> Bool {
    let isGone = unlink(path) == 0 || errno == ENOENT
    letGo()
    if let folder = FileSystem.parent(of: path) { try? FileSystem.sync(folder) }
    return isGone
  }

  /// Lets others have the lock.
  func letGo() { _ = flock(descriptor, LOCK_UN) }

  private static func lock(_ descriptor: Int32, _ path: String) throws {
    for attempt in 1...tries {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw CoreDataError(
          .failed, "the journal cannot be locked: \(String(cString: strerror(errno)))", path: path,
          advice: "Move the store to a file system that has locks, or write there with \(.output).")
      }
      if attempt < tries { usleep(20_000) }
    }
    throw Busy()
  }

  /// A journal tells what to rename and remove: only who may do so to the store may write one.
  private static func requireTrust(_ info: stat, _ path: String, _ storePath: String) throws {
    let owner = owner(of: storePath, FileSystem.parent(of: path) ?? ".")
    guard info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1,
      info.st_uid == geteuid() || info.st_uid == 0 || info.st_uid == owner?.uid,
      info.st_mode & 0o022 == 0
    else {
      throw CoreDataError(
        .refused, "a file that another user made lies where the journal is to be", path: path,
        hint: "Find out whose it is, and remove it.")
    }
  }

  private static func owner(of storePath: String, _ folder: String) -> (uid: uid_t, gid: gid_t)? {
    var info = stat()
    guard stat(storePath, &info) == 0 || stat(folder, &info) == 0 else { return nil }
    return (info.st_uid, info.st_gid)
  }

  private static func refusal(_ path: String, _ storePath: String) -> CoreDataError {
    let reason = errno
    if reason == EACCES, FileIdentity(of: path) != nil {
      return CoreDataError(
        .failed, "another user's strata is migrating this store, or was interrupted",
        path: storePath, hint: "The journal is \(path): its owner, or root, can go on.")
    }
    if reason == ELOOP {
      return CoreDataError(
        .refused, "a link lies where the journal is to be", path: path,
        hint: "Find out whose it is, and remove it.")
    }
    errno = reason
    return FileSystem.failure(.write, path)
  }

  private func failure() -> CoreDataError { FileSystem.failure(.writeJournal, path) }

  private static func bytes(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < limit {
      let got = buffer.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(bytes.count))
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      bytes += buffer.prefix(got)
    }
    return bytes
  }
}
