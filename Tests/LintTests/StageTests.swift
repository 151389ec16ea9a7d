import Files
import Lint
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@Suite("Lint of plans with and without stages")
struct StageTests {
  private func source(
    _ first: String, _ second: String, stages: String, besides: String = ""
  )
    -> String
  {
    """
    enum V1: VersionedSchema {
      static var versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var name: String?; \(first) }
    }
    enum V2: VersionedSchema {
      static var versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var name: String?; \(second) }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [\(stages)] }
    }
    \(besides)
    """
  }

  private static let ends = "fromVersion: V1.self, toVersion: V2.self"
  private static let light = ".lightweight(\(ends))"
  private static let after = ".custom(\(ends), willMigrate: nil, didMigrate: { c in try c.save() })"
  private static let before = ".custom(\(ends), willMigrate: { c in fill(c) }, didMigrate: nil)"

  private func lines(_ run: LintRun) -> [String] {
    run.findings.map { "\($0.rule.id) \($0.subject ?? "—") \($0.severity)" }
  }

  @Test("a mandatory attribute fails in any stage", arguments: [light, after, before])
  func mandatory(stage: String) throws {
    let run = try LintScene.swift(nil, source("", "var n: Int", stages: stage)).run()
    #expect(lines(run) == ["mandatory-without-default Item.n error"])
  }

  @Test("so does a change of type", arguments: [light, after, before])
  func type(stage: String) throws {
    let run = try LintScene.swift(nil, source("var n: Int?", "var n: String?", stages: stage)).run()
    #expect(lines(run) == ["type-changed Item.n error"])
  }

  @Test("code before the step can fill, merge and take over what is there")
  func filled() throws {
    let (first, second) = (
      "var old: Int?; var n: Int?", "var n: Int; #Unique<Item>([\\.name])"
    )
    func rules(_ stage: String) throws -> [String] {
      try LintScene.swift(nil, source(first, second, stages: stage)).run().findings.map(\.rule.id)
        .sorted()
    }
    #expect(try rules(Self.before).isEmpty)
    let all = ["attribute-dropped", "became-mandatory", "unique-added"]
    #expect(try rules(Self.light) == all)
    #expect(try rules(Self.after) == all)
  }

  @Test("a stage that assigns what was added is in order")
  func assigned() throws {
    let fills =
      ".custom(\(Self.ends), willMigrate: nil, didMigrate: { c in for i in all { i.id = UUID(); i.kind = .a } })"
    let kind = "enum Kind: String, Codable { case a }"
    let added = "var id: UUID = UUID(); var kind: Kind = Kind.a"
    let run = try LintScene.swift(nil, source("", added, stages: fills, besides: kind)).run()
    #expect(lines(run).isEmpty)
    let other = try LintScene.swift(nil, source("", added, stages: Self.after, besides: kind)).run()
    #expect(
      lines(other) == [
        "swiftdata-default-evaluated-once Item.id warning",
        "swiftdata-enum-without-value Item.kind warning",
      ])
  }

  @Test("without stages an edit of a version is a step, and equal versions are one warning")
  func unstaged() throws {
    let edited = try LintScene.swift(
      source("", "var n: Int = 0", stages: ""),
      source("", "var n: Int = 0; var m: Int = 0", stages: "")
    ).run()
    #expect(lines(edited).isEmpty)
    let staged = try LintScene.swift(
      source("", "var n: Int = 0", stages: Self.light),
      source("", "var n: Int = 0; var m: Int = 0", stages: Self.light)
    ).run()
    #expect(lines(staged) == ["released-version-edited Item.m error"])
    let equal = try LintScene.swift(nil, source("", "", stages: "")).run()
    #expect(lines(equal) == ["duplicate-checksum V2 warning"])
    #expect(equal.findings.first?.device == nil)
    let duplicate = try LintScene.swift(nil, source("", "", stages: Self.light)).run()
    #expect(lines(duplicate) == ["duplicate-checksum V2 error"])
    #expect(duplicate.findings.first?.device != nil)
  }

  @Test("three equal versions of a bundle are one warning")
  func group() throws {
    let entity = "<entity name=\"A\"><attribute name=\"n\" attributeType=\"String\"/></entity>"
    var scene = LintScene()
    scene.now = [("App", entity), ("App 2", entity), ("App 3", entity)]
    scene.current = "App 3"
    let run = try scene.run()
    #expect(lines(run) == ["duplicate-checksum App 3 warning"])
    #expect(run.findings.first?.message.contains("“App”, “App 2”, “App 3”") == true)
  }

  @Test("a live class is told once, whichever versions share it")
  func live() throws {
    func version(_ number: Int) -> String {
      """
      enum V\(number): VersionedSchema {
        static var versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item { var name: String; \((0..<number).map { "var n\($0): Int = 0" }.joined(separator: "; ")) }
      }

      """
    }
    let plan = """
      @Model class Tag { var text: String }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: V1.self, toVersion: V2.self),
           .lightweight(fromVersion: V2.self, toVersion: V3.self)]
        }
      }
      """
    let run = try LintScene.swift(nil, version(1) + version(2) + version(3) + plan).run()
    let found = run.findings("swiftdata-live-type-in-frozen-schema")
    #expect(found.map(\.entity) == ["Tag"])
    #expect(found.first?.message.hasPrefix("“V1”, “V2” list Tag") == true)
  }

  @Test("containers of different schemas are listed, and one can be named")
  func containers() throws {
    let folder = try TemporaryFolder()
    let text = """
      @Model class A { var n: Int }
      @Model class B { var n: Int }
      let a = try ModelContainer(for: A.self)
      let b = try ModelContainer(for: B.self)
      """
    let path = folder.path("App.swift")
    try FileSystem.write(Array(text.utf8), to: path)
    var options = LintOptions()
    options.takesMergeBase = false
    let note = try LintRun(of: path, options).notes.first { $0.contains("different schemas") }
    #expect(note?.contains("“App-3”") == true && note?.contains("“App-4”") == true)
    let named = try LintRun(of: path + "@App-4", options)
    #expect(!named.notes.contains { $0.contains("different schemas") })
    let error = #expect(throws: CoreDataError.self) { try ModelReference(path).load() }
    #expect(error?.kind == .usage && error?.hint?.hasSuffix("Name one: \(path)@App-3") == true)
    #expect(try ModelReference(path + "@App-4").load().model.entities.map(\.name) == ["B"])
  }

  @Test("a mandatory relationship is no default's business, a to-many may be empty")
  func relationships() throws {
    func step(_ rest: String) throws -> [String] {
      try LintScene.swift(
        "@Model class A { var n: Int }\n@Model class B { var n: Int }",
        "@Model class A { var n: Int; \(rest) }\n@Model class B { var n: Int; init() {} }"
      ).run().findings("mandatory-without-default").map { $0.subject ?? "" }
    }
    #expect(try step("var b: B = B()") == ["A.b"])
    #expect(try step("var b: B?").isEmpty && step("var b: [B] = []").isEmpty)
    #expect(try step("@Relationship(minimumModelCount: 1) var b: [B] = []") == ["A.b"])
  }

  @Test("what every entity below an abstract one declares now is not gone")
  func movedDown() throws {
    func model(_ parent: String, _ child: String, _ rest: String) -> String {
      "<entity name=\"P\" \(rest)>\(parent)</entity>"
        + "<entity name=\"C\" parentEntity=\"P\">\(child)</entity>"
        + "<entity name=\"D\" parentEntity=\"P\">\(child)</entity>"
    }
    let n = "<attribute name=\"n\" optional=\"YES\" attributeType=\"String\"/>"
    func drops(_ rest: String) throws -> [String] {
      try LintScene.step(model(n, "", rest), model("", n, rest)).run().findings("attribute-dropped")
        .map { $0.subject ?? "" }
    }
    #expect(try drops("isAbstract=\"YES\"").isEmpty)
    // Objects of the entity above itself lose it.
    #expect(try drops("") == ["P.n"])
  }

  @Test("with a store: only where it has objects")
  func store() throws {
    var scene = LintScene.swift(
      source("", "", stages: ""),
      source("", "@Attribute(.unique) var id: UUID = UUID()", stages: Self.light))
    #expect(try scene.run().findings("swiftdata-default-evaluated-once").count == 1)
    scene.objects = [("Item", ["name": .string("one")]), ("Item", ["name": .string("two")])]
    let run = try scene.run()
    let found = run.findings("swiftdata-default-evaluated-once")
    #expect(found.map(\.rows) == [2] && found.map(\.severity) == [.error])
    #expect(run.findings("unique-added").map(\.severity) == [.error])
  }
}
