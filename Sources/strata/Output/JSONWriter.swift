import ManagedModel
import ManagedStore

/// Builds JSON text byte by byte: for output of any length, in the order in which it is written.
///
/// Encoders make a tree first; a dump of a million objects is written as it is read.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// An object as a line of its own.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(body)
    json.newline()
    return json.bytes
  }

  /// Ends a line of NDJSON.
  mutating func newline() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  mutating func array(_ body: (inout JSONWriter) -> Void) {
    open("[")
    body(&self)
    close("]")
  }

  mutating func key(_ name: String) {
    comma()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func string(_ text: String) {
    comma()
    quote(text)
    needsComma = true
  }

  mutating func string(_ text: String?) {
    if let text { string(text) } else { null() }
  }

  mutating func number(_ value: Int64) { raw(String(value)) }
  mutating func number(_ value: Int) { raw(String(value)) }

  /// A finite number; infinities and NaN have no JSON number and become text.
  mutating func number(_ value: Double) {
    guard value.isFinite else { return string(value.description) }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return raw(String(whole)) }
    raw(value.description)
  }

  mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }
  mutating func null() { raw("null") }

  mutating func field(_ name: String, _ text: String?) {
    key(name)
    string(text)
  }

  mutating func field(_ name: String, _ value: (some BinaryInteger)?) {
    key(name)
    if let value { number(Int64(value)) } else { null() }
  }

  mutating func field(_ name: String, _ value: Double?) {
    key(name)
    if let value { number(value) } else { null() }
  }

  mutating func field(_ name: String, _ value: Bool?) {
    key(name)
    if let value { bool(value) } else { null() }
  }

  mutating func field(_ name: String, _ texts: [String]?) {
    key(name)
    guard let texts else { return null() }
    array { json in for text in texts { json.string(text) } }
  }

  /// Several texts, each by its name.
  mutating func fields(_ members: [(String, String?)]) {
    for (name, text) in members { field(name, text) }
  }

  /// Several numbers, each by its name.
  mutating func fields(_ members: [(String, Int)]) {
    for (name, number) in members { field(name, number) }
  }

  mutating func null(_ name: String) {
    key(name)
    null()
  }

  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    object(body)
  }

  /// An object of what there is to tell of a value; null without one.
  mutating func object<Value>(
    _ name: String, _ value: Value?, _ body: (inout JSONWriter, Value) -> Void
  ) {
    if let value { object(name) { body(&$0, value) } } else { null(name) }
  }

  mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    array(body)
  }

  /// An array with an object for each element.
  mutating func objects<Element>(
    _ name: String, _ elements: some Sequence<Element>,
    _ body: (inout JSONWriter, Element) -> Void
  ) {
    array(name) { json in for element in elements { json.object { body(&$0, element) } } }
  }

  /// An object of numbers.
  mutating func numbers(_ name: String, _ members: [(String, Int)]) {
    object(name) { $0.fields(members) }
  }

  /// Text that is JSON already.
  mutating func raw(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }

  private mutating func open(_ mark: Unicode.Scalar) {
    comma()
    bytes.append(UInt8(ascii: mark))
    needsComma = false
  }

  private mutating func close(_ mark: Unicode.Scalar) {
    bytes.append(UInt8(ascii: mark))
    needsComma = true
  }

  private mutating func quote(_ text: String) { JSONText.quote(text, into: &bytes) }
}

extension JSONWriter {
  /// A value in the form that `dump` promises, see the README.
  mutating func value(_ value: AttributeValue, blobs: Bool) {
    switch value {
    case .null: null()
    case .integer(let number): self.number(number)
    case .boolean(let flag): bool(flag)
    case .double(let number): self.number(number)
    case .decimal(let digits): string(digits)
    case .string(let text): string(text)
    case .date(let seconds): number(seconds)
    case .uuid(let bytes): string(UUIDText.text(bytes))
    case .uri(let text): string(text)
    case .bytes(let bytes): data(bytes, blobs: blobs)
    }
  }

  /// A value without its bytes.
  mutating func field(_ name: String, _ value: AttributeValue?) {
    field(name, .value(value ?? .null))
  }

  /// A value without its bytes.
  mutating func field(_ name: String, _ value: PropertyValue) {
    key(name)
    self.value(value, blobs: false)
  }

  mutating func value(_ value: PropertyValue, blobs: Bool) {
    switch value {
    case .value(let plain): self.value(plain, blobs: blobs)
    case .data(let data):
      if data.isMissing {
        object {
          $0.field("missing", true)
        }
      } else {
        self.data(data.bytes, blobs: blobs)
      }
    case .toOne(let id): string(id?.description)
    case .toMany(let many):
      array { writer in for id in many.first { writer.string(id.description) } }
    }
  }

  private mutating func data(_ bytes: [UInt8], blobs: Bool) {
    guard blobs else { return digest(ByteText.hex(Digest.sha256(bytes)), bytes: bytes.count) }
    object {
      $0.field("base64", ByteText.base64(bytes))
    }
  }

  /// Bytes by their number and their SHA-256.
  mutating func digest(_ sha256: String, bytes: Int) {
    object {
      $0.field("bytes", bytes)
      $0.field("sha256", sha256)
    }
  }
}

extension JSONWriter {
  /// The attributes among columns as an object, a composite one as an object of its elements.
  mutating func attributes(
    _ columns: [RowColumn], _ values: [PropertyValue],
    _ write: (inout JSONWriter, PropertyValue) -> Void
  ) {
    // Relationships come behind the attributes, each by its own name.
    let nodes = PropertyTree(columns.map(\.path)).nodes.filter { node in
      guard case .column(_, let index) = node else { return true }
      if case .attribute = columns[index].kind { return true } else { return false }
    }
    let parts = Set(columns.indices.filter { columns[$0].isPart })
    self.write(nodes, values, parts: parts, write)
  }

  /// - Parameter parts: columns whose composite is not there as a whole: it is not told to be null.
  mutating func write(
    _ nodes: [PropertyTree.Node], _ values: [PropertyValue], parts: Set<Int> = [],
    _ write: (inout JSONWriter, PropertyValue) -> Void
  ) {
    object { json in
      for node in nodes {
        json.key(node.name)
        switch node {
        case .column(_, let index):
          if values.indices.contains(index) { write(&json, values[index]) } else { json.null() }
        case .composite(_, let inner):
          if node.isNull(in: values), parts.isEmpty || parts.isDisjoint(with: node.indices) {
            json.null()
          } else {
            json.write(inner, values, parts: parts, write)
          }
        }
      }
    }
  }
}
