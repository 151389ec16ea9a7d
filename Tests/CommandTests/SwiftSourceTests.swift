import Files
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

@Suite("Commands on Swift source")
struct SwiftSourceTests {
  private let folder: TemporaryFolder
  private let store: String
  private let source: String

  init() throws {
    folder = try TemporaryFolder()
    source = folder.path("App")
    store = folder.path("default.sqlite")
    try FileSystem.makeDirectory(source)
    try FileSystem.write(
      Array(
        """
        enum SchemaV1: VersionedSchema {
          static var versionIdentifier = Schema.Version(1, 0, 0)
          static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
          @Model class Item { var name: String; var kind: Kind; var tags: [Tag] = [] }
          @Model class Tag { var text: String; var item: Item? }
        }
        enum SchemaV2: VersionedSchema {
          static var versionIdentifier = Schema.Version(2, 0, 0)
          static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
          @Model class Item {
            @Attribute(originalName: "name") var title: String
            var kind: Kind
            var tags: [Tag] = []
            var count = 0
          }
          @Model class Tag { var text: String; var item: Item? }
        }
        enum Kind: String, Codable { case plain, odd }
        """.utf8), to: source + "/Models.swift")
    let writer = try StoreWriter(
      creating: store, model: ModelReference(source + "@SchemaV1").load().model)
    let item = try writer.insert(
      "Item", attributes: ["name": .string("one"), "kind.kind": .string("odd")])
    try writer.insert("Tag", attributes: ["text": .string("red")], toOne: ["item": item])
    try writer.finish()
  }

  @Test("hash, model and diff take a version by PATH@VERSION")
  func models() throws {
    let hash = Captured("hash", source + "@SchemaV1")
    #expect(hash.status == .done)
    #expect(hash.out == Captured("hash", store).out)
    #expect(Captured("model", source).out.contains("Composite"))
    let diff = Captured("diff", source + "@SchemaV1", source)
    #expect(diff.out.contains("“title” renamed from “name”"))
    #expect(diff.out.contains("SchemaV1 → SchemaV2"))
    #expect(Captured("hash", source + "@SchemaV3").err.contains("“SchemaV1”, “SchemaV2”"))
  }

  @Test("explain names the version that made a store, and what differs")
  func explain() {
    let same = Captured("explain", store, source + "@SchemaV1")
    #expect(same.status == .done)
    let other = Captured("explain", store, source)
    #expect(other.status == .no)
    #expect(other.out.contains("The store has the version “SchemaV1”."))
    #expect(other.out.contains("“title”"))
  }

  private struct Explained: Decodable {
    struct Change: Decodable {
      let entity, path: String
      let property: String?
      let line: Int
    }
    struct Nearest: Decodable {
      let name: String
      let changes: [Change]
    }
    let nearest: Nearest
  }

  @Test("a store of no version: the nearest is named, with what differs, in which file and line")
  func unproven() throws {
    let path = source + "/Models.swift"
    let text = String(decoding: try FileSystem.read(path), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // A frozen version that is not what shipped.
      line.contains("var text: String; var item") && line.contains("Tag")
        ? "    @Model class Tag {\n      var text: String?\n      var item: Item? }" : String(line)
    }
    try FileSystem.write(Array(lines.joined(separator: "\n").utf8), to: path)
    let result = Captured("explain", store, source)
    #expect(result.status == .no)
    #expect(result.out.contains("The nearest version is “SchemaV1”: 1 of 2 entities fit."))
    #expect(result.out.contains("Models.swift:6"))
    let nearest = try Captured("explain", store, source, "--json").decoded(Explained.self).nearest
    #expect(nearest.name == "SchemaV1")
    #expect(nearest.changes.map(\.entity) == ["Tag"])
    #expect(nearest.changes.first?.property == "text" && nearest.changes.first?.line == 6)
    #expect(nearest.changes.first?.path == path)
    // Asked for itself, the same is told with its place.
    #expect(Captured("explain", store, source + "@SchemaV1").out.contains("Models.swift:6"))
  }

  @Test("a store migrates to the current version, with its values")
  func migrate() throws {
    let plan = Captured("plan", store, "--to", source)
    #expect(plan.status == .done)
    #expect(plan.out.contains("SchemaV1 → SchemaV2") || plan.out.contains("→ SchemaV2"))
    let target = folder.path("new.sqlite")
    #expect(Captured("migrate", store, "--to", source, "--output", target).status == .done)
    #expect(Captured("hash", target).out == Captured("hash", source).out)
    #expect(Captured("rows", target, "Item", "--format", "csv").out.contains("one"))
    #expect(Captured("plan", "--matrix", source).out.contains("SchemaV1"))
    #expect(Captured("find-model", store, source).out.contains("SchemaV1: all 2 entities"))
  }

  @Test("what of the source was not seen is told wherever it matters")
  func unseen() throws {
    let path = folder.path("Odd.swift")
    try FileSystem.write(
      Array("@Model class Item {\n  var ghost: Ghost\n  var n: Int\n}".utf8), to: path)
    let said = "Odd.swift:2: Item.ghost was left out: the type “Ghost” is not in these files"
    #expect(Captured("hash", path).err.contains(said))
    #expect(Captured("model", path).out.contains(said))
    #expect(Captured("explain", store, path).err.contains(said))
    #expect(Captured("diff", source, path).err.contains(said))
    let plan = Captured("plan", store, "--to", path)
    #expect(
      (plan.out + plan.err).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .contains("The destination model:"))
    for words in [
      ["info", store], ["rows", store, "Item"], ["dump", store], ["object", store, "Item/p1"],
      ["search", store, "one"], ["doctor", store], ["repair", store],
      ["salvage", store, "--output", folder.path("Saved.sqlite")],
      ["undelete", store],
    ] {
      let lines = Captured(words + ["--model", path]).err.split(separator: "\n")
      #expect(lines.count { $0.contains(said) } == 1, "\(words[0])")
    }
    #expect(Captured("find-model", store, path).err.contains(said))
  }
}
