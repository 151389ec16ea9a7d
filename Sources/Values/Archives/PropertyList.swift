/// Apple's property lists, binary and XML, from bytes and back.
///
/// Any bytes at all end in a value or in a ``CoreDataError`` of kind unreadable: the work is bounded
/// by the size of the input, nesting by ``maximumDepth``, and cycles are errors.
public enum PropertyList {
  /// Deepest nesting accepted; a keyed archive, being flat, needs four.
  public static let maximumDepth = 128

  /// Reads a property list of either form, distinguished by its first bytes.
  ///
  /// - Throws: ``CoreDataError`` where the bytes are cut short, damaged or nested too deep.
  public static func read(_ bytes: [UInt8]) throws(CoreDataError) -> PropertyListValue {
    if bytes.starts(with: BinaryPropertyListReader.magic) {
      var reader = try BinaryPropertyListReader(bytes)
      return try reader.read()
    }
    // A byte-order mark or white space may come before the first tag.
    let start = bytes.prefix(64).firstIndex { ![0xEF, 0xBB, 0xBF, 9, 10, 13, 32].contains($0) }
    guard let start, bytes[start] == UInt8(ascii: "<") else {
      throw CoreDataError(
        .unreadable, "neither a binary property list (bplist00) nor an XML one")
    }
    return try XMLPropertyListReader.read(bytes)
  }

  /// Writes a binary property list: equal strings are kept once and keys are sorted, so that equal
  /// values give equal bytes.
  public static func binary(_ value: PropertyListValue) -> [UInt8] {
    var writer = BinaryPropertyListWriter()
    return writer.write(value)
  }
}
