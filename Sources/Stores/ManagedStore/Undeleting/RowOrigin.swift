import SQLite
import Salvage

/// Where a row comes from that is no longer in a store, or is there in another state.
package struct RowOrigin: Sendable, Equatable {
  /// What the row is.
  package enum State: Int64, Sendable {
    /// Of an object that is not there any more.
    case deleted = 0
    /// An earlier state of an object, which lives or of which there is a newer state.
    case older = 1
  }

  /// What it is.
  package var state: State
  /// The object's key, as far as it is known; the row's own is another where that was not free.
  package var key: Int64?
  /// How far that can be trusted.
  package var certainty: Remnant.KeyCertainty
  /// The page that it was found on.
  package var page: Int
  /// Where.
  package var source: Remnant.Source
  /// Whether all of its values are there, with nothing that shows that another row was written over them.
  package var hasAllValues: Bool
  /// Whether it may be an earlier state of an object that lives, though it counts as deleted.
  package var isUnsure: Bool
  /// Whether its object may be lost, and not deleted: its row may have stood where nothing can be read, or not be
  /// trusted.
  package var isLost: Bool
  /// Whether it stood among rows of another time, such as of before a migration: its values may be those of then,
  /// and its object may have had others when it was deleted.
  package var isFormer: Bool
  /// Whether its entity is known: where not, its Z_ENT is of a time when entities had other numbers.
  package var isEntityKnown: Bool
}

extension RowOrigin {
  /// What ``init(_:)`` reads, by the table's place and the row's key.
  package static let query =
    "SELECT state, key, certainty, page, source, whole, unsure, lost, former FROM row WHERE place = ? AND pk = ?"

  /// Reads a row of the list of what was found; `nil` where it is none.
  package init?(_ row: [Value]) {
    guard row.count == 9, let state = row[0].integer.flatMap(State.init),
      let certainty = row[2].text.flatMap(Remnant.KeyCertainty.init), let page = row[3].integer,
      let code = row[4].integer
    else { return nil }
    self.init(
      state: state, key: row[1].integer, certainty: certainty, page: Int(page),
      source: Remnant.Source(code: code), hasAllValues: row[5].integer != 0,
      isUnsure: row[6].integer != 0, isLost: row[7].integer != 0,
      isFormer: row[8].integer != 0, isEntityKnown: row[8].integer != 2)
  }

  /// Whether it is the object as it was when it was deleted, or saved again: all of its values are there, and are not of
  /// another time.
  package var isWhole: Bool { hasAllValues && !isFormer }

  /// Whether it is one of an object that is not there any more: of two rows with its key either.
  package var isOfDeleted: Bool { state == .deleted || certainty == .ambiguous }

  /// Where it was found, in few words.
  package var place: String {
    switch source {
    case .room: "page \(page)"
    case .freePage: "free page \(page)"
    case .frame(let frame): "-wal frame \(frame)"
    case .main: "main file, page \(page)"
    case .uncommitted(let frame): "-wal frame \(frame), never saved"
    case .earlier(let frame): "earlier -wal, frame \(frame)"
    }
  }
}

extension Remnant.Source {
  /// A number for each, to be kept in a table.
  var code: Int64 {
    switch self {
    case .room: 0
    case .freePage: 1
    case .main: 2
    case .frame(let frame): Int64(frame) << 2 | 1 << 40
    case .uncommitted(let frame): Int64(frame) << 2 | 2 << 40
    case .earlier(let frame): Int64(frame) << 2 | 3 << 40
    }
  }

  /// That of a number.
  init(code: Int64) {
    let frame = Int(code & 0xFF_FFFF_FFFF) >> 2
    self =
      switch code >> 40 {
      case 1: .frame(frame)
      case 2: .uncommitted(frame)
      case 3: .earlier(frame)
      default: code == 0 ? .room : code == 1 ? .freePage : .main
      }
  }
}
