import Files
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Mapping models from files")
struct MappingModelDocumentTests {
  @Test("both formats give the same mapping, in the order of its numbers")
  func formats() throws {
    let (before, after) = try MappingSamples.models()
    let compiled = try MappingModelDocument(
      bytes: MappingSamples.compiled(from: before, to: after)
    ).mapping(from: before, to: after)
    var mapping = try #require(compiled)
    let document = try MappingModelDocument(
      bytes: MappingSamples.document(models: (before, after))
    ).mapping(from: before, to: after)
    #expect(mapping.entityMappings.allSatisfy { $0.userInfo == ["step": .integer(2)] })
    #expect(
      mapping.entityMappings.first?.condition?.form
        == .predicate("age > 17 OR name BEGINSWITH \"X\""))
    // Of user info and predicates the document says nothing.
    for index in mapping.entityMappings.indices {
      mapping.entityMappings[index].userInfo = [:]
      mapping.entityMappings[index].condition = nil
    }
    var other = try #require(document)
    // A blank attribute of a compiled mapping is untouched; of a document, the one of its name.
    #expect(other.entityMappings[0].attributes[1] == mapping.entityMappings[0].attributes[1])
    other.kind = .mapping
    #expect(mapping == other)
    #expect(mapping.entityMappings.map(\.name) == ["PersonToHuman", "CompanyToCompany", "Note"])
    #expect(mapping.entityMappings.map(\.kind) == [.transform, .custom, .add])
  }

  @Test("what is plainly a source property is one, and what is not stays an expression")
  func properties() throws {
    let mapping = try Self.mapping(MappingSamples.mappings)
    let human = try #require(mapping.mapping(named: "PersonToHuman"))
    #expect(human.attributes.map(\.name) == ["age", "rank", "title"])
    #expect(
      human.attributes[0].expression?.form == .expression(try Expression(format: "$source.age + 1"))
    )
    #expect(
      human.attributes[1] == AttributeMapping(name: "rank", source: nil, defaultValue: .integer(3)))
    #expect(human.attributes[2] == AttributeMapping(name: "title", source: "name"))
    #expect(
      human.relationships == [
        RelationshipMapping(name: "employer", source: "employer", through: "CompanyToCompany"),
        RelationshipMapping(name: "peers", source: "boss.reports", through: "PersonToHuman"),
        RelationshipMapping(name: "peersOf", source: nil),
      ])
    #expect(
      mapping.mapping(named: "CompanyToCompany")?.relationships == [
        RelationshipMapping(name: "staff", source: "staff")
      ])
    #expect(
      mapping.mapping(named: "Note")?.attributes == [
        AttributeMapping(name: "text", source: nil, defaultValue: .string("empty"))
      ])
  }

  @Test("an attribute of another type is computed, since it may have to be converted")
  func otherType() throws {
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    person.attributes = [("rank", "$source.score"), ("age", "$source.age")]
    let attributes = try Self.mapping([person]).entityMappings[0].attributes
    #expect(attributes[0] == AttributeMapping(name: "age", source: "age"))
    #expect(attributes[1].expression?.form == .expression(try Expression(format: "$source.score")))
    #expect(attributes[1].source == nil && attributes[1].defaultValue == nil)
  }

  @Test("a nil value is nil, and not the default")
  func nilValue() throws {
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    person.attributes = [("rank", "nil")]
    let mapping = try Self.mapping([person])
    #expect(
      mapping.entityMappings[0].attributes[1] == AttributeMapping(name: "rank", source: nil))
  }

  @Test("the source object itself, a fetch and a single element lead to objects")
  func objects() throws {
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    let fetch =
      "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Person\", \"age > 3\"), $manager.sourceContext, NO)"
    person.relationships = [
      ("peers", MappingSamples.objects("P", "$source")),
      ("peersOf", MappingSamples.objects("P", fetch)),
    ]
    let relationships = try Self.mapping([person]).entityMappings[0].relationships
    var fetched = RelationshipMapping(name: "peersOf", source: nil, through: "P")
    fetched.fetched = "Person"
    fetched.condition = .predicate("age > 3")
    #expect(
      relationships == [
        RelationshipMapping(name: "employer", source: nil),
        RelationshipMapping(
          name: "peers", source: RelationshipMapping.ofSourceObject, through: "P"),
        fetched,
      ])
  }

  @Test("a relationship that only the policy can make keeps its expression")
  func policyRelationship() throws {
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    person.relationships = [("peers", "FUNCTION($entityPolicy, \"peersOf:\", $source)")]
    let peers = try Self.mapping([person]).entityMappings[0].relationships[1]
    #expect(peers.source == nil)
    guard case .expression(let expression)? = peers.condition?.form else {
      Issue.record("no expression")
      return
    }
    #expect("\(expression)" == "FUNCTION($entityPolicy, \"peersOf:\", $source)")
  }

  @Test(
    "what cannot be understood is refused, with the mapping and the property",
    arguments: [
      ("peers", MappingSamples.objects("Nobody", "$source.boss"), ", which does not exist"),
      ("peers", MappingSamples.objects("P", "$source.friend"), "follows “friend”"),
      ("peers", "$source.boss", "not understood: $source.boss"),
      ("peers", "FUNCTION($manager, \"somethingElse:\", $source)", "not understood"),
      ("wings", "$source.boss", "does not have"),
    ])
  func refusals(property: String, expression: String, message: String) throws {
    var person = MappingSamples.Mapping("P", source: "Person", destination: "Human")
    person.relationships = [(property, expression)]
    let error = #expect(throws: CoreDataError.self) { try Self.mapping([person]) }
    #expect(error?.kind == .refused && error?.code == 134110)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("“P”") == true)
    #expect(error?.entity == "Human" && error?.property == property)
  }

  @Test("a document without models goes by names, and fills in what Xcode would")
  func names() throws {
    let (before, after) = try MappingSamples.models()
    var person = MappingSamples.Mapping("", source: "Person", destination: "Human")
    person.attributes = [("age", nil), ("title", "$source.name"), ("rank", nil)]
    person.relationships = [("employer", nil), ("peers", nil)]
    var company = MappingSamples.Mapping("", source: "Company", destination: "Company")
    company.attributes = [("name", nil)]
    company.relationships = [("staff", nil)]
    let document = try MappingModelDocument(
      bytes: MappingSamples.document([person, company], models: nil))
    #expect(document.fits(from: before, to: after))
    #expect(
      document.misfit(from: after, to: after) == "the source model has no entity “Person”")
    #expect(
      document.misfit(from: before, to: before)
        == "the destination model has no entity “Human”")
    let mapping = try #require(try document.mapping(from: before, to: after))
    #expect(mapping.entityMappings.map(\.name) == ["PersonToHuman", "CompanyToCompany"])
    #expect(
      mapping.entityMappings[0].attributes == [
        AttributeMapping(name: "age", source: "age"),
        AttributeMapping(name: "rank", source: nil, defaultValue: .integer(3)),
        AttributeMapping(name: "title", source: "name"),
      ])
    #expect(
      mapping.entityMappings[0].relationships == [
        RelationshipMapping(name: "employer", source: "employer", through: "CompanyToCompany"),
        RelationshipMapping(name: "peers", source: nil),
        RelationshipMapping(name: "peersOf", source: nil),
      ])
    #expect(
      mapping.entityMappings[1].relationships == [
        RelationshipMapping(name: "staff", source: "staff", through: "PersonToHuman")
      ])
  }

  @Test("versions that a mapping was not made for are told by the entity that differs")
  func misfits() throws {
    let (before, after) = try MappingSamples.models()
    let changed = try Model(
      contents: Array(
        MappingSamples.after.replacing("Integer 32", with: "Integer 64").utf8))
    for bytes in [
      try MappingSamples.compiled(from: before, to: after),
      try MappingSamples.document(models: (before, after)),
    ] {
      let document = try MappingModelDocument(bytes: bytes)
      #expect(document.fits(from: before, to: after))
      #expect(
        document.misfit(from: before, to: changed)
          == "its destination entity “Company” has another version hash in this model")
      #expect(try document.mapping(from: before, to: changed) == nil)
      #expect(document.misfit(from: after, to: before) == "the source model has no entity “Person”")
    }
  }

  @Test("an entity that a mapping does not name may change")
  func unmapped() throws {
    let (before, after) = try MappingSamples.models()
    let changed = try Model(
      contents: Array(
        MappingSamples.after.replacing("empty", with: "x").replacing(
          "name=\"text\" optional=\"YES\"", with: "name=\"text\""
        ).utf8))
    var mappings = MappingSamples.mappings
    mappings.removeLast()
    let document = try MappingModelDocument(
      bytes: MappingSamples.compiled(mappings, from: before, to: after))
    #expect(document.fits(from: before, to: changed))
  }

  @Test("mappings of one name get numbers")
  func sameNames() throws {
    let person = MappingSamples.Mapping("", source: "Person", destination: "Human")
    let document = try MappingModelDocument(
      bytes: MappingSamples.document([person, person, person], models: nil))
    #expect(
      document.source.entityMappings.map(\.name)
        == ["PersonToHuman", "PersonToHuman 2", "PersonToHuman 3"])
  }

  @Test(
    "a mapping of an entity to itself that changes nothing is a copy; one without destination removes"
  )
  func kinds() throws {
    let (before, _) = try MappingSamples.models()
    var company = MappingSamples.Mapping("C", source: "Company", destination: "Company")
    company.attributes = [("name", "$source.name")]
    company.relationships = [
      ("staff", MappingSamples.objects("C", "$source.staff"))
    ]
    var gone = MappingSamples.Mapping("Gone", source: "Person", destination: nil)
    gone.type = 4
    let document = try MappingModelDocument(
      bytes: MappingSamples.compiled([company, gone], from: before, to: before))
    let mapping = try #require(try document.mapping(from: before, to: before))
    #expect(mapping.entityMappings.map(\.kind) == [.copy, .remove])
  }

  @Test("folders, files and what is neither are told apart", arguments: ["cdm", "folder", "xml"])
  func paths(form: String) throws {
    let folder = try TemporaryFolder()
    let (before, after) = try MappingSamples.models()
    let bytes =
      form == "cdm"
      ? try MappingSamples.compiled(from: before, to: after)
      : try MappingSamples.document(models: (before, after))
    var path = folder.path("Map.\(form)")
    if form == "folder" {
      path = folder.path("Map.xcmappingmodel")
      try FileSystem.makeDirectory(path)
      try FileSystem.write(bytes, to: path + "/xcmapping.xml")
    } else {
      try FileSystem.write(bytes, to: path)
    }
    let document = try MappingModelDocument(path: path)
    #expect(document.path == path)
    #expect(document.policies == ["App.CompanyPolicy"])
    #expect(document.fits(from: before, to: after))
  }

  @Test("other files are errors that say so and name the file")
  func otherFiles() throws {
    let folder = try TemporaryFolder()
    let (before, _) = try MappingSamples.models()
    let files: [(String, [UInt8], String)] = [
      ("a.cdm", before.archived(), "not of a mapping model"),
      ("b.xml", Array(MappingSamples.before.utf8), "found <model>"),
      ("c.cdm", [], "malformed"),
      (
        "f.cdm",
        try MappingSamples.compiled(
          [MappingSamples.Mapping("", source: nil, destination: nil)], from: before, to: before),
        "names no entity"
      ),
      ("d.xml", Array("<database></database>".utf8), "no mapping model"),
      (
        "e.xml", Array("<database><object type=\"XDDEVMAPPINGMODEL\" id=\"a\"/></database>".utf8),
        "maps no entity"
      ),
    ]
    for (name, bytes, message) in files {
      try FileSystem.write(bytes, to: folder.path(name))
      let error = #expect(throws: CoreDataError.self) {
        try MappingModelDocument(path: folder.path(name))
      }
      #expect(error?.kind == .unreadable && error?.path == folder.path(name))
      #expect(error?.message.contains(message) == true, "\(name): \(error?.message ?? "")")
    }
    let error = #expect(throws: CoreDataError.self) {
      try MappingModelDocument(path: folder.path("nothing.cdm"))
    }
    #expect(error?.message == "there is no mapping model here")
    #expect(throws: CoreDataError.self) { try MappingModelDocument(path: folder.path) }
  }

  private static func mapping(_ mappings: [MappingSamples.Mapping]) throws -> MappingModel {
    let (before, after) = try MappingSamples.models()
    let document = try MappingModelDocument(
      bytes: MappingSamples.compiled(mappings, from: before, to: after))
    return try #require(try document.mapping(from: before, to: after))
  }
}
