import Files
import Lint
import ManagedModel
import ManagedStore
import ModelSearch
import TestSupport
import Testing

@Suite("Stores that shipped")
struct StoreTests {
  private static func item(_ attributes: String, _ rest: String = "") -> String {
    "<entity name=\"Item\">\(attributes)\(rest)</entity>"
  }
  private static func attribute(
    _ name: String, _ type: String, _ rest: String = "optional=\"YES\""
  )
    -> String
  { "<attribute name=\"\(name)\" attributeType=\"\(type)\" \(rest)/>" }

  private static func scene(
    _ before: String, _ after: String, _ objects: [[String: AttributeValue]]
  ) -> LintScene {
    var scene = LintScene.step(item(before), item(after))
    scene.objects = objects.map { ("Item", $0) }
    return scene
  }

  private static let name = attribute("name", "String")
  private static let unique =
    "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"

  @Test(
    "a rule about rows fires where rows break it, and only there",
    arguments: [
      (
        "attribute-dropped", name + attribute("n", "Integer 16"), name,
        ["n": AttributeValue.integer(3)], ["name": AttributeValue.string("a")]
      ),
      (
        "became-mandatory", name, attribute("name", "String", ""),
        ["name": AttributeValue.null], ["name": AttributeValue.string("a")]
      ),
      (
        "type-changed", attribute("n", "Double"), attribute("n", "Integer 16"),
        ["n": AttributeValue.double(1.5)], ["n": AttributeValue.double(2)]
      ),
    ])
  func rows(
    rule: String, before: String, after: String, bad: [String: AttributeValue],
    good: [String: AttributeValue]
  ) throws {
    let fires = try Self.scene(before, after, [bad, good]).run()
    let finding = try #require(fires.findings(rule).first, "\(fires.lines) \(fires.notes)")
    #expect(finding.rows == 1)
    #expect(finding.message.contains("shipped.sqlite"))
    let not = try Self.scene(before, after, [good]).run()
    #expect(not.findings.isEmpty, "\(not.lines)")
  }

  @Test("a mandatory attribute without a default fails on any row, and on none of no row")
  func mandatory() throws {
    let after = Self.name + Self.attribute("n", "Integer 16", "")
    let fires = try Self.scene(Self.name, after, [[:], [:]]).run()
    #expect(fires.findings("mandatory-without-default").first?.rows == 2)
    #expect(fires.findings.allSatisfy { $0.severity == .error })
    var empty = LintScene.step(
      Self.item(Self.name) + "<entity name=\"B\"/>", Self.item(after) + "<entity name=\"B\"/>")
    empty.objects = [("B", [:])]
    #expect(try empty.run().findings.isEmpty)
  }

  @Test("a new uniqueness constraint is an error where two are equal")
  func unique() throws {
    let values: [[String: AttributeValue]] = [
      ["name": .string("a")], ["name": .string("a")], ["name": .string("b")],
    ]
    let fires = try Self.scene(Self.name, Self.name + Self.unique, values).run()
    let finding = try #require(fires.findings("unique-added").first, "\(fires.lines)")
    #expect(finding.severity == .error && finding.device?.code == 134111)
    let not = try Self.scene(
      Self.name, Self.name + Self.unique, Array(values.dropFirst())
    ).run()
    #expect(not.findings.isEmpty, "\(not.lines)")
  }

  @Test("an entity that turned abstract is refused for its objects, by no other rule")
  func refused() throws {
    func scene(_ entity: String) -> LintScene {
      let rest = "<entity name=\"B\" parentEntity=\"Item\"/>"
      var scene = LintScene.step(
        Self.item(Self.name) + rest,
        Self.item(Self.name).split(separator: "\"Item\"").joined(
          separator: "\"Item\" isAbstract=\"YES\"") + rest)
      scene.objects = [(entity, [:])]
      return scene
    }
    let fires = try scene("Item").run()
    #expect(fires.lines.contains { $0.hasPrefix("store-refused Item") }, "\(fires.lines)")
    #expect(try scene("B").run().findings("store-refused").isEmpty)
  }

  @Test(
    "values in a store of the version after tell a rename that no name tells, and one that is none")
  func likeValues() throws {
    let before = Self.name + Self.attribute("a", "String") + Self.attribute("b", "String")
    let after = Self.name + Self.attribute("x", "String") + Self.attribute("aa", "String")
    let folder = try TemporaryFolder()
    var scene = Self.scene(
      before, after,
      ["one", "two", "three"].map { ["a": .string($0), "name": .string($0)] })
    _ = try scene.run(in: folder)
    let newer = folder.path("newer.sqlite")
    let writer = try StoreWriter(
      creating: newer, model: ModelReference(folder.path("App.xcdatamodeld")).load().model)
    for text in ["one", "two", "four"] {
      try writer.insert("Item", attributes: ["x": .string(text), "aa": .string(text + "!")])
    }
    try writer.finish()
    scene.options.against = folder.path("old/App.xcdatamodeld")
    scene.options.stores = [folder.path("shipped.sqlite"), newer]
    scene.options.takesMergeBase = false
    let run = try LintRun(of: folder.path("App.xcdatamodeld"), scene.options)
    #expect(run.findings("looks-like-rename").map(\.property) == ["x"], "\(run.lines)")
    scene.options.stores = [folder.path("shipped.sqlite")]
    let byName = try LintRun(of: folder.path("App.xcdatamodeld"), scene.options)
    #expect(byName.findings("looks-like-rename").map(\.property) == ["aa"], "\(byName.lines)")
  }

  @Test(
    "a store of no version: of a bundle no path, of a plan unproven, with what differs and where")
  func unknown() throws {
    let folder = try TemporaryFolder()
    var scene = Self.scene(Self.name, Self.name, [["name": .string("a")]])
    scene.now = [("App", Self.item(Self.name + Self.attribute("n", "Date")))]
    scene.current = "App"
    let run = try scene.run(in: folder)
    let finding = try #require(run.findings("no-path").first, "\(run.lines)")
    #expect(finding.subject == "Item.n" && finding.device?.code == 134130)
    #expect(run.findings("released-version-edited").count == 1)

    func source(_ inverse: String, plan: Bool) -> String {
      """
      enum SchemaV1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item { var name: String; var tags: [Tag] = []; var more: [Tag] = [] }
        @Model class Tag {
          \(inverse)
          var item: Item?
        }
      }

      """
        + (plan
          ? "enum P: SchemaMigrationPlan { static var schemas: [any VersionedSchema.Type] { [SchemaV1.self] } }"
          : "")
    }
    let path = folder.path("Models.swift")
    try FileSystem.write(Array(source("", plan: true).utf8), to: path)
    let store = folder.path("default.store")
    let writer = try StoreWriter(creating: store, model: ModelReference(path).load().model)
    try writer.insert("Item", attributes: ["name": .string("a")])
    try writer.finish()
    var options = LintOptions()
    options.stores = [store]
    options.takesMergeBase = false
    let proven = try LintRun(of: path, options)
    #expect(proven.findings("swiftdata-unproven").isEmpty)
    let inverse = "@Relationship(inverse: \\Item.tags)"
    try FileSystem.write(Array(source(inverse, plan: true).utf8), to: path)
    let unproven = try LintRun(of: path, options).findings("swiftdata-unproven")
    let item = try #require(unproven.first { $0.property == "item" })
    #expect(item.path == path && item.line == 6 && item.entity == "Tag")
    #expect(item.severity == .error && item.device?.code == 134504)
    #expect(item.deviceText.contains("Cannot use staged migration with an unknown model version"))
    #expect(item.message.contains("“SchemaV1”"))
    try FileSystem.write(Array(source(inverse, plan: false).utf8), to: path)
    let inferred = try LintRun(of: path, options).findings("swiftdata-unproven")
    #expect(inferred.allSatisfy { $0.severity == .warning } && !inferred.isEmpty)
  }

  @Test("a frozen version that lists a live class, and the store that shows what became of it")
  func live() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Models.swift")
    func source(_ tag: String) -> String {
      """
      enum SchemaV1: VersionedSchema {
        static var versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item { var name: String }
      }
      enum SchemaV2: VersionedSchema {
        static var versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item { var name: String; var count: Int = 0 }
      }
      @Model class Tag { var text: String\(tag) }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)]
        }
      }
      """
    }
    try FileSystem.write(Array(source("").utf8), to: path)
    let store = folder.path("default.store")
    let writer = try StoreWriter(
      creating: store, model: ModelReference(path + "@SchemaV1").load().model)
    try writer.insert("Item", attributes: ["name": .string("a")])
    try writer.finish()
    var options = LintOptions()
    options.takesMergeBase = false
    options.stores = [store]
    let before = try LintRun(of: path, options)
    #expect(before.lines == ["swiftdata-live-type-in-frozen-schema Tag:1"], "\(before.lines)")
    let finding = try #require(before.findings.first)
    #expect(finding.version == "SchemaV1" && finding.message.contains("Models.swift:11"))
    #expect(
      finding.deviceText.contains("Cannot use staged migration with an unknown model version"))
    try FileSystem.write(Array(source("; var color: String = \"\"").utf8), to: path)
    let after = try LintRun(of: path, options)
    let moved = try #require(after.findings("swiftdata-unproven").first, "\(after.lines)")
    #expect(moved.subject == "Tag.color" && moved.line == 11 && moved.severity == .error)
  }

  @Test("looking leaves the store and the models as they were")
  func untouched() throws {
    let folder = try TemporaryFolder()
    let scene = Self.scene(
      Self.name, Self.attribute("name", "String", ""), [["name": .null]])
    _ = try scene.run(in: folder)
    let before = try folder.contents()
    var options = LintOptions()
    options.stores = [folder.path("shipped.sqlite")]
    options.takesMergeBase = false
    _ = try LintRun(of: folder.path("App.xcdatamodeld"), options)
    #expect(try folder.contents() == before)
  }
}
