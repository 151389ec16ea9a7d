import ManagedModel

/// A value as an atomic store holds it, before it is known what attribute of which type it is.
enum AtomicValue: Equatable {
  /// The text of an XML element, and what its `type` says.
  case text(String, type: String?)
  /// A value of a binary store that is itself.
  case plain(AttributeValue)
  /// An archived object of a binary store: what it means where its class is a value's, and it as an archive of its
  /// own.
  case object(AttributeValue?, className: String, archive: [UInt8])
}

/// An object of an atomic store: names are as the file has them.
struct AtomicObject: Equatable {
  /// How others refer to it.
  var reference: String
  /// Its entity.
  var entity: String
  /// Values that are not null, by the attribute's name; by its place, `#0`, in a binary store.
  var attributes: [String: AtomicValue] = [:]
  /// References, in the file's order.
  var relationships: [String: [String]] = [:]
  /// Places of properties in a binary store.
  var places = 0
}

/// Objects wait in a private file until all are known: this is how they stand in it.
extension AtomicObject {
  /// The object's values as a property list.
  var encoded: [UInt8] {
    PropertyList.binary(
      .dictionary([
        "v": .dictionary(attributes.mapValues(\.encoded)), "n": .integer(Int64(places)),
      ]))
  }

  /// Reads the values again.
  ///
  /// - Throws: ``CoreDataError`` where the private file is damaged.
  static func values(
    _ bytes: [UInt8]
  ) throws -> (attributes: [String: AtomicValue], places: Int) {
    let list = try PropertyList.read(bytes)
    guard let values = list["v"]?.dictionary, let places = list["n"]?.integer else {
      throw CoreDataError(.failed, "the private copy of the store is damaged")
    }
    return (
      try values.mapValues { value in
        guard let value = AtomicValue(encoded: value) else {
          throw CoreDataError(.failed, "the private copy of the store is damaged")
        }
        return value
      }, Int(clamping: places)
    )
  }
}

extension AtomicValue {
  fileprivate var encoded: PropertyListValue {
    switch self {
    case .text(let text, let type): .array([.string(text)] + (type.map { [.string($0)] } ?? []))
    case .plain(let value): Self.list(of: value)
    case .object(let value, let name, let archive):
      .dictionary([
        "class": .string(name), "archive": .data(archive),
        "value": value.map(Self.list) ?? .boolean(false),
      ])
    }
  }

  fileprivate init?(encoded: PropertyListValue) {
    if let parts = encoded.array {
      guard let text = parts.first?.string else { return nil }
      self = .text(text, type: parts.dropFirst().first?.string)
    } else if let name = encoded["class"]?.string, let archive = encoded["archive"]?.data {
      self = .object(encoded["value"].flatMap(Self.value), className: name, archive: archive)
    } else if let value = Self.value(of: encoded) {
      self = .plain(value)
    } else {
      return nil
    }
  }

  private static func list(of value: AttributeValue) -> PropertyListValue {
    func tagged(_ tag: String, _ value: PropertyListValue) -> PropertyListValue {
      .dictionary([tag: value])
    }
    return switch value {
    case .null: tagged("null", .boolean(true))
    case .integer(let number): tagged("integer", .integer(number))
    case .boolean(let flag): tagged("boolean", .boolean(flag))
    case .double(let number): tagged("double", .real(number))
    case .decimal(let digits): tagged("decimal", .string(digits))
    case .string(let text): tagged("string", .string(text))
    case .date(let seconds): tagged("date", .real(seconds))
    case .bytes(let bytes): tagged("bytes", .data(bytes))
    case .uuid(let bytes): tagged("uuid", .data(bytes))
    case .uri(let text): tagged("uri", .string(text))
    }
  }

  private static func value(of list: PropertyListValue) -> AttributeValue? {
    guard let (tag, value) = list.dictionary?.first else { return nil }
    return switch (tag, value) {
    case ("null", _): .null
    case ("integer", .integer(let number)): .integer(number)
    case ("boolean", .boolean(let flag)): .boolean(flag)
    case ("double", .real(let number)): .double(number)
    case ("decimal", .string(let digits)): .decimal(digits)
    case ("string", .string(let text)): .string(text)
    case ("date", .real(let seconds)): .date(seconds)
    case ("bytes", .data(let bytes)): .bytes(bytes)
    case ("uuid", .data(let bytes)): .uuid(bytes)
    case ("uri", .string(let text)): .uri(text)
    default: nil
    }
  }
}
