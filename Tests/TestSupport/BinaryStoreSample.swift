import ManagedModel

/// Binary stores of which each object of the archives is given, so that they can be what no sound program writes.
package enum BinaryStoreSample {
  /// A binary store of an archive of objects and one of metadata.
  package static func store(
    _ objects: [PropertyListValue], metadata: [PropertyListValue],
    _ write: (PropertyListValue) -> [UInt8] = PropertyList.binary
  ) -> [UInt8] {
    func archive(_ objects: [PropertyListValue], _ top: String) -> [UInt8] {
      write(
        .dictionary([
          "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
          "$top": .dictionary([top: .uid(1)]), "$objects": .array([.string("$null")] + objects),
        ]))
    }
    let (map, about) = (archive(objects, "mapData"), archive(metadata, "metadata"))
    var bytes = AtomicStoreForm.binaryMagic
    for number in [64 + map.count, about.count, 64, map.count, 200, 0] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return bytes + map + about
  }

  /// The description of a class.
  package static func type(_ name: String) -> PropertyListValue {
    .dictionary(["$classname": .string(name), "$classes": .array([.string(name)])])
  }

  /// An array whose class is the object of that number.
  package static func list(_ elements: [PropertyListValue], _ type: Int) -> PropertyListValue {
    .dictionary(["NS.objects": .array(elements), "$class": .uid(type)])
  }

  /// A dictionary whose class is the object of that number.
  package static func dictionary(
    _ pairs: [(PropertyListValue, PropertyListValue)], _ type: Int
  ) -> PropertyListValue {
    .dictionary([
      "NS.keys": .array(pairs.map(\.0)), "NS.objects": .array(pairs.map(\.1)),
      "$class": .uid(type),
    ])
  }

  /// Metadata with nothing in them.
  package static let noMetadata = [dictionary([], 2), type("NSDictionary")]

  /// Stores in which maps, values, keys and references go round in circles.
  package static let circles: [[UInt8]] = {
    let node: [String: PropertyListValue] = [
      "NSPrimaryKey64": .integer(1), "NSEntityName": .uid(4), "$class": .uid(2),
    ]
    func one(_ fields: [String: PropertyListValue], _ rest: [PropertyListValue] = []) -> [UInt8] {
      store(
        [
          dictionary([(.uid(4), .uid(5))], 2), type("NSDictionary"), type("NSArray"),
          .string("Note"), .dictionary(node.merging(fields) { $1 }),
        ] + rest,
        metadata: [
          dictionary([(.uid(3), .uid(1))], 2), type("NSDictionary"), .string("k"),
        ])
    }
    return [
      // Its values are itself; a value is the object, the map, a list that holds itself.
      one(["NSAttributeValues": .uid(5)]),
      one(
        ["NSAttributeValues": .uid(6)],
        [list([.uid(5), .uid(1), .uid(6), .uid(7)], 3), .uid(7)]),
      // Its key is its own list; its relationships are itself.
      one(["NSPrimaryKey64": .uid(6), "NSKey": .uid(6)], [list([.uid(6)], 3)]),
      one(["NSRelatedNodes": .uid(5)]),
      one(["NSRelatedNodes": .uid(6)], [dictionary([(.uid(4), .uid(6))], 2)]),
      one(["NSEntityName": .uid(5)]),
      // A class that is its own.
      one(
        ["NSAttributeValues": .uid(6), "$class": .uid(5)],
        [list([.uid(7)], 3), .dictionary(["$class": .uid(7)])]),
      // One node a thousand times.
      store(
        [
          dictionary((0..<1000).map { _ in (.uid(4), .uid(5)) }, 2), type("NSDictionary"),
          type("NSArray"), .string("Note"), .dictionary(node),
        ], metadata: noMetadata),
    ]
  }()
}
