/// An object of a binary property list, with the bytes that hold its content.
///
/// With it, a value can be replaced by one of the same size where it stands, and everything else of the list stays as
/// it is.
package enum PropertyListNode: Sendable, Equatable {
  /// A key with its value, both as numbers of objects.
  package struct Entry: Sendable, Equatable {
    /// The key's text.
    package var name: String
    /// The object that is the key.
    package var key: Int
    /// The object that is the value.
    package var value: Int
  }

  /// Big-endian: one, two and four bytes are unsigned, eight and sixteen signed.
  case integer(Range<Int>)
  /// Four or eight bytes.
  case real(Range<Int>)
  /// Seconds since 2001-01-01 00:00:00 UTC, in eight bytes.
  case date(Range<Int>)
  case data(Range<Int>)
  /// A text of one byte a character, as Apple writes ASCII.
  case utf8(Range<Int>)
  /// A text of two bytes a UTF-16 unit, the higher byte first.
  case utf16(Range<Int>)
  /// Objects, by their numbers.
  case array([Int])
  case dictionary([Entry])
}

/// The objects of a binary property list that its root reaches.
///
/// What is not here (null, true and false, references of archives) has no content of its own.
package struct PropertyListNodes: Sendable {
  /// The root's number.
  package let top: Int
  /// By number.
  package let nodes: [Int: PropertyListNode]

  /// - Throws: ``CoreDataError`` of kind unreadable for what ``PropertyList/read(_:)`` refuses, and for the XML form.
  package init(_ bytes: [UInt8]) throws(CoreDataError) {
    var reader = try BinaryPropertyListReader(bytes, notesNodes: true)
    _ = try reader.read()
    (top, nodes) = (reader.top, reader.nodes ?? [:])
  }

  /// Whether bytes begin as a binary property list does.
  package static func isBinary(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: BinaryPropertyListReader.magic)
  }
}
