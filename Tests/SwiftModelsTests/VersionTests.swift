import ManagedModel
import SwiftModels
import Testing

@Suite("Versions out of Swift source")
struct VersionTests {
  private static let source = """
    typealias Item = SchemaV2.Item
    enum SchemaV1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
      @Model final class Item { var name: String; var tag: Tag? ; init(name: String) { self.name = name } }
    }
    enum SchemaV2: VersionedSchema {
      static var versionIdentifier: Schema.Version { .init(1, 10, 0) }
      static var models: [any PersistentModel.Type] { return [SchemaV2.Item.self] }
    }
    extension SchemaV2 {
      @Model final class Item { @Attribute(originalName: "name") var title: String; var tag: Tag? }
    }
    @Model class Tag { var text: String = "" }
    struct SchemaV3: VersionedSchema {
      static var versionIdentifier = Schema.Version(1, 9, 0)
      static var models: [any PersistentModel.Type] = SchemaV1.models + [Extra.self]
      @Model class Extra { var n: Int }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV3.self, SchemaV2.self] }
      static var stages: [MigrationStage] { [first, .lightweight(fromVersion: SchemaV3.self, toVersion: SchemaV2.self)] }
      static let first = MigrationStage.custom(
        fromVersion: SchemaV1.self, toVersion: SchemaV3.self,
        willMigrate: { context in let x = [1, 2] }, didMigrate: nil)
    }
    """

  @Test("each version is what its list names and reaches")
  func versions() throws {
    let found = models(Self.source)
    #expect(found.versions.map(\.name) == ["SchemaV1", "SchemaV3", "SchemaV2"])
    #expect(found.versions.map(\.identifier) == ["1.0.0", "1.9.0", "1.10.0"])
    #expect(
      try found.versions.map { try $0.model.entities.map(\.name) } == [
        ["Item", "Tag"], ["Extra", "Item", "Tag"], ["Item", "Tag"],
      ])
    #expect(
      try found.version(named: "SchemaV2")?.model.entity(named: "Item")?.attributes.map(\.name)
        == ["title"])
    #expect(found.currentName == "SchemaV2")
    #expect(found.remarks.isEmpty)
  }

  @Test("a version can be asked for by its identifier; an unknown one is none")
  func names() {
    let found = models(Self.source)
    #expect(found.version(named: "1.9.0")?.name == "SchemaV3")
    #expect(found.version(named: "SchemaV9") == nil)
  }

  @Test("a class that lives outside a version is told from one within")
  func live() throws {
    let version = try #require(models(Self.source).version(named: "SchemaV1"))
    #expect(version.classes.map(\.name) == ["SchemaV1.Item", "Tag"])
    #expect(version.classes.map(\.isInside) == [true, false])
    #expect(version.place(of: "Item", property: "name") == SourcePlace(path: "App.swift", line: 5))
    #expect(version.place(of: "Tag")?.line == 14)
  }

  @Test("the plan with its stages, named and written in place")
  func plan() throws {
    let plan = try #require(models(Self.source).plan)
    #expect(plan.versions == ["SchemaV1", "SchemaV3", "SchemaV2"])
    #expect(plan.stages.map(\.isCustom) == [true, false])
    #expect(plan.stages.map(\.from) == ["SchemaV1", "SchemaV3"])
    #expect(plan.stages.map(\.to) == ["SchemaV3", "SchemaV2"])
    #expect(plan.stages.map(\.place.line) == [23, 22])
  }

  @Test("a version without an identifier is 1.0.0")
  func identifier() throws {
    #expect(try model("@Model class A { var n: Int }").model.versionIdentifiers == ["1.0.0"])
  }

  @Test("a list that names what is nowhere says so, with its line")
  func missing() throws {
    let found = try model(
      "enum V: VersionedSchema {\n  static var models: [any PersistentModel.Type] { [Ghost.self, A.self] }\n  @Model class A { var n: Int } }"
    )
    #expect(found.model.entities.map(\.name) == ["A"])
    #expect(found.remarks == ["App.swift:2: V lists Ghost, which is not in these files"])
  }

  @Test("two classes of one name in a version are named")
  func clash() throws {
    let found = try model(
      """
      enum V: VersionedSchema {
        static var models: [any PersistentModel.Type] { [A.self, B.self] }
        @Model class A { var n: Int }
      }
      @Model class A { var m: Int }
      @Model class B { var a: A? }
      """)
    #expect(found.model.entity(named: "A")?.attributes.map(\.name) == ["n"])
    #expect(
      found.remarks == ["App.swift:5: V: A and V.A are both named A; the second one was taken"])
  }

  @Test("two versions of one enum's name in different types keep their whole names")
  func nested() {
    let found = models(
      """
      enum App { enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [A.self] }
        @Model class A { var n: Int } } }
      enum Other { enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [] } } }
      """)
    #expect(found.versions.map(\.name) == ["App.V1", "Other.V1"])
  }

  @Test("a version without a readable list, and source without classes, are no trap")
  func empty() {
    #expect(models("").versions.isEmpty)
    #expect(models("struct A { var n: Int }").versions.isEmpty)
    #expect(models("enum V: VersionedSchema { }").versions.first?.remarks.count == 1)
  }
}
