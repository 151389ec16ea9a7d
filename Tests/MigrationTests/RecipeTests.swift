import Files
import JSON
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Recipes")
struct RecipeTests {
  static func mapping(_ text: String) throws -> MappingModel? {
    try Recipe(text: text, path: "r.json5").mapping(
      from: Diary.models.from, to: Diary.models.to, names: ("old", "new"))
  }

  /// The recipe of the design with one entity mapping in place of all that map that entity.
  static func recipe(_ entityMappings: String, rest: String = "") -> String {
    """
    { "from": "old", "to": "new", "rename": { "Recipe.serves": "Recipe.portions" },
      "entityMappings": [
        { "source": "Cat", "destination": "Pet" }, { "source": "Dog", "destination": "Pet" },
        { "source": "Car", "destination": "Car", "attributes": { "year": "CAST(year AS INTEGER)" },
          "relationships": { "maker": null } },
    \(entityMappings)
      ]\(rest)
    }
    """
  }

  @Test("the recipe of the design becomes a mapping model")
  func design() throws {
    let mapping = try #require(
      try Self.mapping(
        Diary.recipe.replacing("\"Diary\"", with: "\"old\"")
          .replacing("\"Diary 2\"", with: "\"new\"")))
    #expect(mapping.kind == .recipe)
    #expect(mapping.userInfo == ["modelVersion": .integer(2)])
    #expect(
      mapping.entityMappings.map { "\($0.name) \($0.kind.name)" } == [
        "TransactionToTransaction transform", "QuestionsToTemplate custom",
        "RecordsToDayRecord custom", "CatToPet transform", "DogToPet transform",
        "CarToMaker custom", "CarToCar transform", "IEM_Copy_Author copy",
        "IEM_Transform_Owner transform",
        "IEM_Add_Post add", "IEM_Add_Question add", "IEM_Transform_Recipe transform",
        "IEM_Add_SectionRecord add", "IEM_Copy_Tag copy", "IEM_Add_TemplateQuestion add",
        "IEM_Remove_Post remove",
      ])
    let deletion = try #require(mapping.mapping(named: "IEM_Remove_Post"))
    #expect(deletion.isDeletionIntended)
    let transaction = try #require(mapping.mapping(toDestination: "Transaction"))
    #expect(transaction.condition == .sql("amount <> 0"))
    #expect(transaction.isDeletionIntended)
    #expect(
      transaction.attributes == [
        AttributeMapping(name: "amount", source: "amount"),
        AttributeMapping(
          name: "firstName", source: nil, defaultValue: .string("?"),
          expression: .sql("split_part(fullName, ' ', 1)")),
        AttributeMapping(
          name: "lastName", source: nil, expression: .sql("coalesce(rest_after(fullName, ' '), '')")
        ),
      ])
    #expect(
      mapping.mapping(named: "QuestionsToTemplate")?.children == [
        ChildMapping(
          destination: "TemplateQuestion", relationship: "questions",
          each: .sql("unarchive(questions)"),
          attributes: [
            AttributeMapping(name: "name", source: nil, expression: .sql("item")),
            AttributeMapping(name: "orderInList", source: nil, expression: .sql("position * 1000")),
            AttributeMapping(name: "type", source: nil, expression: .sql("0")),
          ])
      ])
    let day = try #require(mapping.mapping(toDestination: "DayRecord"))
    #expect(day.children.map(\.destination) == ["SectionRecord"])
    #expect(day.children[0].each == nil)
    #expect(day.children[0].children[0].attributes.count == 3)
    let maker = try #require(mapping.mapping(named: "CarToMaker"))
    #expect(maker.distinct == .sql("maker"))
    // A bare name of the same type is a copy; uuid() got its number.
    #expect(
      maker.attributes == [
        AttributeMapping(name: "identifier", source: nil, expression: .sql("uuid(1)")),
        AttributeMapping(name: "name", source: "maker"),
      ])
    #expect(maker.relationships == [RelationshipMapping(name: "cars", source: nil)])
    #expect(
      mapping.mapping(named: "CarToCar")?.relationships == [
        RelationshipMapping(name: "maker", source: "self", through: "CarToMaker")
      ])
    // Links follow whichever mapping took the objects.
    #expect(
      mapping.mapping(toDestination: "Owner")?.relationships == [
        RelationshipMapping(name: "cats", source: "cats")
      ])
    #expect(
      mapping.mapping(named: "CatToPet")?.relationships == [
        RelationshipMapping(name: "owner", source: "owner", through: "IEM_Transform_Owner")
      ])
    #expect(
      mapping.mapping(toDestination: "Recipe")?.attributes == [
        AttributeMapping(name: "portions", source: "serves")
      ])
  }

  @Test("a recipe is for the versions it names: by name, identifier, digest or checksum")
  func versions() throws {
    let (from, to) = Diary.models
    func isFor(_ names: (String, String)) throws -> Bool {
      let text = Self.recipe(
        #"{ "source": "Transaction", "destination": "Transaction" }, { "source": "Questions", "delete": true }"#
      )
      .replacing("\"old\"", with: JSONText.quoted(names.0))
      .replacing("\"new\"", with: JSONText.quoted(names.1))
      let recipe = try Recipe(text: text, path: "r.json5")
      #expect(recipe.isFor?.from == names.0)
      return try recipe.mapping(from: from, to: to, names: ("old", "new")) != nil
    }
    #expect(try isFor(("old", "new")))
    #expect(try isFor(("Diary", "Diary 2")))
    #expect(try isFor((from.versionHashesDigest, to.versionChecksum)))
    #expect(try !isFor(("Diary", "Diary")))
    #expect(try !isFor(("Diary 2", "Diary")))
    #expect(try !isFor((to.versionHashesDigest, to.versionChecksum)))
    let standIns = try Recipe(text: #"{ policies: { "App.P": { delete: true } } }"#, path: "p")
    #expect(standIns.isFor == nil)
    #expect(standIns.policies == ["App.P"])
    #expect(try standIns.mapping(from: from, to: to) == nil)
  }

  @Test("what cannot be inferred and is not mapped is refused with what to write")
  func refusal() throws {
    func error(_ text: String) -> CoreDataError? {
      #expect(throws: CoreDataError.self) { try Self.mapping(text) }
    }
    let pets = "{ source: 'Dog', destination: 'Pet' }, { source: 'Cat', destination: 'Pet' }"
    let inferred = error("{ from: 'old', to: 'new', entityMappings: [ \(pets) ] }")
    #expect(inferred?.code == 134190)
    #expect(inferred?.entity == "Car")
    #expect(inferred?.property == "year")
    #expect(
      inferred?.hint
        == #"Keep the type String, add an attribute of another name, or write in the recipe: { "source": "Car", "destination": "Car", "attributes": { "year": an expression over Car } }."#
    )
    let mapped = error(
      "{ from: 'old', to: 'new', entityMappings: [ \(pets), { source: 'Car', destination: 'Car' } ] }"
    )
    #expect(mapped?.property == "year")
    #expect(mapped?.mark != nil)
    #expect(mapped?.path == "r.json5")
    // A relationship of an attribute's name is another property: it begins empty.
    let kinds = try Self.mapping(
      "{ from: 'old', to: 'new', entityMappings: [ \(pets), { source: 'Car', destination: 'Car', attributes: { year: null } } ] }"
    )
    let car = kinds?.mapping(toDestination: "Car")
    #expect(car?.relationship(named: "maker") == RelationshipMapping(name: "maker", source: nil))
  }

  @Test("hierarchies may merge where every entity is mapped")
  func merging() throws {
    let old = try Library.model(
      """
      <model><entity name="Animal" isAbstract="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>
      <entity name="Cat" parentEntity="Animal"/>
      <entity name="Robot"><attribute name="name" optional="YES" attributeType="String"/></entity></model>
      """)
    let new = try Library.model(
      """
      <model><entity name="Thing" isAbstract="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>
      <entity name="Animal" isAbstract="YES" parentEntity="Thing"/>
      <entity name="Cat" parentEntity="Animal"/><entity name="Robot" parentEntity="Thing"/></model>
      """)
    func mapping(_ mappings: String) throws -> MappingModel? {
      try Recipe(text: "{ from: 'a', to: 'b', entityMappings: [\(mappings)] }", path: "r")
        .mapping(from: old, to: new, names: ("a", "b"))
    }
    let error = #expect(throws: CoreDataError.self) {
      try mapping("{ source: 'Cat', destination: 'Cat' }")
    }
    #expect(error?.code == 134190)
    #expect(
      error?.hint
        == #"Map every one of them in the recipe, beginning with { "source": "Robot", "destination": "Robot" }."#
    )
    let merged = try mapping(
      "{ source: 'Cat', destination: 'Cat' }, { source: 'Robot', destination: 'Robot' }")
    #expect(
      merged?.mapping(named: "RobotToRobot")?.attributes == [
        AttributeMapping(name: "name", source: "name")
      ])
  }

  struct Mistake: Sendable, CustomTestStringConvertible {
    var text: String
    var marked: String
    var message: String
    var testDescription: String { text }
  }

  static let mistakes: [Mistake] = [
    Mistake(text: "{", marked: "{", message: "“{” is not closed (line 1, column 1)"),
    Mistake(text: "{}}", marked: "}", message: "unexpected text after the end (line 1, column 3)"),
    Mistake(
      text: "[]", marked: "[]",
      message: "a recipe is an object in braces, not a list (line 1, column 1)"),
    Mistake(
      text: "{\n  form: 'a' }", marked: "form", message: "a recipe has no “form” (line 2, column 3)"
    ),
    Mistake(
      text: "{ from: 1 }", marked: "1",
      message: "“from” is text in quotes, not a number (line 1, column 9)"),
    Mistake(
      text: "{ from: 'a' }", marked: "{",
      message: "a recipe must name the version before and the version after (line 1, column 1)"),
    Mistake(
      text: "{ from: 'a', from: 'b' }", marked: "from",
      message: "the key “from” appears twice (line 1, column 14)"),
    Mistake(
      text: "{ from: 'a\n' }", marked: "'",
      message: "the text is not closed on its line (line 1, column 9)"),
    Mistake(text: "{ from: a }", marked: "a", message: "text must be in quotes (line 1, column 9)"),
    Mistake(
      text: "{ policies: { A: { source: 'x' } } }", marked: "source",
      message: "a stand-in has no “source” (line 1, column 20)"),
    Mistake(
      text: recipe("{ source: 'Catt', destination: 'Pet' }"), marked: "'Catt'",
      message: "the source model has no entity “Catt” (line 6, column 11)"),
    Mistake(
      text: recipe("{ source: 'Cat' }"), marked: "{",
      message: "the mapping does not say what its objects become (line 6, column 1)"),
    Mistake(
      text: recipe("{ source: 'Cat', destination: 'Pet', delete: true }"), marked: "{",
      message: "a deletion names the source entity alone (line 6, column 1)"),
    Mistake(
      text: recipe("{ source: 'Post', delete: true, where: 'score > 1' }"), marked: "'score > 1'",
      message: "a deletion takes all objects of its entity (line 6, column 40)"),
    Mistake(
      text: recipe("{ source: 'Cat', delete: true }"), marked: "'Cat'",
      message: "“Cat” is deleted here and mapped elsewhere (line 6, column 11)"),
    Mistake(
      text: recipe("{ source: 'Cat', destination: 'Pet' }"),
      marked: "{ source: 'Cat', destination: 'Pet' }",
      message: "two mappings are called “CatToPet” (line 6, column 1)"),
    Mistake(
      text: recipe("{ name: 'x', source: 'Cat', destination: 'Pet', attributes: { knd: '1' } }"),
      marked: "knd",
      message: "the destination entity Pet has no attribute “knd” (line 6, column 63)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', attributes: { kind: 'nme || 1' } }"),
      marked: "nme", message: "Cat has no property “nme” (line 6, column 70)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', attributes: { kind: '\\x6eme' } }"),
      marked: "'\\x6eme'", message: "Cat has no property “nme” (line 6, column 69)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', attributes: { kind: 'item' } }"),
      marked: "item", message: "Cat has no property “item” (line 6, column 70)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', attributes: { kind: 'uuid() || substr(1)' } }"
      ), marked: "substr",
      message:
        "SQLite does not take the expression: wrong number of arguments to function substr() (line 6, column 80)"
    ),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', relationships: { owner: 'ownr' } }"),
      marked: "'ownr'",
      message: "the source entity Cat has no stored relationship “ownr” (line 6, column 73)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', relationships: { owner: { from: 'owner', through: 'Nobody' } } }"
      ), marked: "'Nobody'", message: "there is no mapping “Nobody” (line 6, column 99)"),
    Mistake(
      text: recipe(
        "{ name: 'x', source: 'Cat', destination: 'Pet', relationships: { owner: { through: 'CatToPet' } } }"
      ), marked: "{ through: 'CatToPet' }",
      message:
        "a relationship takes its objects \"from\" a key path, or fetches them (line 6, column 73)"),
    Mistake(
      text: recipe(
        "{ source: 'Records', destination: 'DayRecord', attributes: { date: null }, create: [ { destination: 'Question', relationship: 'sectionRecords' } ] }"
      ), marked: "'sectionRecords'",
      message:
        "the destination of “sectionRecords” is SectionRecord, not Question (line 6, column 127)"),
    Mistake(
      text: recipe("{ destination: 'Template', attributes: { name: '1' } }"), marked: "{",
      message:
        "without a \"source\" the entity has no objects, and nothing can be computed (line 6, column 1)"
    ),
    Mistake(
      text: "{ from: 'old', to: 'new', rename: { 'Recipe.serve': 'Recipe.portions' } }",
      marked: "'Recipe.serve'",
      message: "the source entity Recipe has no property “serve” (line 1, column 37)"),
  ]

  @Test("a mistake in a recipe is marked with its line and column", arguments: mistakes)
  func mistake(_ mistake: Mistake) throws {
    let error = #expect(throws: CoreDataError.self) { try Self.mapping(mistake.text) }
    #expect(error?.kind == .usage)
    #expect(error?.message == mistake.message)
    #expect(error?.mark?.marked == mistake.marked)
    #expect(error?.path == "r.json5")
  }

  @Test("an unknown key is answered with the nearest and all that are known")
  func unknownKey() throws {
    let error = #expect(throws: CoreDataError.self) { try Self.mapping("{ form: 'a' }") }
    #expect(
      error?.hint
        == "Did you mean from? Available: from, to, entityMappings, policies, rename, userInfo.")
  }

  @Test("a file that is missing, no text or too deep is an error")
  func files() throws {
    let folder = try TemporaryFolder()
    #expect(throws: CoreDataError.self) { try Recipe(path: folder.path("none")) }
    let path = folder.path("r.json5")
    try FileSystem.write([0xFF, 0xFE, 0], to: path)
    #expect(throws: CoreDataError.self) { try Recipe(path: path) }
    try FileSystem.write(Array(String(repeating: "[", count: 100_000).utf8), to: path)
    let error = #expect(throws: CoreDataError.self) { try Recipe(path: path) }
    #expect(error?.message == "it is nested too deeply (line 1, column 101)")
    try FileSystem.write(Array(Diary.recipe.utf8), to: path)
    #expect(try Recipe(path: path).isFor?.to == "Diary 2")
  }

  @Test("a stand-in does what the class would have done")
  func standIn() throws {
    let (from, to) = Diary.models
    var mapping = try #require(
      try Self.mapping(
        Self.recipe(
          """
          { "source": "Post", "destination": "Post", "policy": "App.DeletePolicy" },
          { "source": "Transaction", "destination": "Transaction", "policy": "App.Splitter" },
          { "source": "Questions", "destination": "Template", "policy": "App.Unknown",
            "relationships": { "questions": null } }
          """
        ).replacing(
          #"{ "source": "Car", "destination": "Car""#,
          with: #"{ "policy": "App.Cars", "source": "Car", "destination": "Car""#)))
    let recipe = try Recipe(
      text: """
        { policies: {
          "App.DeletePolicy": { delete: true },
          "App.Splitter": { where: "amount > 0", attributes: { lastName: "fullName" } },
          "App.Cars": { relationships: { maker: { from: "self", through: "CarToMaker" } },
            also: [ { destination: "Maker", distinct: "maker", attributes: { name: "maker" } } ] },
        } }
        """, path: "p")
    try recipe.standIn(in: &mapping, from: from, to: to)
    let post = try #require(mapping.mapping(named: "PostToPost"))
    #expect(post.kind == .remove)
    #expect(post.isDeletionIntended && post.destination == nil && post.policy == nil)
    #expect(mapping.mapping(toDestination: "Post")?.name == "IEM_Add_Post")
    let transaction = try #require(mapping.mapping(toDestination: "Transaction"))
    #expect(transaction.condition == .sql("amount > 0"))
    #expect(
      transaction.attributes.first { $0.name == "lastName" }
        == AttributeMapping(name: "lastName", source: "fullName"))
    #expect(transaction.attributes.contains { $0.name == "amount" && $0.source == "amount" })
    // The mapping by which Maker began without objects gives way.
    #expect(mapping.mapping(toDestination: "Maker")?.distinct == .sql("maker"))
    #expect(mapping.mapping(named: "IEM_Add_Maker") == nil)
    #expect(mapping.mapping(named: "CarToCar")?.relationships.first?.through == "CarToMaker")
    #expect(mapping.mapping(named: "QuestionsToTemplate")?.policy == "App.Unknown")
  }
}
