import TestSupport
import Testing

/// The fixtures' chains and custom migrations, through the program that was built.
@Suite(
  "Custom migrations in the shell",
  .enabled(if: Fixtures.isAvailable && !Shell.strata.isEmpty, "fixtures are absent"))
struct CustomMigrationTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var store: String
    var to: String
    var from: String?
    var via: String?
    var mappings: [String] = []
    var recipe: String?
    var allowed: [String] = []
    /// Objects of each entity afterwards.
    var counts: String
    /// The store whose objects the result must have, under the same keys.
    var apple: String?

    var testDescription: String { "\(store) → \(to)" }
  }

  static let wire = "wire/zmessaging.xcdatamodeld"
  static let moody = "moody/Moody.xcdatamodeld"
  static let wibosco = "wibosco/CoreDataMigration_Example.xcdatamodeld@CoreDataMigration_Example"
  static let books = "bookmigration/Model.xcdatamodeld"

  static let makers = """
    { policies: { 'REPLACE_AT_RUNTIME.V2to3MakerPolicy': { relationships: { createdBy: 'self' },
      also: [ { destination: 'Maker', distinct: 'maker', attributes: { name: 'maker' } } ] } } }
    """
  static let continents = """
    { policies: { 'Migrations.Country5ToCountry6Policy': { relationships: { continent: 'self' },
      also: [ { destination: 'Continent', distinct: 'isoContinent',
                attributes: { numericISO3166Code: 'isoContinent' } } ] } } }
    """
  static let colours = """
    { policies: { 'CoreDataMigration_Example.Post2ToPost3MigrationPolicy': { create: [
      { destination: 'Color', relationship: 'color', attributes: { colorID: 'uuid()', hex: 'hexColor' } } ] } } }
    """
  static let authors = """
    { policies: { MHWBookToBookPolicy: { relationships: { authors: 'self' },
      also: [ { destination: 'Author', distinct: 'authorName', attributes: { name: 'authorName' } } ] } } }
    """

  static let cases: [Case] =
    [
      Case(
        store: "wire/store2-28-0.wiredatabase", to: wire + "@zmessaging2.46.0", via: wire,
        allowed: [
          "Conversation.callStateNeedsToBeUpdatedFromBackend", "Message.isEncrypted",
          "Message.isPlainText", "User.activeConversations",
        ], counts: "", apple: "wire/store2-46-0.wiredatabase"),
      Case(
        store: "wire/store2-6.wiredatabase", to: wire + "@zmessaging2.24.1", via: wire,
        allowed: wireLosses, counts: ""),
      Case(
        store: "wire/store2-6.wiredatabase", to: wire + "@zmessaging2.95.0", via: wire,
        allowed: wireLosses, counts: ""),
    ]
    + ["Fixtures/V2toV3.cdm", "MappingModels/V2toV3.xcmappingmodel"].map {
      Case(
        store: "coredataplus/SampleModel/Fixtures/SampleModel_V2.sqlite",
        to: "coredataplus/SampleModel/SampleModel.xcdatamodeld@SampleModel3",
        mappings: ["coredataplus/SampleModel/" + $0], recipe: makers,
        counts: "Car 115, LuxuryCar 5, Maker 10, Person 20, SportCar 5")
    } + [
      Case(
        store: "moody/Moody.moody", to: moody + "@Moody 2",
        counts: "Continent 2, Country 3, Mood 4"),
      Case(
        store: "moody/Moody 2.moody", to: moody + "@Moody 3",
        mappings: ["moody/Moody 2-Moody 3.xcmappingmodel"],
        counts: "Continent 2, Country 3, Mood 4"),
      Case(
        store: "moody/Moody 3.moody", to: moody + "@Moody 4",
        mappings: ["moody/Moody 3-Moody 4.xcmappingmodel"],
        counts: "Continent 2, Country 3, Mood 4"),
      Case(
        store: "moody/Moody 4.moody", to: moody + "@Moody 5",
        mappings: ["moody/Moody 4-Moody 5.xcmappingmodel"], allowed: ["Continent"],
        counts: "Country 3, Mood 4"),
      Case(
        store: "moody/Moody.moody", to: moody + "@Moody 6", via: moody,
        mappings: (2...5).map { "moody/Moody \($0)-Moody \($0 + 1).xcmappingmodel" },
        recipe: continents, allowed: ["Continent"], counts: "Continent 2, Country 3, Mood 4"),
      Case(
        store: "wibosco/CoreDataMigration_Example_1.sqlite", to: wibosco + " 2",
        mappings: ["wibosco/Migration1to2.xcmappingmodel"], counts: "Post 1001"),
      Case(
        store: "wibosco/CoreDataMigration_Example_2.sqlite", to: wibosco + " 3",
        mappings: ["wibosco/Migration2to3.xcmappingmodel"], recipe: colours,
        counts: "Color 5979, Post 5979"),
      Case(
        store: "bookmigration/Model1.sqlite", to: books + "@Model2", from: books + "@Model1",
        mappings: ["bookmigration/Model1_to_Model2.xcmappingmodel"], recipe: authors,
        counts: "Author 3, Book 4, User 3"),
      Case(
        store: "bookmarks/Bookmarks_V1.sqlite",
        to: "bookmarks/BookmarksModel.xcdatamodeld@BookmarksModel 3",
        allowed: ["BookmarkEntity.isFavorite"], counts: "BookmarkEntity 10"),
      Case(
        store: "bookmarks/Bookmarks_V3.sqlite",
        to: "bookmarks/BookmarksModel.xcdatamodeld@BookmarksModel 5", counts: "BookmarkEntity 10"),
    ]

  /// What the models of six years leave out; a loss that does not come up may be allowed as well.
  static let wireLosses = [
    "Connection.modifiedDataFields", "Conversation.callStateNeedsToBeUpdatedFromBackend",
    "Conversation.clearedEventID_data", "Conversation.downloadedMessageIDs_data",
    "Conversation.draftMessageText", "Conversation.isSilenced", "Conversation.lastEventID_data",
    "Conversation.modifiedDataFields", "Message.isEncrypted", "Message.isPlainText",
    "Message.modifiedDataFields", "User.activeConversations", "User.imageMediumData",
    "User.imageSmallProfileData", "User.inactiveConversations",
    "User.localMediumRemoteIdentifier_data", "User.localSmallProfileRemoteIdentifier_data",
    "User.mediumRemoteIdentifier_data", "User.modifiedDataFields",
    "User.smallProfileRemoteIdentifier_data", "UserClient.modifiedDataFields",
  ]

  @Test(
    "planned, migrated and looked at, each in one command", arguments: TestScale.some(4, of: cases))
  func migration(_ fixture: Case) throws {
    let folder = try TemporaryFolder()
    let store = try folder.copy(fixture: fixture.store, as: "before.sqlite")
    let before = try folder.contents()
    let after = folder.path("after.sqlite")
    var options = ["--to", Fixtures.path(fixture.to)]
    if let from = fixture.from { options += ["--from", Fixtures.path(from)] }
    if let via = fixture.via { options += ["--via", Fixtures.path(via)] }
    for mapping in fixture.mappings { options += ["--mapping", Fixtures.path(mapping)] }
    if let recipe = fixture.recipe {
      let path = folder.path("recipe.json5")
      Shell.run("cat > \(Self.quoted(path)) <<'END'\n\(recipe)\nEND")
      options += ["--mapping", path]
    }
    for loss in fixture.allowed { options += ["--allow-loss", loss] }

    let plan = Self.output(["plan", store] + options + ["--json"], folder)
    #expect(plan.status == 0, "\(plan.text)")
    for part in ["\"entityMappings\":[{", "\"losses\":[", "\"checks\":[", "\"strategy\":"] {
      #expect(plan.text.replacing(" ", with: "").contains(part))
    }
    let made = Self.output(["migrate", store] + options + ["--output", after], folder)
    #expect(made.status == 0, "\(made.text)")
    let info = Self.output(["info", after, "--json"], folder)
    let isWire = fixture.store.hasPrefix("wire")
    #expect(info.status == 0)
    // Wire's stores come without the files of their external data.
    #expect(info.text.contains("\"warnings\":[]") || isWire, "\(info.text)")
    #expect(info.text.contains("\"matches\":true"))
    if !fixture.counts.isEmpty {
      #expect(Self.counts(try StoreDump.lines(at: after)) == fixture.counts)
    }
    if let apple = fixture.apple {
      #expect(
        try StoreDump.lines(at: after) == StoreDump.lines(at: Fixtures.path(apple)))
    }
    if fixture.mappings.isEmpty && fixture.via == nil {
      let verify = Self.output(["verify", store, after, "--to", Fixtures.path(fixture.to)], folder)
      #expect(verify.status == 0, "\(verify.text)")
    }
    for (name, bytes) in before { #expect(try folder.contents()[name] == bytes, "\(name)") }
  }

  @Test("without a stand-in a policy class is refused with status 3, and the way out")
  func refused() throws {
    let folder = try TemporaryFolder()
    for fixture in Self.cases where fixture.recipe != nil && fixture.via == nil {
      let store = try folder.copy(fixture: fixture.store, as: "before.sqlite")
      var words = ["plan", store, "--to", Fixtures.path(fixture.to)]
      if let from = fixture.from { words += ["--from", Fixtures.path(from)] }
      for mapping in fixture.mappings { words += ["--mapping", Fixtures.path(mapping)] }
      let refusal = Self.output(words, folder)
      #expect(refusal.status == 3)
      #expect(refusal.text.contains("(134170)") && refusal.text.contains("under policies: {"))
    }
  }

  @Test(
    "the matrix of a bundle with its mapping models has a way to each next version",
    arguments: [
      (moody, (2...5).map { "moody/Moody \($0)-Moody \($0 + 1).xcmappingmodel" }, 4),
      (
        "wibosco/CoreDataMigration_Example.xcdatamodeld",
        (1...2).map { "wibosco/Migration\($0)to\($0 + 1).xcmappingmodel" }, 2
      ),
      (
        books,
        ["Model1_to_Model2", "Model2_to_Model3", "Model2_to_Model3_User"]
          .map { "bookmigration/\($0).xcmappingmodel" }, 2
      ),
      (
        "coredataplus/SampleModel/SampleModel.xcdatamodeld",
        ["coredataplus/SampleModel/Fixtures/V2toV3.cdm"], 1
      ),
      ("bookmarks/BookmarksModel.xcdatamodeld", [], 0),
    ])
  func matrix(_ bundle: String, _ mappings: [String], _ written: Int) throws {
    let folder = try TemporaryFolder()
    let matrix = Self.output(
      ["plan", Fixtures.path(bundle), "--matrix"]
        + mappings.flatMap { ["--mapping", Fixtures.path($0)] }, folder)
    #expect(matrix.status == 0, "\(matrix.text)")
    let rows = matrix.text.split(separator: "\n").prefix { !$0.hasPrefix("=") }.dropFirst()
    #expect(rows.reduce(0) { $0 + $1.split(separator: " ").count { $0 == "m" } } == written)
  }

  private static func quoted(_ word: String) -> String { "'\(word)'" }

  private static func output(
    _ words: [String], _ folder: TemporaryFolder
  ) -> (status: Int32, text: String) {
    let file = folder.path("printed")
    let line = ([Shell.strata] + words).map(quoted).joined(separator: " ")
    let status = Shell.run("\(line) > \(quoted(file)) 2>&1")
    let text = String(decoding: Shell.bytes(of: file), as: UTF8.self)
    Shell.run("rm \(quoted(file))")
    return (status, text)
  }

  /// How many objects of each entity lines such as `Car/p1 …` are about.
  private static func counts(_ lines: [String]) -> String {
    Dictionary(grouping: lines) { String($0.prefix { $0 != "/" }) }
      .map { "\($0.key) \($0.value.count)" }.sorted().joined(separator: ", ")
  }
}
