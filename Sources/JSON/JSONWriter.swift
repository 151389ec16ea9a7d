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
