import Files
import ManagedModel
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Seeding

/// A folder with a store that was seeded for one test.
struct SeededFolder {
  let folder: TemporaryFolder
  let path: String
  let report: SeedReport

  init(
    _ model: Model, objects: Int = 400, seed: UInt64 = 1,
    _ change: (inout SeedOptions) throws -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    path = folder.path("Seeded.sqlite")
    var options = SeedOptions(objects: objects, seed: seed)
    try change(&options)
    report = try StoreSeed.write(to: path, model: model, options: options)
  }

  /// What doctor finds wrong.
  func alarms() throws -> [String] {
    try Diagnosis(of: path).findings.filter { $0.severity != .note }.map(\.sentence)
  }

  /// Doctor, SQLite and the independent reader agree that it is a sound store of its model.
  func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try alarms() == [], sourceLocation: sourceLocation)
    try SecondReader.expectAgreement(at: path)
    let store = try Store(path: path)
    #expect(store.modelMatches && store.warnings == [], sourceLocation: sourceLocation)
    #expect(try integrity() == "ok", sourceLocation: sourceLocation)
  }

  func integrity() throws -> String? {
    try Connection(path: path, mode: .immutable).value("PRAGMA integrity_check")?.text
  }

  /// The values of a column of all objects.
  func column(_ sql: String) throws -> [Value] {
    try Connection(path: path, mode: .immutable).rows(sql).compactMap(\.first)
  }

  func number(_ sql: String) throws -> Int {
    try column(sql).first?.integer.map { Int($0) } ?? -1
  }
}

/// Models that ask for much.
enum SeedModels {
  static func change<T>(_ value: T, _ change: (inout T) -> Void) -> T {
    var copy = value
    change(&copy)
    return copy
  }

  /// Every kind of relationship, in a hierarchy, ordered and not, with counts.
  static func relationships() throws -> Model {
    var node = Entity("Node")
    node.isAbstract = true
    node.attributes = [Attribute("name", .string)]
    node.relationships = [
      Relationship("parent", to: "Folder", inverse: "children", optional: true),
      Relationship("owner", to: "User", inverse: "nodes"),
      Relationship("labels", to: "Label", inverse: "nodes", toMany: true, ordered: true),
      Relationship("friends", to: "Node", inverse: "friends", toMany: true, optional: true),
    ]
    var folder = Entity("Folder", parent: "Node")
    folder.relationships = [
      Relationship(
        "children", to: "Node", inverse: "parent", toMany: true, ordered: true, optional: true)
    ]
    var file = Entity("File", parent: "Node")
    file.attributes = [Attribute("text", .string, optional: true)]
    file.relationships = [
      Relationship("next", to: "File", inverse: "previous", optional: true),
      Relationship("previous", to: "File", inverse: "next", optional: true),
      Relationship("similar", to: "File", inverse: "similarTo", toMany: true, optional: true),
      Relationship("similarTo", to: "File", inverse: "similar", toMany: true, optional: true),
    ]
    let link = Entity("Link", parent: "File")
    var user = Entity("User")
    user.attributes = [Attribute("name", .string)]
    user.relationships = [
      change(Relationship("nodes", to: "Node", inverse: "owner", toMany: true)) {
        $0.minCount = 2
        $0.maxCount = 12
      },
      Relationship("profile", to: "Profile", inverse: "user"),
      Relationship("keys", to: "Key", toMany: true, ordered: true, optional: true),
      Relationship("spouse", to: "User", inverse: "spouse", optional: true),
    ]
    var profile = Entity("Profile")
    profile.relationships = [Relationship("user", to: "User", inverse: "profile")]
    var label = Entity("Label")
    label.attributes = [Attribute("name", .string)]
    label.relationships = [
      change(Relationship("nodes", to: "Node", inverse: "labels", toMany: true, ordered: true)) {
        $0.minCount = 3
        $0.maxCount = 40
      }
    ]
    var key = Entity("Key")
    key.attributes = [Attribute("value", .string)]
    return try Model(entities: [node, folder, file, link, user, profile, label, key])
  }

  /// Every kind of value, with uniqueness constraints and large data.
  static func values() throws -> Model {
    var item = Entity("Item")
    item.attributes = AttributeType.allCases.filter {
      ![.undefined, .objectID, .composite].contains($0)
    }.flatMap { type in
      let name = type.name.split(separator: " ").joined()
      return [Attribute("a" + name, type), Attribute("b" + name, type, optional: true)]
    }
    item.attributes.append(
      change(Attribute("photo", .binary, optional: true)) {
        $0.allowsExternalBinaryDataStorage = true
      })
    item.attributes.append(
      change(Attribute("author", .composite)) {
        $0.elements = [
          Attribute("name", .string, optional: true), Attribute("age", .integer16, optional: true),
        ]
      })
    item.attributes.append(
      change(Attribute("place", .composite, optional: true)) {
        $0.elements = [Attribute("latitude", .double), Attribute("city", .string, optional: true)]
      })
    item.attributes.append(
      change(Attribute("noteCount", .integer64, optional: true)) {
        $0.derivation = Attribute.Derivation(expression: "notes.@count")
      })
    item.relationships = [
      Relationship("notes", to: "Note", inverse: "item", toMany: true, optional: true)
    ]
    item.uniquenessConstraints = [["aString"], ["aInteger64", "bBoolean"], ["aUUID"]]
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    note.relationships = [Relationship("item", to: "Item", inverse: "notes", optional: true)]
    return try Model(entities: [item, note])
  }

  /// One attribute with rules, mandatory.
  static func ruled(
    _ type: AttributeType, name: String = "value", _ change: (inout Attribute) -> Void
  ) throws -> Model {
    var entity = Entity("Thing")
    entity.attributes = [Self.change(Attribute(name, type), change)]
    return try Model(entities: [entity])
  }
}
