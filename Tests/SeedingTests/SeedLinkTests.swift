import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import ExampleValues
@testable import Seeding

@Suite("Links of seeded stores")
struct SeedLinkTests {
  @Test("every kind of relationship is sound, at any size", arguments: [1, 40, 400, 3000])
  func sound(objects: Int) throws {
    let seeded = try SeededFolder(SeedModels.relationships(), objects: objects)
    try seeded.expectSound()
    guard objects > 1 else {
      #expect(seeded.report.notes.count == 1)
      #expect(
        seeded.report.notes[0].hasSuffix(
          "objects instead of 1: every entity has one, or as many as relationships need"))
      return
    }
    #expect(seeded.report.notes == [])
    #expect(seeded.report.objects == objects)
  }

  @Test("objects have as many links as the model says, on both sides")
  func counts() throws {
    let seeded = try SeededFolder(SeedModels.relationships(), objects: 900)
    let nodes = try seeded.column(
      "SELECT count(*) FROM ZNODE WHERE ZOWNER IS NOT NULL GROUP BY ZOWNER")
    #expect(nodes.count == (try seeded.number("SELECT count(*) FROM ZUSER")))
    #expect(nodes.allSatisfy { (2...12).contains($0.integer ?? 0) })
    let store = try Store(path: seeded.path)
    let storage = try #require(store.schema.storage(of: "nodes", in: "Label"))
    let labels = try seeded.column(
      "SELECT count(*) FROM (\(storage.allLinks())) GROUP BY owner")
    #expect(labels.count == (try seeded.number("SELECT count(*) FROM ZLABEL")))
    #expect(labels.allSatisfy { (3...40).contains($0.integer ?? 0) })
    let back = try #require(store.schema.storage(of: "labels", in: "File"))
    #expect(
      try seeded.number("SELECT count(DISTINCT owner) FROM (\(back.allLinks()))")
        == seeded.number("SELECT count(*) FROM ZNODE"))
    // One profile each, and each its own.
    #expect(
      try seeded.number(
        """
        SELECT count(*) FROM ZUSER u JOIN ZPROFILE p ON p.Z_PK = u.ZPROFILE AND p.ZUSER = u.Z_PK
        """) == seeded.number("SELECT count(*) FROM ZPROFILE"))
  }

  @Test("a parent in a hierarchy comes before its child, so there is no circle")
  func hierarchy() throws {
    let seeded = try SeededFolder(SeedModels.relationships(), objects: 900)
    #expect(try seeded.number("SELECT count(*) FROM ZNODE WHERE ZPARENT >= Z_PK") == 0)
    #expect(try seeded.number("SELECT count(*) FROM ZNODE WHERE ZPARENT IS NOT NULL") > 100)
    #expect(try seeded.number("SELECT count(*) FROM ZNODE WHERE ZPARENT IS NULL") > 0)
  }

  @Test("partners in a relationship that is its own inverse have each other")
  func reflexive() throws {
    let seeded = try SeededFolder(SeedModels.relationships(), objects: 900)
    #expect(
      try seeded.number(
        "SELECT count(*) FROM ZUSER a JOIN ZUSER b ON b.Z_PK = a.ZSPOUSE WHERE b.ZSPOUSE IS NOT a.Z_PK"
      )
        == 0)
    #expect(try seeded.number("SELECT count(*) FROM ZUSER WHERE ZSPOUSE IS NOT NULL") > 1)
  }

  @Test("a to-many without an inverse has its owner and its place on the destination's row")
  func owned() throws {
    let seeded = try SeededFolder(SeedModels.relationships(), objects: 900)
    let store = try Store(path: seeded.path)
    let storage = try #require(store.schema.storage(of: "keys", in: "User"))
    let links = try Connection(path: seeded.path, mode: .immutable).rows(storage.allLinks())
    #expect(links.count > 10)
    #expect(links.allSatisfy { $0[2] != .null })
  }

  @Test("a mandatory to-one that must differ makes no more objects than there are to lead to")
  func exclusive() throws {
    var seat = Entity("Seat")
    seat.relationships = [Relationship("guest", to: "Guest", inverse: "seats")]
    seat.uniquenessConstraints = [["guest"]]
    var guest = Entity("Guest")
    guest.relationships = [
      Relationship("seats", to: "Seat", inverse: "guest", toMany: true, optional: true)
    ]
    let seeded = try SeededFolder(Model(entities: [seat, guest]), objects: 200)
    try seeded.expectSound()
    #expect(seeded.report.notes == [])
    #expect(try seeded.number("SELECT count(*) FROM ZSEAT") > 20)
  }

  @Test("what a model asks for and cannot be had is told")
  func impossible() throws {
    var ghost = Entity("Ghost")
    ghost.isAbstract = true
    var host = Entity("Host")
    host.relationships = [Relationship("ghost", to: "Ghost")]
    var node = Entity("Node")
    node.relationships = [
      Relationship("parent", to: "Node", inverse: "children", optional: true),
      SeedModels.change(Relationship("children", to: "Node", inverse: "parent", toMany: true)) {
        $0.minCount = 2
      },
    ]
    let seeded = try SeededFolder(Model(entities: [ghost, host, node]), objects: 60)
    #expect(
      seeded.report.notes.contains {
        $0.contains("Host.ghost is mandatory, but no object can exist")
      })
    #expect(seeded.report.notes.contains { $0.contains("Node.children") })
    #expect(try seeded.number("SELECT count(*) FROM ZHOST") > 0)
  }

  @Test("a shuffle gives each number once, and knows the way back", arguments: [1, 2, 3, 17, 1000])
  func shuffle(count: Int) {
    let shuffle = Shuffle(count, seed: 42)
    let places = (0..<count).map(shuffle.place)
    #expect(Set(places) == Set(0..<count))
    #expect(places.enumerated().allSatisfy { shuffle.number(at: $1) == $0 })
  }
}
