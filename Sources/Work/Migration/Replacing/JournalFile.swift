import Files
import ManagedModel
import ManagedStore

/// The file of a journal: opened without following a link, locked, and trusted by its owner.
final class JournalFile {
  let path: String
  private let folder: Folder
  private let name: String
  private let descriptor: Int32
  /// What an interrupted run wrote.
  let content: Content
  /// What is in it now, and the word that seals it.
  private var bytes: [UInt8] = []
  private var word: RunWord?

  /// What a journal holds.
  struct Content {
    var records: [JournalRecord] = []
    /// Whether this user's strata wrote them.
    var isTrusted = false

    fileprivate init(_ bytes: [UInt8], of path: String) {
      if let word = RunWord(knownFor: path), let records = JournalRecord.sealed(bytes, by: word) {
        (self.records, isTrusted) = (records, true)
      } else {
        records = JournalRecord.decode(bytes)
      }
    }
  }

  /// Another strata has the lock.
  struct Busy: Error {}

  /// Tries to get the lock, a fiftieth of a second apart: who only looks holds it for a moment.
  private static let tries = 5
  /// No journal is longer.
  private static let limit = 64 << 20

  /// Opens the store's journal, or makes it, and takes its lock.
  init(_ names: StoreNames, _ storePath: String) throws {
    path = names.path(names.journal)
    folder = try Folder(names.folder)
    name = names.journal
    var taken: Int32 = -1
    for _ in 0..<100 where taken < 0 {
      let opened = folder.open(name, O_RDWR | O_CREAT)
      guard opened >= 0 else { throw Self.refusal(path, storePath) }
      do {
        try Self.lock(opened, path)
        // The run that held the lock may have removed the file meanwhile: then this lock guards no name.
        var info = stat()
        guard fstat(opened, &info) == 0,
          try folder.entry(name)?.identity == FileIdentity(info)
        else {
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
    content = Content(Self.bytes(descriptor), of: path)
    // The store's owner may put right what root began.
    if geteuid() == 0, let owner = Self.owner(of: storePath, names.folder) {
      _ = fchown(descriptor, owner.uid, owner.gid)
    }
  }

  deinit { close(descriptor) }

  /// Reads the journal as it is, without taking its lock for longer than a look; `nil` where there is
  /// none that can be read.
  static func look(_ names: StoreNames) -> (content: Content, isBusy: Bool)? {
    guard let opened = (try? Folder(names.folder))?.open(names.journal, O_RDONLY), opened >= 0
    else { return nil }
    defer { close(opened) }
    var info = stat()
    guard fstat(opened, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    let isBusy = flock(opened, LOCK_SH | LOCK_NB) != 0
    return (Content(bytes(opened), of: names.path(names.journal)), isBusy)
  }

  /// Begins again with these records, which are on the disk then, under a new word.
  func replace(with records: [JournalRecord]) throws {
    word = RunWord(keptFor: path)
    bytes = []
    guard ftruncate(descriptor, 0) == 0 else { throw failure() }
    try append(records)
  }

  /// Adds records and a seal on all that is in the journal; both are on the disk then.
  func append(_ records: [JournalRecord]) throws {
    guard !records.isEmpty else { return }
    var new = JournalRecord.encode(records)
    if let word { new += JournalRecord.encode([.seal(word.seal(bytes + new))]) }
    var done = 0
    while done < new.count {
      let wrote = new.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
          off_t(bytes.count + done))
      }
      if wrote < 0, errno == EINTR { continue }
      guard wrote > 0 else {
        let error = failure()
        // A part of a record would hide what is written after it.
        _ = ftruncate(descriptor, off_t(bytes.count))
        throw error
      }
      done += wrote
    }
    bytes += new
    guard fsync(descriptor) == 0 else { throw failure() }
  }

  /// Removes the name while the lock is held, so that nobody waits for a file that is gone.
  ///
  /// - Returns: whether it is gone.
  func remove() -> Bool {
    let isGone = (try? folder.remove(name)) != nil
    if isGone { RunWord.forget(path) }
    letGo()
    try? folder.sync()
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

  /// A journal says what to rename and remove: only who may do so to the store may write one.
  private static func requireTrust(_ info: stat, _ path: String, _ storePath: String) throws {
    let owner = owner(of: storePath, FileSystem.parent(of: path) ?? ".")
    guard info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1,
      info.st_uid == geteuid() || info.st_uid == 0 || info.st_uid == owner?.uid,
      info.st_mode & 0o022 == 0
    else {
      throw CoreDataError(
        .refused, "another user's file is in the place of the journal", path: path,
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
        .refused, "a symbolic link is in the place of the journal", path: path,
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

/// A random word of one run, which is kept in the state folder of the user who runs it and nowhere else.
///
/// A journal lies beside the store: it can come with a store from anywhere, and any user who may write to the
/// folder may write one. Its content is sealed with this word, which distinguishes a journal that this user's strata
/// wrote from any other.
struct RunWord: Equatable {
  private let bytes: [UInt8]

  /// The sealed value of what a journal holds so far.
  func seal(_ content: [UInt8]) -> String {
    // Twice, so that nobody who reads a seal can go on from it.
    ByteText.hex(Digest.sha256(bytes + Digest.sha256(bytes + content)))
  }

  /// A new word, kept for the journal at a path; `nil` where there is no state folder to keep it in.
  init?(keptFor journalPath: String) {
    bytes = Array(ByteText.hex((0..<32).map { _ in UInt8.random(in: 0...255) }).utf8)
    guard let (folder, name) = Self.place(for: journalPath, makes: true) else { return nil }
    do {
      try FileSystem.replace(folder.path(of: name), with: bytes)
    } catch {
      return nil
    }
  }

  /// The word that was kept for the journal at a path; `nil` if there is none, or it is not this user's.
  init?(knownFor journalPath: String) {
    guard let (folder, name) = Self.place(for: journalPath, makes: false),
      let file = try? folder.file(name), file.isPrivate,
      let bytes = try? file.read(at: 0, count: 256), bytes.count == 64
    else { return nil }
    self.bytes = bytes
  }

  /// Removes the word of a journal that is gone.
  static func forget(_ journalPath: String) {
    guard let (folder, name) = place(for: journalPath, makes: false) else { return }
    try? folder.remove(name)
  }

  private static func place(for path: String, makes: Bool) -> (folder: Folder, name: String)? {
    guard let state = StateFolder.path() else { return nil }
    let runs = state + "/runs"
    if makes {
      guard (try? FileSystem.makeDirectory(runs, permissions: 0o700)) != nil else { return nil }
    }
    guard let folder = try? Folder(runs) else { return nil }
    return (folder, ByteText.hex(Digest.sha256(Array(path.utf8)).prefix(16)))
  }
}
