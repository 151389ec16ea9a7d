import Files
import ManagedModel

/// Reads an XML store as a stream of objects.
///
/// Where the document is broken, each `<object` after that place is read by itself, so that only the broken one is
/// lost (atomic-stores, 68 of 68).
final class XMLStoreReader {
  /// What takes the objects.
  typealias Sink = (AtomicObject, [String: AtomicSchema.Link]) throws(CoreDataError) -> Void

  /// The store's identity; `nil` where it is missing.
  private(set) var uuid: String?
  /// The last number that was given out.
  private(set) var lastKey: Int64 = 0
  /// The metadata; `nil` if none can be read.
  private(set) var metadata: [String: PropertyListValue]?
  /// Whether the metadata are missing, or could be read.
  private(set) var isMetadataPlain = true
  /// Why the document is broken; `nil` where it is whole.
  private(set) var breach: String?
  /// Objects that could not be read.
  private(set) var lostObjects = 0
  /// Objects of which a part could be read.
  private(set) var partialObjects = 0

  private let sink: Sink
  private var path: [String] = []
  private var object: AtomicObject?
  private var links: [String: AtomicSchema.Link] = [:]
  private var attribute: (name: String, type: String?)?
  private var text = ""
  /// The metadata's property list, written again as it is met.
  private var list = ""
  private var sawDatabase = false
  /// Where the object that is being read begins, or the last one ends, in bytes from the start.
  private var resumption = 0
  /// What `sink` threw, which is no fault of the document.
  private var refusal: CoreDataError?

  private init(_ sink: @escaping Sink) { self.sink = sink }

  /// - Throws: ``CoreDataError`` of kind unreadable where it is no store of this kind, and what `sink` throws.
  static func read(_ file: OpenFile, _ sink: @escaping Sink) throws -> XMLStoreReader {
    let reader = XMLStoreReader(sink)
    var position = 0
    do {
      try XMLReader.read(
        pieces: { () throws(CoreDataError) in
          do {
            let piece = try file.read(at: position, count: XMLReader.pieceSize)
            position += piece.count
            return piece[...]
          } catch { throw CoreDataError(error, or: .unreadable) }
        }
      ) { event, xml throws(CoreDataError) in try reader.take(event, xml) }
    } catch {
      if let refusal = reader.refusal { throw refusal }
      guard reader.sawDatabase else { throw error }
      reader.breach = error.message
      try reader.readRest(of: file)
    }
    return reader
  }

  private func take(_ event: XMLReader.Event, _ xml: XMLReader) throws(CoreDataError) {
    switch event {
    case .start(let name, let attributes):
      path.append(name)
      if isInMetadata, path.count > 3 { note("<\(name)>") }
      var tag = XMLTag(name: name, attributes: attributes, xml: xml)
      switch path.count {
      case 1:
        guard name == "database" else {
          throw xml.error("expected the <database> of an XML store, found <\(name)>")
        }
        sawDatabase = true
      case 2 where name == "object":
        resumption = xml.byteOffset
        object = AtomicObject(reference: try tag.required("id"), entity: try tag.required("type"))
        links = [:]
      case 3 where object != nil && name == "attribute":
        attribute = (try tag.required("name"), tag.nonEmpty("type"))
        text = ""
      case 3 where object != nil && name == "relationship": try relationship(&tag, xml)
      case 3: text = ""
      default: break
      }
    case .text(let piece):
      if isInMetadata {
        note(Self.escaped(piece))
      } else {
        text += piece
      }
    case .end(let name):
      if isInMetadata, path.count > 3 { note("</\(name)>") }
      path.removeLast()
      switch path.count {
      case 2 where path[1] == "databaseInfo": takeInfo(name)
      case 2:
        if let attribute { object?.attributes[attribute.name] = .text(text, type: attribute.type) }
        attribute = nil
      case 1 where name == "object":
        resumption = xml.byteOffset
        if let whole = object {
          object = nil
          try pass(whole)
        }
      default: break
      }
      if path.count < 3 { text = "" }
    }
  }

  private var isInMetadata: Bool {
    path.count > 2 && path[1] == "databaseInfo" && path[2] == "metadata"
  }

  /// Takes note of a piece of the metadata. What is too large cannot be read, and its end is missing.
  private func note(_ piece: String) {
    if list.utf8.count < Self.mostBytes / 4 { list += piece }
  }

  private func pass(_ object: AtomicObject) throws(CoreDataError) {
    do { try sink(object, links) } catch {
      refusal = error
      throw error
    }
  }

  private func relationship(_ tag: inout XMLTag, _ xml: XMLReader) throws(CoreDataError) {
    let name = try tag.required("name")
    let counts = (tag.text("type") ?? "").split(separator: "/").map { UInt32($0) }
    if counts.count == 2, let minimum = counts[0], let maximum = counts[1],
      let destination = tag.nonEmpty("destination")
    {
      links[name] = AtomicSchema.Link(
        minimum: minimum, maximum: maximum, destination: destination)
    }
    object?.relationships[name] =
      tag.text("idrefs")?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
  }

  private func takeInfo(_ name: String) {
    switch name {
    case "UUID": uuid = text.trimmed
    case "nextObjectID": lastKey = Int64(text.trimmed) ?? 0
    case "metadata":
      let bytes = Array(("<?xml version=\"1.0\"?>" + list).utf8)
      if !list.trimmed.isEmpty {
        if case .dictionary(let values) = try? PropertyList.read(bytes) {
          metadata = values
        } else {
          isMetadataPlain = false
        }
      }
      list = ""
    default: break
    }
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
      return text
    }
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "<": result += "&lt;"
      case "&": result += "&amp;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

/// What stands behind the place where a document is broken.
extension XMLStoreReader {
  private static let opening = Array("<object ".utf8)
  private static let closing = Array("</object>".utf8)
  /// Most bytes of one object that are looked at.
  private static let mostBytes = 1 << 26

  /// Reads each object from the broken one on by itself.
  private func readRest(of file: OpenFile) throws {
    var window: [UInt8] = []
    var start = resumption
    /// Where a pattern stands in the window, which grows for it.
    func next(_ pattern: [UInt8], from place: Int) throws -> Int? {
      var place = place
      while true {
        if let found = ByteSearch.place(of: pattern, in: window, from: place) { return found }
        place = max(place, window.count - pattern.count + 1)
        guard window.count < Self.mostBytes else { return nil }
        let piece = try file.read(at: start + window.count, count: XMLReader.pieceSize)
        guard !piece.isEmpty else { return nil }
        window += piece
      }
    }
    guard var begin = try next(Self.opening, from: 0) else { return }
    while true {
      let following = try next(Self.opening, from: begin + Self.opening.count)
      let end = following ?? window.count
      var bytes = Array(window[begin..<end])
      if let close = ByteSearch.place(of: Self.closing, in: bytes) {
        bytes.removeSubrange((close + Self.closing.count)...)
      }
      try readAlone(bytes)
      guard let following else { return }
      begin = following
      if begin > Self.mostBytes / 4 {
        window.removeFirst(begin)
        (start, begin) = (start + begin, 0)
      }
    }
  }

  /// One object's bytes: of a broken one, what stands before the place.
  private func readAlone(_ bytes: [UInt8]) throws {
    path = ["database"]
    (object, attribute, text) = (nil, nil, "")
    do {
      try XMLReader.read(bytes) { event, xml throws(CoreDataError) in try self.take(event, xml) }
    } catch {
      if let refusal { throw refusal }
      if let object {
        partialObjects += 1
        try pass(object)
      } else {
        lostObjects += 1
      }
    }
  }
}
