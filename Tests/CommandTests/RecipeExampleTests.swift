import Files
import ManagedModel
import SQLite
import Terminal
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

/// The recipe in the article on recipes, run as it stands there, and what plan, migrate and rehearse report.
@Suite("The article's recipe")
struct RecipeExampleTests {
  private let folder: TemporaryFolder
  private let store: String
  private let bundle: String
  private let recipe: String

  private static let before = """
    <model userDefinedModelVersionIdentifier="">
    <entity name="Draft"><attribute name="text" optional="YES" attributeType="String"/></entity>
    <entity name="Person">
      <attribute name="fullName" optional="YES" attributeType="String"/>
      <attribute name="phone" optional="YES" attributeType="String"/>
    </entity></model>
    """

  private static let after = """
    <model userDefinedModelVersionIdentifier="">
    <entity name="Person">
      <attribute name="firstName" optional="YES" attributeType="String"/>
      <attribute name="lastName" attributeType="String" defaultValueString=""/>
      <relationship name="phones" optional="YES" toMany="YES" destinationEntity="Phone" inverseName="owner"/>
    </entity>
    <entity name="Phone">
      <attribute name="number" optional="YES" attributeType="String"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="phones"/>
    </entity></model>
    """

  init() throws {
    folder = try TemporaryFolder()
    bundle = folder.path("Contacts.xcdatamodeld")
    try FileSystem.makeDirectory(bundle)
    for (name, text) in [("Contacts", Self.before), ("Contacts 2", Self.after)] {
      let version = "\(bundle)/\(name).xcdatamodel"
      try FileSystem.makeDirectory(version)
      try FileSystem.write(Array(text.utf8), to: version + "/contents")
    }
    store = folder.path("Contacts.sqlite")
    let writer = try StoreWriter(
      creating: store, model: Model(contents: Array(Self.before.utf8)))
    for (name, phone) in [("Ann Lee", "1"), ("Bo", "22"), ("Cy van der Meer", "333")] {
      try writer.insert(
        "Person", attributes: ["fullName": .string(name), "phone": .string(phone)])
    }
    try writer.insert("Draft", attributes: ["text": .string("gone")])
    try writer.finish()
    recipe = folder.path("contacts.json5")
    try FileSystem.write(Array(Self.example().utf8), to: recipe)
  }

  /// The recipe between the versions that are here, which the article has for the command line.
  private static func example() throws -> String {
    let path =
      #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
      + "/Sources/Work/Migration/Migration.docc/Recipes.md"
    let lines = String(decoding: try FileSystem.read(path), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let section = lines.drop { $0 != "## From the command line" }
    let block = section.drop { $0 != "```json5" }.dropFirst().prefix { $0 != "```" }
    try #require(!block.isEmpty)
    return block.joined(separator: "\n")
  }

  private func run(_ verb: String, width: Int = 100, _ more: String...) -> Captured {
    Captured(
      [verb, store, "--to", bundle + "@Contacts 2", "--mapping", recipe] + more, width: width)
  }

  @Test("the plan tells expressions, children, intended deletions and the first objects")
  func plan() throws {
    let plan = run("plan")
    #expect(plan.status == .done, "\(plan.err)")
    for text in [
      "Contacts → Contacts 2  recipe", "firstName = split_part(fullName, ' ', 1)",
      "+ phones: Phone", "number = phone", "deleted, as the recipe says: Draft, 1 object",
      "Person/p3  Cy van der Meer", "✓ can migrate",
    ] {
      #expect(plan.out.contains(text), "\(text) is not in \(plan.out)")
    }
  }

  @Test("no line of a plan is wider than the terminal", arguments: [80, 120])
  func width(_ width: Int) throws {
    let plan = run("plan", width: width)
    for line in plan.lines { #expect(TextWidth.of(String(line)) <= width, "\(line)") }
    #expect(!plan.out.utf8.contains(0x1B))
  }

  @Test("the JSON has expressions, children, previews, strategies and intended losses")
  func json() throws {
    struct Plan: Decodable {
      struct Attribute: Decodable { let name: String; let expression: String? }
      struct Child: Decodable { let destination, relationship: String; let attributes: [Attribute] }
      struct Mapping: Decodable {
        let name, type: String
        let source: String?
        let condition: String?
        let deletionIntended: Bool
        let attributes: [Attribute]
        let children: [Child]
      }
      struct Preview: Decodable { let mapping: String; let before, after: [String: String] }
      struct Step: Decodable {
        let kind, strategy: String
        let entityMappings: [Mapping]
        let previews: [Preview]
      }
      struct Loss: Decodable { let entity: String; let intended: Bool }
      let steps: [Step]
      let losses: [Loss]
    }
    let plan = try run("plan", "--json").decoded(Plan.self)
    let step = try #require(plan.steps.first)
    #expect(step.kind == "recipe" && step.strategy == "copy")
    let person = try #require(step.entityMappings.first { $0.source == "Person" })
    #expect(
      person.attributes.first { $0.name == "firstName" }?.expression
        == "split_part(fullName, ' ', 1)")
    #expect(person.children.map(\.destination) == ["Phone"])
    #expect(step.entityMappings.first { $0.source == "Draft" }?.deletionIntended == true)
    #expect(step.previews.first?.after["firstName"] == "Ann")
    #expect(plan.losses.map(\.intended) == [true])
  }

  @Test("migrate's receipt tells checksums, what was dropped and created, and the way back")
  func migrate() throws {
    struct Receipt: Decodable {
      struct Body: Decodable {
        struct Checksums: Decodable { let result, backup: String? }
        struct Blobs: Decodable { let referenced: Int; let missing: [String] }
        let checksums: Checksums
        let blobs: Blobs
        let dropped, created, steps: Int
        let backup, rollback: String?
      }
      let receipt: Body
    }
    let old = try FileSystem.sha256(store)
    let file = folder.path("receipt.json")
    let done = run("migrate", "--receipt", file)
    #expect(done.status == .done, "\(done.err)")
    let receipt = try Captured.decoded(Receipt.self, from: FileSystem.read(file)).receipt
    #expect(receipt.checksums.backup == old)
    #expect(try receipt.checksums.result == FileSystem.sha256(store))
    #expect(receipt.dropped == 1 && receipt.created == 3 && receipt.steps == 1)
    #expect(receipt.blobs.referenced == 0 && receipt.blobs.missing.isEmpty)
    #expect(try receipt.backup.map { try FileSystem.sha256($0) } == old)
    #expect(done.out.contains("to roll back: strata rollback \(store)"))
    #expect(done.out.contains("SHA-256 of the result: \(receipt.checksums.result ?? "")"))
    #expect(
      try !FileSystem.list(FileSystem.parent(of: file) ?? ".").contains {
        $0.hasPrefix(".strata-new-")
      })
    #expect(receipt.rollback == "strata rollback \(store)")
    #expect(Captured("rollback", store).status == .done)
    #expect(try FileSystem.sha256(store) == old)
  }

  @Test("a rehearsal's receipt is an object for one store and an array for several")
  func rehearsals() throws {
    struct Entry: Decodable { let store: String; let sourceUnchanged: Bool }
    let file = folder.path("receipt.json")
    let one = run("rehearse", "--receipt", file)
    #expect(one.status == .done, "\(one.err)")
    let entry = try Captured.decoded(Entry.self, from: FileSystem.read(file))
    #expect(entry.store == store && entry.sourceUnchanged)
    let other = folder.path("Other.sqlite")
    try FileSystem.copyOver(store, to: other)
    #expect(run("rehearse", other, "--receipt", file).status == .done)
    let entries = try Captured.decoded([Entry].self, from: FileSystem.read(file))
    #expect(entries.map(\.store) == [store, other])
  }

  @Test("a receipt that cannot be written, or is a store, is refused before anything is begun")
  func receiptPlace() throws {
    let before = try folder.contents()
    for place in [store, folder.path("none/receipt.json"), bundle] {
      #expect(run("migrate", "--receipt", place).status == .usage)
    }
    #expect(try folder.contents() == before)
  }
}
