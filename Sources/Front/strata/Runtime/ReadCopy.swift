import AtomicStores
import Containers
import Files

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
}

extension StoreCopy: ReadCopy {
  var prefix: String { container + "//" }

  var noun: String { "the archive or folder" }

  var warning: String? {
    distantLogs.first.map { DistantLogs.sentence($0, in: container) } ?? notes.first
  }
}

extension AtomicCopy: ReadCopy {
  var prefix: String { FileSystem.prefix(of: original) }

  var noun: String { form.noun }

  var warning: String? { report.losses.first ?? report.warnings.first ?? report.notes.first }
}
