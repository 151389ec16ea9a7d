import Files
import ManagedModel
import ModelWriting
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import Migration

@Suite("Mapping models on the command line")
struct MappingCommandTests {
  private let folder: TemporaryFolder
  private let file: String
  private let versions: String
  private let store: String
  private let before: Model
  private let after: Model

  init() throws {
    folder = try TemporaryFolder()
    (before, after) = try MappingSamples.models()
    file = folder.path("mappings/OneToTwo.cdm")
    versions = folder.path("versions")
    store = folder.path("App.sqlite")
    for path in ["mappings", "versions", "versions/One.xcdatamodel", "versions/Two.xcdatamodel"] {
      try FileSystem.makeDirectory(folder.path(path))
    }
    try FileSystem.write(
      Array(MappingSamples.before.utf8), to: versions + "/One.xcdatamodel/contents")
    try FileSystem.write(
      Array(MappingSamples.after.utf8), to: versions + "/Two.xcdatamodel/contents")
    try FileSystem.write(MappingSamples.compiled(from: before, to: after), to: file)
    try StoreCreation.create(
      at: store, model: before, uuid: "5B3C3E0A-6F0B-4C1C-9C3B-7E2B8A3C1D4E")
  }

  private struct Told: Decodable {
    struct Version: Decodable { let name: String }
    struct Pair: Decodable { let from, to: Version }
    struct Entity: Decodable {
      let name, type: String
      let forgotten: [String]
      let dropped: [String]?
    }
    let by: String
    let pairs: [Pair]
    let entityMappings: [Entity]
    let unmade: [String]?
    let policies: [String]
  }

  @Test("mapping prints a mapping model, and finds its versions among those at hand")
  func printed() throws {
    let text = Captured("mapping", file)
    #expect(text.status == .done)
    #expect(text.out.contains("hash " + (before.versionHashes["Person"]?.hex ?? "-")))
    #expect(text.out.contains("classes that live in the app: App.CompanyPolicy"))
    let named = Captured("mapping", file, "--model", versions)
    #expect(named.status == .done && named.out.contains("for “One” → “Two”"), "\(named.out)")
    #expect(named.out.contains("! no value: rank, peersOf"))
    let json = try Captured("mapping", file, "--model", versions, "--json").decoded(Told.self)
    #expect(json.by == "hashes" && json.pairs.map(\.to.name) == ["Two"])
    #expect(json.entityMappings.first?.dropped?.contains("photo") == true)
    #expect(json.unmade == ["Note"] && json.policies == ["App.CompanyPolicy"])
    #expect(Captured("mapping", file, "--model", versions + "/One.xcdatamodel").status == .no)
    #expect(Captured("mapping", folder.path("none.cdm")).status == .unreadable)
  }

  @Test("of a folder the mapping is taken whose hashes are the step's; two that fit are told")
  func folderOfMappings() throws {
    let target = versions + "/Two.xcdatamodel"
    let mappings = folder.path("mappings")
    let standIn = mappings + "/policies.json5"
    try FileSystem.write(
      Array("{ \"policies\": { \"App.CompanyPolicy\": {} } }".utf8), to: standIn)
    try FileSystem.write(Array("[1, 2]".utf8), to: mappings + "/other.json")
    // For another pair: it lies beside, and is passed over.
    let other = try Model(entities: [Entity("Note")])
    var add = MappingSamples.Mapping("NoteToNote", source: "Note", destination: "Note")
    add.attributes = []
    try FileSystem.write(
      MappingSamples.compiled([add], from: other, to: other), to: mappings + "/Other.cdm")
    let plan = Captured("plan", store, "--to", target, "--mapping", mappings)
    #expect(plan.status == .done && plan.out.contains("mapping"), "\(plan.out)\(plan.err)")
    let rehearsed = Captured("rehearse", store, "--to", target, "--mapping", mappings + "/")
    #expect(rehearsed.status == .done, "\(rehearsed.err)")
    try FileSystem.write(MappingSamples.compiled(from: before, to: after), to: mappings + "/B.cdm")
    let twice = Captured("plan", store, "--to", target, "--mapping", mappings)
    #expect(twice.status == .usage)
    #expect(twice.err.contains("OneToTwo.cdm") && twice.err.contains("B.cdm"), "\(twice.err)")
    try FileSystem.makeDirectory(folder.path("empty"))
    #expect(
      Captured("plan", store, "--to", target, "--mapping", folder.path("empty")).status == .usage)
  }

  @Test(
    "a skeleton stands in for the classes of a mapping model, and says so until it is filled in")
  func policies() throws {
    let target = versions + "/Two.xcdatamodel"
    let recipe = folder.path("stand-ins.json5")
    let words = ["plan", store, "--to", target, "--mapping", file]
    #expect(Captured(words).status == .refused)
    let written = Captured(words + ["--write-recipe", recipe])
    #expect(written.status == .done, "\(written.err)")
    #expect(written.out.contains("! App.CompanyPolicy"))
    let unfilled = Captured(words + ["--mapping", recipe])
    #expect(unfilled.status == .usage && unfilled.err.contains("not filled in"), "\(unfilled.err)")
    #expect(unfilled.err.contains("line "))
    let text = String(decoding: try FileSystem.read(recipe), as: UTF8.self)
    let mark = try #require(text.split(separator: "\n").last { $0.contains("FILL IN") })
    let filled = text.replacing(mark, with: "    \"App.CompanyPolicy\": {},")
    try FileSystem.write(
      Array("{ \"policies\": { \"App.CompanyPolicy\": {} } }".utf8), to: folder.path("x.json5"))
    try FileSystem.replace(recipe, with: Array(filled.utf8), isPrivate: false)
    let done = Captured(words + ["--mapping", recipe])
    #expect(done.status == .done, "\(filled)\(done.err)")
  }
}
