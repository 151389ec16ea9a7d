/// A frame of a -wal: a page as a transaction left it.
public struct LogFrame: Sendable, Equatable {
  /// What is known of a frame.
  public enum State: UInt8, Sendable {
    /// Its checksum fits, and a commit follows.
    case committed
    /// Its checksum did not fit; with one bit turned it does, and so it is read.
    case mended
    /// Its checksum does not fit: something in it is wrong.
    case wrong
    /// It is of a transaction that was not committed.
    case uncommitted
    /// It is of a generation before the newest.
    case older
  }

  /// The page, from 1.
  public var page: Int
  /// What is known of it.
  public var state: State
}
