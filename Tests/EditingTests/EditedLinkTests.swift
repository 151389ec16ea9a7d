import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Editing

@Suite("References that an edit sets")
struct EditedLinkTests {
  @Test("a to-one leaves one ordered list and stands at the end of the other")
  func toOne() throws {
    let scene = try EditScene()
    #expect(try scene.value("Person/p2", "items") == "Item/p1 Item/p3 Item/p5")
    let done = try scene.edit("Item/p1", "owner=Person/p1")
    #expect(try scene.value("Item/p1", "owner") == "Person/p1")
    #expect(try scene.value("Person/p2", "items") == "Item/p3 Item/p5")
    #expect(try scene.value("Person/p1", "items") == "Item/p2 Item/p4 SpecialItem/p6 Item/p1")
    #expect(try scene.value("Person/p1", "total") == "4")
    #expect(try scene.value("Person/p2", "total") == "2")
    #expect(
      done.lines == [
        "~ Item/p1 saved owner", "~ Person/p1 total items", "~ Person/p2 total items",
      ])
    #expect(done.receipt.changed == 3)
    #expect(try scene.number("SELECT sum(Z_OPT) FROM ZPERSON") == 5)
    try scene.requireSound()
    try scene.edit("Item/p1", "owner=null")
    #expect(try scene.number("SELECT count(*) FROM ZITEM WHERE Z_FOK_OWNER IS NULL") == 1)
    try scene.requireSound()
  }

  @Test("a to-one of many objects is set, in lists, derived values and verification as of one")
  func toOneOfMany() throws {
    let scene = try EditScene()
    let store = try Store(path: scene.path)
    let third = try store.objectID("Person/p3")
    let done = try scene.edit(
      selection: .init("Item", where: "code <= 4", [], links: [.init("owner", third)]))
    #expect(try scene.value("Person/p3", "items") == "Item/p1 Item/p2 Item/p3 Item/p4")
    #expect(try scene.value("Person/p2", "items") == "Item/p5")
    #expect(try scene.value("Person/p3", "total") == "4")
    #expect(done.receipt.changed == 7)
    try scene.requireSound()
    try scene.edit(
      selection: .init(
        "Item", where: nil, [.init("middle", "code")], links: [.init("owner", nil)]))
    #expect(try scene.number("SELECT count(*) FROM ZITEM WHERE ZOWNER IS NOT NULL") == 0)
    #expect(try scene.number("SELECT count(*) FROM ZITEM WHERE ZMIDDLE = ZCODE") == 6)
    try scene.requireSound()
    // Only one object can have a pass.
    let pass = try store.objectID("Pass/p1")
    let refusal = try scene.refusal(
      selection: .init("Item", where: nil, [], links: [.init("pass", pass)]))
    #expect(refusal.kind == .refused && refusal.property == "pass")
    let tags = try scene.refusal(
      selection: .init("Item", where: nil, [], links: [.init("tags", nil)]))
    #expect(tags.kind == .usage && tags.property == "tags")
  }

  @Test("objects that come in do not keep those that go out from being looked at")
  func removedAndAdded() throws {
    let scene = try EditScene()
    let done = try scene.edit("Person/p2", "items-=Item/p1", "items+=Item/p2")
    #expect(try scene.value("Person/p2", "items") == "Item/p3 Item/p5 Item/p2")
    #expect(
      done.receipt.verified.contains {
        $0.what == "requested values and references" && $0.count == 2
      })
  }

  @Test("an ordered to-many of to-ones is set, added to and taken from")
  func inverseOfToOne() throws {
    let scene = try EditScene()
    try scene.edit("Person/p3", "items=Item/p5,Item/p2,SpecialItem/p6")
    #expect(try scene.value("Person/p3", "items") == "Item/p5 Item/p2 SpecialItem/p6")
    #expect(try scene.value("Person/p1", "items") == "Item/p4")
    try scene.edit("Person/p3", "items=SpecialItem/p6,Item/p5,Item/p2")
    #expect(try scene.value("Person/p3", "items") == "SpecialItem/p6 Item/p5 Item/p2")
    try scene.edit("Person/p3", "items-=Item/p5", "items+=Item/p1")
    #expect(try scene.value("Person/p3", "items") == "SpecialItem/p6 Item/p2 Item/p1")
    #expect(try scene.value("Item/p5", "owner") == "∅")
    #expect(try scene.value("Person/p3", "total") == "3")
    try scene.requireSound()
  }

  @Test("order keys that are written are told, and what comes stands behind the greatest of all")
  func orderKeys() throws {
    let scene = try EditScene()
    let done = try scene.edit("Person/p2", "items=Item/p5,Item/p3,Item/p1")
    #expect(done.receipt.changed == 4)
    #expect(
      done.receipt.notes == [
        "3 of the changed objects only have another place in an ordered relationship: their order keys were written"
      ])
    try scene.connection().execute(
      "UPDATE ZITEM SET Z_FOK_OWNER = \(Int64.max) WHERE Z_PK = 1")
    try scene.edit("Person/p2", "items+=Item/p2")
    #expect(try scene.value("Person/p2", "items") == "Item/p5 Item/p3 Item/p1 Item/p2")
    // Links of other objects that have no order key get one first.
    try scene.connection().execute(
      """
      UPDATE ZITEM SET Z_FOK_OWNER = \(Int64.max) WHERE Z_PK = 6;
      UPDATE ZITEM SET Z_FOK_OWNER = NULL WHERE Z_PK = 4;
      """)
    try scene.edit("Person/p3", "items+=Item/p3")
    #expect(
      try scene.number("SELECT count(*) FROM ZITEM WHERE typeof(Z_FOK_OWNER) <> 'integer'") == 0)
    try scene.requireSound()
  }

  @Test("of one-to-ones both former partners are left alone")
  func oneToOne() throws {
    let scene = try EditScene()
    let done = try scene.edit("Item/p1", "pass=Pass/p2")
    #expect(try scene.value("Item/p1", "pass") == "Pass/p2")
    #expect(try scene.value("Pass/p2", "item") == "Item/p1")
    #expect(try scene.value("Pass/p1", "item") == "∅")
    #expect(try scene.value("Item/p2", "pass") == "∅")
    #expect(done.receipt.changed == 4)
    try scene.requireSound()
  }

  @Test("a many-to-many is set in order, added to and taken from, from both sides")
  func manyToMany() throws {
    let scene = try EditScene()
    try scene.edit("Item/p1", "tags=Tag/p4,Tag/p1,Tag/p2")
    #expect(try scene.value("Item/p1", "tags") == "Tag/p4 Tag/p1 Tag/p2")
    let done = try scene.edit("Item/p1", "tags=Tag/p1,Tag/p4,Tag/p2")
    #expect(done.lines == ["~ Item/p1 saved tags*"])
    try scene.edit("Item/p1", "tags-=Tag/p4", "tags+=Tag/p3")
    #expect(try scene.value("Item/p1", "tags") == "Tag/p1 Tag/p2 Tag/p3")
    try scene.edit("Tag/p4", "items=Item/p1,Item/p3")
    #expect(try scene.value("Tag/p4", "items") == "Item/p1 Item/p3")
    #expect(try scene.value("Item/p1", "tags") == "Tag/p1 Tag/p2 Tag/p3 Tag/p4")
    try scene.requireSound()
  }

  @Test("one that is its own inverse, and one without an inverse")
  func others() throws {
    let scene = try EditScene()
    try scene.edit("Item/p1", "friends=Item/p2,Item/p3", "notes=Note/p2")
    #expect(try scene.value("Item/p2", "friends") == "Item/p1")
    try scene.edit("Item/p2", "friends-=Item/p1")
    #expect(try scene.value("Item/p1", "friends") == "Item/p3")
    let done = try scene.edit("Item/p3", "notes+=Note/p2")
    #expect(try scene.value("Item/p1", "notes") == "")
    #expect(try scene.value("Item/p3", "notes") == "Note/p2")
    #expect(done.lines == ["~ Item/p1 saved notes", "~ Item/p3 saved notes"])
    try scene.requireSound()
  }

  @Test(
    "deleting takes cascades along, empties the rest, and is denied by a relationship that says so")
  func deletion() throws {
    let scene = try EditScene()
    let before = try StoreDump.lines(at: scene.path)
    let done = try scene.edit(deleting: ["Item/p2"])
    #expect(done.receipt.deleted == 3)
    #expect(done.lines.filter { $0.hasPrefix("−") } == ["− Item/p2", "− Part/p3", "− Part/p4"])
    #expect(try scene.value("Pass/p2", "item") == "∅")
    #expect(try scene.value("Person/p1", "items") == "Item/p4 SpecialItem/p6")
    #expect(try scene.value("Person/p1", "total") == "2")
    #expect(try scene.number("SELECT count(*) FROM ZPART WHERE ZITEM = 2") == 0)
    try scene.requireSound()
    #expect(try StoreDump.lines(at: scene.path).count == before.count - 3)
    let error = try scene.refusal(deleting: ["Shelf/p1"])
    #expect(error.kind == .refused && error.code == 1600 && error.entity == "Shelf")
    #expect(error.property == "things")
    // With what is in the way it goes.
    #expect(try scene.edit(deleting: ["Shelf/p1", "Item/p1"]).receipt.deleted == 4)
    try scene.requireSound()
  }

  @Test("a reference to an object that goes is refused, and taking out one that goes is done")
  func deleted() throws {
    let scene = try EditScene()
    for word in ["owner=Person/p3", "tags+=Tag/p4", "tags=Tag/p4", "tags-=Tag/p4"] {
      let id = word.hasPrefix("owner") ? "Person/p3" : "Tag/p4"
      let error = try scene.refusal(of: "Item/p1", word, deleting: [id])
      #expect(error.kind == .refused && error.property != nil, "\(error)")
      #expect(error.message == "\(id) is to be deleted by the same edit")
    }
    let tags = try scene.value("Item/p1", "tags").split(separator: " ").map(String.init)
    let first = try #require(tags.first)
    let done = try scene.edit("Item/p1", "tags-=\(first)", deleting: [first])
    #expect(done.receipt.deleted == 1)
    #expect(try scene.value("Item/p1", "tags") == tags.dropFirst().joined(separator: " "))
    try scene.requireSound()
  }

  @Test("what goes along is known of one object while others that deny it go as well")
  func along() throws {
    let scene = try EditScene()
    let store = try Store(path: scene.path)
    let shelf = ObjectID(entity: "Shelf", key: 1)
    let item = ObjectID(entity: "Item", key: 1)
    #expect(throws: CoreDataError.self) { try store.objectsDeleted(with: [shelf]) }
    #expect(try store.objectsDeleted(with: [shelf], beside: [item]) == [shelf])
    #expect(try store.objectsDeleted(with: [item], beside: [shelf]).count == 3)
  }
}
