import Demo
import Files
import ManagedModel
import ManagedStore
import ModelSearch
import TestSupport
import Testing

@testable import Commands

@Suite("The demo and the commands on it")
struct DemoTests {
  private let folder: TemporaryFolder
  private let store: String
  private let bundle: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("Recipes.sqlite")
    bundle = folder.path("Recipes.xcdatamodeld")
    let demo = Captured("demo", folder.path, "--objects", "400", "--no-open")
    #expect(demo.status == .done)
    #expect(demo.out.contains(store))
  }

  @Test("the store opens without a warning and holds what was asked for")
  func opens() throws {
    let opened = try Store(path: store)
    #expect(opened.warnings == [])
    #expect(opened.modelMatches)
    #expect(try opened.counts().values.reduce(0, +) == 400)
    let external = try opened.externalData()
    #expect(external.missing == [] && external.orphaned == [])
  }

  @Test("what it says to try can be pasted, and begins with what opens the store")
  func commands() throws {
    let folder = try TemporaryFolder()
    let place = folder.path("a box")
    let demo = Captured("demo", place, "--objects", "50", "--no-open")
    let commands = demo.lines.drop { $0 != "try:" }.dropFirst().map { $0.drop { $0 == " " } }
    #expect(commands.count == 6 && commands.first == "strata '\(place)/Recipes.sqlite'")
    for command in commands.dropFirst() {
      // No word has a space and a quote of its own.
      let parts = command.split(separator: "'", omittingEmptySubsequences: false).enumerated()
      let words = parts.flatMap { index, part in
        index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
      }
      let answer = Captured(Array(words.dropFirst()))
      // Of “Recipes 3” the plan says that it is refused, without a recipe.
      let wanted: CommandStatus = command.contains("Recipes 3") ? .refused : .done
      #expect(answer.status == wanted, "\(command): \(answer.err)")
    }
  }

  @Test("the program is called by its path where a shell would run none or another by its name")
  func name() throws {
    let folder = try TemporaryFolder()
    let (own, other) = (folder.path("own dir/strata"), folder.path("other/strata"))
    for path in [own, other] {
      try FileSystem.makeDirectory(String(path.dropLast(7)))
      try FileSystem.write([], to: path)
    }
    let folders = (own: folder.path("own dir"), other: folder.path("other"))
    #expect(OwnName.word(startedBy: own, path: folders.own) == "strata")
    #expect(
      OwnName.word(startedBy: own, path: "/nowhere:\(folders.own):\(folders.other)") == "strata")
    #expect(OwnName.word(startedBy: own, path: "\(folders.other):\(folders.own)") == "'\(own)'")
    #expect(OwnName.word(startedBy: own, path: "") == "'\(own)'")
    #expect(OwnName.word(startedBy: "strata", path: "") == "strata")
    #expect(OwnName.word(startedBy: folder.path("tests"), path: "") == "strata")
  }

  @Test("every object is dumped, the same ones for the same number")
  func dump() throws {
    let first = Captured("dump", store)
    #expect(first.status == .done && first.err == "")
    #expect(first.lines.count == 400)
    let other = try TemporaryFolder()
    #expect(Captured("demo", other.path, "--objects", "400", "--no-open").status == .done)
    #expect(Captured("dump", other.path("Recipes.sqlite")).out == first.out)
  }

  @Test("the four versions read back with the hashes they were made with")
  func versions() throws {
    for version in try DemoModels.versions() {
      let hash = Captured("hash", bundle + "@" + version.name, "--json")
      let decoded = try hash.decoded(HashShape.self)
      #expect(decoded.entities == version.model.versionHashes.mapValues(\.hex))
      #expect(decoded.checksum == version.model.versionChecksum)
      #expect(decoded.digest == version.model.versionHashesDigest)
    }
    #expect(try ModelReference(bundle).load().name == "Recipes 2")
    #expect(Captured("diff", store, bundle + "@Recipes").status == .done)
    #expect(Captured("diff", store, bundle).status == .no)
    #expect(Captured("diff", store, bundle, "--json").out.contains("\"changesVersionHash\":true"))
  }

  @Test("an existing store is never written over")
  func refusesToOverwrite() throws {
    let before = try folder.contents()
    #expect(Captured("demo", folder.path, "--no-open").status == .refused)
    #expect(try folder.contents() == before)
  }

  @Test("info has the members it promises")
  func info() throws {
    let info = try Captured("info", store, "--json").decoded(InfoShape.self)
    #expect(info.uuid == DemoStore.uuid)
    #expect(info.model.source == "store" && info.model.matches)
    #expect(info.entities.first { $0.name == "Spice" }?.parent == "Ingredient")
    #expect(info.entities.reduce(0) { $0 + $1.count } == 400)
    #expect(info.wal.frames == 0)
    #expect(info.externalData["missing"] == 0)
    #expect(info.warnings == [])
    #expect(Captured("info", store).out.contains("  Spice"))
  }

  @Test("rows come in pages of every format, sorted and cut")
  func rows() throws {
    let all = Captured("rows", store, "Step", "--format", "ndjson")
    let count = try Store(path: store).counts()["Step"]
    #expect(all.lines.count == count)
    let rest = Captured("rows", store, "Step", "--format", "ndjson", "--offset", "5")
    #expect(rest.lines == Array(all.lines.dropFirst(5)))
    let sorted = Captured(
      "rows", store, "Step", "--sort", "text:desc", "--format", "ndjson", "--limit", "4")
    let skipped = Captured(
      "rows", store, "Step", "--sort", "text:desc", "--format", "ndjson", "--limit", "3",
      "--offset", "1")
    #expect(skipped.lines == Array(sorted.lines.dropFirst(1)))
    let table = Captured("rows", store, "Recipe", "--columns", "title,createdAt", "--limit", "2")
    #expect(table.lines.count == 3)
    #expect(table.lines[0].hasPrefix("key  title"))
    #expect(table.out.contains("00Z"))
    let csv = Captured("rows", store, "Tag", "--format", "csv", "--columns", "name")
    #expect(csv.out.hasPrefix("entity,key,name\r\nTag,1,vegan\r\n"))
    let json = try Captured("rows", store, "Tag", "--json").decoded([RowShape].self)
    #expect(json.count == 20)
    #expect(Captured("rows", store, "Recipe", "--columns", "titel").status == .usage)
    #expect(Captured("rows", store, "Recip").status == .usage)
  }

  @Test("no version is migrated to with a loss that is not allowed, or with a broken rule")
  func refusals() throws {
    let before = try folder.contents()
    #expect(Captured("plan", store, "--to", bundle).status == .done)
    let third = Captured("plan", store, "--to", bundle + "@Recipes 3", "--json")
    #expect(third.status == .refused)
    let plan = try third.decoded(PlanShape.self)
    #expect(Set(plan.losses.map(\.entity)) == ["Draft", "Recipe"])
    #expect(plan.checks.first?.property == "difficulty")
    #expect(plan.checks.first?.code == 134110)
    let fourth = Captured("plan", store, "--to", bundle + "@Recipes 4", "--json")
    #expect(fourth.status == .refused)
    #expect(try fourth.decoded(ErrorShape.self).error.code == 134190)
    #expect(Captured("migrate", store, "--to", bundle + "@Recipes 3").status == .refused)
    #expect(
      Captured(
        "migrate", store, "--to", bundle + "@Recipes 3", "--allow-loss", "Draft",
        "--allow-loss", "Recipe.legacyCode"
      ).status == .refused)
    #expect(try folder.contents() == before)
    #expect(Captured("migrate", store).status == .usage)
  }

  @Test("a migration ends in a receipt, keeps a backup, and leaves nothing more to do")
  func migrates() throws {
    let output = folder.path("New.sqlite")
    let aside = Captured("migrate", store, "--to", bundle, "--output", output)
    #expect(aside.status == .done && aside.err == "")
    #expect(aside.out.contains("✓ migrated “Recipes” → “Recipes 2” in "))
    #expect(Captured("diff", output, bundle).status == .done)
    #expect(Captured("diff", store, bundle + "@Recipes").status == .done)
    let inPlace = Captured("migrate", store, "--to", bundle, "--json")
    #expect(inPlace.status == .done)
    #expect(inPlace.lines.last?.hasPrefix("{\"receipt\":{\"store\":") == true)
    #expect(inPlace.out.contains("Recipes.backup"))
    #expect(Captured("diff", store, bundle).status == .done)
    let again = Captured("migrate", store, "--to", bundle)
    #expect(again.status == .done && again.out.contains("nothing to do"))
  }

  @Test("a model is printed in every form", arguments: ["text", "json", "xcdatamodel", "mermaid"])
  func model(_ format: String) {
    let model = Captured("model", bundle, "--format", format)
    #expect(model.status == .done)
    #expect(model.out.contains("Rating"))
  }

  @Test("the interface says in a sentence that it needs a terminal")
  func interface() {
    let opened = Captured(store)
    #expect(opened.status == .usage)
    #expect(opened.err.contains("terminal"))
  }
}

struct HashShape: Decodable {
  let entities: [String: String]
  let digest: String
  let checksum: String
  let versionIdentifiers: [String]
}

struct InfoShape: Decodable {
  struct Model: Decodable {
    let source: String?
    let matches: Bool
  }
  struct Entity: Decodable {
    let name: String
    let id: Int
    let parent: String?
    let count: Int
  }
  struct Log: Decodable {
    let frames: Int
    let present: Bool
  }
  let path: String
  let uuid: String
  let storeType: String
  let frameworkVersion: Int
  let versionIdentifiers: [String]
  let model: Model
  let entities: [Entity]
  let wal: Log
  let externalData: [String: Int]
  let warnings: [String]
}

struct RowShape: Decodable {
  let entity: String
  let pk: Int
}

struct PlanShape: Decodable {
  struct Step: Decodable {
    let from: String
    let to: String
    let kind: String
  }
  struct Loss: Decodable {
    let entity: String
    let property: String?
    let values: Int
  }
  struct Check: Decodable {
    let code: Int
    let entity: String
    let property: String?
    let rows: Int
  }
  let source: HashShape
  let destination: HashShape
  let steps: [Step]
  let losses: [Loss]
  let checks: [Check]
  let strategy: String
}

struct ErrorShape: Decodable {
  struct Content: Decodable {
    let code: Int?
    let message: String
    let entity: String?
    let property: String?
    let path: String?
    let hint: String?
  }
  let error: Content
}
