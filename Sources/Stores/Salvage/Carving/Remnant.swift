/// A row that is not, or not so, in the database as it stands: a deleted one, or another state of one.
public struct Remnant: Sendable {
  /// What is known of its key.
  public enum KeyCertainty: String, Sendable {
    /// It was read with the row.
    case certain
    /// It follows from the rows around it.
    case inferred
    /// Nothing shows it.
    case unknown
    /// It was read with the row, and so it was with another row that holds other values: nothing shows
    /// which of them was there last.
    case ambiguous
  }

  /// Where a row was found, from the newest to the oldest.
  public enum Source: Sendable, Equatable {
    /// In room of a page that is in use.
    case room
    /// On a page that is free, or that nothing references.
    case freePage
    /// In a frame of the -wal that a later one replaced.
    case frame(Int)
    /// On a page of the main file that a frame of the -wal replaced.
    case main
    /// In a frame of a save that was never finished, or that is damaged.
    case uncommitted(Int)
    /// In a frame of the -wal of before it was begun again.
    case earlier(Int)

    /// The greater, the older; what was never saved is not among them.
    public var age: Int {
      switch self {
      case .room, .freePage: 0
      // A log has fewer frames.
      case .frame(let frame), .uncommitted(let frame): 0x4000_0000 - frame
      case .main: 0x4000_0001
      case .earlier(let frame): 0x8000_0000 - frame
      }
    }

    /// Whether the row was saved once.
    public var isSaved: Bool {
      if case .uncommitted = self { false } else { true }
    }
  }

  /// Which of the shapes the row has; `nil` for a row of `root`.
  public var shape: Int?
  /// The root of the page's tree, where that is what shows the table; 0 else.
  public var root: Int
  /// Its key, as far as it is known.
  public var key: Int64?
  /// How far that can be trusted.
  public var certainty: KeyCertainty
  /// Whether it is a cell that the tree page has, as it is or as it was; else it was found in room that is
  /// not in use, where any byte of it may have been overwritten.
  public var isCell = false
  /// Whether its last bytes may be those of a row that was written over them.
  public var mayBeOverwritten = false
  /// Whether another row stands in place of its last bytes: without a key nothing shows whose copy the rest is.
  public var isCut = false
  /// Whether it is an earlier state of a row that is there; false where that is not known yet.
  public var isEarlier = false
  /// Whether it may be one all the same: rows of its page were saved again since.
  public var isUnsure = false
  /// Whether it was found in room of a page that its own table's tree has as a leaf.
  public var isOfOwnPage = false
  /// The keys that it can have had if it was deleted; `nil` where nothing limits them.
  public var possibleKeys: [Int64]?
  /// The page that it was found on.
  public var page: Int
  /// Where.
  public var source: Source
}
