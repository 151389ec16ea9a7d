import Files
import ManagedModel
import SQLite
import Salvage

/// The files that make up one store, and the way to read them without leaving a trace.
public struct StoreFiles: Sendable, Equatable {
  /// Path of the main file.
  public let path: String
  /// The hidden folder in which Core Data keeps large values: `.<name>_SUPPORT/_EXTERNAL_DATA`.
  public let externalDataFolder: String

  /// Names the files; nothing is looked at.
  public init(path: String) {
    self.path = path
    externalDataFolder =
      (FileSystem.parent(of: path) ?? ".") + "/" + StoreSuffix.supportFolder(of: path)
      + "/" + Self.externalDataName
  }

  /// The folder of external data, in the hidden folder beside a store.
  package static let externalDataName = "_EXTERNAL_DATA"

  /// Files of a store that refers to the external data of another: a version on the way of it.
  package init(path: String, externalDataOf other: StoreFiles) {
    self.path = path
    externalDataFolder = other.externalDataFolder
  }

  /// The write-ahead log: transactions not yet in the main file.
  public var walPath: String { path + "-wal" }
  /// The log's index, shared by the programs that have the store open.
  public var shmPath: String { path + "-shm" }
  /// The rollback journal, where the store is not in WAL mode.
  public var journalPath: String { path + "-journal" }
  /// The folder that the store is in.
  package var folder: String { FileSystem.parent(of: path) ?? "." }

  /// Folders beside the store with the mirror's copies of files that it sends to iCloud; the mirror makes them again.
  package var mirrorAssets: [String] {
    let name = FileSystem.name(of: path) + "_ckAssets"
    return [folder + "/" + name, folder + "/." + name].filter(FileSystem.isDirectory)
  }

  /// How the files were read.
  public enum Access: Sendable, Equatable {
    /// The main file alone, as if it could not change.
    case immutable
    /// Through the -wal and -shm of a program that has the store open.
    case live
    /// A private copy in the temporary folder, made since only the -wal holds the newest rows.
    case snapshot
  }

  /// Whether a -journal beside the store would be rolled back by the next program that opens it.
  ///
  /// - Throws: ``CoreDataError`` for one that is there and cannot be read.
  package func hasHotJournal() throws -> Bool { try journalState() == .hot }

  /// What SQLite does with the -journal; `nil` if there is none, or if it is empty.
  private func journalState() throws -> RollbackJournal.State? {
    guard let status = try FileSystem.present(journalPath), status.kind == .file, status.size > 0
    else { return nil }
    return try RollbackJournal.state(
      of: journalPath, besideMainOf: FileSystem.status(path)?.size ?? 0)
  }

  /// Whether the -journal is of a change that was not finished, or cannot be read: beside another file it
  /// would be applied to that. An app that keeps the journal's file (`PERSIST`) leaves a finished one.
  package var hasUnfinishedChange: Bool {
    do {
      return try journalState().map { $0 != .finished } ?? false
    } catch {
      return true
    }
  }

  /// What is said of such a store where another file is to take its place.
  package static let unfinishedChange =
    "the store's last change was cut off: a -journal is beside it"

  /// Rolls back the unfinished save, as the next program to open the store would.
  ///
  /// Only for a private copy of a store that was opened: opening refuses what SQLite should not be given.
  ///
  /// - Throws: `SQLiteError` where SQLite cannot.
  package func rollBack() throws {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    _ = try connection.value("SELECT count(*) FROM sqlite_master")
  }

  /// The main file as SQLite finds it, with the -journal beside it.
  ///
  /// - Throws: ``CoreDataError`` where either cannot be read.
  package func main() throws -> MainFile { try MainFile(path, journal: journalPath) }

  /// What to try where a main file has no bytes, and no -wal beside it holds anything.
  package static func adviceWhereEmpty(_ path: String) -> Advice {
    let folder = ShellText.quoted(FileSystem.parent(of: path) ?? ".")
    return
      "Nothing can be read from it. Use another copy of the store, together with its -wal: \(.deed("listing"), of: [folder]) lists the stores in its folder."
  }

  /// Refuses what is not an SQLite file, with a sentence about what it is instead.
  package func check() throws {
    try refuseNotDownloaded()
    guard let status = FileSystem.status(path) else {
      throw CoreDataError(
        .unreadable, "there is no such file", path: path, hint: "Check the path of the store.")
    }
    guard status.kind == .file else {
      throw CoreDataError(
        .unreadable, status.kind == .directory ? "this is a folder, not a store" : "not a file",
        path: path,
        hint: status.kind == .directory ? "Name the store file in it, such as App.sqlite." : nil)
    }
    let main = try main()
    if let miscount = main.journal?.miscount {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen, miscount, path: path,
        advice:
          "Do not open the store with another program. What it holds may be saved: see \(.deed("diagnosis"), of: [ShellText.quoted(path)])."
      )
    }
    let head = try main.read(at: 0, count: 512)
    guard !head.isEmpty else {
      guard status.size == 0 else {
        throw CoreDataError(
          .unreadable, code: .persistentStoreOpen,
          "the file is empty once its -journal is rolled back: its first save was never finished",
          path: path)
      }
      let frames = try WriteAheadLog(besideStore: path).frames
      guard frames > 0 else {
        throw CoreDataError(
          .unreadable, code: .persistentStoreOpen, "the file is empty", path: path,
          advice: Self.adviceWhereEmpty(path))
      }
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the file is empty, while its -wal holds \(NumberText.counted(frames, "frame")) that are not applied",
        path: path,
        advice:
          "SQLite would delete this -wal: do not open the store with it. \(.deed("diagnosis"), of: [ShellText.quoted(path)]) shows how to save what it holds."
      )
    }
    let magic = Array("SQLite format 3\0".utf8)
    if head.starts(with: magic) || magic.starts(with: head) {
      guard head.count >= 100 else {
        throw CoreDataError(
          .unreadable, code: .persistentStoreOpen, "the file is cut off within its header",
          path: path)
      }
      let pageSize = Int(head[16]) << 8 | Int(head[17])
      let bytes = pageSize == 1 ? 65536 : pageSize
      let pages = head[28..<32].reduce(0) { $0 << 8 | Int($1) }
      // The page count is only valid when the change counter is the one it was written with.
      let isCounted = head[24..<28].elementsEqual(head[92..<96])
      if isCounted, pages > 0, main.size < pages * bytes,
        try FileSystem.present(walPath) == nil
      {
        throw CoreDataError(
          .unreadable, code: .persistentStoreOpen,
          "the file is cut off: \(NumberText.grouped(main.size)) bytes of \(NumberText.grouped(pages * bytes))",
          path: path,
          advice:
            "Take another copy of the store. What this one still holds may be saved: see \(.deed("diagnosis"), of: [ShellText.quoted(path)])."
        )
      }
      return
    }
    throw CoreDataError(
      .unreadable, code: .persistentStoreInvalidType,
      "not an SQLite store: it is \(Self.describe(head))", path: path,
      hint: "strata reads Core Data stores of the SQLite, XML and binary types.")
  }

  private static func describe(_ head: [UInt8]) -> String {
    known(head) ?? "of an unknown format, or encrypted"
  }

  /// What a file is that begins so, where that can be determined.
  package static func known(_ head: [UInt8]) -> String? {
    let text = String(decoding: head.prefix(256), as: UTF8.self)
    if head.starts(with: Array("bplist00".utf8)) { return "a binary property list" }
    switch AtomicStoreForm(head: head) {
    case .binary: return "a Core Data store of the binary type"
    case .xml: return "a Core Data store of the XML type"
    case nil: break
    }
    if text.hasPrefix("<?xml") { return "XML" }
    if head.starts(with: [0x50, 0x4B, 3, 4]) { return "a ZIP archive" }
    if head.starts(with: [0x1F, 0x8B]) { return "a gzip file" }
    if head.allSatisfy({ $0 >= 0x20 || $0 == 9 || $0 == 10 || $0 == 13 }),
      !head.contains(0xFF)
    {
      return "text"
    }
    switch DataKind(head, isWhole: false) {
    case .image, .pdf: return DataKind(head, isWhole: false).description
    default: return nil
    }
  }

  /// Refuses a store that another program writes pages of: whatever is read or copied now could be half of a
  /// change.
  ///
  /// - Throws: ``CoreDataError`` of kind failed.
  package func refuseWhileWritten() throws {
    guard let holder = StoreLock.writer(of: path) else { return }
    throw CoreDataError(
      .failed, code: .persistentStoreOpen,
      "another program (process \(holder)) is writing to the store",
      path: path, hint: "Close that program and try again.")
  }

  /// Opens the store so that neither its bytes nor its folder change.
  ///
  /// SQLite's own ways all have a catch: an ordinary open rewrites the file and deletes the -wal on
  /// close; `mode=ro` leaves a -shm behind; `immutable=1` does not look at the -wal. So: immutable
  /// where no -wal matters, in place where a program has it open already, else a private snapshot.
  package func openForReading(
    wal: WriteAheadLog
  ) throws -> (
    connection: Connection, access: Access, snapshot: Snapshot?
  ) {
    try refuseWhileWritten()
    if let wrong = incredibleSize(wal) { throw wrong }
    let hasHotJournal = try self.hasHotJournal()
    if wal.frames == 0 && !hasHotJournal {
      return (try Connection(path: path, mode: .immutable), .immutable, nil)
    }
    // A -shm that nobody holds was left by a program that was killed, or copied along.
    if wal.frames > 0, FileSystem.isFile(shmPath), StoreLock.user(of: path) != nil {
      // A read-only folder or -shm can still refuse; a snapshot then serves as well.
      if let connection = try? Connection(path: path, mode: .readOnly, busyTimeout: 2000),
        (try? connection.value("SELECT count(*) FROM sqlite_master")) != nil
      {
        return (connection, .live, nil)
      }
    }
    let snapshot = try Snapshot(of: self)
    let mode: Connection.Mode = hasHotJournal ? .readWrite : .readOnly
    let connection = try Connection(path: snapshot.path, mode: mode)
    // SQLite rolls a -journal back, and nothing else is written.
    connection.trustSchema(false)
    connection.limitValues()
    // What could not be read, or changed while it was copied, SQLite leaves out without a word.
    if wal.frames > 0, !hasHotJournal,
      let pages = try connection.value("PRAGMA page_count")?.integer, pages != wal.pages
    {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the -wal could not be applied: \(pages) pages instead of \(wal.pages)", path: walPath,
        hint: "Is a program writing to the store? Close it and try again.")
    }
    return (connection, .snapshot, snapshot)
  }

  /// Opens the store, and where it is damaged what of it can be read: through SQLite if that opens it,
  /// else page by page.
  func openAnyhow(
    wal: WriteAheadLog, model: Model?, salvages: Bool
  ) throws -> (
    (connection: Connection, access: Access, snapshot: Snapshot?), Soundness
  ) {
    let failure: CoreDataError
    if let wrong = try checked() ?? incredibleSize(wal) {
      failure = wrong
    } else {
      do {
        let opened = try openForReading(wal: wal)
        return (opened, try Soundness(opened.connection, bytes: size))
      } catch let error as SQLiteError where error.isDamage {
        failure = CoreDataError(sqlite: error, path: path)
      }
    }
    guard salvages else { throw failure }
    let soundness = try Soundness(salvaging: self, model: model, after: failure)
    guard let connection = soundness.mended?.connection else { throw failure }
    return ((connection, .snapshot, nil), soundness)
  }

  /// What is wrong with a -wal whose last commit states far more pages for the store than the files hold; `nil` if it is
  /// not so. SQLite takes memory and time for each of them when it checks the store.
  package func incredibleSize(_ wal: WriteAheadLog) -> CoreDataError? {
    let smallestPage = 512
    guard wal.frames > 0, wal.pages > size / smallestPage * 64 + 65_536 else { return nil }
    return CoreDataError(
      .unreadable, code: .persistentStoreOpen,
      "the -wal is damaged: its last commit states \(NumberText.grouped(wal.pages)) pages for the store, far more than the files hold",
      path: path,
      advice:
        "What the store holds may be saved: see \(.deed("diagnosis"), of: [ShellText.quoted(path)])."
    )
  }

  /// What is wrong with the file's beginning or its length; `nil` where nothing is.
  ///
  /// - Throws: ``CoreDataError`` where there is no file, or a program is writing to it.
  private func checked() throws -> CoreDataError? {
    do {
      try check()
      return nil
    } catch let error as CoreDataError {
      guard FileSystem.isFile(path), StoreLock.writer(of: path) == nil else { throw error }
      return error
    }
  }

  /// Bytes of the main file and of its log, as far as they can be determined.
  package var size: Int {
    (FileSystem.status(path)?.size ?? 0) + (FileSystem.status(walPath)?.size ?? 0)
  }
}

/// A private copy of a store's files in the temporary folder, removed when it is let go.
package final class Snapshot {
  let path: String
  private let folder: PrivateFolder

  init(of files: StoreFiles) throws {
    folder = try PrivateFolder()
    path = folder.path + "/" + FileSystem.name(of: files.path)
    var suffixes = [""]
    if try FileSystem.present(files.walPath) != nil { suffixes.append("-wal") }
    if try files.hasHotJournal() { suffixes.append("-journal") }
    let needed = suffixes.reduce(0) { $0 + FileSystem.allocated(files.path + $1) }
    if let free = FileSystem.freeSpace(at: folder.path), free < needed {
      throw CoreDataError(
        .unreadable, code: .migrationManagerDestinationStore,
        "the store has to be copied to be read, which takes \(NumberText.bytes(needed)), and the temporary folder has \(NumberText.bytes(free)) free",
        path: files.path, hint: "Free some space, or set TMPDIR to a folder with more of it.")
    }
    for attempt in 1... {
      let before = StoreFingerprint(of: files.path)
      for suffix in suffixes { try FileSystem.copy(files.path + suffix, to: path + suffix) }
      guard StoreFingerprint(of: files.path) != before else { return }
      // Main file and log may be of two states.
      guard attempt < Self.mostAttempts else {
        throw CoreDataError(
          .failed, code: .persistentStoreOpen,
          "another program writes to the store while it is copied to be read", path: files.path,
          hint: "Close that program and try again.")
      }
      for suffix in suffixes { FileSystem.remove(path + suffix) }
    }
  }

  private static let mostAttempts = 3
}

/// What shows that a store's files have not changed since they were looked at.
package struct StoreFingerprint: Equatable, Sendable {
  private let main: FileSnapshot?
  /// `nil` where there is no -wal or an empty one, which come and go with a mere look.
  private let wal: FileSnapshot?

  /// Whether there was a main file.
  package var exists: Bool { main != nil }

  /// Whether the name still stands for the same file, whatever was done to its content.
  package func isSameFile(as other: StoreFingerprint) -> Bool {
    main?.identity == other.main?.identity
  }

  /// Whether something was written into the main file since: what is read of it alone may be of two states.
  package func isWritten(since earlier: StoreFingerprint) -> Bool {
    guard let main, let former = earlier.main else { return false }
    // Of one that was put in its place the former is read on.
    return main.identity == former.identity && main != former
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
    main = FileSnapshot(of: storePath, followsLinks: true)
    wal = FileSnapshot(of: storePath + "-wal", followsLinks: true)
      .flatMap { $0.size == 0 ? nil : $0 }
  }
}
