import ManagedModel
import Salvage

extension RollbackJournal {
  /// What was made of it in reading the store's pages, as a sentence; `nil` where it counts for nothing, as
  /// one of a save that was finished.
  package var note: String? {
    switch state {
    case .finished: return nil
    case .hot:
      return
        "A save was not finished: \(NumberText.counted(pages, "page")) of the -journal \(pages == 1 ? "was" : "were") put back, as SQLite does.\(shortage)"
    case .withoutMain:
      return "The -journal was left out: the main file is empty, so that SQLite would delete it."
    case .damagedHeader:
      return
        "The -journal was left out: its header is damaged, so that SQLite would delete it. The store may hold half of a save."
    case .superseded(let name):
      return
        "The -journal was left out: it belongs to a transaction of several databases, and SQLite takes that for finished where \(name) is not there."
    }
  }

  /// Why records were left out that a header counts, as a sentence behind another; empty where none was.
  package var shortage: String {
    let left = "\(NumberText.counted(missing, "page")) \(missing == 1 ? "is" : "are")"
    switch end {
    case .whole: return ""
    case .cutOff:
      return
        " The -journal is cut off: \(left) missing, and the store may hold half of a save."
    case .checksum:
      return
        " A checksum in the -journal is wrong, and nothing behind it counts: \(left) left out, and the store may hold half of a save."
    case .noPage:
      return
        " The -journal has a page that no database has, and nothing behind it counts: \(left) left out, and the store may hold half of a save."
    }
  }
}
