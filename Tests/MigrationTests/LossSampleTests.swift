import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("Samples of what is lost")
struct LossSampleTests {
  @Test("objects that go are called as they are everywhere: by their label")
  func labels() throws {
    var gone = Entity("Gone")
    gone.attributes = ["note", "subtitle", "title", "name"].map {
      Attribute($0, .string, optional: true)
    }
    var kept = Entity("Kept")
    kept.attributes = [Attribute("title", .string, optional: true)]
    let folder = try TemporaryFolder()
    let path = folder.path("Labels.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [gone, kept]))
    let id = try writer.insert(
      "Gone", attributes: ["note": .string("a"), "title": .string("b"), "name": .string("c")])
    try writer.finish()
    let store = try Store(path: path)
    let plan = try Way.copying.plan(store, to: Model(entities: [kept]))
    #expect(plan.losses.map(\.samples) == [["Gone/p1 “c”"]])
    #expect(try store.names(of: [id]) == [id: "c"])
  }
}
