import ManagedModel
import Salvage

/// What a store's -wal file holds, determined from its bytes alone.
///
/// Format: https://www.sqlite.org/fileformat.html, "The Write-Ahead Log".
public struct WriteAheadLog: Sendable, Equatable {
  /// Why frames are not applied.
  public enum Reason: String, Sendable {
    /// The log's header is gone or no header.
    case header
    /// Their salts are not the header's: left over from before, or of another store.
    case salts
    /// A checksum is wrong, there or in a frame before.
    case checksum
    /// The file ends within a frame, or within a transaction.
    case cutOff = "cut-off"
    /// A transaction that never was committed: what follows is older.
    case uncommitted
    /// Zeros stand where frames should be.
    case zeros
    /// The log does not belong to the main file beside it: it is another store's, or of another time.
    case foreign
  }

  /// Frames that SQLite does not apply.
  public struct Unapplied: Sendable, Equatable {
    /// What keeps them from being applied.
    public var reason: Reason
    /// How many, one that is cut off among them.
    public var frames: Int
    /// How many of their pages are different in the store: 0 where they were checkpointed.
    public var missing: Int
    /// The sign that the log does not belong to the main file; `nil` for any other reason.
    package var contradiction: LogKinship.Contradiction?
    /// How the log's bytes were moved on their way; `nil` where nothing shows that they were.
    package var shift: ByteShift?
  }

  /// Whether the file is there, of whatever size.
  public var isPresent = false
  /// Frames up to the last commit: what SQLite would apply.
  public var frames = 0
  /// Frames that are not applied, and hold something that the store does not; `nil` where there are
  /// none. Those of an older generation, which SQLite leaves behind the newer ones, do not count.
  public var unapplied: Unapplied?
  /// Pages of the database after the last commit.
  package var pages = 0
  /// Whether the main file was written to after the log's last commit: the log is of another time.
  public var isOlderThanStore = false

  /// Whether its frames are in the main file already; only known where it was asked for.
  var isCheckpointed = false

  /// There is no log.
  public static let absent = WriteAheadLog()

  /// Whether rows may be missing that the log held.
  ///
  /// - Parameter isInUse: whether a program has the store open, and may be writing a transaction.
  package func mayMissRows(isInUse: Bool) -> Bool {
    if isOlderThanStore { return true }
    guard let unapplied else { return false }
    switch unapplied.reason {
    case .uncommitted: return false
    case .cutOff, .checksum, .zeros: return !isInUse
    case .header, .salts, .foreign: return true
    }
  }

  /// What a person should know of it, as sentences.
  package func sentences(isInUse: Bool) -> [String] {
    var result: [String] = []
    if let unapplied, unapplied.reason == .uncommitted || mayMissRows(isInUse: isInUse) {
      result.append(unapplied.sentence)
    }
    if isOlderThanStore {
      result.append(
        "The -wal (\(NumberText.counted(frames, "frame"))) is older than the store beside it: the main file was written to after the log's last commit. SQLite applies it anyway: rows may be older, or missing."
      )
    }
    return result
  }
}

extension WriteAheadLog.Unapplied {
  /// How many, why, and what follows.
  package var sentence: String {
    let count = NumberText.counted(frames, "frame")
    if reason == .header, frames == 0 {
      return "The -wal is cut off within its header: none of it is applied. Rows may be missing."
    }
    let why =
      switch reason {
      case .header: "its header is damaged"
      case .salts:
        "salt mismatch: they are left over from an earlier log, or of another store"
      case .checksum: "a checksum is wrong, and everything after it is invalid"
      case .cutOff: "the file ends before the transaction does"
      case .uncommitted: "a save that was never finished"
      case .zeros: "zeros are in their place"
      case .foreign:
        "the -wal belongs to another store, or to another state of this one (\(contradiction?.words ?? ""))"
      }
    let rest =
      switch reason {
      case .uncommitted: ""
      case .foreign: " The store is read without it: SQLite and Core Data would mix the two."
      default: (shift.map { " In the -wal: " + $0.sentence } ?? "") + " Rows may be missing."
      }
    return "\(count) of the -wal \(frames == 1 ? "is" : "are") not applied: \(why)." + rest
  }
}

extension ByteShift {
  /// How the bytes were moved, and how they are read, as sentences.
  var note: String {
    sentence
      + (isLossy
        ? " What was moved is read where it stands now." : " It is read as it was before that.")
  }

  /// How the bytes were moved, as a sentence.
  package var sentence: String {
    switch self {
    case .header(3): "A byte order mark (3 bytes) precedes the file."
    case .header(let count):
      "\(NumberText.counted(count, "foreign byte")) \(count == 1 ? "precedes" : "precede") the file."
    case .lineEnds(let count):
      "Each line end (0A) became two bytes (0D 0A), as in a text-mode transfer, which adds \(NumberText.counted(count, "byte"))."
    case .lineFeeds(let lost, _, _):
      "Each 0D before an 0A is gone, as in a text-mode transfer: \(NumberText.counted(lost, "single byte")) \(lost == 1 ? "is" : "are") missing throughout the file."
    case .moved(let moves):
      moves.reduce(into: ("", 0)) { text, move in
        let by = move.by - text.1
        text.0 +=
          (text.0.isEmpty ? "" : " ")
          + (by > 0
            ? "\(NumberText.counted(by, "byte")) \(by == 1 ? "was" : "were") inserted before page \(move.page), which shifts everything that follows."
            : "\(NumberText.counted(-by, "byte")) \(by == -1 ? "is" : "are") missing before page \(move.page), which shifts everything that follows.")
        text.1 = move.by
      }.0
    }
  }
}

extension LogKinship.Contradiction {
  /// What it is, as the end of a sentence.
  package var words: String {
    switch self {
    case .pageSize(let log, let main):
      "its pages have \(log) bytes, those of the store \(main)"
    case .pageCount(let committed, let stated):
      "after its last commit the database has \(NumberText.counted(committed, "page")), and its first page counts \(stated)"
    case .journalPages(let counted, let stated):
      "it counts \(NumberText.counted(counted, "page")) before its save, and the first page that it saved counts \(stated)"
    case .uuid(let log, let main): "it is of the store \(log), and this one is \(main)"
    case .schema: "its list of tables differs from the store's"
    case .counters:
      "its first page belongs to another series of saves than the store's, and its rows have keys above the store's counters (Z_MAX)"
    case .unreadable: "Z_METADATA can be read without it, but not with it"
    case .index(let name):
      "the index \(name) matches its table without it, but not with it"
    case .page(let number):
      "its page \(number) does not match the pages of the store that reference it"
    }
  }
}

extension RollbackJournal {
  /// What was made of it in reading the store's pages, as a sentence; `nil` where it counts for nothing, as
  /// one of a save that was finished.
  package var note: String? {
    switch state {
    case .finished: return nil
    case .hot:
      return
        "A save was not finished: \(NumberText.counted(pages, "page")) of the -journal \(pages == 1 ? "was" : "were") rolled back\(miscount == nil ? ", as SQLite does" : "").\(miscountTold)\(shortage)"
    case .withoutMain:
      return "The -journal was left out: the main file is empty, so SQLite would delete it."
    case .damagedHeader:
      return
        "The -journal was left out: its header is damaged, so SQLite would delete it. The store may hold half of a save."
    case .superseded(let name):
      return
        "The -journal was left out: it belongs to a transaction of several databases, and SQLite treats it as committed if \(name) is missing."
    }
  }

  /// What is wrong with the number of pages in its header, as a clause; `nil` if nothing is.
  package var miscount: String? {
    guard let wrongPages else { return nil }
    let stated = NumberText.counted(wrongPages, "page")
    let head = "the header of the -journal is damaged: it states \(stated) for the store, "
    return wrongPages < initialPages
      ? head
        + "which had \(NumberText.grouped(initialPages)), and SQLite would cut it off at that size"
      : head
        + "far more than the files hold, and SQLite would fill the store with zeros up to that size"
  }

  /// The same as a sentence behind another.
  private var miscountTold: String {
    guard let miscount else { return "" }
    let taken = NumberText.counted(initialPages, "page")
    return " But \(miscount): the store was taken to have \(taken)."
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
        " The -journal has a page number that no database has, and everything after it is invalid: \(left) left out, and the store may hold half of a save."
    }
  }
}
