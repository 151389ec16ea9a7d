import ManagedModel

/// What stands before a value in an object's record.
enum RecordTag: UInt8 {
  // Values of the file.
  case text, typedText, plain, known, object, meantObject
  // What those hold.
  case null, no, yes, integer, double, date, decimal, string, uri, bytes, uuid
}

/// Writes the values of an object for the private file, which the same process reads: every object is written and
/// read once, so that a property list of each would take half of the time.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(tag: RecordTag) { bytes.append(tag.rawValue) }

  /// A number that is not negative, seven bits a byte.
  mutating func add(count: Int) {
    var rest = UInt(bitPattern: count)
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func add(_ text: String) {
    add(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(bytes content: [UInt8]) {
    add(count: content.count)
    bytes.append(contentsOf: content)
  }

  mutating func add(_ value: AttributeValue) {
    switch value {
    case .null: add(tag: .null)
    case .boolean(let flag): add(tag: flag ? .yes : .no)
    case .integer(let number): add(.integer, UInt64(bitPattern: number))
    case .double(let number): add(.double, number.bitPattern)
    case .date(let seconds): add(.date, seconds.bitPattern)
    case .decimal(let digits): add(.decimal, digits)
    case .string(let text): add(.string, text)
    case .uri(let text): add(.uri, text)
    case .bytes(let content):
      add(tag: .bytes)
      add(bytes: content)
    case .uuid(let content):
      add(tag: .uuid)
      add(bytes: content)
    }
  }

  private mutating func add(_ tag: RecordTag, _ text: String) {
    add(tag: tag)
    add(text)
  }

  private mutating func add(_ tag: RecordTag, _ bits: UInt64) {
    add(tag: tag)
    withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// Reads what ``RecordWriter`` wrote.
struct RecordReader {
  static let damage = CoreDataError(.failed, "the private copy of the store is damaged")

  private let content: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { content = bytes }

  mutating func tag() throws(CoreDataError) -> RecordTag {
    guard let tag = RecordTag(rawValue: try byte()) else { throw Self.damage }
    return tag
  }

  mutating func count() throws(CoreDataError) -> Int {
    var result: UInt = 0
    for shift in stride(from: UInt(0), to: 64, by: 7) {
      let byte = try byte()
      result |= UInt(byte & 0x7F) << shift
      if byte < 0x80 {
        guard let count = Int(exactly: result) else { break }
        return count
      }
    }
    throw Self.damage
  }

  mutating func text() throws(CoreDataError) -> String {
    String(decoding: try part(count()), as: UTF8.self)
  }

  mutating func bytes() throws(CoreDataError) -> [UInt8] { Array(try part(count())) }

  mutating func value() throws(CoreDataError) -> AttributeValue {
    switch try tag() {
    case .null: .null
    case .no: .boolean(false)
    case .yes: .boolean(true)
    case .integer: .integer(Int64(bitPattern: try bits()))
    case .double: .double(Double(bitPattern: try bits()))
    case .date: .date(Double(bitPattern: try bits()))
    case .decimal: .decimal(try text())
    case .string: .string(try text())
    case .uri: .uri(try text())
    case .bytes: .bytes(try bytes())
    case .uuid: .uuid(try bytes())
    case .text, .typedText, .plain, .known, .object, .meantObject: throw Self.damage
    }
  }

  private mutating func byte() throws(CoreDataError) -> UInt8 {
    guard place < content.count else { throw Self.damage }
    defer { place += 1 }
    return content[place]
  }

  private mutating func part(_ count: Int) throws(CoreDataError) -> ArraySlice<UInt8> {
    guard count <= content.count - place else { throw Self.damage }
    defer { place += count }
    return content[place..<place + count]
  }

  private mutating func bits() throws(CoreDataError) -> UInt64 {
    try part(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
