import Files
import JSON
import ManagedModel
import SQLite

/// The SQL functions that recipes add to SQLite's own.
///
/// Each depends on its arguments alone, and has a value or NULL for any of them: a strange row never
/// stops a migration half-way, and what was computed can be computed again to verify it.
package enum RecipeFunctions {
  /// Defines those that a recipe may use for the statements of a connection.
  ///
  /// - Parameter storeUUID: goes into the names of the UUIDs that `uuid()` gives.
  package static func define(on connection: Connection, storeUUID: String) throws {
    func define(
      _ name: String, _ arguments: Int32, _ body: @escaping ([Value]) throws -> Value
    ) throws { try connection.defineFunction(name, arguments: arguments, body) }
    try define("unarchive", 1) { arguments in
      guard let bytes = arguments[0].bytes, let json = ArchiveJSON.text(bytes) else { return .null }
      return .text(json)
    }
    let arrays = ArrayCache()
    try define("element", 2) { arrays.element($0[0], at: $0[1]) }
    try define("text_or_null", 1) { $0[0].text.map { .text($0) } ?? .null }
    try define("split_part", 3) { arguments in
      guard let text = arguments[0].plainText, let delimiter = arguments[1].plainText,
        let number = arguments[2].integer
      else { return .null }
      return TextParts.part(Int(clamping: number), of: text, by: delimiter).map { .text($0) }
        ?? .null
    }
    try define("rest_after", 2) { arguments in
      guard let text = arguments[0].plainText, let delimiter = arguments[1].plainText else {
        return .null
      }
      return TextParts.rest(of: text, after: delimiter).map { .text($0) } ?? .null
    }
    let patterns = PatternCache { try DatePattern($0) }
    try define("parse_date", 2) { arguments in
      guard let text = arguments[0].plainText, let pattern = arguments[1].text,
        let seconds = patterns[pattern]?.seconds(text)
      else { return .null }
      return .real(seconds)
    }
    try define("format_date", 2) { arguments in
      guard let seconds = arguments[0].number, let pattern = arguments[1].text,
        let text = patterns[pattern]?.text(seconds)
      else { return .null }
      return .text(text)
    }
    try define("uuid_from", 1) { uuid($0[0]) }
    // How apps keep a UUID in a String: as `uuidString` has it.
    try define("strata_uuid_text", 1) { arguments in
      arguments[0].blob.map { .text(UUIDText.text($0)) } ?? .null
    }
    try define("sha256", 1) { arguments in
      arguments[0].bytes.map { .text(ByteText.hex(Digest.sha256($0))) } ?? .null
    }
    let expressions = PatternCache { try TextReplacement(pattern: $0) }
    try define("regex_replace", 3) { arguments in
      guard let text = arguments[0].plainText, let pattern = arguments[1].text,
        let replacement = arguments[2].plainText,
        let result = expressions[pattern]?.replacing(in: text, with: replacement)
      else { return .null }
      return .text(result)
    }
    // Before the names of UUIDs: rows of two stores with one key are not the same.
    try define("strata_store", 0) { _ in .text(storeUUID) }
  }

  /// The UUID that text spells, else one made of the text: version 5 in the namespace of object
  /// identifiers, `6ba7b812-9dad-11d1-80b4-00c04fd430c8`, as an app can make it again.
  private static func uuid(_ value: Value) -> Value {
    if case .blob(let bytes) = value, bytes.count == 16 { return value }
    if let text = value.text, let bytes = UUIDText.bytes(text) { return .blob(bytes) }
    guard let name = value.bytes else { return .null }
    var digest = Array(Digest.sha1(namespace + name).prefix(16))
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    return .blob(digest)
  }

  private static let namespace: [UInt8] = [
    0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
  ]
}

extension Value {
  /// Text, or a number as text; `nil` for NULL and bytes.
  fileprivate var plainText: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .null, .blob: nil
    }
  }

  /// The bytes of a blob, or of text; `nil` for NULL.
  fileprivate var bytes: [UInt8]? {
    if case .blob(let bytes) = self { bytes } else { plainText.map { Array($0.utf8) } }
  }
}

/// Patterns that were read, by their text: an expression has a few, and each is used for every row.
private final class PatternCache<Pattern> {
  private let read: (String) throws -> Pattern
  private var known: [String: Pattern?] = [:]

  init(_ read: @escaping (String) throws -> Pattern) { self.read = read }

  /// `nil` for a pattern that cannot be read.
  subscript(text: String) -> Pattern? {
    if let pattern = known[text] { return pattern }
    if known.count > 100 { known.removeAll() }
    let pattern = try? read(text)
    known[text] = .some(pattern)
    return pattern
  }
}

/// The last JSON array that was asked for an element: the next question is about the same one.
private final class ArrayCache {
  private var text: String?
  private var bytes: [UInt8] = []
  private var elements: [JSON5] = []

  func element(_ array: Value, at index: Value) -> Value {
    guard let json = array.text, let place = index.integer else { return .null }
    if text != json {
      text = json
      bytes = Array(json.utf8)
      if case .array(let elements) = (try? JSON5.read(bytes))?.kind {
        self.elements = elements
      } else {
        elements = []
      }
    }
    guard let place = Int(exactly: place), elements.indices.contains(place) else { return .null }
    let element = elements[place]
    switch element.kind {
    case .null: return .null
    case .boolean(let value): return .integer(value ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .number(let number): return number.isNaN ? .null : .real(number)
    case .string(let text, _): return .text(text)
    case .array, .object: return .text(String(decoding: bytes[element.range], as: UTF8.self))
    }
  }
}

/// Text cut at a delimiter, byte for byte as SQLite compares.
enum TextParts {
  /// The part of that number as PostgreSQL's split_part counts: from 1, from the end below 0, empty
  /// if there is none. An empty delimiter cuts nothing. `nil` for the number 0.
  static func part(_ number: Int, of text: String, by delimiter: String) -> String? {
    guard number != 0 else { return nil }
    let bytes = Array(text.utf8)
    let cuts = places(of: Array(delimiter.utf8), in: bytes)
    let index = number > 0 ? number - 1 : cuts.count + 1 + number
    guard index >= 0, index <= cuts.count else { return "" }
    let start = index == 0 ? 0 : cuts[index - 1].upperBound
    let end = index == cuts.count ? bytes.count : cuts[index].lowerBound
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// What follows the first delimiter; `nil` if there is none.
  static func rest(of text: String, after delimiter: String) -> String? {
    let bytes = Array(text.utf8)
    guard let cut = places(of: Array(delimiter.utf8), in: bytes, most: 1).first else { return nil }
    return String(decoding: bytes[cut.upperBound...], as: UTF8.self)
  }

  /// Places without overlap, in time that grows with both texts (Knuth, Morris and Pratt's way).
  private static func places(
    of delimiter: [UInt8], in bytes: [UInt8], most: Int = .max
  ) -> [Range<Int>] {
    guard !delimiter.isEmpty, delimiter.count <= bytes.count else { return [] }
    // For each prefix of the delimiter, how much of its end is its beginning again.
    var borders = [Int](repeating: 0, count: delimiter.count)
    var length = 0
    for index in delimiter.indices.dropFirst() {
      while length > 0, delimiter[index] != delimiter[length] { length = borders[length - 1] }
      if delimiter[index] == delimiter[length] { length += 1 }
      borders[index] = length
    }
    var result: [Range<Int>] = []
    length = 0
    for (index, byte) in bytes.enumerated() {
      while length > 0, byte != delimiter[length] { length = borders[length - 1] }
      if byte == delimiter[length] { length += 1 }
      guard length == delimiter.count else { continue }
      result.append(index + 1 - length..<index + 1)
      if result.count >= most { break }
      length = 0
    }
    return result
  }
}

/// What an app archived into a Transformable or Binary attribute, as JSON text.
///
/// Collections become arrays and objects, a date ISO 8601 text in UTC, bytes `{"base64": …}`, an
/// attributed string its text, `nil` and NSNull null. An object of another class becomes an object
/// of its fields with its class as `$class`; a way back to an object that is being written is null.
struct ArchiveJSON {
  static let maximumDepth = 100
  static let maximumNodes = 1_000_000
  static let maximumBytes = 64 << 20

  private var json = JSONWriter()
  private var nodes = 0
  private var path: [Int] = []

  /// The root of a keyed archive, or a plain property list; `nil` for other bytes, and where the
  /// text would pass the bounds: shared objects can make a small archive grow without end.
  static func text(_ bytes: [UInt8]) -> String? {
    var writer = ArchiveJSON()
    do {
      try writer.write(KeyedArchive(holding: PropertyList.read(bytes)).root, depth: 0)
    } catch {
      return nil
    }
    return String(decoding: writer.json.bytes, as: UTF8.self)
  }

  private struct TooLarge: Error {}

  private mutating func enter(_ depth: Int) throws {
    nodes += 1
    guard depth < Self.maximumDepth, nodes <= Self.maximumNodes,
      json.bytes.count <= Self.maximumBytes
    else { throw TooLarge() }
  }

  private mutating func write(_ reference: ArchivedReference, depth: Int) throws {
    try enter(depth)
    if let uid = reference.uid {
      if path.contains(uid) { return json.null() }
      path.append(uid)
    }
    defer { if reference.uid != nil { path.removeLast() } }
    switch reference.value {
    case .null: json.null()
    case .boolean(let value): json.bool(value)
    case .integer(let value): json.number(value)
    case .real(let value): json.raw(value.isFinite ? value.description : "null")
    case .decimal(let digits):
      // NaN is a Decimal, too.
      json.raw(digits.utf8.allSatisfy { "-.0123456789eE".utf8.contains($0) } ? digits : "null")
    case .data(let bytes): json.object { $0.field("base64", ByteText.base64(bytes)) }
    case .date, .string, .uuid, .url: json.string(Self.key(reference.value))
    case .array(let elements), .set(let elements):
      json.open("[")
      for element in elements { try write(element, depth: depth + 1) }
      json.close("]")
    case .dictionary(let pairs):
      json.open("{")
      for pair in pairs {
        json.key(Self.key(pair.key.value))
        try write(pair.value, depth: depth + 1)
      }
      json.close("}")
    case .object(let object): try write(object, depth: depth)
    }
  }

  private mutating func write(_ object: ArchivedObject, depth: Int) throws {
    if object.isKind(of: "NSAttributedString") || object.isKind(of: "NSConcreteAttributedString"),
      let string = object["NSString"].string
    {
      return json.string(string)
    }
    json.open("{")
    json.field("$class", object.className)
    for key in object.keys {
      json.key(key)
      try write(object.reference(key), depth: depth + 1)
    }
    json.close("}")
  }

  /// Keys of dictionaries are text nearly always; numbers and dates serve as their text.
  private static func key(_ value: ArchivedValue) -> String {
    switch value {
    case .string(let text), .url(let text), .decimal(let text): text
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .boolean(let flag): flag ? "true" : "false"
    case .date(let seconds): CoreDataDate.text(seconds)
    case .uuid(let bytes): UUIDText.text(bytes)
    case .data(let bytes): ByteText.base64(bytes)
    case .object(let object): object.className
    case .null, .array, .set, .dictionary: ""
    }
  }
}
