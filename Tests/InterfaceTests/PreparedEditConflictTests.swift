import Comparison
import ManagedModel
import Terminal
import Testing

@testable import Editing
@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Prepared changes that meet others")
struct PreparedEditConflictTests {
  @Test("the former value again is a change where another program saved a newer one since")
  func newer() throws {
    var session = try PreparedEditTests.session()
    let column = try #require(session.state.browse.table?.property)
    func value(_ old: Double, _ new: Double) -> PreparedEdits.Value {
      .init(
        object: PreparedEditTests.first, column: column, old: .value(.date(old)),
        change: .attribute(.date(new)))
    }
    session.state.prepare { $0.set(value(1, 2)) }
    // The app saves 3, and the person goes back to 1.
    session.state.prepare { $0.set(value(3, 1)) }
    let edit = session.state.known.prepared.edit
    #expect(edit.objects == [.init(PreparedEditTests.first, [.attribute("createdAt", .date(1))])])
    #expect(edit.expectations == [.init(PreparedEditTests.first, "createdAt", .value(.date(3)))])
  }

  @Test("a text that differs only in how its marks are composed is another one")
  func normalization() throws {
    let session = try Session(width: 120, height: 36)
    let column = try #require(session.state.browse.table?.properties.first)
    var prepared = PreparedEdits()
    for (text, count) in [("e\u{301}", 1), ("\u{E9}", 0)] {
      prepared.set(
        .init(
          object: PreparedEditTests.first, column: column, old: .value(.string("\u{E9}")),
          change: .attribute(.string(text))))
      #expect(prepared.entries.count == count)
    }
  }

  @Test("a text that was typed before ^E is prepared, though the editor changes nothing")
  func typedForEditor() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "l", "E")
    for key in "Leek" { try session.send(.key(.character(key))) }
    try session.send("^E")
    guard case .editText(let id, let text)? = session.effects.last else {
      Issue.record("no editor is asked for")
      return
    }
    #expect(text == "Leek")
    try session.send(.answer(id, .editedText(nil)))
    #expect(session.state.layers.isEmpty)
    #expect(
      session.state.known.prepared.edit.objects.first?.assignments == [
        .attribute("title", .string("Leek"))
      ])
    // What is no text stays in the line.
    try session.send("j", "E")
    for key in "null" { try session.send(.key(.character(key))) }
    try session.send("^E")
    guard case .editText(let next, "")? = session.effects.last else {
      Issue.record("no editor is asked for")
      return
    }
    try session.send(.answer(next, .editedText(nil)))
    #expect(session.state.layers.count == 1)
    try session.send("⏎")
    #expect(session.state.known.prepared.entries.count == 2)
  }

  /// Marks an object, and gives the answer only afterwards.
  private static func asked(_ session: Session) -> [(TaskID, ObjectID)] {
    session.effects.compactMap {
      if case .ask(let task, .deletion(let id, _)) = $0 { (task, id) } else { nil }
    }
  }

  @Test("objects that are marked quickly, one after the other, are all marked")
  func quickly() throws {
    var session = try Session(width: 120, height: 36)
    session.answers = false
    try session.send("l", "X", "j", "X", "X")
    let asked = Self.asked(session)
    try #require(asked.count == 2)
    for (task, id) in asked { try session.send(.answer(task, .deletion([id]))) }
    #expect(session.state.known.prepared.edit.deletions == asked.map(\.1))
  }

  @Test("an object with a mark of its own that goes along with another is not kept without it")
  func alongWithMark() throws {
    var session = try Session(width: 120, height: 36)
    // Recipe/p2 is marked, then Recipe/p1, which takes it along.
    try session.send("l", "j", "X", "k", "X")
    #expect(session.state.known.prepared.deletions.count == 2)
    try session.send("j", "X")
    #expect(session.state.known.prepared.deletions.map(\.object) == [PreparedEditTests.first])
    #expect(
      session.state.notice?.text.contains("it is deleted with Recipe/p1") == true,
      "\(session.state.notice?.text ?? "")")
    try session.send("l", "E")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.notice?.text.contains("it is deleted with Recipe/p1") == true)
    try session.send("k", "X", "j")
    #expect(session.state.known.prepared.isEmpty)
  }

  @Test("u in the list takes back the last prepared change, not a change of the view since")
  func undoInList() throws {
    var session = try PreparedEditTests.prepared()
    try session.send("s")
    let view = session.state.browse.table?.sort
    try session.send("C", "u")
    #expect(session.state.known.prepared.isEmpty)
    #expect(session.state.browse.table?.sort == view)
    #expect(session.state.notice?.text.hasPrefix("undone: ") == true)
    try session.send("u")
    #expect(session.state.notice?.text == "no change is prepared")
    try session.send("Esc", "U")
    #expect(session.state.known.prepared.entries.count == 1)
    #expect(session.state.browse.table?.sort == view)
  }

  @Test("an object that is marked for deletion is not chosen for a relationship")
  func choiceOfMarked() throws {
    var session = try Session(width: 120, height: 36)
    session.state.prepare {
      $0.delete(.init(object: ObjectID(entity: "Person", key: 1), along: []))
    }
    for _ in 0..<6 { try session.send("l") }
    try session.send("E", "p", "1")
    #expect(session.screen().description.contains("to be deleted"))
    try session.send("⏎")
    #expect(session.state.layers.count == 1)
    #expect(session.state.notice?.text.contains("it is marked for deletion") == true)
    #expect(session.state.known.prepared.edit.objects.isEmpty)
  }

  @Test("all that goes along is counted, and all that was asked for is listed")
  func counts() throws {
    let session = try PreparedEditTests.prepared()
    var edit = StoreEdit()
    edit.deletions = (1...12).map { ObjectID(entity: "Recipe", key: $0) }
    var objects = CheckedObjects(of: edit)
    for key in 1...Int64(5_000) {
      objects.add(ObjectChange(.delete, of: ObjectID(entity: "Step", key: key), label: ""))
    }
    for key in 1...Int64(2_500) {
      objects.add(ObjectChange(.update, of: ObjectID(entity: "Tag", key: key), label: ""))
    }
    for id in edit.deletions { objects.add(ObjectChange(.delete, of: id, label: "")) }
    let confirmation = Confirmation.write(
      EditOrder(edit: edit, words: "12 changes"),
      EditCheck(receipt: PreparedEditTests.receipt(deleted: 5_012), objects: objects),
      session.state.known)
    let lines = confirmation.lines(nil).map { "\($0.label): \($0.text)" }
    #expect(lines.contains { $0.hasPrefix("With them: 5,000 Step (Step/p1, Step/p2, Step/p3 …)") })
    #expect(lines.contains { $0.hasPrefix("Linked: 2,500 Tag (") })
    for key in 1...12 { #expect(lines.contains { $0.hasSuffix("Recipe/p\(key)") }, "\(lines)") }
    #expect(lines.contains { $0.contains("and 4 more") })
  }
}
