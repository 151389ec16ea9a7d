import ManagedStore
import ModelWriting
import SQLite
import TestSupport

@testable import Mapping
@testable import Migration

/// A diary in two versions that no mapping can be inferred between, and a store of the first one:
/// what the recipe format was made for.
enum Diary {
  static let version1 = """
    <model userDefinedModelVersionIdentifier="Diary">
    <entity name="Author">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boss" optional="YES" maxCount="1" destinationEntity="Author" inverseName="staff"/>
      <relationship name="staff" optional="YES" toMany="YES" destinationEntity="Author" inverseName="boss"/>
      <relationship name="posts" optional="YES" toMany="YES" destinationEntity="Post" inverseName="author"/>
    </entity>
    <entity name="Post">
      <attribute name="end" optional="YES" attributeType="Date"/>
      <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="score" optional="YES" attributeType="Integer 16"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="posts"/>
      <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="posts"/>
    </entity>
    <entity name="Tag">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="posts" optional="YES" toMany="YES" destinationEntity="Post" inverseName="tags"/>
    </entity>
    <entity name="Transaction">
      <attribute name="amount" optional="YES" attributeType="Decimal"/>
      <attribute name="fullName" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Questions">
      <attribute name="questions" optional="YES" attributeType="Transformable"/>
    </entity>
    <entity name="Records">
      <attribute name="answers" optional="YES" attributeType="Transformable"/>
      <attribute name="date" optional="YES" attributeType="String"/>
      <attribute name="questions" optional="YES" attributeType="Transformable"/>
    </entity>
    <entity name="Cat"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Owner" inverseName="cats"/></entity>
    <entity name="Dog"><attribute name="name" optional="YES" attributeType="String"/></entity>
    <entity name="Owner"><relationship name="cats" optional="YES" toMany="YES" destinationEntity="Cat" inverseName="owner"/></entity>
    <entity name="Recipe"><attribute name="serves" optional="YES" attributeType="Integer 16"/></entity>
    <entity name="Car">
      <attribute name="maker" optional="YES" attributeType="String"/>
      <attribute name="year" optional="YES" attributeType="String"/>
    </entity>
    </model>
    """

  static let version2 = """
    <model userDefinedModelVersionIdentifier="Diary 2">
    <entity name="Author">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boss" optional="YES" maxCount="1" destinationEntity="Author" inverseName="staff"/>
      <relationship name="staff" optional="YES" toMany="YES" destinationEntity="Author" inverseName="boss"/>
      <relationship name="posts" optional="YES" toMany="YES" destinationEntity="Post" inverseName="author"/>
    </entity>
    <entity name="Post">
      <attribute name="end" optional="YES" attributeType="Date"/>
      <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="score" optional="YES" attributeType="Integer 16"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="posts"/>
      <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="posts"/>
    </entity>
    <entity name="Tag">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="posts" optional="YES" toMany="YES" destinationEntity="Post" inverseName="tags"/>
    </entity>
    <entity name="Transaction">
      <attribute name="amount" optional="YES" attributeType="Decimal"/>
      <attribute name="firstName" attributeType="String" defaultValueString="?"/>
      <attribute name="lastName" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Template">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="orderInList" optional="YES" attributeType="Integer 64"/>
      <relationship name="questions" optional="YES" toMany="YES" destinationEntity="TemplateQuestion" inverseName="template"/>
    </entity>
    <entity name="TemplateQuestion">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="orderInList" optional="YES" attributeType="Integer 64"/>
      <attribute name="type" optional="YES" attributeType="Integer 16"/>
      <relationship name="template" optional="YES" maxCount="1" destinationEntity="Template" inverseName="questions"/>
    </entity>
    <entity name="DayRecord">
      <attribute name="date" optional="YES" attributeType="Date"/>
      <relationship name="sectionRecords" optional="YES" toMany="YES" destinationEntity="SectionRecord" inverseName="day"/>
    </entity>
    <entity name="SectionRecord">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="sortField" optional="YES" attributeType="String"/>
      <relationship name="day" optional="YES" maxCount="1" destinationEntity="DayRecord" inverseName="sectionRecords"/>
      <relationship name="questions" optional="YES" toMany="YES" destinationEntity="Question" inverseName="section"/>
    </entity>
    <entity name="Question">
      <attribute name="answerText" optional="YES" attributeType="String"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="orderInList" optional="YES" attributeType="Integer 64"/>
      <relationship name="section" optional="YES" maxCount="1" destinationEntity="SectionRecord" inverseName="questions"/>
    </entity>
    <entity name="Pet"><attribute name="kind" optional="YES" attributeType="String"/><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Owner" inverseName="cats"/></entity>
    <entity name="Owner"><relationship name="cats" optional="YES" toMany="YES" destinationEntity="Pet" inverseName="owner"/></entity>
    <entity name="Recipe"><attribute name="portions" optional="YES" attributeType="Integer 16"/></entity>
    <entity name="Car">
      <attribute name="year" optional="YES" attributeType="Integer 16"/>
      <relationship name="maker" optional="YES" maxCount="1" destinationEntity="Maker" inverseName="cars"/>
    </entity>
    <entity name="Maker">
      <attribute name="identifier" optional="YES" attributeType="UUID"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="maker"/>
    </entity>
    </model>
    """

  /// The recipe of the design, with cars, whose makers become objects.
  static let recipe = """
    {
      "from": "Diary", "to": "Diary 2",                 // version names or hashes
      "entityMappings": [
        // 1. Delete all objects of an entity
        { "source": "Post", "delete": true },

        // 2. Split a value, drop and keep rows by condition
        { "source": "Transaction", "destination": "Transaction", "where": "amount <> 0",
          "attributes": { "firstName": "split_part(fullName, ' ', 1)",
                          "lastName":  "coalesce(rest_after(fullName, ' '), '')" } },

        // 3. One row becomes a tree
        { "name": "QuestionsToTemplate", "source": "Questions", "destination": "Template",
          "attributes": { "name": "'Main category'", "orderInList": "0" },
          "create": [ { "destination": "TemplateQuestion", "relationship": "questions",
                        "each": "unarchive(questions)",
                        "attributes": { "name": "item", "orderInList": "position * 1000", "type": "0" } } ] },

        { "name": "RecordsToDayRecord", "source": "Records", "destination": "DayRecord",
          "attributes": { "date": "parse_date(date, 'yyyy-MM-dd')" },
          "create": [ { "destination": "SectionRecord", "relationship": "sectionRecords",
              "attributes": { "name": "'Main category'", "sortField": "format_date(parse_date(date,'yyyy-MM-dd'),'yyyyMMdd') || '1000000000'" },
              "create": [ { "destination": "Question", "relationship": "questions", "each": "unarchive(questions)",
                            "attributes": { "name": "item", "orderInList": "position * 1000",
                                            "answerText": "text_or_null(element(unarchive(answers), position))" } } ] } ] },

        // 4. Two entities become one; relationships follow the mapping that took their objects
        { "source": "Cat", "destination": "Pet", "attributes": { "kind": "'cat'" } },
        { "source": "Dog", "destination": "Pet", "attributes": { "kind": "'dog'" } },

        // 5. One object per different value
        { "source": "Car", "destination": "Maker", "distinct": "maker",
          "attributes": { "name": "maker", "identifier": "uuid()" },
          "relationships": { "cars": null } },
        { "source": "Car", "destination": "Car", "attributes": { "year": "CAST(year AS INTEGER)" },
          "relationships": { "maker": { "from": "self", "through": "CarToMaker" } } },
      ],
      "policies": { "App.DeleteObjectsMigrationPolicy": { "delete": true } },
      "rename": { "Recipe.serves": "Recipe.portions" },
      "userInfo": { "modelVersion": 2 }
    }
    """

  static let models: (from: Model, to: Model) = {
    do {
      return (try Library.model(version1), try Library.model(version2))
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  static func archive(_ texts: [String?]) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    let null = writer.add(class: ["NSNull", "NSObject"], [:])
    let elements = texts.map { $0 == nil ? null : writer.string($0) }
    let root = writer.array(elements)
    return writer.bytes(root: root)
  }

  static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Diary.sqlite")
    let writer = try StoreWriter(
      creating: path, model: models.from, uuid: "11111111-2222-4333-8444-555555555555")
    let ann = try writer.insert("Author", attributes: ["name": .string("Ann")])
    let bo = try writer.insert("Author", attributes: ["name": .string("Bo")], toOne: ["boss": ann])
    let red = try writer.insert("Tag", attributes: ["name": .string("red")])
    let blue = try writer.insert("Tag", attributes: ["name": .string("blue")])
    try writer.insert(
      "Post",
      attributes: [
        "title": .string("One"), "score": .integer(3), "photo": .bytes([1, 2, 3]), "end": .date(60),
      ], toOne: ["author": bo], toMany: ["tags": [red, blue]])
    try writer.insert(
      "Post",
      attributes: [
        "title": .string("O'Two"), "photo": .bytes([UInt8](repeating: 9, count: 200_000)),
      ], toOne: ["author": ann])
    try writer.insert("Post")
    for (name, amount) in [("Ada Lovelace", "1.5"), ("Plato", "0"), ("A B C", "-2")] {
      try writer.insert(
        "Transaction", attributes: ["fullName": .string(name), "amount": .decimal(amount)])
    }
    try writer.insert("Questions", attributes: ["questions": .bytes(archive(["Why?", "How \"?"]))])
    try writer.insert(
      "Records",
      attributes: [
        "date": .string("2024-03-01"), "questions": .bytes(archive(["Why?", "How?"])),
        "answers": .bytes(archive([nil, "So."])),
      ])
    try writer.insert(
      "Records", attributes: ["date": .string("soon"), "questions": .bytes([1, 2, 3])])
    let owner = try writer.insert("Owner")
    try writer.insert("Cat", attributes: ["name": .string("Tom")], toOne: ["owner": owner])
    try writer.insert("Dog", attributes: ["name": .string("Rex")])
    try writer.insert("Recipe", attributes: ["serves": .integer(4)])
    for maker in ["Saab", "Volvo", "Saab"] {
      try writer.insert("Car", attributes: ["maker": .string(maker), "year": .string("1999")])
    }
    try writer.finish()
    return path
  }
}

/// A store attached as a migration attaches it, on which expressions run.
final class ExpressionBench {
  let folder: TemporaryFolder
  let store: Store
  let connection: Connection

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(path: Diary.store(in: folder))
    connection = try Self.connection(to: store)
  }

  static func connection(to store: Store) throws -> Connection {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.run("ATTACH DATABASE ? AS src", [.text(store.connection.uri)])
    try ExternalContent.define(
      on: connection, files: store.files, storeUUID: store.metadata.uuid)
    return connection
  }

  /// The values of an expression on every object of an entity.
  func values(
    _ text: String, of entity: String, variables: [String: String] = [:], from: String = ""
  ) throws -> [Value] {
    let scope = ExpressionScope(store: store, entity: entity, variables: variables)
    let table = store.table(of: entity)
    try scope.check(recipe: text)
    let compiled = try scope.compile(recipe: text)
    return try connection.rows(
      """
      SELECT \(compiled.sql) FROM src.\(quoted(table?.table ?? "")) s\(from)
      WHERE s.Z_ENT = \(table?.entityID ?? 0) ORDER BY s.Z_PK
      """
    ).map { $0.first ?? .null }
  }
}
