import Files
import ManagedModel
import ManagedStore
import Synchronization

/// An atomic store as a private store of the SQLite type, so that whatever reads stores reads it; gone when it is let
/// go.
package final class AtomicCopy {
  /// Where the private store is.
  package let path: String
  /// Where the store is.
  package let original: String
  /// The folder that stands for the one of the store.
  package let root: String
  /// The kind of store that it was made of.
  package let form: AtomicStoreForm
  /// What of the store was not read as it stands, and what is to be known.
  package let report: AtomicReport
  private let folder: PrivateFolder

  /// What a private store was made of.
  package struct Origin: Sendable, Equatable {
    /// Where the store is.
    package var path: String
    /// The kind of store.
    package var form: AtomicStoreForm
    /// Where its model comes from.
    package var source: AtomicModelSource
    /// What is wrong with it.
    package var faults: [AtomicFault] = []
    /// What of it is not in the copy as it stands, as sentences.
    package var losses: [String] = []
  }

  /// Where the model comes from.
  package let source: AtomicModelSource

  private static let origins = Mutex<[String: Origin]>([:])

  /// Reads a store.
  ///
  /// - Parameters:
  ///   - model: the store's own; without one `fallback` is asked, and then it is made of the objects.
  ///   - rootName: what the folder in the private one is called.
  ///   - progress: called with how many objects are done; it throws to stop.
  /// - Throws: ``CoreDataError`` where nothing of it can be read, or the model cannot be its own.
  package init(
    of path: String, model: Model? = nil,
    fallback: ([String: VersionHash]) -> Model? = { _ in nil },
    rootName: String = "copy", progress: @escaping (Int) throws -> Void = { _ in }
  ) throws {
    let contents = try AtomicContents(path: path, progress: progress)
    let names = try AtomicModel(model ?? fallback(contents.versionHashes), for: contents)
    form = contents.form
    source = names.source
    original = path
    folder = try PrivateFolder(.disk)
    root = folder.path + "/" + rootName
    try FileSystem.makeDirectory(root, permissions: 0o700)
    self.path = root + "/" + FileSystem.name(of: path)
    report = try AtomicConversion(contents, names).write(to: self.path, progress: progress)
    let own = FileSystem.canonical(self.path)
    let origin = Origin(
      path: original, form: form, source: source, faults: report.faults, losses: report.losses)
    Self.origins.withLock { $0[own] = origin }
    // Of a file that states no hash nothing is proved.
    let isProved = names.matches && !contents.versionHashes.isEmpty
    if !source.isGiven, !isProved { MadeModels.add(own) }
  }

  deinit {
    let own = FileSystem.canonical(path)
    _ = Self.origins.withLock { $0.removeValue(forKey: own) }
    MadeModels.remove(own)
  }

  /// What a private store was made of; `nil` for any other store.
  package static func origin(ofCopyAt path: String) -> Origin? {
    origins.withLock { $0[FileSystem.canonical(path)] }
  }
}

extension AtomicStoreForm {
  /// The kind of store that a file is by its first bytes; `nil` where it is none, or cannot be read.
  package init?(at path: String) {
    guard FileSystem.isFile(path),
      let head = try? FileSystem.read(path, limit: Self.headSize)
    else { return nil }
    self.init(head: head)
  }
}
