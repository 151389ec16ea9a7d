import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// What happens to a store must not depend on the way: in place, copying, or by a recipe that speaks of
/// another property.
@Suite("One decision over all ways")
struct WaysTests {
  /// A store with two versions of its model, and a recipe that changes one property.
  struct Case: Sendable {
    var store: String
    var destination: Model
    var recipe: String
  }

  /// What a plan says, and what its migration does.
  struct Outcome: Equatable {
    var losses: [String]
    var checks: [String]
    var status: String
    /// Objects and links that are there afterwards.
    var result: [String] = []
  }

  static func outcome(
    _ given: Case, strategy: MigrationPlan.Strategy?, isByRecipe: Bool
  ) throws -> Outcome {
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    try FileSystem.copy(given.store, to: path)
    let store = try Store(path: path)
    let plan: MigrationPlan
    if isByRecipe {
      let recipe = try Recipe(text: given.recipe, path: "recipe.json5")
      let mapping = try #require(
        try recipe.mapping(from: store.model, to: given.destination, names: ("V1", "V2")))
      plan = try store.plan(
        steps: [
          MigrationStep(
            from: "V1", to: "V2", source: store.model, destination: given.destination,
            mapping: mapping)
        ])
    } else {
      let mapping = try MappingInference.mapping(from: store.model, to: given.destination)
      plan = try store.plan(
        steps: [
          MigrationStep(
            from: "V1", to: "V2", source: store.model, destination: given.destination,
            mapping: mapping)
        ], strategy: strategy)
    }
    var outcome = Outcome(
      losses: plan.losses.map { "\($0.name) \($0.values)" }.sorted(),
      checks: plan.checks.map {
        "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows) \($0.isWarning)"
      }.sorted(), status: "")
    // What plan says of a run is what the run does, also when the losses are allowed.
    for isAllowed in [false, true] {
      var options = MigrationOptions()
      options.output = folder.path("Out\(isAllowed).sqlite")
      if isAllowed { options.allowedLosses = Set(plan.losses.map(\.name)) }
      do {
        _ = try StoreMigration.run(plan, options: options)
        #expect(plan.canRun(allowing: options.allowedLosses))
        outcome.status = "done"
      } catch {
        #expect(!plan.canRun(allowing: options.allowedLosses), "\(error)")
        #expect(error.kind == .refused, "\(error)")
        outcome.status = "refused"
      }
    }
    if outcome.status == "done" {
      // The first two words are the object; of the rest, what leads to others.
      outcome.result = try StoreDump.lines(Store(path: folder.path("Outtrue.sqlite"))).map { line in
        line.split(separator: " ").enumerated().filter { $0 == 0 || $1.contains("→") }
          .map { String($1) }.joined(separator: " ")
      }
    }
    return outcome
  }

  static func check(_ given: Case) throws {
    let inPlace = try outcome(given, strategy: .inPlace, isByRecipe: false)
    let copied = try outcome(given, strategy: .copy, isByRecipe: false)
    let mapped = try outcome(given, strategy: nil, isByRecipe: true)
    #expect(copied == inPlace)
    #expect(mapped.losses == inPlace.losses)
    #expect(mapped.status == inPlace.status)
    #expect(mapped.checks == inPlace.checks)
    #expect(mapped.result.count == inPlace.result.count)
  }

  static let recipe =
    #"{ from: "V1", to: "V2", entityMappings: [ { source: "Book", destination: "Book", attributes: { note: "upper(name)" } } ] }"#

  /// Books with tags; what is done to the second version, and to the store.
  static func made(
    in folder: TemporaryFolder, _ change: (inout [String: Entity]) -> Void, sql: String = ""
  ) throws -> Case {
    func entities(isNew: Bool) -> [String: Entity] {
      var book = Entity("Book")
      book.attributes = [Attribute("name", .string, optional: true)]
      if isNew { book.attributes.append(Attribute("note", .string, optional: true)) }
      book.relationships = [
        Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
        Relationship("owner", to: "Person", optional: true),
      ]
      var tag = Entity("Tag")
      tag.attributes = [Attribute("label", .string, optional: true)]
      tag.relationships = [
        Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
      ]
      var person = Entity("Person")
      person.attributes = [Attribute("label", .string, optional: true)]
      return ["Book": book, "Tag": tag, "Person": person]
    }
    let source = try Model(entities: Array(entities(isNew: false).values))
    let path = folder.path("Made.sqlite")
    let writer = try StoreWriter(creating: path, model: source)
    let tags = try (0..<2).map {
      try writer.insert("Tag", attributes: ["label": .string("t\($0)")])
    }
    let person = try writer.insert("Person")
    for number in 0..<3 {
      try writer.insert(
        "Book", attributes: ["name": .string("b\(number)")], toOne: ["owner": person],
        toMany: ["tags": tags])
    }
    try writer.finish()
    if !sql.isEmpty {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(sql)
      connection.close()
    }
    var new = entities(isNew: true)
    change(&new)
    return Case(
      store: path, destination: try Model(entities: Array(new.values)), recipe: recipe)
  }

  @Test("a many-to-many that loses its inverse, objects being shared")
  func lostInverse() throws {
    let folder = try TemporaryFolder()
    let given = try Self.made(
      in: folder,
      { entities in
        entities["Tag"]?.relationships = []
        entities["Book"]?.relationships[0].inverse = nil
      })
    try Self.check(given)
    let outcome = try Self.outcome(given, strategy: .inPlace, isByRecipe: false)
    #expect(outcome.losses == ["Book.tags 4"])
  }

  @Test("an entity that turns abstract")
  func abstract() throws {
    let folder = try TemporaryFolder()
    let given = try Self.made(
      in: folder,
      { entities in
        entities["Person"]?.isAbstract = true
        entities["Kid"] = Entity("Kid", parent: "Person")
      })
    try Self.check(given)
    let outcome = try Self.outcome(given, strategy: nil, isByRecipe: true)
    #expect(outcome.status == "refused")
  }

  @Test("a column of the app's own, in a table that stays")
  func ownColumn() throws {
    let folder = try TemporaryFolder()
    let given = try Self.made(
      in: folder, { _ in }, sql: "ALTER TABLE ZTAG ADD COLUMN MINE TEXT; UPDATE ZTAG SET MINE = 'x'"
    )
    try Self.check(given)
    for isByRecipe in [false, true] {
      let outcome = try Self.outcome(given, strategy: nil, isByRecipe: isByRecipe)
      #expect(outcome.losses == [] && outcome.status == "done")
    }
  }

  @Test(
    "a column that no model knows, over two steps: told as lost where it is not there afterwards",
    arguments: [MigrationPlan.Strategy?.none, .inPlace, .copy], [true, false])
  func ownColumnOverSteps(strategy: MigrationPlan.Strategy?, isRemade: Bool) throws {
    let folder = try TemporaryFolder()
    let given = try Self.made(
      in: folder, { _ in }, sql: "ALTER TABLE ZTAG ADD COLUMN MINE TEXT; UPDATE ZTAG SET MINE = 'x'"
    )
    // The second step leaves the table alone, or makes it anew.
    var entities = given.destination.entities
    let index = try #require(entities.firstIndex { $0.name == (isRemade ? "Tag" : "Book") })
    entities[index].attributes.append(Attribute("count", .integer64, optional: true))
    if isRemade { entities[index].attributes.removeAll { $0.name == "label" } }
    let last = try Model(entities: entities)
    let store = try Store(path: given.store)
    let plan = try store.plan(
      steps: [
        MigrationStep(
          from: "V1", to: "V2", source: store.model, destination: given.destination,
          mapping: MappingInference.mapping(from: store.model, to: given.destination)),
        MigrationStep(
          from: "V2", to: "V3", source: given.destination, destination: last,
          mapping: MappingInference.mapping(from: given.destination, to: last)),
      ], strategy: strategy)
    var options = MigrationOptions()
    options.output = folder.path("Out.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.run(plan, options: options)
    let result = try Store(path: folder.path("Out.sqlite"))
    let isThere = result.database.columns(of: "ZTAG").contains("MINE")
    #expect(plan.losses.contains { $0.property == "MINE" } != isThere)
    if !isRemade { #expect(isThere) }
    if isThere {
      #expect(
        try result.connection.number("SELECT count(*) FROM ZTAG WHERE MINE = 'x'")
          == store.number("SELECT count(*) FROM ZTAG"))
    }
  }

  @Test("links of which an end is missing, in join tables and in to-ones")
  func missingEnds() throws {
    let folder = try TemporaryFolder()
    let given = try Self.made(
      in: folder, { _ in },
      sql: """
        INSERT INTO Z_1TAGS VALUES (1, 777); INSERT INTO Z_1TAGS VALUES (NULL, 1);
        UPDATE ZBOOK SET ZOWNER = 99 WHERE Z_PK = 1
        """)
    try Self.check(given)
    let outcome = try Self.outcome(given, strategy: nil, isByRecipe: true)
    #expect(outcome.checks.count == 2 && outcome.status == "done")
  }

  @Test(
    "text that a recipe gives a Date is refused by plan and by the run; text that is a number is not"
  )
  func types() throws {
    for (expression, type, fits) in [
      ("upper(name)", AttributeType.date, false), ("'12.5'", .date, true),
      ("'12.5'", .integer16, false), ("' 12 '", .integer16, true), ("70000", .integer16, false),
      ("'12abc'", .double, false), ("1e3", .integer32, true), ("12", .string, true),
      ("x'00'", .string, false), ("'x'", .binary, false), ("'1e2'", .decimal, true),
    ] {
      let folder = try TemporaryFolder()
      var given = try Self.made(
        in: folder,
        { entities in
          entities["Book"]?.attributes[1] = Attribute("note", type, optional: true)
        })
      given.recipe =
        #"{ from: "V1", to: "V2", entityMappings: [ { source: "Book", destination: "Book", attributes: { note: "\#(expression)" } } ] }"#
      let outcome = try Self.outcome(given, strategy: nil, isByRecipe: true)
      #expect(outcome.status == (fits ? "done" : "refused"), "\(expression) as \(type)")
    }
  }

  @Test(
    "of a loss in part the samples are of what is lost, and each object counts where it is taken")
  func samples() throws {
    let folder = try TemporaryFolder()
    var given = try Self.made(in: folder, { _ in })
    func losses(_ entry: String) throws -> [String] {
      given.recipe =
        #"{ from: "V1", to: "V2", entityMappings: [ { source: "Book", destination: "Book", "#
        + entry
        + " } ] }"
      let store = try Store(path: given.store)
      let recipe = try Recipe(text: given.recipe, path: "recipe.json5")
      let mapping = try #require(
        try recipe.mapping(from: store.model, to: given.destination, names: ("V1", "V2")))
      return try store.plan(
        steps: [
          MigrationStep(
            from: "V1", to: "V2", source: store.model, destination: given.destination,
            mapping: mapping)
        ]
      ).losses.map { "\($0.name) \($0.values): \($0.samples.joined(separator: ", "))" }
    }
    #expect(
      try losses(#"attributes: { name: "nullif(name, 'b1')" }"#) == ["Book.name 1: Book/p2 b1"])
    #expect(
      try losses(#"where: "name <> 'b0'", attributes: { name: "nullif(name, 'b1')" }"#)
        == ["Book 1: Book/p1", "Book.name 1: Book/p2 b1"])
    // What is only asked for is not taken up.
    #expect(
      try losses(#"where: "name <> 'b0'", attributes: { name: null }"#)
        == ["Book 1: Book/p1", "Book.name 2: Book/p2 b1, Book/p3 b2"])
  }

  private static let cases = Fixtures.path("../cases/ways")

  @Test(
    "the stores of public reports",
    .enabled(if: FileSystem.isDirectory(cases), "the cases are absent"), arguments: 1...6)
  func reported(_ number: Int) throws {
    let versions = try ModelVersions(readingFrom: Self.cases + "/d\(number).xcdatamodeld")
    let new = try #require(versions.versions.first { $0.name == "V2" })
    let given = Case(
      store: Self.cases + "/d\(number).sqlite", destination: new.model,
      recipe: String(
        decoding: try FileSystem.read(Self.cases + "/r\(number).json5"), as: UTF8.self))
    guard number != 4 else {
      // The recipe is what is wrong.
      #expect(try Self.outcome(given, strategy: .inPlace, isByRecipe: false).status == "done")
      #expect(try Self.outcome(given, strategy: nil, isByRecipe: true).status == "refused")
      return
    }
    try Self.check(given)
  }
}
