import ManagedStore
import Testing

@Suite("Objects that somebody holds")
struct LiveObjectsTests {
  private final class Item {}

  @Test("one that is held stays the same, whatever comes after it; the others are let go of")
  func sweeping() {
    var live = LiveObjects()
    let held = Item()
    let id = ObjectID(entity: "Recipe", key: 0)
    live[id] = held
    weak var first: Item?
    for key in 1...10_000 {
      let item = Item()
      if key == 1 { first = item }
      live[ObjectID(entity: "Recipe", key: Int64(key))] = item
    }
    #expect(live[id] === held)
    #expect(first == nil)
    #expect(live[ObjectID(entity: "Recipe", key: 1)] == nil)
    live[id] = nil
    #expect(live[id] == nil)
  }

  @Test("where all are held none is let go of")
  func allHeld() {
    var live = LiveObjects()
    let items = (0..<5_000).map { _ in Item() }
    for (key, item) in items.enumerated() {
      live[ObjectID(entity: "Recipe", key: Int64(key))] = item
    }
    for (key, item) in items.enumerated() {
      #expect(live[ObjectID(entity: "Recipe", key: Int64(key))] === item)
    }
  }
}
