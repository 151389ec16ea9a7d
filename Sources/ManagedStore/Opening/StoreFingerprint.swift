import Files
import ManagedModel

/// What tells that a store's files have not changed since they were looked at.
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
