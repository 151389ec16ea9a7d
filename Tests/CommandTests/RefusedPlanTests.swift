import Files
import ManagedModel
import ModelWriting
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import Migration

@Suite("A plan for which no mapping can be inferred")
struct RefusedPlanTests {
  private let folder: TemporaryFolder
  private let words: [String]
  /// What a recipe between the two versions begins with.
  private let ends: String

  /// A store of which two attributes change their type, one goes, and one becomes mandatory.
  init() throws {
    folder = try TemporaryFolder()
    var before = Entity("User")
    before.attributes = [
      Attribute("age", .integer32, optional: true), Attribute("born", .date, optional: true),
      Attribute("gone", .string, optional: true), Attribute("name", .string, optional: true),
    ]
    var after = Entity("User")
    after.attributes = [
      Attribute("age", .string, optional: true), Attribute("born", .string, optional: true),
      Attribute("name", .string),
    ]
    let store = folder.path("Users.sqlite")
    let (old, new) = (try Model(entities: [before]), try Model(entities: [after]))
    let writer = try StoreWriter(creating: store, model: old)
    try writer.insert("User", attributes: ["age": .integer(36), "gone": .string("left")])
    try writer.insert("User", attributes: ["name": .string("Ada")])
    try writer.finish()
    let model = folder.path("Users.xcdatamodel")
    try FileSystem.makeDirectory(model)
    try FileSystem.write(
      Array(new.xcdatamodelContents().utf8), to: model + "/contents")
    ends = "from: \"\(old.versionHashesDigest)\", to: \"\(new.versionHashesDigest)\""
    words = ["plan", store, "--to", model]
  }

  private struct Refused: Decodable {
    struct Place: Decodable {
      let entity: String
      let property: String?
      let code: Int?
    }
    let error: Place
    let refusals, losses, checks: [Place]
  }

  @Test("all refusals, losses and checks are listed at once, and what is refused is not lost")
  func json() throws {
    let plan = Captured(words + ["--json"])
    #expect(plan.status == .refused && !plan.out.contains("\"steps\""))
    let refused = try plan.decoded(Refused.self)
    #expect(refused.error.code == 134190)
    #expect(refused.refusals.map(\.property) == ["age", "born"], "\(plan.out)")
    #expect(refused.losses.map(\.property) == ["gone"], "\(plan.out)")
    #expect(refused.checks.map(\.property) == ["name"], "\(plan.out)")
  }

  @Test("the text says the same, and what begins a recipe")
  func text() {
    let plan = Captured(words, width: 200)
    #expect(plan.status == .refused && plan.err.isEmpty)
    for text in [
      "✗ User.age: ", "✗ User.born: ", "! lost: User.gone, 1 value", "✗ User.name: ",
      "2 changes cannot be inferred", "--write-recipe FILE", "strata help recipes",
    ] {
      #expect(plan.out.contains(text), "\(text) is not in \(plan.out)")
    }
  }

  @Test(
    "migrate and rehearse report the same, and leave the store alone",
    arguments: ["migrate", "rehearse"])
  func runs(command: String) throws {
    let words = [command] + words.dropFirst()
    let before = try folder.contents()
    let json = Captured(words + ["--json"])
    #expect(json.status == .refused)
    let line = try #require(json.lines.first)
    let refused = try Captured.decoded(Refused.self, from: Array(line.utf8))
    #expect(refused.error.code == 134190 && refused.error.property == "age", "\(json.out)")
    #expect(refused.refusals.map(\.property) == ["age", "born"], "\(json.out)")
    #expect(refused.losses.map(\.property) == ["gone"], "\(json.out)")
    #expect(refused.checks.map(\.property) == ["name"], "\(json.out)")
    let text = Captured(words)
    #expect(text.status == .refused)
    let report = Captured(self.words).out.split(whereSeparator: \.isWhitespace).joined(
      separator: " ")
    let told = text.err.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let start = try #require(report.firstRange(of: "✗ User.age: ")).lowerBound
    #expect(told.hasPrefix("strata: \(words[1]): cannot migrate "), "\(told)")
    #expect(told.hasSuffix(report[start...]), "\(told)")
    #expect(try folder.contents() == before)
  }

  @Test("of several stores each has its own list, and its line in the table")
  func several() throws {
    let other = folder.path("Other.sqlite")
    try FileSystem.copy(words[1], to: other)
    let words = ["migrate", words[1], other] + words.dropFirst(2)
    let json = Captured(words + ["--json"])
    #expect(json.status == .refused)
    for line in json.lines.prefix(2) {
      let refused = try Captured.decoded(Refused.self, from: Array(line.utf8))
      #expect(refused.refusals.map(\.property) == ["age", "born"], "\(line)")
    }
    let text = Captured(words)
    #expect(text.status == .refused && text.out.contains("refused: "), "\(text.out)")
    for path in [words[1], other] {
      #expect(text.err.contains("strata: \(path): cannot migrate"), "\(text.err)")
    }
    #expect(text.err.split(separator: "\n").count { $0.contains("✗ User.born: ") } == 2)
  }

  @Test("a build server gets a case for each")
  func format() {
    let plan = Captured(words + ["--format", "junit"])
    #expect(plan.status == .refused && plan.out.contains("failures=\"4\""), "\(plan.out)")
  }

  @Test("explain names each change that is refused")
  func explained() {
    let explained = Captured(["explain", words[1], words[3]], width: 200)
    #expect(explained.status == .no)
    #expect(explained.out.contains("age") && explained.out.contains("It also refuses User.born: "))
  }

  @Test("a recipe that carries one of them leaves the other")
  func recipe() throws {
    let recipe = folder.path("half.json5")
    let text = """
      { \(ends), entityMappings: [{ source: "User", destination: "User",
        attributes: { age: "CAST(age AS TEXT)" } }] }
      """
    try FileSystem.write(Array(text.utf8), to: recipe)
    let plan = Captured(words + ["--mapping", recipe, "--json"])
    #expect(plan.status == .refused)
    #expect(try plan.decoded(Refused.self).refusals.map(\.property) == ["born"], "\(plan.out)")
  }
}
