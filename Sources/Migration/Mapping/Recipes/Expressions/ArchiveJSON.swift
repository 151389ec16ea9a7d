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

  private var text = ""
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
    return writer.text
  }

  private struct TooLarge: Error {}

  private mutating func enter(_ depth: Int) throws {
    nodes += 1
    guard depth < Self.maximumDepth, nodes <= Self.maximumNodes,
      text.utf8.count <= Self.maximumBytes
    else { throw TooLarge() }
  }

  private mutating func write(_ reference: ArchivedReference, depth: Int) throws {
    try enter(depth)
    if let uid = reference.uid {
      if path.contains(uid) {
        text += "null"
        return
      }
      path.append(uid)
    }
    defer { if reference.uid != nil { path.removeLast() } }
    switch reference.value {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .real(let value): number(value)
    case .decimal(let digits):
      // NaN is a Decimal, too.
      text += digits.utf8.allSatisfy { "-.0123456789eE".utf8.contains($0) } ? digits : "null"
    case .date(let seconds): quote(CoreDataDate.text(seconds))
    case .data(let bytes): data(bytes)
    case .string(let value): quote(value)
    case .uuid(let bytes): quote(UUIDText.text(bytes))
    case .url(let value): quote(value)
    case .array(let elements), .set(let elements):
      try list("[", "]", elements) { writer, element in try writer.write(element, depth: depth + 1)
      }
    case .dictionary(let pairs):
      try list("{", "}", pairs) { writer, pair in
        writer.quote(Self.key(pair.key.value))
        writer.text += ":"
        try writer.write(pair.value, depth: depth + 1)
      }
    case .object(let object): try write(object, depth: depth)
    }
  }

  private mutating func write(_ object: ArchivedObject, depth: Int) throws {
    if object.isKind(of: "NSAttributedString") || object.isKind(of: "NSConcreteAttributedString"),
      let string = object["NSString"].string
    {
      quote(string)
      return
    }
    text += "{\"$class\":"
    quote(object.className)
    for key in object.keys {
      text += ","
      quote(key)
      text += ":"
      try write(object.reference(key), depth: depth + 1)
    }
    text += "}"
  }

  private mutating func list<Element>(
    _ open: String, _ close: String, _ elements: [Element],
    _ write: (inout ArchiveJSON, Element) throws -> Void
  ) throws {
    text += open
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      try write(&self, element)
    }
    text += close
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

  private mutating func number(_ value: Double) {
    text += value.isFinite ? value.description : "null"
  }

  private mutating func data(_ bytes: [UInt8]) {
    text += "{\"base64\":\"" + ByteText.base64(bytes) + "\"}"
  }

  private mutating func quote(_ value: String) { text += JSONValue.quoted(value) }
}
