import Files
import Lint
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@Suite("Two versions that are compared")
struct ComparisonTests {
  private static func entity(_ name: String, _ attributes: [String]) -> String {
    "<entity name=\"\(name)\">"
      + attributes.map {
        "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
      }.joined(separator: "\n") + "</entity>"
  }

  private static let lonely =
    "<entity name=\"Node\"><relationship name=\"next\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Node\"/></entity>"

  /// Four versions: the first step drops `a`, the last one drops `c`.
  private static let versions: [LintScene.Version] = [
    ("App", entity("Item", ["a", "b", "c"]) + lonely),
    ("App 2", entity("Item", ["b", "c"]) + lonely),
    ("App 3", entity("Item", ["b", "c", "d"]) + lonely),
    ("App 4", entity("Item", ["b", "d"]) + lonely),
  ]

  private let folder: TemporaryFolder
  private let bundle: String

  init() throws {
    folder = try TemporaryFolder()
    bundle = folder.path("App.xcdatamodeld")
    try LintScene.write(Self.versions, current: "App 4", to: bundle)
  }

  private func side(_ reference: String) throws -> LintComparison.Side {
    let loaded = try ModelReference(reference).load()
    return LintComparison.Side(name: loaded.name, path: loaded.path, model: loaded.model)
  }

  private func compare(_ from: String, _ to: String) throws -> LintComparison {
    try LintComparison(from: side(from), to: side(to))
  }

  private func lines(_ findings: [LintFinding]) -> [String] {
    findings.map { "\($0.rule.id) \($0.subject ?? "—") of \($0.version ?? "—")" }
  }

  @Test("a step that is not the last one is looked at, and what is about others is apart")
  func earlier() throws {
    let found = try compare(bundle + "@App", bundle + "@App 2")
    #expect(lines(found.findings) == ["attribute-dropped Item.a of App 2"])
    #expect(found.findings.first?.path.hasSuffix("App 2.xcdatamodel/contents") == true)
    #expect(found.findings.first?.line != nil)
    #expect(lines(found.known) == ["inverse-missing Node.next of App 2"])
    #expect(
      lines(found.others) == [
        "attribute-dropped Item.c of App 4", "inverse-missing Node.next of App 4",
      ])
    #expect(found.rules == LintRule.all.count)
  }

  @Test("versions that are no neighbours are one step, backwards too")
  func far() throws {
    let found = try compare(bundle + "@App", bundle + "@App 4")
    #expect(
      lines(found.findings) == [
        "attribute-dropped Item.a of App 4", "attribute-dropped Item.c of App 4",
      ])
    #expect(found.others.isEmpty, "the last step is told with the two: \(lines(found.others))")
    let back = try compare(bundle + "@App 4", bundle + "@App 3")
    #expect(lines(back.findings).isEmpty, "\(lines(back.findings))")
  }

  @Test("a model in no file is compared as well, without lines")
  func bare() throws {
    var own = try side(bundle + "@App")
    own.path = ""
    let found = try LintComparison(from: own, to: side(bundle + "@App 2"))
    #expect(lines(found.findings) == ["attribute-dropped Item.a of App 2"])
    let other = try LintComparison(from: own, to: own)
    #expect(other.findings.isEmpty && other.others.isEmpty)
    #expect(lines(other.known) == ["inverse-missing Node.next of App"])
  }

  @Test("what the project says of rules counts here too")
  func configuration() throws {
    let text = """
      { rules: { "inverse-missing": "off", "attribute-dropped": "error" },
        exceptions: [{ rule: "attribute-dropped", property: "c", reason: "unused" }] }
      """
    try FileSystem.write(Array(text.utf8), to: folder.path(".strata.json5"))
    let found = try compare(bundle + "@App", bundle + "@App 4")
    #expect(lines(found.findings) == ["attribute-dropped Item.a of App 4"])
    #expect(found.findings.first?.severity == .error)
    #expect(found.known.isEmpty && found.others.isEmpty && found.silenced == 1)
    #expect(found.rules == LintRule.all.count - 1)
    try FileSystem.write(Array("{ rules: 3 }".utf8), to: folder.path(".strata.json5"))
    #expect(throws: CoreDataError.self) { try compare(bundle + "@App", bundle + "@App 2") }
  }

  @Test("an older copy of the same name is what shipped")
  func copy() throws {
    let old = folder.path("old/App.xcdatamodeld")
    var versions = Self.versions
    versions[1].entities = Self.entity("Item", ["c"]) + Self.lonely
    try LintScene.write(versions, current: "App 4", to: old)
    let found = try compare(old + "@App 2", bundle + "@App 2")
    #expect(found.base?.contains("old/App.xcdatamodeld") == true)
    #expect(lines(found.findings).contains("released-version-edited Item.b of App 2"))
  }

  @Test("a mapping that is named counts as written, one that cannot be read is an error")
  func mapping() throws {
    #expect(throws: CoreDataError.self) {
      try LintComparison(
        from: side(bundle + "@App"), to: side(bundle + "@App 2"),
        mappings: [folder.path("none.json5")])
    }
  }

  @Test("of a history in Swift the step is looked at, and the whole plan")
  func swift() throws {
    func schema(_ number: Int, _ properties: String) -> String {
      """
      enum V\(number): VersionedSchema {
        static var versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
          \(properties)
          init() {}
        }
      }

      """
    }
    let text =
      "import SwiftData\n" + schema(1, "var a: String?; var b: String?")
      + schema(2, "var b: String?")
      + schema(3, "var b: String?; var n: Int = 0") + """
        enum Plan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
          static var stages: [MigrationStage] {
            [.lightweight(fromVersion: V1.self, toVersion: V2.self),
             .lightweight(fromVersion: V2.self, toVersion: V3.self)]
          }
        }
        """
    let path = folder.path("Models.swift")
    try FileSystem.write(Array(text.utf8), to: path)
    let found = try compare(path + "@V1", path + "@V2")
    #expect(lines(found.findings) == ["attribute-dropped Item.a of V2"])
    #expect(found.findings.first?.line != nil)
    #expect(try compare(path + "@V2", path + "@V3").findings.isEmpty)
  }
}
