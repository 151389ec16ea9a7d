import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

@Suite("Commands on SwiftData sources and their stores")
struct SwiftDataCaseTests {
  private let folder: TemporaryFolder
  private let source: String
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    source = folder.path("App.swift")
    store = folder.path("old.sqlite")
  }

  /// Two versions of a class, a plan with these stages, and a store of the first with three objects.
  private func write(_ first: String, _ second: String, stages: String, rest: String = "") throws {
    let text = """
      enum V1: VersionedSchema {
        static var versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model class Item { var name: String; \(first) }
      }
      enum V2: VersionedSchema {
        static var versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model class Item { var name: String; \(second) }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [\(stages)] }
      }
      \(rest)
      """
    try FileSystem.write(Array(text.utf8), to: source)
    guard FileSystem.status(store) == nil else { return }
    #expect(Captured("seed", source + "@V1", store, "--objects", "3").status == .done)
  }

  private static let stage = ".lightweight(fromVersion: V1.self, toVersion: V2.self)"

  private func flat(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test("a default that is evaluated once: one value for all rows, and any one is verified")
  func evaluated() throws {
    try write(
      "", "var id: UUID = UUID(); var text: String? = UUID().uuidString; var at: Date = .now",
      stages: Self.stage)
    let plan = Captured("plan", store, "--to", source)
    #expect(plan.status == .done)
    let said = flat(plan.out + plan.err)
    #expect(said.contains("Item.id: the default UUID() is evaluated once"))
    #expect(said.contains("all 3 objects get the same value"))
    let target = folder.path("new.sqlite")
    #expect(Captured("migrate", store, "--to", source, "--output", target).status == .done)
    for column in ["id", "text", "at"] {
      let opened = try Store(path: target)
      let count = try opened.connection.value(
        "SELECT count(DISTINCT Z\(column.uppercased())) FROM ZITEM")
      #expect(count?.integer == 1)
      let empty = try opened.connection.value(
        "SELECT count(*) FROM ZITEM WHERE Z\(column.uppercased()) IS NULL")
      #expect(empty?.integer == 0)
    }
    #expect(Captured("verify", store, target, "--to", source).status == .done)
    // One row with a value of its own is a difference.
    let connection = try Connection(path: target, mode: .readWrite)
    try connection.execute("UPDATE ZITEM SET ZTEXT = 'other' WHERE Z_PK = 2")
    connection.close()
    let differing = Captured("verify", store, target, "--to", source)
    #expect(differing.status == .no && differing.out.contains("Item.text"))
  }

  @Test("one that must be unique fails, and one that only the app can evaluate is named")
  func refused() throws {
    try write("", "@Attribute(.unique) var id: UUID = UUID()", stages: Self.stage)
    let plan = Captured("plan", store, "--to", source)
    #expect(plan.status == .refused && plan.out.contains("(134111)"))
    try write("", "var n: Double = Double.random(in: 0...1)", stages: Self.stage)
    let unknown = Captured("plan", store, "--to", source)
    #expect(
      flat(unknown.out + unknown.err)
        .contains("only the app can evaluate the default Double.random(in: 0...1)"))
  }

  @Test("explain says where the rows make a lightweight migration fail")
  func rows() throws {
    try write("", "var n: Int", stages: Self.stage)
    let result = Captured("explain", store, source)
    #expect(result.status == .no)
    let said = flat(result.out)
    #expect(said.contains("Lightweight migration cannot migrate the store"))
    #expect(said.contains("Item.n: missing values on a mandatory destination attribute, in 3 rows"))
    #expect(!said.contains("Lightweight migration can migrate the store"))
    try write(
      "", "var other: Other = Other()", stages: Self.stage,
      rest: "@Model class Other { var n: Int }")
    #expect(
      flat(Captured("explain", store, source).out).contains(
        "Item.other: missing objects on a mandatory destination relationship, in 3 rows"))
  }

  @Test("a plan with stages that does not know the store: 134504, and no lightweight migration")
  func unknown() throws {
    try write("var n: Int = 0", "var n: Int = 0; var m: Int = 0", stages: Self.stage)
    // The version that shipped was edited.
    try write(
      "var n: Int = 0; var k: Int = 0", "var n: Int = 0; var m: Int = 0", stages: Self.stage)
    let result = Captured("explain", store, source)
    let said = flat(result.out)
    #expect(said.contains("SwiftData ends with 134504"))
    #expect(said.contains("The nearest version is “V"))
    #expect(!said.contains("Lightweight migration"))
    #expect(Captured("explain", store, source, "--json").out.contains("134504"))
    let lint = Captured("lint", source, "--store", store)
    #expect(lint.out.contains("swiftdata-unproven") && lint.out.contains("134504"))
    // Without stages SwiftData infers the step.
    try write("var n: Int = 0; var k: Int = 0", "var n: Int = 0; var m: Int = 0", stages: "")
    let inferred = flat(Captured("explain", store, source).out)
    #expect(inferred.contains("Lightweight migration can migrate the store"))
  }

  @Test("renamingIdentifier= in the file of a model is said by plan and explain")
  func ignored() throws {
    let bundle = folder.path("App.xcdatamodeld")
    func write(_ name: String, _ attribute: String) throws {
      try FileSystem.makeDirectory(bundle + "/\(name).xcdatamodel")
      let text =
        "<model>\n<entity name=\"Item\"><attribute name=\"kept\" optional=\"YES\" attributeType=\"String\"/>\(attribute)</entity></model>"
      try FileSystem.write(Array(text.utf8), to: bundle + "/\(name).xcdatamodel/contents")
    }
    try write("App", "<attribute name=\"n\" optional=\"YES\" attributeType=\"String\"/>")
    try write(
      "App 2",
      "<attribute name=\"m\" optional=\"YES\" attributeType=\"String\" renamingIdentifier=\"n\"/>")
    #expect(Captured("seed", bundle + "@App", store, "--objects", "3").status == .done)
    let said =
      "renamingIdentifier of <attribute> “m” is ignored, as Xcode and Core Data do: use elementID"
    let plan = Captured("plan", store, "--to", bundle + "@App 2")
    #expect(flat(plan.out + plan.err).contains(said))
    #expect(flat(Captured("explain", store, bundle + "@App 2").err).contains(said))
  }

  @Test("the cases from public reports", .enabled(if: Cases.isAvailable, "the cases are absent"))
  func cases() throws {
    func seed(_ model: String) -> String {
      let path = folder.path("case-\(model.split { !$0.isLetter && !$0.isNumber }.joined()).sqlite")
      #expect(Captured("seed", Cases.path(model), path, "--objects", "8").status == .done)
      return path
    }
    func explained(_ store: String, _ model: String) -> String {
      flat(Captured("explain", store, Cases.path(model)).out)
    }
    #expect(
      explained(seed("6/Schemas.swift@DASchemeV1"), "6/Schemas.swift")
        .contains("Car.engine: missing objects on a mandatory destination relationship, in 8 rows"))
    #expect(
      explained(seed("24b/M.swift@ItemSchemaV1"), "24b").contains("ItemList.note:"))
    let loan = explained(seed("25/M.swift@S1"), "25")
    #expect(loan.contains("Lightweight migration refuses") && loan.contains("(134190)"))
    let vault = seed("16/old")
    #expect(explained(vault, "16/new").contains("Lightweight migration can migrate the store"))
    #expect(Captured("plan", vault, "--to", Cases.path("16/new")).status == .done)
    for (name, status) in [
      ("18", CommandStatus.done), ("18l", .done), ("18s", .done), ("18u", .refused),
    ] {
      let store = seed("18/\(name)/M.swift@V9")
      #expect(Captured("plan", store, "--to", Cases.path("18/" + name)).status == status)
    }
    let shop = seed("17/old")
    #expect(
      explained(shop, "17/new").contains(
        "regalSortierModus: no value in a mandatory composite attribute, in 8 rows"))
    let plan = Captured("plan", shop, "--to", Cases.path("17/new"))
    #expect(
      plan.status == .done
        && plan.out.contains("regalSortierModus: no value in a mandatory composite"))
    let migrated = folder.path("17.sqlite")
    #expect(
      Captured("migrate", shop, "--to", Cases.path("17/new"), "--output", migrated).status == .done)
    let doctor = Captured("doctor", migrated)
    #expect(doctor.status == .no && doctor.out.contains("Geschaeft.regalSortierModus"))
  }
}
