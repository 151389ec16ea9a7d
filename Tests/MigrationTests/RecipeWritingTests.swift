import ManagedModel
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Writing recipes")
struct RecipeWritingTests {
  static func text(_ mapping: MappingModel) -> String {
    Recipe.text(
      of: mapping, from: "Diary", to: "Diary 2", source: Diary.models.from,
      destination: Diary.models.to)
  }

  static func read(_ text: String) throws -> MappingModel? {
    try Recipe(text: text, path: "r").mapping(from: Diary.models.from, to: Diary.models.to)
  }

  @Test("the recipe of the design is written and read again")
  func design() throws {
    let mapping = try #require(try Self.read(Diary.recipe))
    let text = Self.text(mapping)
    #expect(text == Self.expected)
    #expect(try Self.read(text) == mapping)
  }

  @Test("an inferred mapping is a recipe of comments")
  func inferred() throws {
    let from = try Library.model(Library.version1)
    let to = try Library.model(replacing: [
      (#"<attribute name="label""#, #"<attribute name="sign" elementID="label""#),
      (#"<entity name="Loan">"#, #"<entity name="Lending">"#),
    ])
    let mapping = try MappingInference.mapping(from: from, to: to)
    let text = Recipe.text(of: mapping, from: "1", to: "two\n\"2\"", source: from, destination: to)
    #expect(
      text == """
        // How objects of 1 become objects of "two\\n\\"2\\"".
        // The rest is inferred, and need not be written.
        //   Author: copied
        //   Book: copied
        //   Chapter: copied
        //   Lending: new, without objects
        //   Manual: copied
        //   Novel: copied
        //   Shelf: sign from label
        //   Loan: removed; { "source": "Loan", "delete": true } says that this is intended
        { "from": "1", "to": "two\\n\\"2\\"" }

        """)
    let read = try Recipe(text: text, path: "r").mapping(
      from: from, to: to, names: ("1", "two\n\"2\""))
    #expect(read?.entityMappings == mapping.entityMappings)
  }

  @Test("whatever a mapping model can hold is read as it was written")
  func everything() throws {
    var mapping = try #require(try Self.read(Diary.recipe))
    mapping.userInfo = ["a": .array([.null, .boolean(true), .real(1.5)]), "b": .dictionary([:])]
    func change(_ name: String, _ body: (inout EntityMapping) -> Void) throws {
      let index = try #require(mapping.entityMappings.firstIndex { $0.name == name })
      body(&mapping.entityMappings[index])
    }
    try change("TransactionToTransaction") { transaction in
      transaction.name = "Money"
      transaction.kind = .custom
      transaction.policy = "App.Policy"
      transaction.userInfo = ["x": .integer(1)]
      transaction.condition = .predicate("amount > 0")
      transaction.isDeletionIntended = false
      transaction.attributes[0].defaultValue = .decimal("1.5")
      transaction.attributes[1].defaultValue = nil
      transaction.attributes[2].expression = .sql("fullName")
    }
    try change("CarToMaker") { maker in
      maker.attributes[1] = AttributeMapping(
        name: "name", source: nil,
        expression: ValueExpression(
          .expression(
            .function("uppercase:", receiver: nil, arguments: [.keyPath("maker", of: nil)]))))
      maker.relationships[0].fetched = "Car"
      maker.relationships[0].condition = .sql("year = '1999'")
    }
    try change("IEM_Remove_Post") { $0.isDeletionIntended = false }
    try change("IEM_Transform_Recipe") { recipe in
      recipe.attributes[0].source = nil
      recipe.attributes[0].defaultValue = .integer(7)
    }
    let text = Self.text(mapping)
    #expect(!text.hasPrefix("// Not everything"))
    #expect(try Self.read(text) == mapping)
  }

  @Test("what no recipe can say is admitted")
  func unsayable() throws {
    var mapping = try #require(try Self.read(Diary.recipe))
    mapping.entityMappings.append(
      EntityMapping(name: "Odd", kind: .copy, source: "Nothing", destination: "Nowhere"))
    #expect(
      Self.text(mapping).hasPrefix(
        "// Not everything in this mapping can be expressed in a recipe.\n"))
  }

  @Test(
    "every inferred mapping of real models is read as it was written",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    var count = 0
    for bundle in [
      "moody/Moody.xcdatamodeld", "wire/zmessaging.xcdatamodeld",
      "bookmigration/Model.xcdatamodeld",
    ] {
      let versions = try ModelBundle(readingFrom: Fixtures.path(bundle)).versions
      let models = versions.suffix(12).compactMap { version in
        (try? version.model).map { (version.name, $0) }
      }
      for (old, new) in zip(models, models.dropFirst()) {
        guard let mapping = try? MappingInference.mapping(from: old.1, to: new.1),
          mapping.kind != .none
        else { continue }
        let text = Recipe.text(
          of: mapping, from: old.0, to: new.0, source: old.1, destination: new.1)
        let read = try Recipe(text: text, path: "r").mapping(
          from: old.1, to: new.1, names: (old.0, new.0))
        #expect(read?.entityMappings == mapping.entityMappings, "\(bundle) \(old.0)")
        count += 1
      }
    }
    #expect(count > 10)
  }

  static let expected = """
    // How objects of Diary become objects of Diary 2.
    // The rest is inferred, and need not be written.
    //   Author: copied
    //   Owner: copied
    //   Post: new, without objects
    //   Question: new, without objects
    //   Recipe: portions from serves
    //   SectionRecord: new, without objects
    //   Tag: copied
    //   TemplateQuestion: new, without objects
    {
      "from": "Diary",
      "to": "Diary 2",
      "entityMappings": [
        {
          "source": "Transaction",
          "destination": "Transaction",
          "where": "amount <> 0",
          "attributes": {
            "firstName": "split_part(fullName, ' ', 1)",
            "lastName": "coalesce(rest_after(fullName, ' '), '')",
          },
        },
        {
          "source": "Questions",
          "destination": "Template",
          "attributes": { "name": "'Main category'", "orderInList": "0" },
          "create": [
            {
              "destination": "TemplateQuestion",
              "relationship": "questions",
              "each": "unarchive(questions)",
              "attributes": { "name": "item", "orderInList": "position * 1000", "type": "0" },
            },
          ],
        },
        {
          "source": "Records",
          "destination": "DayRecord",
          "attributes": { "date": "parse_date(date, 'yyyy-MM-dd')" },
          "create": [
            {
              "destination": "SectionRecord",
              "relationship": "sectionRecords",
              "attributes": {
                "name": "'Main category'",
                "sortField": "format_date(parse_date(date,'yyyy-MM-dd'),'yyyyMMdd') || '1000000000'",
              },
              "create": [
                {
                  "destination": "Question",
                  "relationship": "questions",
                  "each": "unarchive(questions)",
                  "attributes": {
                    "name": "item",
                    "orderInList": "position * 1000",
                    "answerText": "text_or_null(element(unarchive(answers), position))",
                  },
                },
              ],
            },
          ],
        },
        { "source": "Cat", "destination": "Pet", "attributes": { "kind": "'cat'" } },
        { "source": "Dog", "destination": "Pet", "attributes": { "kind": "'dog'" } },
        {
          "source": "Car",
          "destination": "Maker",
          "distinct": "maker",
          "attributes": { "identifier": "uuid(1)", "name": "maker" },
        },
        {
          "source": "Car",
          "destination": "Car",
          "attributes": { "year": "CAST(year AS INTEGER)" },
          "relationships": { "maker": { "from": "self", "through": "CarToMaker" } },
        },
        { "source": "Post", "delete": true },
      ],
      "rename": { "Recipe.serves": "Recipe.portions" },
      "userInfo": { "modelVersion": 2 },
    }

    """
}
