import AtomicStores
import Commands
import Containers
import Files
import Interface
import ManagedStore

/// A private copy that is read in place of a store, for as long as it is held.
protocol ReadCopy: AnyObject {
  /// Where the copy's main file is.
  var path: String { get }
  /// The folder that stands for what the store is in.
  var root: String { get }
  /// What stands before a path in that folder, with the slashes.
  var prefix: String { get }
  /// What the store is in, or of what type it is.
  var noun: String { get }
  /// What is worth a person's attention most of what is missing or wrong.
  var warning: String? { get }
  /// The file of a store that is one file, and no database; `nil` for any other store.
  var whole: CopyPlace.WholeFile? { get }
  /// Whether the store is in a container.
  var isContained: Bool { get }
}

extension StoreCopy: ReadCopy {
  var prefix: String { container + "//" }

  var noun: String { "the archive or folder" }

  var whole: CopyPlace.WholeFile? { nil }

  var isContained: Bool { true }

  var warning: String? {
    distantLogs.first.map { DistantLogs.sentence($0, in: container) } ?? notes.first
  }
}

/// An XML or binary store of a container: a private copy of its file, and one of the SQLite type that was made of that.
final class ContainedAtomicCopy: ReadCopy {
  private let file: StoreCopy
  private let store: AtomicCopy

  init(_ store: AtomicCopy, of file: StoreCopy) { (self.store, self.file) = (store, file) }

  var path: String { store.path }
  var root: String { store.root }
  var prefix: String { file.prefix + FileSystem.prefix(of: file.name) }
  var noun: String { "\(store.noun) in \(file.noun)" }
  var whole: CopyPlace.WholeFile? {
    // The copy of the file is private as well: it has the name that the person knows.
    var whole = store.whole
    whole?.name(file.prefix + file.name)
    return whole
  }

  var isContained: Bool { true }

  var warning: String? { store.report.losses.first ?? file.warning ?? store.warning }
}

extension AtomicCopy: ReadCopy {
  var prefix: String { FileSystem.prefix(of: original) }

  var noun: String { form.noun }

  var whole: CopyPlace.WholeFile? {
    StoreFiles(path: original).list().first { $0.role == .main }.map {
      CopyPlace.WholeFile(type: form.rawValue, file: $0, isModelMade: !source.isGiven)
    }
  }

  var isContained: Bool { false }

  var warning: String? { report.losses.first ?? report.warnings.first ?? report.notes.first }
}
