import JSON
import ManagedModel

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
