import ManagedModel
import SwiftModels
import TestSupport
import Testing

@Suite("The schema of a container")
struct ContainerTests {
  private static let classes = """
    @Model class A { var b: B? }
    @Model class B { var n: Int }
    @Model class C { var n: Int }

    """

  private func entities(_ source: String) throws -> [String] {
    try model(Self.classes + source).model.entities.map(\.name)
  }

  @Test(
    "is what it is given",
    arguments: [
      ("let c = try ModelContainer(for: A.self)", ["A", "B"]),
      ("let c = try ModelContainer(for: B.self, C.self, configurations: x(A.self))", ["B", "C"]),
      ("let c = try ModelContainer(for: Schema([C.self]))", ["C"]),
      (
        "func f() { let schema = Schema([C.self]); let c = try ModelContainer(for: schema) }", ["C"]
      ),
      (
        "struct S { static let all = Schema([C.self, B.self])\n var c = try! ModelContainer(for: Self.all) }",
        ["B", "C"]
      ),
      ("let v = WindowGroup { Root() }.modelContainer(for: [C.self])", ["C"]),
      // Without a container: the schemas that are written down.
      ("let s = Schema([A.self])", ["A", "B"]), ("", ["A", "B", "C"]),
    ])
  func given(use: (source: String, entities: [String])) throws {
    #expect(try entities(use.source) == use.entities)
  }

  @Test(
    "does not count where nothing is kept of it",
    arguments: [
      "let d = try ModelContainer(for: C.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))",
      "func f() { let config = ModelConfiguration(isStoredInMemoryOnly: true)\nlet d = try ModelContainer(for: C.self, configurations: config) }",
      "let v = Root().modelContainer(for: C.self, inMemory: true)",
      "#Preview { Root().modelContainer(for: C.self) }",
      "#Preview(\"x\", traits: .sizeThatFitsLayout) { Root().modelContainer(for: C.self) }",
      "struct P: PreviewProvider { static var previews: some View { Root().modelContainer(for: C.self) } }",
    ])
  func leftOut(other: String) throws {
    #expect(try entities("let c = try ModelContainer(for: B.self)\n" + other) == ["B"])
  }

  @Test("a file of tests makes no store of the app's")
  func tests() throws {
    let found = SourceModels([
      .init(
        path: "App.swift",
        bytes: Array((Self.classes + "let c = try ModelContainer(for: B.self)").utf8)),
      .init(
        path: "AppTest.swift",
        bytes: Array("import XCTest\nlet c = try ModelContainer(for: C.self)".utf8)),
    ])
    #expect(found.containers.map(\.place.path) == ["App.swift"])
    #expect(try found.current?.model.entities.map(\.name) == ["B"])
  }

  @Test("several with different schemas are versions by name, and none is the current one")
  func several() throws {
    let found = SourceModels([
      .init(
        path: "x/App.swift",
        bytes: Array((Self.classes + "let c = try ModelContainer(for: B.self)").utf8)),
      .init(path: "x/Cache.swift", bytes: Array("let c = try ModelContainer(for: C.self)".utf8)),
      .init(path: "x/Again.swift", bytes: Array("let c = try ModelContainer(for: B.self)".utf8)),
    ])
    #expect(found.versions.map(\.name) == ["App", "Cache"])
    #expect(found.containers.map(\.version) == ["App", "Cache"])
    #expect(found.currentName == nil && found.current == nil)
    #expect(try found.version(named: "Cache")?.model.entities.map(\.name) == ["C"])
  }

  private static let planned = """
    typealias Item = V2.Item
    enum V1: VersionedSchema {
      static var versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var a: Int }
    }
    enum V2: VersionedSchema {
      static var versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var a: Int; var b: Int? }
    }
    enum V3: VersionedSchema {
      static var versionIdentifier = Schema.Version(3, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var a: Int; var c: Int? }
    }

    """

  @Test(
    "is a version where it has its classes",
    arguments: [
      "let c = try ModelContainer(for: Item.self)", "let c = try ModelContainer(for: V2.Item.self)",
      "let c = try ModelContainer(for: Schema(versionedSchema: V2.self))",
      "let c = try ModelContainer(for: Schema(V2.models))",
    ])
  func version(use: String) {
    let found = models(Self.planned + use)
    #expect(found.versions.map(\.name) == ["V1", "V2", "V3"])
    #expect(found.currentName == "V2")
  }

  @Test("a plan is the one that the container names")
  func plan() throws {
    func plan(_ name: String, _ versions: String) -> String {
      """
      enum \(name): SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [\(versions)] }
        static var stages: [MigrationStage] { [] }
      }

      """
    }
    let source =
      Self.planned + plan("Old", "V1.self, V2.self, V3.self") + plan("New", "V1.self, V2.self")
    #expect(models(source).plan?.name == "Old")
    let named = models(
      source + "let c = try ModelContainer(for: Item.self, migrationPlan: New.self)")
    #expect(named.plan?.name == "New")
    #expect(named.plan?.isStaged == false)
  }

  @Test("stages: which code runs when, and what it assigns")
  func stages() throws {
    func stage(_ words: String) throws -> SourcePlan.Stage {
      let found = models(
        Self.planned + """
          enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
            static var stages: [MigrationStage] { [\(words)] }
          }
          """)
      #expect(found.plan?.isStaged == true)
      return try #require(found.plan?.stage(from: "V1", to: "V2"))
    }
    let ends = "fromVersion: V1.self, toVersion: V2.self"
    let light = try stage(".lightweight(\(ends))")
    #expect(!light.isCustom && !light.runsBefore)
    let after = try stage(
      ".custom(\(ends), willMigrate: nil, didMigrate: { c in for i in all { i.b = 1; if i.a == 2 { } } })"
    )
    #expect(after.isCustom && !after.runsBefore && after.assigned == ["b"])
    #expect(try stage(".custom(\(ends), willMigrate: { c in }, didMigrate: nil)").runsBefore)
  }

  @Test(
    "a plan without stages, and a container with more than its plan",
    .enabled(if: Cases.isAvailable, "the cases are absent"))
  func sixteen() throws {
    let path = Cases.path("16/new/App.swift")
    let found = SourceModels(
      [.init(path: path, bytes: try Fixtures.readFile(path))], name: "new")
    #expect(found.versions.map(\.name) == ["SchemaV1", "new"])
    #expect(found.currentName == "new" && found.plan?.isStaged == false)
    #expect(try found.current?.model.entities.map(\.name) == ["AddressBookItem", "Vault"])
  }
}
