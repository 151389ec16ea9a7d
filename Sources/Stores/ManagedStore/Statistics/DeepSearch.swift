import JSON
import ManagedModel
import StoreTables

/// A search within values: in what is packed, in archives, property lists, JSON and text, also within one
/// another.
///
/// Whatever the bytes are, it ends soon and in bounded memory: all that comes of one value is counted together.
struct DeepSearch {
  /// Property lists and JSON of more bytes are not taken apart: their values take much more memory than they.
  private static let mostParsed = 16 << 20
  /// Bytes of a long text that are looked at together.
  private static let piece = 1 << 20
  /// Bytes that a text among others has at least.
  private static let leastRun = 4

  private let needle: SearchNeedle
  private let isCancelled: () -> Bool

  init(_ needle: SearchNeedle, isCancelled: @escaping () -> Bool) {
    (self.needle, self.isCancelled) = (needle, isCancelled)
  }

  /// What came of a value.
  struct Found: Equatable {
    /// The words around the first occurrence; `nil` if there is none.
    var excerpt: String?
    /// Why the value was not looked at as a whole, as a clause; only where nothing was found.
    var problem: String?
  }

  /// A condition on a column whose values are looked into; `nil` where those of the type are searched as they
  /// are.
  static func condition(_ column: String, _ type: AttributeType) -> SQLText? {
    let place = SQLText(stringLiteral: column)
    return switch type {
    case .binary, .transformable: "\(place) IS NOT NULL"
    // The strings of JSON in a text may have escaped letters.
    case .string: "(strata_occurs(\(place)) OR instr(\(place), '\\') > 0)"
    default: nil
    }
  }

  /// Looks for the needle in a value.
  ///
  /// - Throws: ``CoreDataError`` of kind cancelled.
  func look(into value: PropertyValue) throws -> Found {
    var look = Look(search: self, left: DecodedData.mostBytes)
    switch value {
    case .value(.string(let text)):
      let bytes = Array(text.utf8)
      _ = try look.text(bytes) || bytes.contains(UInt8(ascii: "\\")) && look.json(bytes)
    case .data(let data):
      if let problem = data.location.problem { return Found(problem: problem) }
      if data.bytes.count < data.count {
        look.problem = "it has more than \(DecodedData.mostBytes >> 20) MB"
      }
      _ = try look.bytes(data.bytes, isWhole: data.bytes.count == data.count, depth: 0)
    default: return Found(excerpt: nil)
    }
    return Found(excerpt: look.excerpt, problem: look.excerpt == nil ? look.problem : nil)
  }

  /// One value that is looked into.
  private struct Look {
    let search: DeepSearch
    /// Bytes that may still come of it.
    var left: Int
    var excerpt: String?
    var problem: String?

    // Each of these says whether the needle was found.

    mutating func bytes(_ bytes: [UInt8], isWhole: Bool, depth: Int) throws -> Bool {
      guard !bytes.isEmpty else { return false }
      guard depth < DecodedData.mostLayers else {
        problem = problem ?? "it is packed more than \(DecodedData.mostLayers) times"
        return false
      }
      try check()
      let decoded = DecodedData(
        bytes, isWhole: isWhole, mostLayers: DecodedData.mostLayers - depth, mostBytes: left)
      if decoded.layers > 0 { left -= decoded.bytes.count }
      problem = problem ?? decoded.problem
      let content = decoded.bytes
      let depth = depth + decoded.layers + 1
      switch DataKind(content, isWhole: decoded.isWhole) {
      case .keyedArchive, .propertyList:
        guard decoded.isWhole, content.count <= DeepSearch.mostParsed,
          let list = try? PropertyList.read(content)
        else {
          problem = problem ?? "the property list cannot be read"
          return try runs(content)
        }
        return try propertyList(list, KeyedArchive.isKeyedArchive(list), depth)
      case .json: return try text(content) || json(content)
      case .text: return try text(content)
      case .empty, .image, .pdf, .gzip: return false
      case .bytes:
        let head = Array(content.prefix(FileExtension.headLength))
        // Sound, film and ZIP have no text to be read.
        guard FileExtension(head, isWhole: head.count == content.count) == .bin else {
          return false
        }
        return try runs(content)
      }
    }

    private mutating func propertyList(
      _ value: PropertyListValue, _ isArchive: Bool, _ depth: Int
    ) throws -> Bool {
      switch value {
      case .null, .boolean, .date, .uid: return false
      case .integer(let number): return take(number: number)
      case .real(let number): return take(real: number)
      case .string(let text): return try take(text)
      case .data(let bytes):
        if bytes.count == 16, let hex = search.needle.hex,
          ByteText.hex(bytes).uppercased().contains(hex)
        {
          excerpt = UUIDText.text(bytes)
          return true
        }
        return try self.bytes(bytes, isWhole: true, depth: depth)
      case .array(let items):
        for item in items where try propertyList(item, isArchive, depth) { return true }
      case .dictionary(let fields):
        for (key, item) in fields.sortedByBytes(\.key) {
          // Names of classes are the program's, not the person's.
          if isArchive, key.hasPrefix("$class") || key == "$archiver" { continue }
          if !isArchive, try take(key) { return true }
          if try propertyList(item, isArchive, depth) { return true }
        }
      }
      return false
    }

    /// The strings of JSON, in which letters may be escaped.
    mutating func json(_ bytes: [UInt8]) throws -> Bool {
      guard bytes.count <= DeepSearch.mostParsed, let value = try? JSON5.read(bytes) else {
        return false
      }
      return try json(value)
    }

    private mutating func json(_ value: JSON5) throws -> Bool {
      switch value.kind {
      case .string(let text, _): return try take(text)
      case .array(let items):
        for item in items where try json(item) { return true }
      case .object(let members):
        for member in members {
          if try take(member.key) { return true }
          if try json(member.value) { return true }
        }
      case .null, .boolean, .integer, .number: break
      }
      return false
    }

    /// A text, however long.
    mutating func text(_ bytes: [UInt8]) throws -> Bool {
      guard bytes.count > DeepSearch.piece else {
        return try take(String(decoding: bytes, as: UTF8.self))
      }
      // Folding may make a text four times as long.
      let overlap = min(DeepSearch.piece / 2, search.needle.folded.utf8.count * 4)
      var start = 0
      while start < bytes.count {
        var end = min(bytes.count, start + DeepSearch.piece)
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        if try take(String(decoding: bytes[start..<end], as: UTF8.self)) { return true }
        guard end < bytes.count else { break }
        start = end - overlap
        while start < end, bytes[start] & 0xC0 == 0x80 { start += 1 }
      }
      return false
    }

    private mutating func runs(_ bytes: [UInt8]) throws -> Bool {
      var isFound = false
      try TextRuns.find(in: bytes, least: min(DeepSearch.leastRun, search.needle.folded.utf8.count))
      {
        isFound = try text(Array($0.utf8))
        return isFound
      }
      return isFound
    }

    private mutating func take(_ text: String) throws -> Bool {
      if text.utf8.count > 4_096 { try check() }
      guard search.needle.occurs(in: text) else { return false }
      excerpt = search.needle.excerpt(of: text)
      return true
    }

    private mutating func take(number: Int64) -> Bool {
      guard number == search.needle.integer else { return false }
      excerpt = String(number)
      return true
    }

    private mutating func take(real: Double) -> Bool {
      guard real == search.needle.real else { return false }
      excerpt = String(real)
      return true
    }

    private func check() throws { try CoreDataError.check(search.isCancelled) }
  }
}
