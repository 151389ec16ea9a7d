import Files
import Lint
import ManagedModel
import ModelSearch
import ModelWriting
import TestSupport
import Testing

@Suite("What silences a finding, and what takes its reason away")
struct SilenceTests {
  private static func source(
    _ before: String = "", _ at: String = "", _ inside: String = ""
  )
    -> String
  {
    """
    \(before)
    @Model class Item {
      var name: String
      \(inside)
      var other: Item? \(at)
    }
    """
  }

  @Test(
    "a comment counts for the declaration on its line or below it",
    arguments: [
      (source(), 0), (source("", "// strata:disable inverse-missing"), 1),
      (source("", "", "// strata:disable inverse-missing"), 1),
      (source("// strata:disable inverse-missing"), 1),
      (source("", "", "// strata:disable no-path, inverse-missing"), 1),
      (source("", "", "// strata:disable no-path"), 0),
      (source("// strata:disable inverse-missing\n\n\n\n"), 0),
    ])
  func comments(source: String, count: Int) throws {
    let run = try LintScene.swift(nil, source).run()
    #expect(run.silenced.count == count, "\(run.lines) \(run.notes)")
    #expect(run.findings("inverse-missing").count == 1 - count)
    #expect(run.silenced.allSatisfy { $0.silence?.place == .comment })
  }

  @Test(
    "a comment that says nothing that is known is told",
    arguments: [
      ("// strata:disable inverse-mising", "Did you mean inverse-missing?"),
      ("// strata:disable", "names no rule"), ("// strata:ignore no-path", "is not understood"),
    ])
  func unknown(comment: String, said: String) throws {
    let run = try LintScene.swift(nil, Self.source("", "", comment)).run()
    #expect(run.notes.contains { $0.contains("now.swift:4") && $0.contains(said) }, "\(run.notes)")
  }

  @Test("user info of an entity counts for its properties, also of one that is gone")
  func userInfo() throws {
    func model(_ inner: String, _ rule: String) -> String {
      "<entity name=\"Item\">\(inner)<userInfo><entry key=\"strata.lint\" value=\"\(rule)\"/></userInfo></entity>"
    }
    let date = "<attribute name=\"day\" optional=\"YES\" attributeType=\"Date\"/>"
    let run = try LintScene.step(model(date, ""), model("", "attribute-dropped")).run()
    #expect(run.findings.isEmpty && run.silenced.map(\.rule.id) == ["attribute-dropped"])
    #expect(run.silenced.first?.silence?.place == .userInfo)
    let other = try LintScene.step(model(date, ""), model("", "entity-dropped")).run()
    #expect(other.findings("attribute-dropped").count == 1)
  }

  @Test("what a mapping takes over is not told as gone, what it leaves out is")
  func mapping() throws {
    let before =
      "<entity name=\"Item\"><attribute name=\"first\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"last\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"n\" optional=\"YES\" attributeType=\"Date\"/></entity>"
    let after =
      "<entity name=\"Item\"><attribute name=\"whole\" optional=\"YES\" attributeType=\"String\"/></entity>"
    var scene = LintScene.step(before, after)
    #expect(try scene.run().findings.count == 3)
    scene.recipe = """
      { from: "App", to: "App 2", entityMappings: [
        { source: "Item", destination: "Item", attributes: { whole: "first || ' ' || last" } } ] }
      """
    let run = try scene.run()
    #expect(run.lines == ["attribute-dropped Item.n:3"], "\(run.lines)")
  }

  @Test("a custom stage refuses what a lightweight one refuses")
  func stages() throws {
    func source(_ kind: String) -> String {
      """
      enum SchemaV1: VersionedSchema {
        static var versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model class Item { var name: String; var day: String }
      }
      enum SchemaV2: VersionedSchema {
        static var versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model class Item { var name: String; var day: Date }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
        static var stages: [MigrationStage] {
          [.\(kind)(fromVersion: SchemaV1.self, toVersion: SchemaV2.self\(kind == "custom" ? ", willMigrate: nil, didMigrate: nil" : ""))]
        }
      }
      """
    }
    for kind in ["lightweight", "custom"] {
      let run = try LintScene.swift(nil, source(kind)).run()
      #expect(run.lines == ["type-changed Item.day:9"], "\(run.lines)")
      #expect(run.findings.first?.severity == .error)
    }
  }

  @Test("a mapping model is stale when its version was edited, and was not before")
  func stale() throws {
    let (before, after) = try MappingSamples.models()
    let folder = try TemporaryFolder()
    let path = folder.path("App.xcdatamodeld")
    func write(_ model: Model, _ name: String) throws {
      try FileSystem.makeDirectory(path + "/\(name).xcdatamodel")
      try FileSystem.write(
        Array(model.xcdatamodelContents().utf8), to: path + "/\(name).xcdatamodel/contents")
    }
    try write(before, "App")
    try write(after, "App 2")
    try FileSystem.write(
      Array(LintScene.currentFile("App 2").utf8), to: path + "/.xccurrentversion")
    try FileSystem.write(
      try MappingSamples.compiled(from: before, to: after), to: folder.path("App 1 to 2.cdm"))
    var options = LintOptions()
    options.takesMergeBase = false
    #expect(try LintRun(of: path, options).findings("mapping-stale").isEmpty)
    var entities = after.entities
    entities[0].versionHashModifier = "moved"
    for index in entities.indices { entities[index].versionHashModifier = "moved" }
    try write(Model(entities: entities), "App 2")
    let run = try LintRun(of: path, options)
    #expect(run.findings("mapping-stale").map(\.path) == [folder.path("App 1 to 2.cdm")])
  }

  @Test("CloudKit's rules apply where something shows that it is used")
  func cloudKit() throws {
    let entity =
      "<entity name=\"Item\"><attribute name=\"n\" attributeType=\"Integer 16\"/></entity>"
    let marked = LintScene.contents(entity, attributes: " usedWithCloudKit=\"YES\"")
    let rule = "cloudkit-mandatory-without-default"
    #expect(try LintScene.same(marked).run().findings(rule).count == 1)
    #expect(try LintScene.same(entity).run().findings(rule).isEmpty)
    func source(_ use: String) -> String {
      "@Model class Item { var n: Int }\nlet c = ModelConfiguration(cloudKitDatabase: \(use))"
    }
    #expect(try LintScene.swift(nil, source(".automatic")).run().findings(rule).count == 1)
    #expect(try LintScene.swift(nil, source(".none")).run().findings(rule).isEmpty)
  }
}
