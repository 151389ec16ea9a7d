/// Writes an archive in NSKeyedArchiver's form.
///
/// References may be circular: ``reserve()`` gives an object its number before its fields are
/// known, ``fill(_:class:_:)`` writes it afterwards.
package struct KeyedArchiveWriter {
  private var objects: [PropertyListValue] = [.string("$null")]
  private var strings: [String: Int] = [:]
  private var classes: [String: Int] = [:]

  /// An archive that holds nothing but nil.
  package init() {}

  /// The reference that stands for nil.
  package static let null = PropertyListValue.uid(0)

  /// A reference to an object that is to be filled later.
  package mutating func reserve() -> PropertyListValue {
    objects.append(.null)
    return .uid(objects.count - 1)
  }

  /// Writes the object that `reserve` gave a number.
  ///
  /// - Parameter ancestry: the class and its superclasses, nearest first.
  package mutating func fill(
    _ reference: PropertyListValue, class ancestry: [String],
    _ fields: [String: PropertyListValue]
  ) {
    guard case .uid(let uid) = reference, objects.indices.contains(uid), uid != 0 else { return }
    var fields = fields
    fields["$class"] = classReference(ancestry)
    objects[uid] = .dictionary(fields)
  }

  /// Adds an object of that class.
  package mutating func add(
    class ancestry: [String], _ fields: [String: PropertyListValue]
  ) -> PropertyListValue {
    let reference = reserve()
    fill(reference, class: ancestry, fields)
    return reference
  }

  /// Adds a plain value: a number, a boolean, data.
  package mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    if case .string(let text) = value { return string(text) }
    objects.append(value)
    return .uid(objects.count - 1)
  }

  /// A reference to the string, kept once; nil is the null reference.
  package mutating func string(_ text: String?) -> PropertyListValue {
    guard let text else { return Self.null }
    // Equal strings of different bytes (composed and decomposed letters) stay apart.
    if let known = strings[text], case .string(let same) = objects[known],
      same.utf8.elementsEqual(text.utf8)
    {
      return .uid(known)
    }
    objects.append(.string(text))
    strings[text] = objects.count - 1
    return .uid(objects.count - 1)
  }

  /// Adds an NSArray, or NSMutableArray, of references.
  package mutating func array(
    _ values: [PropertyListValue], mutable: Bool = false
  ) -> PropertyListValue {
    add(
      class: mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
      ["NS.objects": .array(values)])
  }

  /// Adds an NSSet of references.
  package mutating func set(_ values: [PropertyListValue]) -> PropertyListValue {
    add(class: ["NSSet", "NSObject"], ["NS.objects": .array(values)])
  }

  /// Adds an NSDictionary, or NSMutableDictionary, of references to references.
  package mutating func dictionary(
    _ entries: [(key: PropertyListValue, value: PropertyListValue)], mutable: Bool = false
  ) -> PropertyListValue {
    add(
      class: mutable
        ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"],
      ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))])
  }

  /// The archive as a property list, with `root` as what was archived.
  package func propertyList(root: PropertyListValue) -> PropertyListValue {
    .dictionary([
      "$version": .integer(100_000),
      "$archiver": .string("NSKeyedArchiver"),
      "$top": .dictionary([KeyedArchive.rootKey: root]),
      "$objects": .array(objects),
    ])
  }

  /// The archive's bytes, a binary property list.
  package func bytes(root: PropertyListValue) -> [UInt8] {
    PropertyList.binary(propertyList(root: root))
  }

  private mutating func classReference(_ ancestry: [String]) -> PropertyListValue {
    let name = ancestry.first ?? "NSObject"
    if let known = classes[name] { return .uid(known) }
    objects.append(
      .dictionary([
        "$classname": .string(name), "$classes": .array(ancestry.map { .string($0) }),
      ]))
    classes[name] = objects.count - 1
    return .uid(objects.count - 1)
  }
}
