import Files
import JSON
import ManagedModel
import StoreTables

/// What a row holds for one property, small enough to show: bytes come as a summary.
public enum PropertyValue: Sendable, Hashable {
  /// An attribute that is no bytes.
  case value(AttributeValue)
  /// A Binary or Transformable attribute.
  case data(DataValue)
  /// A to-one relationship; `nil` where it references no object.
  case toOne(ObjectID?)
  /// A to-many relationship.
  case toMany(ToMany)
}

/// A to-many relationship of one object: how many, and the first of them.
public struct ToMany: Sendable, Hashable {
  /// Number of related objects.
  public var count: Int
  /// In the relationship's order where it is ordered, else by entity and key; empty in a row page.
  public var first: [ObjectID] = []
  /// What a column of a key path holds that leads through a to-many, such as `tags.name`; `nil` for the
  /// relationship itself.
  public var values: [AttributeValue]?

  /// A relationship by its number and the first of its objects, or a key path by its values.
  package init(count: Int, first: [ObjectID] = [], values: [AttributeValue]? = nil) {
    (self.count, self.first, self.values) = (count, first, values)
  }
}

/// Bytes of a Binary or Transformable attribute.
public struct DataValue: Sendable, Hashable {
  /// Where the bytes are.
  public enum Location: Sendable, Hashable {
    /// In the row itself.
    case row
    /// In a file of its own beside the store.
    case file(name: String)
    /// The store names a file that is not there, or a name that is none of Core Data's.
    case missing(name: String)
    /// The store names a file that is there and cannot be read; why, as a clause.
    case unreadable(name: String, reason: String)
  }

  /// Where the bytes are.
  public var location: Location
  /// Size of the content; 0 if none can be read.
  public var count: Int
  /// The content, or its beginning where only a summary was asked for.
  public var bytes: [UInt8]

  /// Bytes that are somewhere, or the beginning of as many.
  package init(location: Location, count: Int, bytes: [UInt8]) {
    (self.location, self.count, self.bytes) = (location, count, bytes)
  }

  /// Whether the content can be read.
  public var isReadable: Bool { location.problem == nil }
}

extension DataValue.Location {
  /// Why the content cannot be read, as a clause that names the file; `nil` where it can.
  public var problem: String? {
    switch self {
    case .row, .file: nil
    case .missing(let name): "the file \(name) is missing"
    case .unreadable(let name, let reason): "the file \(name) cannot be read: \(reason)"
    }
  }
}

/// What of an attribute its values depend on: little, since it is looked at for every value.
struct ValueShape {
  let type: AttributeType
  let isExternal: Bool

  init(_ attribute: Attribute) {
    (type, isExternal) = (attribute.type, attribute.allowsExternalBinaryDataStorage)
  }
}

/// Turns columns into values.
struct ValueDecoder {
  let external: ExternalFolder
  /// Most bytes of content to keep; `nil` for all.
  var limit: Int?
  /// Most bytes of a file to read; `nil` for as many as of other content.
  var fileLimit: Int?

  init(files: StoreFiles, limit: Int?, fileLimit: Int? = nil) {
    external = ExternalFolder(files)
    (self.limit, self.fileLimit) = (limit, fileLimit)
  }

  /// Decodes what an attribute's column holds.
  ///
  /// SQLite lets a column hold any type: what does not fit the attribute is shown as it is.
  func decode(_ value: StoredColumn, of attribute: Attribute) -> PropertyValue {
    decode(value, as: ValueShape(attribute))
  }

  /// Decodes what a column holds whose attribute is of that shape.
  func decode(_ value: StoredColumn, as attribute: ValueShape) -> PropertyValue {
    switch value {
    case .null: return .value(.null)
    case .integer(let number):
      switch attribute.type {
      case .boolean: return .value(.boolean(number != 0))
      case .date: return .value(.date(Double(number)))
      case .double, .float: return .value(.double(Double(number)))
      case .decimal: return .value(.decimal(String(number)))
      default: return .value(.integer(number))
      }
    case .real(let number):
      switch attribute.type {
      case .date: return .value(.date(number))
      case .decimal: return .value(.decimal(decimalDigits(of: number)))
      case .boolean: return .value(.boolean(number != 0))
      case .integer16, .integer32, .integer64:
        if let whole = Int64(exactly: number) { return .value(.integer(whole)) }
        return .value(.double(number))
      default: return .value(.double(number))
      }
    case .text(let text):
      switch attribute.type {
      case .decimal: return .value(.decimal(text))
      case .uri: return .value(.uri(text))
      case .binary, .transformable: return data(Array(text.utf8), count: text.utf8.count, attribute)
      default: return .value(.string(text))
      }
    case .brokenText(let bytes):
      // As bytes, so that a dump and a copy lose nothing; a view may put in U+FFFD.
      return .data(DataValue(location: .row, count: bytes.count, bytes: clipped(bytes)))
    case .blob(let bytes, let count):
      switch attribute.type {
      case .uuid where count == 16: return .value(.uuid(bytes))
      case .string: return .value(.string(String(decoding: bytes, as: UTF8.self)))
      default: return data(bytes, count: count, attribute)
      }
    }
  }

  private func data(_ bytes: [UInt8], count: Int, _ attribute: ValueShape) -> PropertyValue {
    switch attribute.isExternal ? MarkedBytes(bytes) : .row(bytes) {
    case .row(let own):
      let mark = bytes.count - own.count
      return .data(DataValue(location: .row, count: count - mark, bytes: clipped(own)))
    case .file(let name):
      return .data(content(of: name))
    }
  }

  private func content(of name: String) -> DataValue {
    func without(_ location: DataValue.Location) -> DataValue {
      DataValue(location: location, count: 0, bytes: [])
    }
    func unreadable(_ error: any Error) -> DataValue {
      without(.unreadable(name: name, reason: error.clause))
    }
    switch external.place(of: name) {
    case .missing: return without(.missing(name: name))
    case .unreadable(let error): return unreadable(error)
    case .file(let file):
      do {
        let wanted = min(file.size, fileLimit ?? limit ?? .max)
        return DataValue(
          location: .file(name: name), count: file.size,
          bytes: try file.read(at: 0, count: wanted))
      } catch {
        return unreadable(error)
      }
    }
  }

  private func clipped(_ bytes: [UInt8]) -> [UInt8] {
    guard let limit, bytes.count > limit else { return bytes }
    return Array(bytes.prefix(limit))
  }
}

/// A column as read from SQLite; a blob may be cut, so its full size comes along.
enum StoredColumn {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// Text that is no UTF-8.
  case brokenText([UInt8])
  case blob([UInt8], count: Int)
}

/// The columns of an object as its model has them: a composite attribute holds its elements.
///
/// Made once for the columns of many rows; a node shows the places of its values.
public struct PropertyTree: Sendable, Equatable {
  /// A property, or an element of a composite attribute.
  public indirect enum Node: Sendable, Equatable {
    /// One with a value: its own name, and its place among the columns.
    case column(name: String, index: Int)
    /// A composite attribute, or one within another.
    case composite(name: String, nodes: [Node])

    /// Its own name, without those of the composites around it.
    public var name: String {
      switch self {
      case .column(let name, _), .composite(let name, _): name
      }
    }

    /// The places of all its values.
    public var indices: [Int] {
      switch self {
      case .column(_, let index): [index]
      case .composite(_, let nodes): nodes.flatMap(\.indices)
      }
    }

    /// Whether it has no value: a composite has none where none of its elements has one.
    public func isNull(in values: [PropertyValue]) -> Bool {
      switch self {
      case .column(_, let index):
        guard values.indices.contains(index) else { return true }
        return switch values[index] {
        case .value(.null), .toOne(nil): true
        default: false
        }
      case .composite(_, let nodes): return nodes.allSatisfy { $0.isNull(in: values) }
      }
    }
  }

  /// In the order of the columns; a composite stands where the first of its elements does.
  public let nodes: [Node]

  /// - Parameter paths: one a column, from the property's name down to the element's.
  public init(_ paths: [[String]]) {
    nodes = Self.nodes(paths.enumerated().map { ($0.offset, $0.element[...]) })
  }

  private static func nodes(_ columns: [(index: Int, path: ArraySlice<String>)]) -> [Node] {
    var nodes: [Node] = []
    var inner: [(name: String, columns: [(index: Int, path: ArraySlice<String>)])] = []
    var places: [Int: Int] = [:]
    for (index, path) in columns {
      guard let name = path.first else { continue }
      guard path.count > 1 else {
        nodes.append(.column(name: name, index: index))
        continue
      }
      if let known = inner.firstIndex(where: { $0.name == name }) {
        inner[known].columns.append((index, path.dropFirst()))
      } else {
        places[inner.count] = nodes.count
        inner.append((name, [(index, path.dropFirst())]))
        nodes.append(.composite(name: name, nodes: []))
      }
    }
    for (number, composite) in inner.enumerated() {
      guard let place = places[number] else { continue }
      nodes[place] = .composite(name: composite.name, nodes: Self.nodes(composite.columns))
    }
    return nodes
  }
}

extension JSONWriter {
  /// A value in the form that `dump` promises, see the article *Formats and JSON*.
  package mutating func value(_ value: AttributeValue, blobs: Bool) {
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

  /// What a row holds for one property.
  package mutating func value(_ value: PropertyValue, blobs: Bool) {
    switch value {
    case .value(let plain): self.value(plain, blobs: blobs)
    case .data(let data):
      switch data.location {
      case .row, .file: self.data(data.bytes, blobs: blobs)
      case .missing: object { $0.field("missing", true) }
      case .unreadable: object { $0.field("unreadable", true) }
      }
    case .toOne(let id): string(id?.description)
    case .toMany(let many):
      array { writer in
        for value in many.values ?? [] { writer.value(value, blobs: blobs) }
        for id in many.first { writer.string(id.description) }
      }
    }
  }

  private mutating func data(_ bytes: [UInt8], blobs: Bool) {
    guard blobs else { return digest(ByteText.hex(Digest.sha256(bytes)), bytes: bytes.count) }
    object { $0.field("base64", ByteText.base64(bytes)) }
  }

  /// Bytes by their number and their SHA-256.
  package mutating func digest(_ sha256: String, bytes: Int) {
    object { $0.fields(["bytes": bytes, "sha256": sha256]) }
  }
}

extension JSONWriter {
  /// The attributes among columns as an object, a composite one as an object of its elements.
  package mutating func attributes(
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

  /// - Parameter parts: columns whose composite is not there as a whole: it is not reported to be null.
  package mutating func write(
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

extension AttributeValue: JSONField {
  /// The value without its bytes.
  package func write(to json: inout JSONWriter) { json.value(self, blobs: false) }
}

extension PropertyValue: JSONField {
  /// The value without its bytes.
  package func write(to json: inout JSONWriter) { json.value(self, blobs: false) }
}

extension CoreDataError.Code: JSONField {
  /// The number.
  package func write(to json: inout JSONWriter) { json.number(rawValue) }
}
