import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Editing

@Suite("What another program saves between preparing and writing")
struct EditExpectationTests {
  private static let item = ObjectID(entity: "Item", key: 1)

  /// An edit that was prepared from what the store holds.
  private func prepared(
    _ scene: EditScene, _ assignment: StoreEdit.Assignment
  ) throws -> StoreEdit {
    var edit = StoreEdit()
    edit.objects = [.init(Self.item, [assignment])]
    let object = try Store(path: scene.path).object(Self.item, related: StoreEdit.mostRelated)
    let name = assignment.property
    edit.expectations = [.init(Self.item, name, try #require(object?[name]))]
    return edit
  }

  private func rehearse(_ scene: EditScene, _ edit: StoreEdit) throws -> EditReceipt {
    var options = StoreEditing.Options()
    options.isRehearsal = true
    return try StoreEditing.run(Store(path: scene.path), edit, options: options)
  }

  private func refusal(_ work: () throws -> Void) throws -> CoreDataError {
    do { try work() } catch let error as CoreDataError { return error }
    throw CoreDataError(.failed, "it was not refused")
  }

  @Test(
    "a value that was saved since is not written over",
    arguments: [
      ("name", "'Newer'", "Newer"), ("owner", "3", "Person/p3"), ("data", "x'0909'", "2"),
      // Looks alike, and is another text.
      ("place.street", "'Str' || 'é'", "é"), ("place.street", "'Stre' || char(769)", "e\u{301}"),
    ])
  func saved(property: String, value: String, now: String) throws {
    let scene = try EditScene()
    let table = try #require(Store(path: scene.path).table(of: "Item"))
    let column = try #require(table.column(of: property) ?? table.toOneColumn(of: property))
    if value.contains("769") {
      try scene.connection().execute("UPDATE ZITEM SET \(quoted(column)) = 'Stré' WHERE Z_PK = 1")
    }
    let edit = try prepared(
      scene,
      property == "owner"
        ? .toOne("owner", nil)
        : .attribute(property, property == "data" ? .bytes([7]) : .string("Mine")))
    #expect(try rehearse(scene, edit).changed > 0)
    try scene.connection().execute(
      "UPDATE ZITEM SET \(quoted(column)) = \(value) WHERE Z_PK = 1")
    let before = try scene.folder.contents()
    for isRehearsal in [true, false] {
      let error = try refusal {
        if isRehearsal {
          _ = try rehearse(scene, edit)
        } else {
          _ = try StoreEditing.run(Store(path: scene.path), edit)
        }
      }
      #expect(error.kind == .refused && error.property == property, "\(error)")
      #expect(error.message.contains("another program") && error.message.contains(now), "\(error)")
    }
    #expect(try scene.folder.contents() == before)
  }

  @Test("a to-many that was changed since is refused, and one that has it already is not")
  func links() throws {
    let scene = try EditScene()
    let edit = try prepared(scene, .toMany("tags", .add, [ObjectID(entity: "Tag", key: 4)]))
    try scene.edit("Item/p1", "tags+=Tag/p1")
    #expect(try refusal { _ = try rehearse(scene, edit) }.property == "tags")
    let second = try prepared(scene, .attribute("name", .string("Same")))
    try scene.edit("Item/p1", "name=Same")
    #expect(try rehearse(scene, second).isNothing)
  }

  @Test("what is saved while the question stands is not written over, nor deleted")
  func question() throws {
    for statement in [
      "UPDATE ZITEM SET ZMIDDLE = 77, Z_OPT = Z_OPT + 1 WHERE Z_PK = 1",
      "UPDATE ZPART SET ZITEM = 1 WHERE ZITEM = 2",
    ] {
      let scene = try EditScene()
      var edit = StoreEdit()
      edit.deletions = [ObjectID(entity: "Item", key: 2)]
      if statement.contains("ZMIDDLE") {
        edit = try prepared(scene, .attribute("code", .integer(99)))
      }
      let seen = try rehearse(scene, edit)
      var options = StoreEditing.Options()
      options.rehearsed = seen.objectsNumber
      #expect(options.rehearsed != nil)
      try scene.connection().execute(statement)
      let before = try scene.folder.contents()
      let error = try refusal {
        _ = try StoreEditing.run(Store(path: scene.path), edit, options: options)
      }
      #expect(error.kind == .refused && error.message.contains("another program"), "\(error)")
      #expect(try scene.folder.contents() == before)
      options.rehearsed = try rehearse(scene, edit).objectsNumber
      #expect(
        try StoreEditing.run(Store(path: scene.path), edit, options: options).resultPath != nil)
    }
  }
}
