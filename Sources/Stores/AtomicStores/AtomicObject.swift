import ManagedModel

/// A value as an atomic store holds it, before it is known what attribute of which type it is.
enum AtomicValue: Equatable {
  /// The text of an XML element, and what its `type` says.
  case text(String, type: String?)
  /// A value of a binary store that is itself.
  case plain(AttributeValue)
  /// A value of one of Foundation's classes with the fields that NSKeyedArchiver gives it.
  case known(AttributeValue, className: String)
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
  /// The object's values.
  var encoded: [UInt8] {
    var record = RecordWriter()
    record.add(count: places)
    record.add(count: attributes.count)
    for (name, value) in attributes {
      record.add(name)
      value.write(&record)
    }
    return record.bytes
  }

  /// Reads the values again.
  ///
  /// - Throws: ``CoreDataError`` where the private file is damaged.
  static func values(
    _ bytes: [UInt8]
  ) throws(CoreDataError) -> (attributes: [String: AtomicValue], places: Int) {
    var record = RecordReader(bytes)
    let places = try record.count()
    let count = try record.count()
    var values: [String: AtomicValue] = [:]
    // No value takes less than two bytes.
    values.reserveCapacity(min(count, bytes.count / 2))
    for _ in 0..<count {
      let name = try record.text()
      values[name] = try AtomicValue(&record)
    }
    return (values, places)
  }
}

extension AtomicValue {
  fileprivate func write(_ record: inout RecordWriter) {
    switch self {
    case .text(let text, let type):
      record.add(tag: type == nil ? .text : .typedText)
      record.add(text)
      if let type { record.add(type) }
    case .plain(let value):
      record.add(tag: .plain)
      record.add(value)
    case .known(let value, let name):
      record.add(tag: .known)
      record.add(name)
      record.add(value)
    case .object(let value, let name, let archive):
      record.add(tag: value == nil ? .object : .meantObject)
      record.add(name)
      record.add(bytes: archive)
      if let value { record.add(value) }
    }
  }

  fileprivate init(_ record: inout RecordReader) throws(CoreDataError) {
    switch try record.tag() {
    case .text: self = .text(try record.text(), type: nil)
    case .typedText: self = .text(try record.text(), type: try record.text())
    case .plain: self = .plain(try record.value())
    case .known:
      let name = try record.text()
      self = .known(try record.value(), className: name)
    case .object:
      self = .object(nil, className: try record.text(), archive: try record.bytes())
    case .meantObject:
      let (name, archive) = (try record.text(), try record.bytes())
      self = .object(try record.value(), className: name, archive: archive)
    default: throw RecordReader.damage
    }
  }
}
