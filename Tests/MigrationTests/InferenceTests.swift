import ManagedModel
import Testing

@testable import Mapping
@testable import Migration

@Suite("Inferring a mapping")
struct InferenceTests {
  static func mapping(_ changes: [(String, String)]) throws -> MappingModel {
    try MappingInference.mapping(
      from: Library.model(Library.version1), to: Library.model(replacing: changes))
  }

  @Test("equal models need no mapping, whatever moves no hash")
  func equal() throws {
    let mapping = try Self.mapping([
      (#"<attribute name="label""#, #"<attribute name="label" indexed="YES""#)
    ])
    #expect(mapping == MappingModel(kind: .none, entityMappings: []))
  }

  @Test("mappings are named and numbered as Core Data does")
  func names() throws {
    let mapping = try Self.mapping([
      (
        #"<attribute name="label""#,
        #"<attribute name="room" optional="YES" attributeType="String"/><attribute name="label""#
      ),
      (#"<entity name="Loan">"#, #"<entity name="Lending">"#),
    ])
    #expect(
      mapping.entityMappings.map { "\($0.name) \($0.kind.rawValue)" } == [
        "IEM_Copy_Author 4", "IEM_Copy_Book 4", "IEM_Copy_Chapter 4", "IEM_Add_Lending 2",
        "IEM_Copy_Manual 4", "IEM_Copy_Novel 4", "IEM_Transform_Shelf 5", "IEM_Remove_Loan 3",
      ])
    let shelf = mapping.mapping(toDestination: "Shelf")
    #expect(
      shelf?.attributes == [
        AttributeMapping(name: "room", source: nil),
        AttributeMapping(name: "label", source: "label"),
      ])
    #expect(
      shelf?.relationships == [
        RelationshipMapping(name: "books", source: "books", through: "IEM_Copy_Book")
      ])
  }

  @Test("a renaming identifier keeps the value; one that names nothing makes a new thing")
  func renaming() throws {
    let kept = try Self.mapping([
      (#"<attribute name="label""#, #"<attribute name="sign" elementID="label""#)
    ])
    #expect(
      kept.mapping(toDestination: "Shelf")?.attributes == [
        AttributeMapping(name: "sign", source: "label")
      ])
    let floor = #"<attribute name="floor" optional="YES" attributeType="Integer 16"/>"#
    let new = try Self.mapping([
      (#"<attribute name="label""#, floor + #"<attribute name="label" elementID="nothing""#)
    ])
    #expect(
      new.mapping(toDestination: "Shelf")?.attributes == [
        AttributeMapping(name: "floor", source: nil), AttributeMapping(name: "label", source: nil),
      ])
  }

  @Test("an entity whose hash is unchanged is copied by name, whatever identifiers it got")
  func copied() throws {
    let mapping = try Self.mapping([
      (#"<attribute name="label""#, #"<attribute name="label" elementID="nothing""#),
      (#"<attribute name="due""#, #"<attribute name="until""#),
    ])
    let shelf = mapping.mapping(toDestination: "Shelf")
    #expect(shelf?.kind == .copy)
    #expect(shelf?.attributes == [AttributeMapping(name: "label", source: "label")])
  }

  @Test("an attribute that turns mandatory fills its NULLs with the default")
  func mandatory() throws {
    let mapping = try Self.mapping([
      (
        #"<attribute name="pages" optional="YES" attributeType="Integer 16"/>"#,
        #"<attribute name="pages" attributeType="Integer 32" defaultValueString="1"/>"#
      )
    ])
    let pages = mapping.mapping(toDestination: "Novel")?.attributes.first { $0.name == "pages" }
    #expect(pages == AttributeMapping(name: "pages", source: "pages", defaultValue: .integer(1)))
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var change: [(String, String)]
    var entity: String
    var property: String?
    var testDescription: String { "\(entity).\(property ?? "")" }
  }

  @Test(
    "what cannot be inferred is refused by name (134190)",
    arguments: [
      Refusal(
        change: [
          (
            #"name="pages" optional="YES" attributeType="Integer 16""#,
            #"name="pages" optional="YES" attributeType="String""#
          )
        ],
        entity: "Book", property: "pages"),
      Refusal(
        change: [
          (#"toMany="YES" destinationEntity="Shelf""#, #"maxCount="1" destinationEntity="Shelf""#)
        ],
        entity: "Book", property: "shelves"),
      Refusal(
        change: [
          (
            #"<entity name="Loan">"#,
            #"<entity name="Thing" isAbstract="YES"></entity><entity name="Loan" parentEntity="Thing">"#
          ),
          (#"<entity name="Author">"#, #"<entity name="Author" parentEntity="Thing">"#),
        ], entity: "Thing", property: nil),
    ])
  func refused(_ refusal: Refusal) throws {
    do {
      _ = try Self.mapping(refusal.change)
      Issue.record("a mapping was inferred")
    } catch let error as CoreDataError {
      #expect(error.code == 134190)
      #expect(error.kind == .refused)
      #expect(error.entity == refusal.entity)
      #expect(error.property == refusal.property)
      #expect(error.hint != nil)
    }
  }

  @Test("two entities that claim one source are refused")
  func twoClaims() throws {
    do {
      _ = try Self.mapping([
        (
          #"<entity name="Loan">"#,
          #"<entity name="A" elementID="Loan"></entity><entity name="Loan">"#
        )
      ])
      Issue.record("a mapping was inferred")
    } catch let error as CoreDataError {
      #expect(error.code == 134190)
      #expect(error.entity == "Loan")
    }
  }
}
