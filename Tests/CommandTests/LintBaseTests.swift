import Files
import Lint
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

@Suite("lint against a git revision", .enabled(if: GitRepository.isAvailable))
struct LintBaseTests {
  private let folder: TemporaryFolder
  private let repository: GitRepository
  private let bundle: String
  private static let path = "App/Dishes.xcdatamodeld/"

  private static func contents(_ attributes: [String], entities: [String] = ["Dish"]) -> String {
    let lines = attributes.map {
      "    <attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
    }
    return "<model>\n"
      + entities.map { "<entity name=\"\($0)\">\n\(lines.joined(separator: "\n"))\n</entity>\n" }
      .joined() + "</model>\n"
  }

  private static func current(_ name: String) -> String {
    "<plist><dict><key>_XCCurrentVersionName</key><string>\(name).xcdatamodel</string></dict></plist>"
  }

  init() throws {
    folder = try TemporaryFolder()
    repository = try GitRepository(at: folder.path("repository"))
    bundle = repository.path + "/App/Dishes.xcdatamodeld"
    try repository.commit(
      Self.path + "Dishes.xcdatamodel/contents", Self.contents(["name"]), "First")
    try repository.commit(
      Self.path + "Dishes 2.xcdatamodel/contents", Self.contents(["name", "size"]), "Second")
    try repository.commit(
      Self.path + ".xccurrentversion", Self.current("Dishes 2"), "The second is current")
  }

  private func write(_ text: String, _ file: String) throws {
    let path = bundle + "/" + file
    try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? ".")
    try FileSystem.write(Array(text.utf8), to: path)
  }

  private func findings(_ words: String...) -> [String] {
    let result = Captured(["lint", bundle, "--format", "github"] + words)
    return result.lines.map { line in
      String(line.split(separator: "title=").last?.split(separator: "::").first ?? "")
        .split(separator: "%3A").joined(separator: ":")
    }
  }

  @Test("the default is the merge base with main, and nothing changed is no finding")
  func unchanged() throws {
    let result = Captured("lint", bundle)
    #expect(result.status == .done && result.lines.contains("✓ no findings in 1 model"))
    #expect(result.out.contains("shipped: HEAD, which main contains"))
    #expect(Captured("lint", repository.path).status == .done)
  }

  @Test("a base whose content the repository lacks is an error (4), and not an empty list")
  func missingBlob() throws {
    let blob = try repository.run(
      "rev-parse", "HEAD:" + Self.path + "Dishes 2.xcdatamodel/contents")
    try repository.commit(
      Self.path + "Dishes 2.xcdatamodel/contents", Self.contents(["name"]), "A size less")
    FileSystem.remove(repository.path + "/.git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))")
    for target in [bundle, repository.path] {
      let result = Captured("lint", target, "--git-base", "HEAD~1")
      #expect(result.status == .unreadable, "\(result.out)")
      #expect(result.err.contains("lacks the content of") && result.err.contains("git fsck"))
      #expect(!result.out.contains("no findings"))
    }
    #expect(Captured("hash", bundle + "@HEAD~1").status == .unreadable)
    #expect(Captured("hash", bundle + "@HEAD").status == .done)
  }

  @Test("on the main branch the newest tag before HEAD is the base, and without one that is said")
  func tags() throws {
    let alone = Captured("lint", bundle)
    #expect(alone.status == .done)
    #expect(alone.err.contains("HEAD was compared with itself") && alone.err.contains("--git-base"))
    try repository.run("tag", "0.9", "HEAD~1")
    try repository.run("tag", "-a", "-m", "One", "1.0")
    try repository.commit(
      Self.path + "Dishes 2.xcdatamodel/contents", Self.contents(["name", "size", "odd"]), "Edited")
    // A tag at HEAD is not what shipped before it.
    try repository.run("tag", "-a", "-m", "Two", "1.1")
    let tagged = Captured("lint", bundle)
    #expect(tagged.status == .no)
    #expect(tagged.out.contains("the tag 1.0, the newest before HEAD"))
    #expect(tagged.out.contains("was edited since 1.0"))
    #expect(!tagged.err.contains("compared with itself"))
  }

  @Test("a version that shipped and was edited is told, with file, line and both ways out")
  func edited() throws {
    try repository.run("checkout", "-q", "-b", "work")
    try write(Self.contents(["name", "size", "odd"]), "Dishes 2.xcdatamodel/contents")
    let result = Captured("lint", bundle)
    #expect(result.status == .no)
    #expect(
      result.out.contains("Dishes 2.xcdatamodel/contents:5: [released-version-edited] Dish.odd"))
    let flat = result.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(flat.contains("134130, “Persistent store migration failed, missing source managed"))
    #expect(
      flat.contains("Restore the version as it shipped, and make the change in a new version"))
    // Committed on the branch it is the same: main has not got it.
    try repository.run("commit", "-q", "-a", "-m", "Edited")
    #expect(Captured("lint", bundle).status == .no)
    #expect(Captured("lint", bundle, "--git-base", "HEAD").status == .done)
    #expect(Captured("lint", bundle, "--git-base", "main").status == .no)
    #expect(Captured("lint", repository.path, "--git-base", "main").status == .no)
  }

  @Test("a version that was deleted, also with its whole bundle, or renamed")
  func deleted() throws {
    FileSystem.removeTree(bundle + "/Dishes.xcdatamodel")
    #expect(findings() == ["version-deleted: Dishes"])
    try write(Self.contents(["name"]), "Dishes 1.xcdatamodel/contents")
    #expect(findings() == [])
    // Another bundle that has one of them now.
    try repository.commit(
      "App/Other.xcdatamodeld/A.xcdatamodel/contents", Self.contents(["a"]), "Another")
    try FileSystem.rename(
      bundle + "/Dishes 2.xcdatamodel",
      to: repository.path + "/App/Other.xcdatamodeld/B.xcdatamodel")
    FileSystem.removeTree(bundle)
    let result = Captured("lint", repository.path, "--format", "github")
    #expect(result.lines.count { $0.contains(", and was removed.") } == 1, "\(result.out)")
    #expect(result.out.contains("“Dishes 1” at "))
  }

  @Test("a bundle that moved is told by its name")
  func moved() throws {
    try FileSystem.makeDirectory(repository.path + "/Models")
    let place = repository.path + "/Models/Dishes.xcdatamodeld"
    try FileSystem.rename(bundle, to: place)
    #expect(Captured("lint", place).status == .done)
    #expect(Captured("lint", repository.path).status == .done)
    try FileSystem.write(
      Array(Self.contents(["name", "size", "odd"]).utf8),
      to: place + "/Dishes 2.xcdatamodel/contents")
    #expect(Captured("lint", place).out.contains("released-version-edited"))
    #expect(Captured("lint", repository.path).out.contains("released-version-edited"))
  }

  @Test("the current version rolled back, and a new one that is not current")
  func current() throws {
    try write(Self.current("Dishes"), ".xccurrentversion")
    // The step back loses what came with the newer version.
    #expect(findings() == ["current-rolled-back: Dishes", "attribute-dropped: Dish.size"])
    try write(Self.current("Dishes 2"), ".xccurrentversion")
    try write(Self.contents(["name", "size", "odd"]), "Dishes 3.xcdatamodel/contents")
    #expect(findings() == ["current-not-advanced: Dishes 3"])
    try write(Self.current("Dishes 3"), ".xccurrentversion")
    #expect(findings() == [])
  }

  @Test("a new version that drops what was there is told, a step that shipped is not")
  func dropped() throws {
    let more = ["Dish", "Menu"]
    try write(Self.contents(["name"], entities: more), "Dishes 3.xcdatamodel/contents")
    try write(Self.current("Dishes 3"), ".xccurrentversion")
    #expect(findings() == ["attribute-dropped: Dish.size"])
    try repository.run("add", "-A")
    try repository.run("commit", "-q", "-m", "Shipped")
    #expect(findings() == [])
    // Only what is said to be released counts.
    try write(Self.contents(["name", "odd"], entities: more), "Dishes 3.xcdatamodel/contents")
    #expect(findings().contains("released-version-edited: Dish.odd"))
    try FileSystem.write(
      Array("{ released: ['Dishes', 'Dishes 2'] }".utf8),
      to: repository.path + "/.strata.json5")
    #expect(!findings().contains("released-version-edited: Dish.odd"))
  }

  @Test("outside of a repository nothing is known of what shipped, and it is said so")
  func outside() throws {
    let place = folder.path("Alone.xcdatamodeld")
    try FileSystem.rename(bundle, to: place)
    let result = Captured("lint", place)
    #expect(result.status == .done && result.err.contains("It is not known what shipped"))
    #expect(Captured("lint", place, "--git-base", "main").status == .usage)
  }

  @Test("Swift source: an inverse that the shipped one lacked, and a dropped originalName")
  func source() throws {
    let file = "Sources/Models.swift"
    func text(_ tag: String, _ title: String) -> String {
      """
      enum SchemaV1: VersionedSchema {
        static var versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item { var name: String; var tags: [Tag] = []; var more: [Tag] = [] }
        @Model class Tag {
          \(tag)
        }
      }
      enum SchemaV2: VersionedSchema {
        static var versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Tag.self] }
        @Model class Item {
          \(title)
          var tags: [Tag] = []
          var more: [Tag] = []
        }
        @Model class Tag {
          \(tag)
        }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)] }
      }
      """
    }
    let plain = "var item: Item?"
    let named = "@Attribute(originalName: \"name\") var title: String = \"\""
    try repository.commit(file, text(plain, named), "SwiftData")
    let path = repository.path + "/Sources"
    #expect(Captured("lint", path, "--all").status == .done)
    try FileSystem.write(
      Array(text("@Relationship(inverse: \\Item.tags) var item: Item?", named).utf8),
      to: repository.path + "/" + file)
    let inverse = Captured("lint", path)
    #expect(inverse.status == .no)
    #expect(inverse.out.contains("Models.swift:6: [released-version-edited] Tag.item"))
    #expect(inverse.out.contains("Core Data: 134504"))
    try FileSystem.write(
      Array(text(plain, "var title: String = \"\"").utf8), to: repository.path + "/" + file)
    let dropped = Captured("lint", path)
    #expect(dropped.status == .no)
    #expect(dropped.out.contains("Models.swift:13: [looks-like-rename] Item.title"))
    #expect(dropped.out.contains("took the values over when it shipped"))
  }
}

@Suite("Versions compared with a git revision", .enabled(if: GitRepository.isAvailable))
struct LintComparisonTests {
  @Test("the revision is what shipped")
  func revision() throws {
    let folder = try TemporaryFolder()
    let repository = try GitRepository(at: folder.path("repository"))
    func contents(_ names: [String]) -> String {
      "<model><entity name=\"Dish\">"
        + names.map {
          "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
        }.joined() + "</entity></model>"
    }
    try repository.commit(
      "Dishes.xcdatamodeld/Dishes.xcdatamodel/contents", contents(["name", "size"]), "First")
    let bundle = repository.path + "/Dishes.xcdatamodeld"
    try FileSystem.write(
      Array(contents(["name"]).utf8), to: bundle + "/Dishes.xcdatamodel/contents")
    func side(_ reference: String) throws -> LintComparison.Side {
      let loaded = try ModelReference(reference).load()
      return LintComparison.Side(name: loaded.name, path: loaded.path, model: loaded.model)
    }
    let found = try LintComparison(from: side(bundle + "@main"), to: side(bundle + "@Dishes"))
    let rules = found.findings.map { "\($0.rule.id) \($0.subject ?? "")" }
    #expect(rules.contains("released-version-edited Dish.size"), "\(rules) \(found.notes)")
    #expect(rules.contains("attribute-dropped Dish.size"))
    #expect(found.base?.contains("main") == true)
  }
}
