/// A place in an archive that refers to a value, which is read when asked for.
package struct ArchivedReference: Sendable {
  let archive: KeyedArchive
  let raw: PropertyListValue

  /// What the place refers to; one step is taken, so a circle is no danger.
  package var value: ArchivedValue { archive.resolve(raw) }

  /// The number of the object referred to, which identifies it in circles.
  package var uid: Int? {
    if case .uid(let uid) = raw { uid } else { nil }
  }
}

/// A value of a keyed archive: Foundation's own classes as what they mean, all others as objects.
package enum ArchivedValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// NSDecimalNumber: the digits as text.
  case decimal(String)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data([UInt8])
  case string(String)
  /// Sixteen bytes.
  case uuid([UInt8])
  case url(String)
  /// NSArray and NSOrderedSet.
  case array([ArchivedReference])
  case set([ArchivedReference])
  case dictionary([(key: ArchivedReference, value: ArchivedReference)])
  case object(ArchivedObject)
}

extension ArchivedValue {
  /// The text of a string; `nil` for anything else.
  package var string: String? { plain.string }

  /// The truth value; a number is true where it is not 0, as NSNumber has it.
  package var boolean: Bool? { plain.boolean }

  /// The whole number; of a real one only where it has no fraction.
  package var integer: Int64? { plain.integer }

  /// A text, a number or a truth value, as a property list has it.
  private var plain: PropertyListValue {
    switch self {
    case .string(let value): .string(value)
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    default: .null
    }
  }

  /// The object of a class that is none of Foundation's value classes.
  package var object: ArchivedObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The elements of an array or a set, each followed; empty for any other value.
  package var elements: [ArchivedValue] { references.map(\.value) }

  /// The elements of an array or a set; empty for any other value.
  package var references: [ArchivedReference] {
    switch self {
    case .array(let values), .set(let values): values
    default: []
    }
  }

  /// The entries of a dictionary whose keys are strings, in the archive's order.
  package var entries: [(key: String, value: ArchivedReference)] {
    guard case .dictionary(let pairs) = self else { return [] }
    return pairs.compactMap { pair in pair.key.value.string.map { ($0, pair.value) } }
  }

  /// Whether nothing is there: `$null`, a key that is missing, or a reference to no object.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

/// An object of a class that is not one of Foundation's value classes.
package struct ArchivedObject: Sendable {
  let archive: KeyedArchive
  /// Its number in the archive; `nil` for one that is written in place.
  package let uid: Int?
  /// The name of its class in the archiving program, such as `NSAttributeDescription`.
  package let className: String
  let fields: [String: PropertyListValue]

  /// The value under a key of the object; null when it has none.
  package subscript(key: String) -> ArchivedValue {
    fields[key].map(archive.resolve) ?? .null
  }

  /// The place of a field, for following it later; of null where the object has no such field.
  package func reference(_ key: String) -> ArchivedReference {
    ArchivedReference(archive: archive, raw: fields[key] ?? .null)
  }

  /// Whether the object has a field of that name, be it null.
  package func has(_ key: String) -> Bool { fields[key] != nil }

  /// Names of the object's fields, sorted.
  package var keys: [String] { fields.keys.filter { $0 != "$class" }.sorted() }

  /// The class and its superclasses, nearest first, as the archive names them; at most sixteen.
  package var ancestry: [String] {
    guard case .uid(let type) = fields["$class"], archive.objects.indices.contains(type),
      let names = archive.objects[type]["$classes"]?.array
    else { return [className] }
    return names.prefix(16).compactMap(\.string)
  }

  /// Whether the object is of a class or, by what the archive says about ancestors, of one below it.
  package func isKind(of name: String) -> Bool { className == name || ancestry.contains(name) }
}
