import Files
import ManagedModel
import ManagedStore

/// XML and binary stores with the objects of a store of the SQLite type, written by atomic-stores: no code that reads
/// them takes part. Each is read by strata and by the second reader at once, which must find the same.
public enum AtomicSamples {
  /// The number in the new store of each object, by its name in the old one.
  public typealias Keys = [String: Int64]

  /// Writes an XML store.
  ///
  /// - Returns: the objects' new numbers.
  @discardableResult
  public static func writeXML(_ store: Store, to path: String) throws -> Keys {
    let keys = try self.keys(of: store)
    var text = """
      <?xml version="1.0"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>\(store.metadata.uuid)</UUID>
              <nextObjectID>\(keys.values.max() ?? 0)</nextObjectID>
              <metadata>
                  <plist version="1.0">
      \(plist(.dictionary(metadata(of: store))))
                  </plist>
              </metadata>
          </databaseInfo>

      """
    try each(store, keys) { object in
      text +=
        "    <object type=\"\(object.entity.uppercased())\" id=\"z\(object.key)\">\n"
      for (attribute, value) in object.attributes {
        guard let written = written(value, attribute.type) else { continue }
        text +=
          "        <attribute name=\"\(attribute.name.lowercased())\" type=\"\(written.type)\">\(written.text)</attribute>\n"
      }
      for (relationship, ids) in object.relationships {
        let maximum = relationship.isToMany ? relationship.maxCount : 1
        text +=
          "        <relationship name=\"\(relationship.name.lowercased())\" type=\"\(relationship.minCount)/\(maximum)\" destination=\"\(relationship.destination.uppercased())\""
        if !ids.isEmpty {
          text += " idrefs=\"\(ids.map { "z\($0)" }.joined(separator: " "))\""
        }
        text += "></relationship>\n"
      }
      text += "    </object>\n"
    }
    text += "</database>"
    try FileSystem.write(Array(text.utf8), to: path)
    try SecondReader.expectAgreement(onAtomic: path, model: store.model)
    return keys
  }

  /// Writes a binary store.
  ///
  /// - Parameters:
  ///   - className: the class of the objects that Transformable attributes have; without one they have an NSArray.
  ///   - foundation: values of Foundation's classes that they have instead, by the first byte that the store has.
  /// - Returns: the objects' new numbers.
  @discardableResult
  public static func writeBinary(
    _ store: Store, to path: String, className: String? = nil, foundation: [FoundationSample] = []
  ) throws -> Keys {
    let keys = try self.keys(of: store)
    let archiver = SampleArchiver(className: className, foundation: foundation)
    var nodes: [(key: PropertyListValue, value: PropertyListValue)] = []
    try each(store, keys) { object in
      let lineage = store.model.lineage(of: object.entity)
      var places: [Attribute] = []
      for entity in lineage {
        places += entity.attributes.filter { !$0.isTransient }.sorted { $0.name < $1.name }
      }
      let others = lineage.reduce(0) { count, entity in
        count + entity.relationships.count + entity.fetchedProperties.count
          + entity.attributes.count { $0.isTransient }
      }
      let values = Dictionary(object.attributes.map { ($0.0.name, $0.1) }) { first, _ in first }
      let list =
        places.map { archiver.value(values[$0.name] ?? .null, $0.type) }
        + (0..<others).map { _ in archiver.null }
      var fields: [String: PropertyListValue] = [
        "NSPrimaryKey64": .integer(object.key),
        "NSEntityName": archiver.add(.string(object.entity)),
        "NSAttributeValues": archiver.array(list),
      ]
      let related = object.relationships.filter { !$0.1.isEmpty }
      if !related.isEmpty {
        fields["NSRelatedNodes"] = archiver.dictionary(
          related.map {
            (
              archiver.add(.string($0.0.name)),
              archiver.array($0.1.map { archiver.add(.integer($0)) })
            )
          })
      }
      nodes.append(
        (
          archiver.add(.integer(object.key)),
          archiver.object(fields, ["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"])
        ))
    }
    let map = archiver.archive(
      archiver.dictionary(nodes, class: ["NSMutableDictionary", "NSDictionary", "NSObject"]),
      as: "mapData")
    var values = metadata(of: store)
    values["NSStoreType"] = .string("Binary")
    values["NSStoreUUID"] = .string(store.metadata.uuid)
    let other = SampleArchiver()
    let about = other.archive(other.list(.dictionary(values)), as: "metadata")
    var bytes = Array("CoreData".utf8) + [0, 0, 0, 1, 8, 4, 8, 0]
    for number in [
      64 + map.count, about.count, 64, map.count, Int(keys.values.max() ?? 0), 0,
    ] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    try FileSystem.write(bytes + map + about, to: path)
    try SecondReader.expectAgreement(onAtomic: path, model: store.model)
    return keys
  }

  /// A value of one of Foundation's classes; a mutable one is an object of its own, where other texts and data are none.
  public struct FoundationSample: Sendable {
    public var value: AttributeValue
    public var isMutable: Bool

    public init(_ value: AttributeValue, isMutable: Bool = false) {
      (self.value, self.isMutable) = (value, isMutable)
    }
  }

  /// Lines of ``StoreDump`` with the numbers that the objects have in the new store, sorted.
  public static func renumbered(_ lines: [String], _ keys: Keys) -> [String] {
    lines.map { line in
      line.split(separator: " ", omittingEmptySubsequences: false).map { word in
        var word = String(word)
        // A reference is a whole word, behind an arrow or a bracket.
        for mark in ["→[", "→"] {
          guard let place = word.firstRange(of: mark) else { continue }
          let (head, tail) = (word[..<place.upperBound], word[place.upperBound...])
          let name = tail.hasSuffix("]") ? tail.dropLast() : tail
          guard let key = keys[String(name)], let entity = name.split(separator: "/").first else {
            return word
          }
          return "\(head)\(entity)/p\(key)" + (tail.hasSuffix("]") ? "]" : "")
        }
        let name = word.hasSuffix("]") ? String(word.dropLast()) : word
        if let key = keys[name], let entity = name.split(separator: "/").first {
          word = "\(entity)/p\(key)" + (word.hasSuffix("]") ? "]" : "")
        }
        return word
      }.joined(separator: " ")
    }.sorted()
  }

  private struct Object {
    var entity: String
    var key: Int64
    var attributes: [(Attribute, AttributeValue)]
    var relationships: [(Relationship, [Int64])]
  }

  /// Numbers from 102 up, without gaps, which rise with the old ones within an entity.
  private static func keys(of store: Store) throws -> Keys {
    var keys: Keys = [:]
    var next: Int64 = 102
    var all: [(root: String, key: Int64, id: String)] = []
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        all.append(
          (store.model.root(of: entity.name), object.key, "\(entity.name)/p\(object.key)"))
      }
    }
    for (_, _, id) in all.sorted(by: { ($0.root, $0.key) < ($1.root, $1.key) }) {
      keys[id] = next
      next += 1
    }
    return keys
  }

  private static func each(
    _ store: Store, _ keys: Keys, _ body: (Object) throws -> Void
  ) throws {
    // Objects stand in no order.
    for entity in store.model.entities.reversed() where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        try body(
          Object(
            entity: entity.name, key: keys["\(entity.name)/p\(object.key)"] ?? 0,
            attributes: zip(cursor.table.attributes, object.attributes).map {
              ($0.attribute, plain($1))
            },
            relationships: zip(cursor.table.relationships, object.relationships).map {
              ($0.relationship, $1.objects.map { keys[$0.description] ?? 0 })
            }))
      }
    }
  }

  private static func plain(_ value: PropertyValue) -> AttributeValue {
    switch value {
    case .value(let value): value
    case .data(let data): .bytes(data.bytes)
    case .toOne, .toMany: .null
    }
  }

  private static func metadata(of store: Store) -> [String: PropertyListValue] {
    var values = store.metadata.values
    for key in ["NSStoreType", "NSStoreUUID", "_NSAutoVacuumLevel"] { values[key] = nil }
    values["an app's own"] = .string("a < b & c")
    return values
  }

  private static func plist(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): "<string>\(markup(text))</string>"
    case .integer(let number): "<integer>\(number)</integer>"
    case .real(let number): "<real>\(number)</real>"
    case .boolean(let flag): flag ? "<true/>" : "<false/>"
    case .data(let bytes): "<data>\(ByteText.base64(bytes))</data>"
    case .date(let seconds): "<date>\(CoreDataDate.text(seconds))</date>"
    case .array(let values): "<array>\(values.map(plist).joined())</array>"
    case .dictionary(let values):
      "<dict>"
        + values.sorted { $0.key < $1.key }.map { "<key>\(markup($0.key))</key>\(plist($0.value))" }
        .joined(separator: "\n") + "</dict>"
    case .null, .uid: ""
    }
  }

  private static func markup(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }

  private static func written(
    _ value: AttributeValue, _ type: AttributeType
  ) -> (type: String, text: String)? {
    switch (value, type) {
    case (.null, _): nil
    case (.integer(let number), .integer16): ("int16", "\(number)")
    case (.integer(let number), .integer32): ("int32", "\(number)")
    case (.integer(let number), _): ("int64", "\(number)")
    case (.boolean(let flag), _): ("bool", flag ? "1" : "0")
    case (.double(let number), .float): ("float", "\(number)")
    case (.double(let number), _): ("double", "\(number)")
    case (.decimal(let digits), _): ("decimal", digits)
    case (.date(let seconds), _): ("date", "\(seconds)")
    case (.string(let text), _): ("string", escaped(text))
    case (.uri(let text), _): ("uri", escaped(text))
    case (.uuid(let bytes), _): ("uuid", UUIDText.text(bytes))
    case (.bytes(let bytes), _): ("binary", lines(of: ByteText.base64(bytes)))
    }
  }

  /// The first 76 characters, a line end, all the rest, a line end.
  private static func lines(of text: String) -> String {
    text.count > 76 ? "\(text.prefix(76))\n\(text.dropFirst(76))\n" : text + "\n"
  }

  /// Core Data's own escapes, as Intel and Apple silicon write them.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "<", ">", "&": result += unit(UInt16(scalar.value))
      case let other
      where other.value >= 0xD800
        || other.value < 0x20 && other.value != 9
          && other.value != 10:
        for unit in String(other).utf16 { result += self.unit(unit) }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func unit(_ unit: UInt16) -> String {
    let digits = String(unit.byteSwapped, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// Puts objects into an archive as NSKeyedArchiver does.
private final class SampleArchiver {
  private var objects: [PropertyListValue] = [.string("$null")]
  private var classes: [String: PropertyListValue] = [:]
  private let className: String?
  private let foundation: [AtomicSamples.FoundationSample]

  init(className: String? = nil, foundation: [AtomicSamples.FoundationSample] = []) {
    (self.className, self.foundation) = (className, foundation)
  }

  var null: PropertyListValue { object([:], ["NSNull", "NSObject"]) }

  func add(_ value: PropertyListValue) -> PropertyListValue {
    objects.append(value)
    return .uid(objects.count - 1)
  }

  func object(_ fields: [String: PropertyListValue], _ names: [String]) -> PropertyListValue {
    let known = classes[names[0]]
    let type =
      known
      ?? add(
        .dictionary([
          "$classname": .string(names[0]), "$classes": .array(names.map { .string($0) }),
        ]))
    classes[names[0]] = type
    return add(.dictionary(fields.merging(["$class": type]) { first, _ in first }))
  }

  func array(_ values: [PropertyListValue]) -> PropertyListValue {
    object(["NS.objects": .array(values)], ["NSArray", "NSObject"])
  }

  func dictionary(
    _ pairs: [(key: PropertyListValue, value: PropertyListValue)],
    class names: [String] = ["NSDictionary", "NSObject"]
  ) -> PropertyListValue {
    object(
      ["NS.keys": .array(pairs.map(\.key)), "NS.objects": .array(pairs.map(\.value))], names)
  }

  /// A property list as the objects that it would be.
  func list(_ value: PropertyListValue) -> PropertyListValue {
    switch value {
    case .array(let values): array(values.map(list))
    case .dictionary(let values):
      dictionary(
        values.sorted { $0.key < $1.key }.map { (add(.string($0.key)), list($0.value)) })
    case .date(let seconds): object(["NS.time": .real(seconds)], ["NSDate", "NSObject"])
    default: add(value)
    }
  }

  func value(_ value: AttributeValue, _ type: AttributeType) -> PropertyListValue {
    switch value {
    case .null: null
    case .integer(let number): add(.integer(number))
    case .boolean(let flag): add(.boolean(flag))
    case .double(let number): add(.real(number))
    case .string(let text): add(.string(text))
    case .date(let seconds): object(["NS.time": .real(seconds)], ["NSDate", "NSObject"])
    case .uuid(let bytes): object(["NS.uuidbytes": .data(bytes)], ["NSUUID", "NSObject"])
    case .uri(let text):
      object(["NS.base": .uid(0), "NS.relative": add(.string(text))], ["NSURL", "NSObject"])
    case .bytes(let bytes) where type == .transformable && !foundation.isEmpty:
      bytes.first.flatMap { foundation.indices.contains(Int($0)) ? foundation[Int($0)] : nil }
        .map(object) ?? null
    case .bytes(let bytes) where type == .transformable:
      // The object itself: one of the app's, or a list that holds the bytes.
      className.map { object(["bytes": add(.data(bytes))], [$0, "NSObject"]) }
        ?? array([add(.data(bytes))])
    case .bytes(let bytes): add(.data(bytes))
    case .decimal(let digits): decimal(digits)
    }
  }

  private func object(_ sample: AtomicSamples.FoundationSample) -> PropertyListValue {
    switch (sample.value, sample.isMutable) {
    case (.string(let text), true):
      object(["NS.string": .string(text)], ["NSMutableString", "NSString", "NSObject"])
    case (.bytes(let bytes), true):
      object(["NS.data": .data(bytes)], ["NSMutableData", "NSData", "NSObject"])
    default: value(sample.value, .undefined)
    }
  }

  private func decimal(_ digits: String) -> PropertyListValue {
    guard let (words, exponent, isNegative) = DecimalText.words(digits) else { return null }
    return object(
      [
        "NS.mantissa": .data(words.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        "NS.exponent": .integer(Int64(exponent)), "NS.negative": .boolean(isNegative),
        "NS.length": .integer(Int64((words.lastIndex { $0 != 0 } ?? -1) + 1)),
        "NS.mantissa.bo": .integer(1), "NS.compact": .boolean(true),
      ], ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"])
  }

  func archive(_ root: PropertyListValue, as name: String) -> [UInt8] {
    PropertyList.binary(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary([name: root]), "$objects": .array(objects),
      ]))
  }
}
