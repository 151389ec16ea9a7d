import ManagedModel
import SwiftModels
import Testing

@Suite("Relationships out of Swift source")
struct RelationshipTests {
  private func relationships(_ source: String) throws -> [String: Relationship] {
    var found: [String: Relationship] = [:]
    for entity in try model(source).model.entities {
      for relationship in entity.relationships {
        found["\(entity.name).\(relationship.name)"] = relationship
      }
    }
    return found
  }

  @Test("kinds and counts")
  func kinds() throws {
    let found = try relationships(
      """
      @Model class A {
        var one: B; var maybe: B?; var many: [B]; var manyMaybe: [B]?; var none = [B]()
        @Relationship(deleteRule: .cascade, minimumModelCount: 1, maximumModelCount: 5, originalName: "old", hashModifier: "x")
        var few: [B]
        @Relationship(.unique, deleteRule: .deny) var sole: B?
      }
      @Model class B { var n: Int }
      """)
    #expect(found["A.one"] == Relationship("one", to: "B"))
    #expect(found["A.maybe"] == Relationship("maybe", to: "B", optional: true))
    #expect(found["A.many"] == Relationship("many", to: "B", toMany: true))
    #expect(
      found["A.manyMaybe"] == Relationship("manyMaybe", to: "B", toMany: true, optional: true))
    #expect(found["A.none"]?.maxCount == 0)
    var few = Relationship("few", to: "B", toMany: true)
    (few.minCount, few.maxCount, few.deleteRule) = (1, 5, .cascade)
    (few.renamingIdentifier, few.versionHashModifier) = ("old", "x")
    #expect(found["A.few"] == few)
    #expect(found["A.sole"]?.deleteRule == .deny)
  }

  @Test("a stated inverse sets both sides")
  func stated() throws {
    let found = try relationships(
      """
      @Model class A { @Relationship(deleteRule: .cascade, inverse: \\B.owner) var bs: [B]; var other: B? }
      @Model class B { var owner: A?; var second: A? }
      """)
    #expect(found["A.bs"]?.inverse == "owner")
    #expect(found["B.owner"]?.inverse == "bs")
    // One of each is left, so that they are each other's.
    #expect(found["A.other"]?.inverse == "second")
  }

  @Test("two relationships alone are each other's inverse, more are not")
  func found() throws {
    let one = try relationships(
      "@Model class A { var bs: [B] }\n@Model class B { var a: A? }")
    #expect(one["A.bs"]?.inverse == "a")
    #expect(one["B.a"]?.inverse == "bs")
    let two = try relationships(
      "@Model class A { var bs: [B]; var b: B? }\n@Model class B { var a: A? }")
    #expect(two.values.allSatisfy { $0.inverse == nil })
    let own = try relationships("@Model class A { var next: A? }")
    #expect(own["A.next"]?.inverse == nil)
  }

  @Test("an inverse that is nowhere is named")
  func missing() throws {
    let found = try model(
      "@Model class A {\n @Relationship(inverse: \\B.ghost) var b: B? }\n@Model class B { var n: Int }"
    )
    #expect(found.remarks == ["App.swift:2: A.b: its inverse B.ghost is not a relationship"])
  }

  @Test("a subclass is a subentity")
  func inheritance() throws {
    let found = try model(
      """
      @Model class Trip { var name: String; @Relationship(inverse: \\Stop.trip) var stops: [Stop] = [] }
      @available(iOS 26, *) @Model final class Business: Trip, Codable { var cost: Decimal }
      @Model class Stop { var trip: Trip? }
      """)
    #expect(found.model.entity(named: "Business")?.parent == "Trip")
    #expect(found.model.attributes(of: "Business").map(\.name) == ["name", "cost"])
    #expect(found.model.entity(named: "Stop")?.relationships.first?.inverse == "stops")
  }
}
