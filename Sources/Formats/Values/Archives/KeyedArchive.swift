/// An archive that Apple's NSKeyedArchiver wrote: compiled models, model caches, mapping models,
/// transformable values.
///
/// It is a list of objects that refer to each other by number, in circles too, so nothing is
/// unfolded until asked for: an ``ArchivedValue`` holds its references as ``ArchivedReference``,
/// and following one is a step of the caller's. No class of Apple's is needed; each object keeps
/// the name of its class.
package struct KeyedArchive: Sendable {
  /// The entry of `$top` that archivers use when one object is archived.
  package static let rootKey = "root"

  /// What the archive holds, in its own order.
  package let objects: [PropertyListValue]
  let top: [String: PropertyListValue]

  /// The archive of an object whose fields hold what they refer to.
  static let none = KeyedArchive(objects: [], top: [:])

  private init(objects: [PropertyListValue], top: [String: PropertyListValue]) {
    self.objects = objects
    self.top = top
  }

  /// Reads an archive from a property list, binary or XML.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when the bytes are no property list, or one
  ///   that is no keyed archive.
  package init(_ bytes: [UInt8]) throws(CoreDataError) {
    try self.init(propertyList: PropertyList.read(bytes))
  }

  /// Takes a property list that was read already.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when it is no keyed archive.
  package init(propertyList: PropertyListValue) throws(CoreDataError) {
    guard let objects = propertyList["$objects"]?.array, let top = propertyList["$top"]?.dictionary
    else {
      throw CoreDataError(.unreadable, "a property list, but not a keyed archive")
    }
    self.objects = objects
    self.top = top
  }

  /// Takes a property list that is an archive, or else is itself what would be archived.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for an archive that is damaged.
  package init(holding list: PropertyListValue) throws(CoreDataError) {
    let top = PropertyListValue.dictionary([Self.rootKey: list])
    let alone = PropertyListValue.dictionary(["$objects": .array([]), "$top": top])
    try self.init(propertyList: Self.isKeyedArchive(list) ? list : alone)
  }

  /// Whether a property list looks like a keyed archive.
  package static func isKeyedArchive(_ value: PropertyListValue) -> Bool {
    value["$objects"]?.array != nil && value["$top"]?.dictionary != nil
  }

  /// The archived object: what `$top` holds as root, or its only entry.
  package var root: ArchivedReference {
    let value = top[Self.rootKey] ?? (top.count == 1 ? top.values.first : nil)
    return ArchivedReference(archive: self, raw: value ?? .null)
  }

  /// The value of a raw property list value of this archive, one reference followed.
  ///
  /// A reference to nothing and `$null` are ``ArchivedValue/null``.
  ///
  /// - Parameter depth: values of Foundation's classes that this one is read for, each a part of the one before.
  func resolve(_ raw: PropertyListValue, depth: Int = 0) -> ArchivedValue {
    guard case .uid(let uid) = raw else { return plain(raw, uid: nil, depth) }
    guard objects.indices.contains(uid) else { return .null }
    if uid == 0, objects[0] == .string("$null") { return .null }
    return plain(objects[uid], uid: uid, depth)
  }

  private func plain(_ value: PropertyListValue, uid: Int?, _ depth: Int) -> ArchivedValue {
    switch value {
    case .null, .uid: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .date(let value): .date(value)
    case .data(let value): .data(value)
    case .string(let value): .string(value)
    case .array(let values): .array(references(values))
    case .dictionary(let fields): object(fields, uid: uid, depth)
    }
  }

  private func object(
    _ fields: [String: PropertyListValue], uid: Int?, _ depth: Int
  ) -> ArchivedValue {
    guard case .uid(let type) = fields["$class"], objects.indices.contains(type),
      let name = objects[type]["$classname"]?.string
    else {
      let pairs = fields.sortedByBytes(\.key)
      return .dictionary(
        pairs.map {
          (
            key: ArchivedReference(archive: self, raw: .string($0.key)),
            value: ArchivedReference(archive: self, raw: $0.value)
          )
        })
    }
    let object = ArchivedObject(
      archive: self, uid: uid, className: name, fields: fields, depth: depth)
    // A URL whose base is itself would go on for ever.
    guard depth < FoundationObject.mostDepth else { return .object(object) }
    return FoundationObject.value(of: object) ?? .object(object)
  }

  func references(_ values: [PropertyListValue]) -> [ArchivedReference] {
    values.map { ArchivedReference(archive: self, raw: $0) }
  }
}

/// A place in an archive that refers to a value, which is read when asked for.
package struct ArchivedReference: Sendable {
  let archive: KeyedArchive
  let raw: PropertyListValue

  /// What the place refers to; one step is taken, so a circle is no danger.
  package var value: ArchivedValue { archive.resolve(raw) }

  /// The text that the place refers to, where that is one; no other value is read.
  fileprivate var text: String? {
    guard case .uid(let uid) = raw else { return raw.string }
    return archive.objects.indices.contains(uid) ? archive.objects[uid].string : nil
  }

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

  /// The text of a string that is not empty.
  package var nonEmptyString: String? { string.flatMap { $0.isEmpty ? nil : $0 } }

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
  /// Values of Foundation's classes that it is read for.
  var depth = 0

  /// The value under a key, as a part of what the object means.
  fileprivate subscript(part key: String) -> ArchivedValue {
    fields[key].map { archive.resolve($0, depth: depth + 1) } ?? .null
  }

  /// The value under a key of the object; null when it has none.
  package subscript(key: String) -> ArchivedValue {
    fields[key].map { archive.resolve($0) } ?? .null
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

extension PropertyListValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real, .date: true
    default: false
    }
  }
}

/// What the archived objects of Foundation's value classes mean.
///
/// The keys are those that NSKeyedArchiver is seen to write; none is documented.
enum FoundationObject {
  /// Parts of parts: a URL has a base, which has a text.
  static let mostDepth = 4

  static func value(of object: ArchivedObject) -> ArchivedValue? {
    let archive = object.archive
    switch object.className {
    case "NSNull": return .null
    case "NSString", "NSMutableString": return text(object)
    case "NSMutableData", "NSData":
      for key in ["NS.data", "NS.bytes"] {
        if case .data(let bytes) = object[part: key] { return .data(bytes) }
      }
      return nil
    case "NSDate":
      switch object[part: "NS.time"] {
      case .real(let seconds), .date(let seconds): return .date(seconds)
      case .integer(let seconds): return .date(Double(seconds))
      default: return nil
      }
    case "NSUUID":
      guard case .data(let bytes) = object[part: "NS.uuidbytes"], bytes.count == 16 else {
        return nil
      }
      return .uuid(bytes)
    case "NSURL":
      guard let relative = object[part: "NS.relative"].string else { return nil }
      // Only a base of plain text is joined: bases of bases could go on in a circle.
      guard let base = object[part: "NS.base"].object?[part: "NS.relative"].string else {
        return .url(relative)
      }
      return .url(base + relative)
    case "NSNumber": return number(object)
    // The archiver substitutes the class cluster's placeholder.
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal(object)
    case "NSArray", "NSMutableArray":
      return object.fields["NS.objects"]?.array.map { .array(archive.references($0)) }
    case "NSSet", "NSMutableSet": return members(object).map { .set($0) }
    case "NSOrderedSet", "NSMutableOrderedSet": return members(object).map { .array($0) }
    case "NSDictionary", "NSMutableDictionary":
      guard let keys = object.fields["NS.keys"]?.array,
        let values = object.fields["NS.objects"]?.array
      else { return nil }
      return .dictionary(
        zip(archive.references(keys), archive.references(values)).map { (key: $0, value: $1) })
    case "NSKnownKeysDictionary", "NSKnownKeysDictionary1": return knownKeys(object)
    default: return nil
    }
  }

  /// Whether an object of a value class has the fields that NSKeyedArchiver writes, and refers to nothing but its class
  /// and the text of a URL.
  static func usualFields(
    of className: String, are fields: [String: PropertyListValue]
  ) -> Bool {
    switch className {
    case "NSDate": fields.count == 2 && fields["NS.time"]?.isNumber == true
    case "NSUUID": fields.count == 2 && fields["NS.uuidbytes"]?.data != nil
    case "NSString", "NSMutableString": fields.count == 2 && fields["NS.string"]?.string != nil
    case "NSData", "NSMutableData": fields.count == 2 && fields["NS.data"]?.data != nil
    case "NSURL": fields.count == 3 && fields["NS.base"] == .uid(0) && fields["NS.relative"] != nil
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
      fields.count == 7 && fields["NS.mantissa"]?.data != nil && fields["NS.compact"] != nil
    default: false
    }
  }

  private static func text(_ object: ArchivedObject) -> ArchivedValue? {
    if case .string(let text) = object[part: "NS.string"] { return .string(text) }
    guard case .data(let bytes) = object[part: "NS.bytes"] else { return nil }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  private static func number(_ object: ArchivedObject) -> ArchivedValue? {
    ["NS.boolval", "NS.intval", "NS.dblval", "NS.longlongval"].first(where: object.has)
      .map { object[part: $0] }
  }

  /// Core Data's dictionary with fixed keys, which the model cache keeps its entities in: a list of
  /// values, and a list of keys in its mapping. A slot that holds the token is empty.
  private static func knownKeys(_ object: ArchivedObject) -> ArchivedValue? {
    guard let mapping = object[part: "searchMapping"].object else { return nil }
    let emptyToken = object[part: "emptyToken"].string ?? "__empty_slot_token_4c24_98dc_ac1e_b773__"
    let keys = mapping[part: "keys"].references
    let values = object[part: "values"].references
    return .dictionary(
      zip(keys, values).filter { $1.text != emptyToken }.map { (key: $0, value: $1) })
  }

  /// The elements of a set: a list, or in its older form one field for each.
  private static func members(_ object: ArchivedObject) -> [ArchivedReference]? {
    if let values = object.fields["NS.objects"]?.array { return object.archive.references(values) }
    var result: [ArchivedReference] = []
    while let raw = object.fields["NS.object.\(result.count)"] {
      result.append(ArchivedReference(archive: object.archive, raw: raw))
    }
    return result.isEmpty ? nil : result
  }

  /// NSDecimal: up to eight 16-bit words of mantissa, little end first, and a power of ten.
  private static func decimal(_ object: ArchivedObject) -> ArchivedValue? {
    guard case .data(let mantissa) = object[part: "NS.mantissa"],
      let exponent = object[part: "NS.exponent"].integer,
      let length = object[part: "NS.length"].integer, (0...8).contains(length),
      mantissa.count >= 16,
      (-256...256).contains(exponent)
    else { return nil }
    let isNegative = object[part: "NS.negative"].boolean ?? false
    // A mantissa without words is zero, or not a number when the sign is set.
    guard length > 0 else { return .decimal(isNegative ? "NaN" : "0") }
    let isBigEndian = object[part: "NS.mantissa.bo"].integer == 2
    var words: [UInt32] = []
    for index in 0..<Int(length) {
      let (first, second) = (UInt32(mantissa[index * 2]), UInt32(mantissa[index * 2 + 1]))
      words.append(isBigEndian ? first << 8 | second : second << 8 | first)
    }
    return .decimal(
      DecimalText.text(words: words, exponent: Int(exponent), isNegative: isNegative))
  }
}
