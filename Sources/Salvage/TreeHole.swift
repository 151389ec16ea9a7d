/// A place in a table's tree where a page could not be read, and the keys that it had.
public struct TreeHole: Sendable, Equatable {
  /// The first page of the table's tree.
  public var root: Int
  /// The page.
  public var page: Int
  /// Its keys are greater than this; `nil` where they may be any from the least on.
  public var above: Int64?
  /// Its keys are at most this; `nil` where they may be any up to the greatest.
  public var upTo: Int64?

  /// Whether a key could have been there.
  package func holds(_ key: Int64) -> Bool { key > above ?? .min && key <= upTo ?? .max }
}
