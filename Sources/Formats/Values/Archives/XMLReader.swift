import CExpat

/// Reads XML as a stream of tags, over expat.
///
/// A document that declares entities or attributes is refused, so that none can expand without bound, and
/// nothing outside the document is ever fetched. One that uses an entity of such an outside place is refused as well:
/// its text would be missing.
package final class XMLReader {
  /// A tag's beginning or its end, or the text between two tags.
  package enum Event {
    case start(String, attributes: [(name: String, value: String)])
    case text(String)
    case end(String)
  }

  /// Deepest nesting of tags accepted.
  package static let maximumDepth = 256

  private let parser: XML_Parser?
  private let handle: (Event, XMLReader) throws(CoreDataError) -> Void
  private var failure: CoreDataError?
  private var depth = 0
  private var text: [UInt8] = []

  /// Hands every tag and the text between tags to `handle`, in order.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable naming the line, or what `handle` throws.
  package static func read(
    _ bytes: [UInt8], _ handle: @escaping (Event, XMLReader) throws(CoreDataError) -> Void
  ) throws(CoreDataError) {
    var position = 0
    try read(
      pieces: { () throws(CoreDataError) in
        let start = position
        position = min(position + pieceSize, bytes.count)
        return bytes[start..<position]
      }, handle)
  }

  /// The same of a document that comes in pieces, so that no more of it than a piece is in memory.
  ///
  /// - Parameter next: the piece that comes next; an empty one at the end.
  /// - Throws: what `read` of all bytes throws, or what `next` throws.
  package static func read(
    pieces next: () throws(CoreDataError) -> ArraySlice<UInt8>,
    _ handle: @escaping (Event, XMLReader) throws(CoreDataError) -> Void
  ) throws(CoreDataError) {
    let reader = XMLReader(handle)
    defer { XML_ParserFree(reader.parser) }
    try reader.run(next)
  }

  /// Bytes that are handed to the parser at once.
  package static let pieceSize = 1 << 20

  /// How many bytes of the document come before the tag that is being read.
  package var byteOffset: Int { max(0, Int(XML_GetCurrentByteIndex(parser))) }

  /// The line that is being read, from 1.
  package var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

  /// An error at the current line.
  package func error(_ message: String) -> CoreDataError {
    CoreDataError(.unreadable, "line \(line): \(message)")
  }

  private init(_ handle: @escaping (Event, XMLReader) throws(CoreDataError) -> Void) {
    self.handle = handle
    parser = XML_ParserCreate(nil)
  }

  private func run(
    _ next: () throws(CoreDataError) -> ArraySlice<UInt8>
  ) throws(CoreDataError) {
    // The parser keeps a pointer to this reader, which outlives it: see `read`.
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { data, name, attributes in
        XMLReader.from(data)?.start(name, attributes)
      },
      { data, name in XMLReader.from(data)?.end(name) })
    XML_SetCharacterDataHandler(parser) { data, characters, count in
      guard let characters else { return }
      let buffer = UnsafeRawBufferPointer(start: characters, count: Int(count))
      XMLReader.from(data)?.text.append(contentsOf: buffer)
    }
    XML_SetEntityDeclHandler(parser) { data, _, _, _, _, _, _, _, _ in
      guard let reader = XMLReader.from(data) else { return }
      reader.stop(reader.error("entity declarations are not accepted"))
    }
    XML_SetAttlistDeclHandler(parser) { data, _, _, _, _, _ in
      // A default of one would be in every tag.
      guard let reader = XMLReader.from(data) else { return }
      reader.stop(reader.error("attribute declarations are not accepted"))
    }
    XML_SetSkippedEntityHandler(parser) { data, name, isParameter in
      guard let reader = XMLReader.from(data), isParameter == 0, let name else { return }
      reader.stop(reader.error("the entity &\(String(cString: name)); is not declared"))
    }
    var isAtEnd = false
    repeat {
      let piece = try next()
      isAtEnd = piece.isEmpty
      let status = piece.withUnsafeBytes { chunk in
        XML_Parse(
          parser, chunk.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(chunk.count),
          isAtEnd ? 1 : 0)
      }
      if let failure { throw failure }
      guard status == XML_STATUS_OK else {
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
        throw error("the XML is malformed: \(reason ?? "unknown error")")
      }
    } while !isAtEnd
  }

  private static func from(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
    data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
  }

  private func start(
    _ name: UnsafePointer<XML_Char>?, _ list: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    guard failure == nil, let name else { return }
    flush()
    depth += 1
    guard depth <= Self.maximumDepth else { return stop(error("tags are nested too deeply")) }
    var attributes: [(name: String, value: String)] = []
    // Expat's list is name, value, name, value, null.
    if let list {
      var index = 0
      while let key = list[index], let value = list[index + 1] {
        attributes.append((String(cString: key), String(cString: value)))
        index += 2
      }
    }
    send(.start(String(cString: name), attributes: attributes))
  }

  private func end(_ name: UnsafePointer<XML_Char>?) {
    guard failure == nil, let name else { return }
    flush()
    depth -= 1
    send(.end(String(cString: name)))
  }

  private func flush() {
    guard !text.isEmpty else { return }
    let content = String(decoding: text, as: UTF8.self)
    text.removeAll(keepingCapacity: true)
    send(.text(content))
  }

  private func send(_ event: Event) {
    guard failure == nil else { return }
    do { try handle(event, self) } catch { stop(error) }
  }

  private func stop(_ error: CoreDataError) {
    if failure == nil { failure = error }
    _ = XML_StopParser(parser, XML_Bool(0))
  }
}

/// A tag's attributes, which are read by name; what was not asked for in the end is not known.
package struct XMLTag {
  /// What stands first in the tag.
  package let name: String
  // A tag has a handful of attributes: walking them costs less than hashing their names.
  private var attributes: [(name: String, value: String, isRead: Bool)]
  private let xml: XMLReader

  /// A tag as the reader met it; none of its attributes counts as read.
  package init(name: String, attributes: [(name: String, value: String)], xml: XMLReader) {
    self.name = name
    self.xml = xml
    self.attributes = attributes.map { ($0.name, $0.value, false) }
  }

  /// Names of the attributes that the caller did not ask for, as the document orders them.
  package var unread: [String] { attributes.filter { !$0.isRead }.map(\.name) }

  /// Whether there are such attributes.
  package var hasUnread: Bool { attributes.contains { !$0.isRead } }

  /// The attribute's text, which may be empty; `nil` where the tag has no such attribute.
  package mutating func text(_ key: String) -> String? {
    guard let index = attributes.firstIndex(where: { $0.name == key }) else { return nil }
    attributes[index].isRead = true
    return attributes[index].value
  }

  /// The text, where there is some.
  package mutating func nonEmpty(_ key: String) -> String? {
    text(key).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Throws: an error that names the line when the attribute is missing.
  package mutating func required(_ key: String) throws(CoreDataError) -> String {
    guard let value = nonEmpty(key) else { throw xml.error("expected <\(name) \(key)=\"…\">") }
    return value
  }

  /// YES or NO.
  package mutating func boolean(_ key: String) -> Bool? { text(key).map { $0 == "YES" } }

  /// A number of 32 bits, which documents write with a sign too.
  package mutating func number(_ key: String) throws(CoreDataError) -> UInt32? {
    guard let text = text(key) else { return nil }
    guard let value = Int64(text), let number = UInt32(exactly: value & 0xFFFF_FFFF),
      value >= -1, value <= Int64(UInt32.max)
    else { throw xml.error("expected a number, found \(key)=\"\(text)\"") }
    return number
  }

  /// The text as a list of one, or none when it is empty.
  package mutating func list(_ key: String) -> [String] { nonEmpty(key).map { [$0] } ?? [] }

  /// The renaming identifier, where it says something that the name does not.
  package mutating func renaming(_ name: String) -> String? {
    nonEmpty("elementID").flatMap { $0 == name ? nil : $0 }
  }

  /// Marks attributes as known and of no interest here.
  package mutating func ignore(_ keys: String...) { for key in keys { _ = text(key) } }
}
