import ManagedModel
import Testing

@testable import Mapping
@testable import Migration

@Suite("Two mappings as one")
struct CompositionTests {
  private static func composed(_ models: Model...) throws -> MappingModel {
    let steps = try zip(models, models.dropFirst()).map {
      try MappingInference.mapping(from: $0, to: $1)
    }
    var whole = try #require(steps.first)
    for step in steps.dropFirst() { whole = try #require(MappingModel.composed(whole, step)) }
    return whole
  }

  private static func entity(_ attribute: String) throws -> Model {
    try Library.model("<model><entity name=\"A\"><attribute \(attribute)/></entity></model>")
  }

  @Test("two renamings lead to the first name")
  func renamings() throws {
    let whole = try Self.composed(
      Self.entity(#"name="a" optional="YES" attributeType="String""#),
      Self.entity(#"name="b" elementID="a" optional="YES" attributeType="String""#),
      Self.entity(#"name="c" elementID="b" optional="YES" attributeType="String""#))
    #expect(
      whole.entityMappings.map(\.attributes) == [[AttributeMapping(name: "c", source: "a")]])
    #expect(whole.entityMappings[0].name == "IEM_Transform_A")
  }

  @Test("an attribute added with a default keeps it, and the first filling of NULLs stands")
  func defaults() throws {
    let none = try Library.model("<model><entity name=\"A\"/></model>")
    let added = try Self.composed(
      none,
      Self.entity(#"name="n" optional="YES" attributeType="Integer 16" defaultValueString="1""#),
      Self.entity(#"name="n" attributeType="Integer 32" defaultValueString="2""#))
    #expect(
      added.entityMappings[0].attributes == [
        AttributeMapping(name: "n", source: nil, defaultValue: .integer(1))
      ])
    let empty = try Self.composed(
      none, Self.entity(#"name="n" optional="YES" attributeType="Integer 16""#),
      Self.entity(#"name="n" attributeType="Integer 32" defaultValueString="2""#))
    #expect(
      empty.entityMappings[0].attributes == [
        AttributeMapping(name: "n", source: nil, defaultValue: .integer(2))
      ])
    let filled = try Self.composed(
      Self.entity(#"name="n" optional="YES" attributeType="Integer 16""#),
      Self.entity(#"name="n" attributeType="Integer 16" defaultValueString="1""#),
      Self.entity(#"name="n" optional="YES" attributeType="Integer 32""#),
      Self.entity(#"name="n" attributeType="Integer 64" defaultValueString="3""#))
    #expect(
      filled.entityMappings[0].attributes == [
        AttributeMapping(name: "n", source: "n", defaultValue: .integer(1))
      ])
  }

  @Test("what came and went again is nowhere, what went and came again is new")
  func comings() throws {
    let one = try Library.model("<model><entity name=\"A\"/></model>")
    let two = try Library.model("<model><entity name=\"A\"/><entity name=\"B\"/></model>")
    let three = try Library.model("<model><entity name=\"B\"/></model>")
    #expect(
      try Self.composed(one, two, one).entityMappings.map(\.name) == ["IEM_Copy_A"])
    #expect(
      try Self.composed(two, one, two).entityMappings.map(\.name) == [
        "IEM_Copy_A", "IEM_Add_B", "IEM_Remove_B",
      ])
    #expect(
      try Self.composed(one, two, three).entityMappings.map(\.name) == [
        "IEM_Add_B", "IEM_Remove_A",
      ])
  }

  @Test("relationships follow the entity they lead to under its last name")
  func relationships() throws {
    let second = try Library.model(replacing: [
      (#"<entity name="Author">"#, #"<entity name="Writer" elementID="Author">"#),
      (#"destinationEntity="Author""#, #"destinationEntity="Writer""#),
    ])
    let third = try Library.model(replacing: [
      (#"<entity name="Author">"#, #"<entity name="Person" elementID="Writer">"#),
      (
        #"<relationship name="author" optional="YES" maxCount="1" destinationEntity="Author""#,
        #"<relationship name="maker" elementID="author" optional="YES" maxCount="1" destinationEntity="Person""#
      ),
      (#"inverseName="author""#, #"inverseName="maker""#),
    ])
    let whole = try Self.composed(Library.model(Library.version1), second, third)
    #expect(whole.mapping(toDestination: "Person")?.source == "Author")
    #expect(
      whole.mapping(toDestination: "Novel")?.relationships.first { $0.name == "maker" }
        == RelationshipMapping(name: "maker", source: "author", through: "IEM_Transform_Person"))
    let direct = try MappingInference.mapping(from: Library.model(Library.version1), to: third)
    let person = try #require(whole.mapping(toDestination: "Person"))
    #expect(person.gap(in: direct.mapping(toDestination: "Person")) == .entity)
  }

  @Test("composed with nothing a mapping is itself; what is computed cannot be composed")
  func limits() throws {
    let inferred = try InferenceTests.mapping([(#"name="due""#, #"name="until""#)])
    let none = MappingModel(kind: .none, entityMappings: [])
    #expect(MappingModel.composed(inferred, none) == inferred)
    #expect(MappingModel.composed(none, inferred) == inferred)
    var recipe = inferred
    recipe.kind = .recipe
    #expect(MappingModel.composed(inferred, recipe) == nil)
    var computed = inferred
    computed.entityMappings[0].attributes[0].expression = .sql("1")
    #expect(MappingModel.composed(computed, inferred) == nil)
  }
}
