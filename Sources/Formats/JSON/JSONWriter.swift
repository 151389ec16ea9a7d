/// Builds JSON text byte by byte: for output of any length, in the order in which it is written.
///
/// Encoders make a tree first; a dump of a million objects is written as it is read.
package struct JSONWriter {
  /// What was written so far, as UTF-8.
  package private(set) var bytes: [UInt8] = []
  private var place = Place.value
  /// How deep what is written lies, where each member has a line of its own.
  private var depth: Int?

  private enum Place { case value, first, next }

  /// A writer of nothing yet.
  package init(indented: Bool = false) { depth = indented ? 0 : nil }

  /// Forgets what was written and keeps the room for it.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    place = .value
  }

  /// An object as a line of its own.
  package static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(body)
    json.newline()
    return json.bytes
  }

  /// Ends a line of NDJSON.
  package mutating func newline() {
    bytes.append(UInt8(ascii: "\n"))
    place = .value
  }

  /// An object with what the closure writes.
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  /// An array with what the closure writes.
  package mutating func array(_ body: (inout JSONWriter) -> Void) {
    open("[")
    body(&self)
    close("]")
  }

  /// The key of the value that is written next.
  package mutating func key(_ name: String) {
    comma()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    if depth != nil { bytes.append(UInt8(ascii: " ")) }
  }

  /// A text, as ``JSONText`` writes it.
  package mutating func string(_ text: String) {
    comma()
    quote(text)
    place = .next
  }

  /// A text, or null.
  package mutating func string(_ text: String?) {
    if let text { string(text) } else { null() }
  }

  /// A whole number.
  package mutating func number(_ value: Int64) { raw(String(value)) }
  /// A whole number.
  package mutating func number(_ value: Int) { raw(String(value)) }

  /// A finite number; infinities and NaN have no JSON number and become text.
  package mutating func number(_ value: Double) {
    guard value.isFinite else { return string(value.description) }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return raw(String(whole)) }
    raw(value.description)
  }

  /// true or false.
  package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }
  /// null.
  package mutating func null() { raw("null") }

  /// A member: a value, or null.
  package mutating func field(_ name: String, _ value: (some JSONField)?) {
    key(name)
    if let value { value.write(to: &self) } else { null() }
  }

  /// Several members.
  package mutating func fields(_ members: JSONMembers) {
    for (name, value) in members {
      key(name)
      if let value { value.write(to: &self) } else { null() }
    }
  }

  /// A member that is null.
  package mutating func null(_ name: String) {
    key(name)
    null()
  }

  /// A member: an object, or null.
  package mutating func object(_ name: String, _ members: JSONMembers?) {
    object(name, members) { $0.fields($1) }
  }

  /// A member: an object with what the closure writes.
  package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    object(body)
  }

  /// An object of what there is to say about a value; null without one.
  package mutating func object<Value>(
    _ name: String, _ value: Value?, _ body: (inout JSONWriter, Value) -> Void
  ) {
    if let value { object(name) { body(&$0, value) } } else { null(name) }
  }

  /// A member: an array with what the closure writes.
  package mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    array(body)
  }

  /// An array with an object for each element.
  package mutating func objects<Element>(
    _ name: String, _ elements: some Sequence<Element>,
    _ body: (inout JSONWriter, Element) -> Void
  ) {
    array(name) { json in for element in elements { json.object { body(&$0, element) } } }
  }

  /// An array with an object of members for each element.
  package mutating func objects<Element>(
    _ name: String, _ elements: some Sequence<Element>, _ members: (Element) -> JSONMembers
  ) {
    objects(name, elements) { $0.fields(members($1)) }
  }

  /// An object of numbers.
  package mutating func numbers(_ name: String, _ members: [(String, Int)]) {
    object(name) { json in for (name, number) in members { json.field(name, number) } }
  }

  /// Text that is JSON already.
  package mutating func raw(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
    place = .next
  }

  private mutating func comma() {
    if place == .next { bytes.append(UInt8(ascii: ",")) }
    if place != .value, depth != nil { line() }
    place = .value
  }

  private mutating func line() {
    if let depth { bytes += ("\n" + String(repeating: "  ", count: depth)).utf8 }
  }

  /// Begins an object or an array whose members come one by one.
  package mutating func open(_ mark: Unicode.Scalar) {
    comma()
    bytes.append(UInt8(ascii: mark))
    depth = depth.map { $0 + 1 }
    place = .first
  }

  /// Ends what was begun.
  package mutating func close(_ mark: Unicode.Scalar) {
    depth = depth.map { $0 - 1 }
    if place == .next, depth != nil { line() }
    bytes.append(UInt8(ascii: mark))
    place = .next
  }

  private mutating func quote(_ text: String) { JSONText.quote(text, into: &bytes) }
}

/// Strings of JSON: the one place that knows which characters are written as escapes.
///
/// Besides what JSON asks for, what a terminal or an editor obeys is written as `\uXXXX`. What reads
/// the JSON gets the same text.
package enum JSONText {
  /// A text in quotes.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    quote(text, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a text in quotes, as UTF-8.
  package static func quote(_ text: String, into bytes: inout [UInt8]) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { escape($0, into: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func escape(_ text: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
    // What needs no escape is taken over in one go.
    var start = 0
    var place = 0
    while place < text.count {
      let length: Int
      let escape: String
      switch text[place] {
      case UInt8(ascii: "\""): (length, escape) = (1, "\\\"")
      case UInt8(ascii: "\\"): (length, escape) = (1, "\\\\")
      case UInt8(ascii: "\n"): (length, escape) = (1, "\\n")
      case UInt8(ascii: "\r"): (length, escape) = (1, "\\r")
      case UInt8(ascii: "\t"): (length, escape) = (1, "\\t")
      case 0..<0x20, 0x7F: (length, escape) = (1, digits(UInt32(text[place])))
      // The first bytes of the rest of them.
      case 0xC2, 0xD8, 0xE2:
        guard let scalar = scalar(text, at: place), scalar.isObeyed else {
          place += 1
          continue
        }
        (length, escape) = (scalar.utf8.count, digits(scalar.value))
      default:
        place += 1
        continue
      }
      bytes.append(contentsOf: text[start..<place])
      bytes.append(contentsOf: escape.utf8)
      place += length
      start = place
    }
    bytes.append(contentsOf: text[start..<text.count])
  }

  private static func scalar(
    _ text: UnsafeBufferPointer<UInt8>, at place: Int
  ) -> Unicode.Scalar? {
    var decoder = UTF8()
    var bytes = text[place..<min(text.count, place + 3)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
    return scalar
  }

  private static func digits(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character, from U+0000 to U+001F and from U+007F to U+009F: a terminal
  /// obeys it, and so does a shell that it is pasted into.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  /// Whether a terminal or an editor obeys it instead of showing it: control characters, U+2028 and
  /// U+2029, which end a line for some readers, and the marks that turn the direction of text around.
  package var isObeyed: Bool {
    switch value {
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: isControl
    }
  }
}

/// What a member of an object may be.
package protocol JSONField {
  /// Writes it as a value.
  func write(to json: inout JSONWriter)
}

/// Members of an object, in the order in which they are written; one without a value is null.
package typealias JSONMembers = KeyValuePairs<String, (any JSONField)?>

extension String: JSONField {
  /// A text, as ``JSONText`` writes it.
  package func write(to json: inout JSONWriter) { json.string(self) }
}

extension Int: JSONField {
  /// A whole number.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Int64: JSONField {
  /// A whole number.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Double: JSONField {
  /// A number; infinities and NaN are text.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Bool: JSONField {
  /// true or false.
  package func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Array: JSONField where Element: JSONField {
  /// An array of values.
  package func write(to json: inout JSONWriter) {
    json.array { json in for element in self { element.write(to: &json) } }
  }
}
