/// A part of what one attribute of one object holds, in bytes: of text, its UTF-8.
public struct StoredContent: Sendable, Equatable {
  /// Bytes of the whole value.
  public var total: Int
  /// Where the part begins.
  public var offset: Int
  /// The part.
  public var bytes: [UInt8]
  /// Whether SQLite keeps it as text.
  public var isText: Bool
  /// Where the value is.
  public var location = DataValue.Location.row
}
