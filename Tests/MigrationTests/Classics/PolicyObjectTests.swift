import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Objects that policies make")
struct PolicyObjectTests {
  static let kinds = """
    Kind
      big Binary external
      data Binary
      date Date
      day Date
      decimal Decimal
      double Double
      flag Boolean
      float Float
      int16 Integer 16
      int32 Integer 32
      int64 Integer 64
      link URI
      text String
      thing Transformable
      uuid UUID
    """

  static let values: [String: AttributeValue] = [
    "big": .bytes([UInt8](repeating: 5, count: 150_000)), "data": .bytes([1, 0, 2]),
    "date": .date(12.5), "day": .date(-3), "decimal": .decimal("12.25"), "double": .double(1.5),
    "flag": .boolean(true), "float": .double(2.5), "int16": .integer(-32768),
    "int32": .integer(2_147_483_647), "int64": .integer(.min), "link": .uri("https://a.b/c"),
    "text": .string("Ä'\"\n"), "thing": .bytes([9]), "uuid": .bytes([UInt8](1...16)),
  ]

  /// Reads each value of the source, sets it on a second object, and reads it there.
  final class Copying: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let first = try manager.makeInstance(of: source, in: mapping)
      let second = try manager.insert("Kind")
      for attribute in manager.destinationModel.attributes(of: "Kind")
      where attribute.name != "more" {
        let value = try source.value(attribute.name)
        #expect(try first.value(attribute.name) == value, "\(attribute.name)")
        try second.set(value, for: attribute.name)
        #expect(try second.value(attribute.name) == value, "\(attribute.name)")
      }
      #expect(try second.value("more") == .integer(4))
      try second.set(.null, for: "more")
    }

    /// Once more, from the file.
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      let sources = try manager.sourceObjects(of: "Kind")
      let made = try manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: sources)
      #expect(made.count == sources.count)
      for (source, object) in zip(sources, made) {
        for attribute in manager.sourceModel.attributes(of: "Kind") {
          #expect(try object.value(attribute.name) == source.value(attribute.name))
        }
      }
    }
  }

  @Test("values of every type are read and set")
  func values() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (
      try Classics.model("1", Self.kinds),
      try Classics.model("2", Self.kinds + "\n  more Integer 16 = 4")
    )
    var values = Self.values
    values["uuid"] = .uuid([UInt8](1...16))
    let path = try Classics.store(old, in: folder) { writer in
      try writer.insert("Kind", attributes: values)
      try writer.insert("Kind")
      try writer.insert("Kind", attributes: ["big": .bytes([7, 7])])
    }
    let lines = try Classics.migrate(
      path, to: new, "{ source: 'Kind', destination: 'Kind', policy: 'P' }",
      policies: ["P": Copying.self])
    #expect(lines.count == 6)
    for index in 0..<3 {
      let parts = [lines[index], lines[index + 3]].map { line in
        line.split(separator: " ").dropFirst().joined(separator: " ")
      }
      #expect(parts[0].replacing("more=4", with: "more=∅") == parts[1])
    }
  }

  /// Sets values that do not fit.
  final class Misfitting: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.makeInstance(of: source, in: mapping)
      for (name, value) in [
        ("int16", AttributeValue.integer(32768)), ("int32", .integer(.max)), ("text", .integer(1)),
        ("uuid", .uuid([1])), ("date", .string("2017")), ("flag", .integer(1)),
        ("data", .string("x")),
      ] {
        let error = #expect(throws: CoreDataError.self) { try object.set(value, for: name) }
        #expect(error?.property == name && error?.entity == "Kind")
      }
    }
  }

  @Test("values that do not fit their type are refused")
  func misfits() throws {
    let folder = try TemporaryFolder()
    let path = try Classics.store(Classics.model("1", Self.kinds), in: folder) { writer in
      try writer.insert("Kind", attributes: ["int16": .integer(3)])
    }
    let lines = try Classics.migrate(
      path, to: Classics.model("2", Self.kinds + "\n  more Integer 16"),
      "{ source: 'Kind', destination: 'Kind', policy: 'P' }", policies: ["P": Misfitting.self])
    #expect(lines.count == 1 && lines[0].contains(" int16=3 "))
  }

  static let nodes = """
    Node
      name String
      parent -> Node.children
      children ->>> Node.parent
      peers ->> Tag.nodes
      loose ->> Node
    Tag
      nodes ->> Node.peers
    """

  /// Makes two objects of each source object, and associates both.
  final class Doubling: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      for part in ["a", "b"] {
        let object = try manager.makeInstance(of: source, in: mapping)
        try object.set(.string((source.text("name") ?? "") + part), for: "name")
      }
      let both = try manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [source])
      #expect(both.count == 2)
      for object in both {
        let sources = try manager.sourceInstances(
          forEntityMappingName: mapping.name, destinationInstances: [object])
        #expect(sources.map(\.id) == [source.id])
      }
    }
  }

  @Test("two objects of one source are both linked wherever a to-many led to it")
  func doubling() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (
      try Classics.model("1", Self.nodes), try Classics.model("2", Self.nodes + "\n  note String")
    )
    let path = try Classics.store(old, in: folder) { writer in
      let (leaf, root) = (ObjectID(entity: "Node", key: 1), ObjectID(entity: "Node", key: 2))
      let tag = ObjectID(entity: "Tag", key: 1)
      try writer.insert(
        "Node", attributes: ["name": .string("leaf")], toOne: ["parent": root],
        toMany: ["peers": [tag]])
      try writer.insert(
        "Node", attributes: ["name": .string("root")], toMany: ["loose": [leaf]])
      try writer.insert("Tag")
    }
    let lines = try Classics.migrate(
      path, to: new, "{ source: 'Node', destination: 'Node', policy: 'P' }",
      policies: ["P": Doubling.self])
    #expect(lines.count == 5)
    #expect(
      lines.map { $0.split(separator: " ")[1] }.prefix(4) == [
        "name=leafa", "name=roota", "name=leafb", "name=rootb",
      ])
    // Both leaves hang on the first root, and are the tag's.
    #expect(lines[0].contains("parent→Node/p2") && lines[2].contains("parent→Node/p2"))
    #expect(lines[1].contains("children→[Node/p1 Node/p3] loose→[Node/p1 Node/p3]"))
    #expect(lines[4].contains("nodes→[Node/p1 Node/p3]"))
  }

  /// Hangs objects on one that it keeps, and changes it again and again.
  final class Counting: EntityMigrationPolicy {
    var total: DestinationObject?
    var seen: Int64 = 0

    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.makeInstance(of: source, in: mapping)
      seen += 1
      if total == nil { total = try manager.insert("Tag") }
      try total?.set(.integer(seen), for: "count")
      if let total { try object.add([total], to: "peers") }
      // Every hundredth becomes another object besides, of the same number elsewhere.
      if seen % 100 == 0 {
        try manager.associate(source, with: manager.insert("Tag"), for: mapping)
      }
    }

    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createRelationships(for: destination, in: mapping, manager: manager)
      // By way of another call, the very same object: nothing set here is lost.
      guard destination.id.entity == "Tag" else { return }
      try destination.set(.string("extra"), for: "label")
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      try total?.set(.string("total"), for: "label")
      #expect(try total?.value("count") == .integer(seen))
    }
  }

  @Test("more objects than a batch, with links, keep order, keys and values")
  func batches() throws {
    let folder = try TemporaryFolder()
    let text = Self.nodes + "\n  count Integer 64\n  label String"
    let (old, new) = (
      try Classics.model("1", text), try Classics.model("2", text + "\n  note String")
    )
    let count: Int64 = 2_345
    let path = try Classics.store(old, in: folder) { writer in
      for index in 1...count {
        try writer.insert(
          "Node", attributes: ["name": .string("\(index)")],
          toOne: index == 1 ? [:] : ["parent": ObjectID(entity: "Node", key: index / 2)])
      }
    }
    let lines = try Classics.migrate(
      path, to: new, "{ source: 'Node', destination: 'Node', policy: 'P' }",
      policies: ["P": Counting.self])
    #expect(lines.count == Int(count) + 1 + 23)
    for index in [2, 499, 500, 501, 1_000, 2_345] as [Int64] {
      #expect(lines[Int(index) - 1].hasPrefix("Node/p\(index) name=\(index) "))
      #expect(lines[Int(index) - 1].contains("parent→Node/p\(index / 2) peers→[Tag/p1]"))
    }
    let tags = lines.filter { $0.hasPrefix("Tag/") }
    #expect(tags[0].hasPrefix("Tag/p1 count=2345 label=total note=∅ nodes→[Node/p1 Node/p2 "))
    #expect(tags.dropFirst().allSatisfy { $0.contains(" label=extra ") })
  }

  /// Asks for what other mappings made.
  final class Asking: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createRelationships(for: destination, in: mapping, manager: manager)
      let source = try #require(
        try manager.sourceInstances(
          forEntityMappingName: mapping.name, destinationInstances: [destination]
        ).first)
      let related = try source.objects("nodes")
      let made = try manager.destinationInstances(
        forEntityMappingName: "NodeToNode", sourceInstances: related)
      // The condition of the other mapping left out what has no name.
      #expect(made.count == related.count { (try? $0.text("name")) != nil })
      let back = try manager.sourceInstances(
        forEntityMappingName: "NodeToNode", destinationInstances: made)
      #expect(back.map(\.id) == related.filter { (try? $0.text("name")) != nil }.map(\.id))
      // Objects of another entity are none that it took.
      #expect(
        try manager.destinationInstances(
          forEntityMappingName: "NodeToNode", sourceInstances: [source]
        )
        .isEmpty)
      #expect(
        try manager.sourceInstances(
          forEntityMappingName: "NodeToNode", destinationInstances: [destination]
        ).isEmpty)
      try made.first?.set(.string("first"), for: "name")
    }
  }

  @Test("a policy may ask for, and change, objects of mappings without one")
  func asking() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (
      try Classics.model("1", Self.nodes), try Classics.model("2", Self.nodes + "\n  note String")
    )
    let path = try Classics.store(old, in: folder) { writer in
      let tag = ObjectID(entity: "Tag", key: 1)
      for name in ["x", nil, "z"] {
        try writer.insert(
          "Node", attributes: name.map { ["name": .string($0)] } ?? [:], toMany: ["peers": [tag]])
      }
      try writer.insert("Tag")
    }
    let lines = try Classics.migrate(
      path, to: new,
      """
      { source: 'Node', destination: 'Node', where: 'name IS NOT NULL' },
      { source: 'Tag', destination: 'Tag', policy: 'P' }
      """, policies: ["P": Asking.self])
    #expect(
      lines == [
        "Node/p1 name=first children→[] loose→[] parent→∅ peers→[Tag/p1]",
        "Node/p3 name=z children→[] loose→[] parent→∅ peers→[Tag/p1]",
        "Tag/p1 note=∅ nodes→[Node/p1 Node/p3]",
      ])
  }
}
