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

/// A value of a property list: store metadata, VersionInfo.plist, a keyed archive before its
/// references are followed.
public enum PropertyListValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data([UInt8])
  case string(String)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
  /// A reference of a keyed archive to another of its objects.
  case uid(Int)
}

extension PropertyListValue {
  /// The value under that key; `nil` if there is none, or this is not a dictionary.
  public subscript(key: String) -> PropertyListValue? { dictionary?[key] }

  /// The text; `nil` when this is none.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The truth value; whole numbers count too, as NSNumber makes no difference.
  public var boolean: Bool? {
    switch self {
    case .boolean(let value): value
    case .integer(let value): value != 0
    default: nil
    }
  }

  /// A whole number; booleans count as 0 and 1, as NSNumber makes no difference.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .boolean(let value): value ? 1 : 0
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The bytes; `nil` when these are none.
  public var data: [UInt8]? {
    if case .data(let value) = self { value } else { nil }
  }

  /// The elements; `nil` when this is no array.
  public var array: [PropertyListValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The entries; `nil` when this is no dictionary.
  public var dictionary: [String: PropertyListValue]? {
    if case .dictionary(let value) = self { value } else { nil }
  }
}

/// Reads the XML form of property lists.
enum XMLPropertyListReader {
  /// An open <array> or <dict>: where its values begin on the shared stacks.
  private struct Container {
    var isDictionary: Bool
    var firstValue: Int
    var firstKey: Int
  }

  static func read(_ bytes: [UInt8]) throws(CoreDataError) -> PropertyListValue {
    // One stack of finished values and one of keys serve all open containers, so that adding a
    // value never copies a container.
    var values: [PropertyListValue] = []
    var keys: [String] = []
    var containers: [Container] = []
    var text = ""
    var leaf: String?

    func add(_ value: PropertyListValue, _ reader: XMLReader) throws(CoreDataError) {
      if let container = containers.last {
        let expectsKey = keys.count - container.firstKey == values.count - container.firstValue
        guard !container.isDictionary || !expectsKey else {
          throw reader.error("a value without a <key> in a <dict>")
        }
      } else if !values.isEmpty {
        throw reader.error("a second value in the property list")
      }
      values.append(value)
    }

    func close(_ reader: XMLReader) throws(CoreDataError) {
      guard let container = containers.popLast() else { return }
      let content = Array(values[container.firstValue...])
      let names = Array(keys[container.firstKey...])
      values.removeSubrange(container.firstValue...)
      keys.removeSubrange(container.firstKey...)
      guard container.isDictionary else { return try add(.array(content), reader) }
      guard names.count == content.count else { throw reader.error("a <key> without a value") }
      try add(
        keyed(Dictionary(zip(names, content), uniquingKeysWith: { _, last in last })), reader)
    }

    try XMLReader.read(bytes) { event, reader throws(CoreDataError) in
      switch event {
      case .start(let name, _):
        guard leaf == nil else { throw reader.error("<\(name)> inside a <\(leaf ?? "")>") }
        switch name {
        case "plist": break
        case "dict", "array":
          guard containers.count < PropertyList.maximumDepth else {
            throw reader.error("nested too deeply")
          }
          containers.append(
            Container(
              isDictionary: name == "dict", firstValue: values.count, firstKey: keys.count))
        default:
          leaf = name
          text = ""
        }
      case .text(let content): text += content
      case .end(let name):
        switch name {
        case "plist": break
        case "dict", "array":
          try close(reader)
        case "key":
          leaf = nil
          guard let container = containers.last, container.isDictionary,
            keys.count - container.firstKey == values.count - container.firstValue
          else { throw reader.error("a <key> where a value was expected") }
          keys.append(text)
        default:
          leaf = nil
          try add(scalar(name, text, reader), reader)
        }
      }
    }
    guard let result = values.first else {
      throw CoreDataError(.unreadable, "the property list is empty")
    }
    return result
  }

  /// The XML form has no references: a keyed archive in it writes them as {CF$UID: n}.
  private static func keyed(_ values: [String: PropertyListValue]) -> PropertyListValue {
    if values.count == 1, case .integer(let uid) = values["CF$UID"], let uid = Int(exactly: uid),
      uid >= 0
    {
      return .uid(uid)
    }
    return .dictionary(values)
  }

  private static func scalar(
    _ name: String, _ text: String, _ reader: XMLReader
  ) throws(CoreDataError) -> PropertyListValue {
    switch name {
    case "string": return .string(text)
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "integer":
      guard let value = Int64(text.trimmed) else {
        throw reader.error("“\(text)” is not an integer")
      }
      return .integer(value)
    case "real":
      guard let value = Double(text.trimmed) else {
        throw reader.error("“\(text)” is not a number")
      }
      return .real(value)
    case "date":
      guard let value = CoreDataDate.seconds(iso8601: text.trimmed) else {
        throw reader.error("“\(text)” is not a date of the form 2001-01-01T00:00:00Z")
      }
      return .date(value)
    case "data":
      guard let value = ByteText.bytes(base64: text) else {
        throw reader.error("<data> is not Base64")
      }
      return .data(value)
    default: throw reader.error("unknown tag <\(name)> in a property list")
    }
  }
}
