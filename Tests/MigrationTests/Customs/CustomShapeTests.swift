import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// What real mapping models and policy classes brought to light, on stores that the tests make.
@Suite("Shapes of custom migrations")
struct CustomShapeTests {
  static let before = """
    <model userDefinedModelVersionIdentifier="1">
    <entity name="Country">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cities" optional="YES" toMany="YES" destinationEntity="City" inverseName="country"/>
    </entity>
    <entity name="City">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="cities"/>
      <relationship name="country" optional="YES" maxCount="1" destinationEntity="Country" inverseName="cities"/>
    </entity>
    <entity name="Car">
      <attribute name="maker" optional="YES" attributeType="String"/>
      <relationship name="cities" optional="YES" toMany="YES" destinationEntity="City" inverseName="cars"/>
    </entity>
    <entity name="Van" parentEntity="Car"/>
    </model>
    """

  static let after = """
    <model userDefinedModelVersionIdentifier="2">
    <entity name="Country">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="countries"/>
      <relationship name="cities" optional="YES" toMany="YES" destinationEntity="City" inverseName="country"/>
    </entity>
    <entity name="City">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="cities"/>
      <relationship name="country" optional="YES" maxCount="1" destinationEntity="Country" inverseName="cities"/>
    </entity>
    <entity name="Car">
      <relationship name="cities" optional="YES" toMany="YES" destinationEntity="City" inverseName="cars"/>
      <relationship name="countries" optional="YES" toMany="YES" destinationEntity="Country" inverseName="cars"/>
      <relationship name="label" optional="YES" maxCount="1" destinationEntity="Label" inverseName="car"/>
      <relationship name="madeBy" optional="YES" maxCount="1" destinationEntity="Maker" inverseName="cars"/>
    </entity>
    <entity name="Van" parentEntity="Car"/>
    <entity name="Label">
      <attribute name="code" attributeType="String"/>
      <attribute name="number" optional="YES" attributeType="UUID"/>
      <attribute name="text" optional="YES" attributeType="String"/>
      <relationship name="car" optional="YES" maxCount="1" destinationEntity="Car" inverseName="label"/>
    </entity>
    <entity name="Maker">
      <attribute name="name" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="madeBy"/>
      <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
    </entity>
    </model>
    """

  private static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Cars.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Library.model(before), uuid: "11111111-2222-4333-8444-555555555555")
    let makers = ["Saab", "Volvo", nil, "Saab", "Fiat"]
    let cars = try makers.enumerated().map { index, maker in
      try writer.insert(
        index < 3 ? "Car" : "Van", attributes: maker.map { ["maker": .string($0)] } ?? [:])
    }
    let land = try writer.insert("Country", attributes: ["name": .string("Land")])
    let other = try writer.insert("Country", attributes: ["name": .string("Other")])
    for (country, own) in [(land, [0, 3]), (land, [0, 1]), (other, [4])] {
      try writer.insert("City", toOne: ["country": country], toMany: ["cars": own.map { cars[$0] }])
    }
    try writer.finish()
    return path
  }

  private static func migrated(
    _ mappings: String, in folder: TemporaryFolder, allowed: Set<String> = []
  ) throws -> NamedStore {
    let recipe = try Recipe(
      text: #"{ from: "1", to: "2", entityMappings: [ \#(mappings) ] }"#, path: "recipe")
    var documents = MappingDocuments()
    documents.add(recipe)
    let store = try Store(path: store(in: folder))
    let plan = try store.plan(to: Library.model(after), names: ("1", "2"), documents: documents)
    #expect(plan.failures == [])
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    options.allowedLosses = allowed
    _ = try StoreMigration.runAndRead(plan, options: options)
    return try NamedStore(Store(path: folder.path("out.sqlite")), by: ["Maker": "name"])
  }

  @Test("a maker that cars of two entities name is one object")
  func sharedDistinct() throws {
    let folder = try TemporaryFolder()
    let after = try Self.migrated(
      """
      { source: "Car", destination: "Maker", distinct: "maker", attributes: { name: "maker" },
        relationships: { cars: null } },
      { source: "Van", destination: "Maker", distinct: "maker", attributes: { name: "maker" },
        relationships: { cars: null } },
      { source: "Car", destination: "Car", relationships: { madeBy: "self", label: null, countries: null } },
      { source: "Van", destination: "Van", relationships: { madeBy: "self", label: null, countries: null } },
      { source: "Country", destination: "Country", relationships: { cars: null } }
      """, in: folder)
    #expect(after.names(of: "Maker") == ["Maker/Fiat", "Maker/Saab", "Maker/Volvo"])
    #expect(after.objects["Maker/Saab"]?["cars"] == "Car/p1, Van/p4")
    #expect(after.objects["Maker/Fiat"]?["cars"] == "Van/p5")
    #expect(after.objects["Car/p3"]?["madeBy"] == "")
  }

  @Test("a key path through two to-manys links each object once")
  func pathOfToManys() throws {
    let folder = try TemporaryFolder()
    let after = try Self.migrated(
      """
      { source: "Country", destination: "Country", relationships: { cars: "cities.cars" } }
      """, in: folder, allowed: ["Car.maker"])
    #expect(after.objects["Country/p1"]?["cars"] == "Car/p1, Car/p2, Van/p4")
    #expect(after.objects["Country/p2"]?["cars"] == "Van/p5")
    #expect(after.objects["Car/p1"]?["countries"] == "Country/p1")
    #expect(after.objects["Car/p3"]?["countries"] == "")
  }

  @Test("a key path through a to-many and back leads to the objects themselves")
  func pathBack() throws {
    let folder = try TemporaryFolder()
    let after = try Self.migrated(
      """
      { source: "Car", destination: "Car",
        relationships: { countries: "cities.country", label: null, madeBy: null } },
      { source: "Van", destination: "Van",
        relationships: { countries: "cities.country", label: null, madeBy: null } },
      { source: "Country", destination: "Country", relationships: { cars: null } }
      """, in: folder, allowed: ["Car.maker"])
    #expect(after.objects["Car/p1"]?["countries"] == "Country/p1")
    #expect(after.objects["Country/p1"]?["cars"] == "Car/p1, Car/p2, Van/p4")
  }

  @Test("one object hangs on each by a one-to-one, and uuid() is text in a String")
  func oneToOneTree() throws {
    let folder = try TemporaryFolder()
    let label = """
      create: [ { destination: "Label", relationship: "label",
        attributes: { code: "uuid()", number: "uuid()", text: "maker" } } ],
      relationships: { madeBy: null, countries: null }
      """
    let after = try Self.migrated(
      """
      { source: "Car", destination: "Car", \(label) }, { source: "Van", destination: "Van", \(label) },
      { source: "Country", destination: "Country", relationships: { cars: null } }
      """, in: folder)
    #expect(after.names(of: "Label").count == 5)
    for car in after.names(of: "Car") + after.names(of: "Van") {
      let label = try #require(after.objects[after.objects[car]?["label"] ?? ""])
      #expect(label["car"] == car)
      #expect(UUIDText.bytes(label["code"] ?? "") != nil)
      #expect(label["number"]?.count == 32)
    }
  }

  @Test("bytes that are computed for a String are told before anything runs")
  func wrongType() throws {
    let folder = try TemporaryFolder()
    var documents = MappingDocuments()
    documents.add(
      try Recipe(
        text: """
          { from: "1", to: "2", entityMappings: [
            { source: "City", destination: "City", attributes: { name: "uuid_from(name)" } },
            { source: "Country", destination: "Country", relationships: { cars: null } },
            { source: "Car", destination: "Car", relationships: { madeBy: null, countries: null },
              create: [ { destination: "Label", relationship: "label",
                attributes: { code: "uuid_from(maker)", number: "'none'" } } ] } ] }
          """, path: "recipe"))
    let plan = try Store(path: Self.store(in: folder)).plan(
      to: Library.model(Self.after), names: ("1", "2"),
      documents: documents)
    #expect(
      plan.failures.map { "\($0.entity).\($0.property ?? "") \($0.summary)" } == [
        "Label.code missing values on a mandatory destination attribute, in 1 row (134110)",
        "Label.code values that are not of type String, in 2 rows (134110)",
        "Label.number values that are not of type UUID, in 3 rows (134110)",
      ])
  }

  @Test("a value at the end of a to-many is refused for what it is")
  func valueOfMany() throws {
    let folder = try TemporaryFolder()
    let scope = ExpressionScope(store: try Store(path: Self.store(in: folder)), entity: "City")
    let error = #expect(throws: CoreDataError.self) { try scope.value(of: ["country", "cities"]) }
    #expect(error?.message == "the relationship is to-many and has no single value")
    #expect(error?.hint == "Use count(country.cities).")
  }

  @Test("a store of before the model cache is copied as well as altered", arguments: Way.allCases)
  func noModelCache(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    let model = try Library.model(Self.before)
    let store = try Store(path: path, model: model)
    #expect(store.modelSource == .file)
    let next = try Library.model(
      Self.before.replacing(
        "<entity name=\"Van\" parentEntity=\"Car\"/>",
        with:
          "<entity name=\"Van\" parentEntity=\"Car\"><attribute name=\"load\" optional=\"YES\" attributeType=\"Double\"/></entity>"
      ))
    let plan = try way.plan(store, to: next)
    _ = try StoreMigration.runAndRead(plan)
    let after = try Store(path: path)
    #expect(after.modelSource == .store && after.modelMatches)
    #expect(try after.counts() == ["Car": 3, "Van": 2, "City": 3, "Country": 2])
  }

  @Test("a new mandatory to-many may begin empty, as Core Data lets it; saving is another matter")
  func mandatoryToMany() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.store(in: folder))
    let next = try Library.model(
      Self.before.replacing(
        "<entity name=\"Van\" parentEntity=\"Car\"/>",
        with: """
          <entity name="Van" parentEntity="Car">
          <relationship name="notes" toMany="YES" destinationEntity="Note" inverseName="van"/></entity>
          <entity name="Note">
          <relationship name="van" maxCount="1" destinationEntity="Van" inverseName="notes"/></entity>
          """))
    let plan = try store.plan(to: next, names: ("1", "2"))
    #expect(plan.failures == [])
    #expect(
      plan.checks.map { "\($0.entity).\($0.property ?? "") \($0.code) \($0.rows)" } == [
        "Van.notes 1570 2"
      ])
    _ = try StoreMigration.runAndRead(plan)
    #expect(try Store(path: store.path).counts()["Van"] == 2)
  }

  @Test("mapping models for one pair are one migration unless they speak of the same objects")
  func passes() throws {
    let (from, to) = try MappingSamples.models()
    var company = MappingSamples.Mapping("C", source: "Company", destination: "Company")
    company.attributes = [("name", "$source.name")]
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    person.attributes = [("title", "$source.name")]
    var documents = MappingDocuments()
    for (mapping, path) in [(company, "one.cdm"), (person, "two.cdm")] {
      documents.add(
        try MappingModelDocument(
          bytes: MappingSamples.compiled([mapping], from: from, to: to), path: path))
    }
    let both = try documents.mapping(from: from, to: to, names: ("1", "2"))
    #expect(both?.kind == .mapping && both?.entityMappings.map(\.name) == ["C", "P"])
    documents.add(
      try MappingModelDocument(
        bytes: MappingSamples.compiled([person], from: from, to: to), path: "three.cdm"))
    let error = #expect(throws: CoreDataError.self) {
      try documents.mapping(from: from, to: to, names: ("1", "2"))
    }
    #expect(
      error?.message == "two mappings are for the same pair of versions: one.cdm and three.cdm")
  }
}
