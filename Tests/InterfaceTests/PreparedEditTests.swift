import Comparison
import ManagedModel
import Migration
import Terminal
import Testing

@testable import Editing
@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Changes that are prepared")
struct PreparedEditTests {
  static let first = ObjectID(entity: "Recipe", key: 1)

  /// The cell of `createdAt` in the first row.
  static func session(width: Int = 120, height: Int = 36) throws -> Session {
    var session = try Session(width: width, height: height)
    try session.send("l", "l", "l", "l")
    #expect(session.state.browse.table?.property?.name == "createdAt")
    return session
  }

  /// Its date becomes another.
  static func prepared(width: Int = 120, height: Int = 36) throws -> Session {
    var session = try session(width: width, height: height)
    try session.send("E")
    for key in "2024-03-01" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    return session
  }

  static func receipt(deleted: Int = 0, isMirrored: Bool = false) -> EditReceipt {
    var receipt = EditReceipt(storePath: "Recipes.sqlite")
    receipt.entities = [.init(entity: "Recipe", changed: 1, deleted: deleted)]
    receipt.seconds = 0.25
    (receipt.bytesNeeded, receipt.bytesFree) = (1_200_000, 9_000_000_000)
    if isMirrored { receipt.mirrored = .init(changes: 1, deletions: deleted) }
    return receipt
  }

  /// Answers the check, so that the question is asked.
  private static func check(_ session: inout Session, _ receipt: EditReceipt) throws {
    guard
      case .checkEdit(let id, let order)? = session.effects.last(where: {
        if case .checkEdit = $0 { true } else { false }
      })
    else { throw CoreDataError(.failed, "nothing is checked") }
    let changes = session.state.known.prepared.entries.map(session.state.known.prepared.change)
    #expect(!order.edit.isEmpty)
    var objects = CheckedObjects(of: order.edit)
    for change in changes { objects.add(change) }
    try session.send(.answer(id, .checkedEdit(EditCheck(receipt: receipt, objects: objects))))
  }

  @Test("a value is checked by its type while it is typed, and prepared, not written")
  func date() throws {
    var session = try Self.session()
    try session.send("E")
    let shown = session.screen().description
    #expect(shown.contains("now  2001-01-02T00:00:00Z") || shown.contains("now  2001-01-02"))
    for key in "2024-02-30" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.layers.count == 1)
    #expect(session.state.notice?.text.contains("there is no 30 February 2024") == true)
    try session.send("⌫", "⌫")
    for key in "29" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.layers.isEmpty)
    #expect(
      session.state.known.prepared.edit.objects == [
        .init(
          Self.first,
          [
            .attribute(
              "createdAt", .date(try #require(CoreDataDate.seconds(written: "2024-02-29"))))
          ])
      ])
    let screen = session.screen().description
    #expect(screen.contains("* 1 change"))
    #expect(screen.contains("*  1  "))
    #expect(screen.contains("*2024-02-29"))
    #expect(!session.effects.contains { if case .rescue = $0 { true } else { false } })
  }

  @Test("the same value again is no change, and a second one takes the place of the first")
  func same() throws {
    var session = try Self.prepared()
    try session.send("E")
    for key in "2001-01-02" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.known.prepared.isEmpty)
  }

  @Test("u takes back the last change, with what it was in the notice, and U prepares it again")
  func undo() throws {
    var session = try Self.prepared()
    try session.send("h", "h", "E")
    for key in "Leek" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.known.prepared.entries.count == 2)
    try session.send("u")
    #expect(session.state.known.prepared.entries.count == 1)
    #expect(session.state.notice?.text == "undone: Recipe/p1 title = Leek")
    try session.send("u")
    #expect(session.state.known.prepared.isEmpty)
    try session.send("U")
    #expect(session.state.known.prepared.entries.count == 1)
  }

  @Test(
    "what is no value of the type is refused",
    arguments: [(3, "9.5", "Integer 16"), (3, "40000", "Integer 16"), (4, "today", "Date")])
  func types(column: Int, text: String, type: String) throws {
    var session = try Session(width: 120, height: 36)
    for _ in 0..<column { try session.send("l") }
    try session.send("E")
    for key in text { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(
      session.state.notice?.text.contains("is no \(type)") == true,
      "\(session.state.notice?.text ?? "")")
    #expect(session.state.known.prepared.isEmpty)
  }

  @Test("null, a text like null in quotes, and an empty text are three values")
  func texts() throws {
    for (typed, value) in [
      ("null", AttributeValue.null), ("\"null\"", .string("null")), ("", .string("")),
      ("\"a\\nb\"", .string("a\nb")),
    ] {
      var session = try Session(width: 120, height: 36)
      try session.send("l", "l", "E", "⌫")
      for key in typed { try session.send(.key(.character(key))) }
      try session.send("⏎")
      #expect(
        session.state.known.prepared.edit.objects.first?.assignments == [.attribute("title", value)]
      )
    }
  }

  @Test("^E leaves a text to the editor; what comes back is prepared as it is")
  func editor() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "l", "E", "^E")
    guard case .editText(let id, let text)? = session.effects.last else {
      Issue.record("no editor is asked for")
      return
    }
    #expect(text == "Recipe number 1")
    try session.send(.answer(id, .editedText("null\n\u{1B}[2J")))
    #expect(session.state.layers.isEmpty)
    #expect(
      session.state.known.prepared.edit.objects.first?.assignments == [
        .attribute("title", .string("null\n\u{1B}[2J"))
      ])
  }

  @Test("a text that the editor left as it was is no change, and a failing editor keeps the line")
  func editorFails() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "l", "E", "^E")
    guard case .editText(let id, _)? = session.effects.last else {
      Issue.record("\(session.effects)")
      return
    }
    try session.send(.failed(id, CoreDataError(.usage, "there is no editor “x”")))
    #expect(session.state.layers.count == 1)
    #expect(session.screen().description.contains("there is no editor “x”"))
    try session.send("^E")
    guard case .editText(let next, _)? = session.effects.last else {
      Issue.record("\(session.effects)")
      return
    }
    try session.send(.answer(next, .editedText(nil)))
    #expect(session.state.known.prepared.isEmpty)
    #expect(session.state.layers.isEmpty)
  }

  @Test("a to-one is chosen by words, or by a key")
  func toOne() throws {
    var session = try Session(width: 120, height: 36)
    for _ in 0..<6 { try session.send("l") }
    #expect(session.state.browse.table?.property?.name == "author")
    try session.send("E", "↓", "⏎")
    #expect(
      session.state.known.prepared.edit.objects.first?.assignments
        == [.toOne("author", ObjectID(entity: "Person", key: 3))])
    try session.send("u", "E", "p", "1", "⏎")
    #expect(
      session.state.known.prepared.edit.objects.first?.assignments
        == [.toOne("author", ObjectID(entity: "Person", key: 1))])
  }

  @Test("an object that does not exist is refused, in words of the interface")
  func missing() throws {
    var session = try Session(width: 120, height: 36)
    session.otherAnswer = { effect in
      guard case .ask(let id, .object(let object)) = effect, object.key == 999 else { return nil }
      return [.answer(id, .object(nil))]
    }
    for _ in 0..<6 { try session.send("l") }
    try session.send("E")
    for key in "Person/p999" { try session.send(.key(.character(key))) }
    #expect(session.screen().description.contains("there is no Person/p999"))
    try session.send("⏎")
    #expect(session.state.known.prepared.isEmpty && session.state.layers.count == 1)
    #expect(session.state.notice?.text.contains("no Person was found") == true)
    #expect(!session.screen().description.contains("strata "))
  }

  @Test("a reference that is prepared has one arrow")
  func arrow() throws {
    var session = try Session(width: 120, height: 36)
    for _ in 0..<6 { try session.send("l") }
    try session.send("E", "p", "1", "⏎")
    let screen = session.screen().description
    #expect(screen.contains("→ p1") && !screen.contains("→ →"), "\(screen)")
    // A text that begins with one has it besides.
    var other = try Session(width: 120, height: 36)
    try other.send("l", "l", "E", "⌫")
    for key in "→ p1" { try other.send(.key(.character(key))) }
    try other.send("⏎")
    #expect(other.screen().description.contains("→ → p1"), "\(other.screen())")
  }

  @Test("what is prepared is what the view of a value shows, marked as not written")
  func viewed() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "l", "E")
    for key in "Leek" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    let asked = session.effects.count
    try session.send("v")
    let screen = session.screen().description
    #expect(screen.contains("* prepared, not written") && screen.contains("Leek"))
    #expect(
      !session.effects.dropFirst(asked).contains {
        if case .ask(_, .content) = $0 { true } else { false }
      })
    try session.send("w")
    #expect(session.state.notice?.text.contains("not in the store yet") == true)
    try session.send("Esc", "u", "v")
    #expect(!session.screen().description.contains("prepared, not written"))
  }

  @Test("objects of a to-many are taken out and added")
  func toMany() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("Tab", "Tab", "k", "Esc")
    #expect(session.state.browse.table?.entity == "Person")
    try session.send("l", "l", "l", "E")
    #expect(session.state.browse.table?.property?.name == "recipes")
    try session.send("x", "a", "p", "9", "⏎", "⏎")
    #expect(
      session.state.known.prepared.edit.objects.first?.assignments == [
        .toMany("recipes", .remove, [ObjectID(entity: "Recipe", key: 3)]),
        .toMany("recipes", .add, [ObjectID(entity: "Recipe", key: 9)]),
      ])
  }

  @Test("X marks an object with what goes along; again it keeps both")
  func deletion() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "X")
    #expect(session.state.notice?.text.contains("and with it 2 Recipe") == true)
    let screen = session.screen().description
    #expect(screen.contains("D──1") && screen.contains("d──2"))
    #expect(session.state.known.prepared.edit.deletions == [Self.first])
    try session.send("j", "X")
    #expect(session.state.notice?.text.contains("it is deleted with Recipe/p1") == true)
    try session.send("k", "X")
    #expect(session.state.known.prepared.isEmpty)
  }

  @Test("changes of an object that goes are dropped, and u has them again")
  func deletionOfChanged() throws {
    var session = try Self.prepared()
    try session.send("X")
    #expect(session.state.known.prepared.edit.objects.isEmpty)
    #expect(session.state.notice?.text.contains("what was prepared for them is discarded") == true)
    try session.send("u")
    #expect(session.state.known.prepared.edit.objects.count == 1)
    #expect(session.state.known.prepared.edit.deletions.isEmpty)
  }

  @Test("W checks on a copy, asks, and writes after y; then nothing is prepared, nor by u")
  func write() throws {
    var session = try Self.prepared()
    try session.send("W")
    try Self.check(&session, Self.receipt())
    try session.send("⏎")
    #expect(session.state.layers.count == 1)
    #expect(session.screen().description.contains("b on 4 Migrate rolls back"))
    try session.send("y")
    guard case .rescue(let id, .edit(let order))? = session.effects.last else {
      Issue.record("nothing is written")
      return
    }
    #expect(order.edit.objects.count == 1)
    #expect(session.state.work == "the edit")
    var done = Self.receipt()
    (done.resultPath, done.backupPath) = ("Recipes.sqlite", "Recipes.backup-1")
    done.verified = [.init(what: "database integrity", count: 1)]
    try session.send(.answer(id, .rescued(.edited(done))))
    #expect(session.state.known.prepared.isEmpty)
    #expect(session.screen().description.contains("Recipes.backup-1"))
    #expect(session.screen().description.contains("sound"))
    try session.send("1", "s", "u")
    #expect(session.state.notice?.text.hasPrefix("undone") == true)
    // The write is no step that u takes back: it says once what does.
    try session.send("u")
    #expect(session.state.notice?.text.contains("b on 4 Migrate") == true)
    try session.send("u", "u")
    #expect(session.state.notice?.text.contains("b on 4 Migrate") != true)
    #expect(session.state.known.prepared.isEmpty)
  }

  @Test("what stands against it is shown, and the changes stay prepared")
  func refused() throws {
    var session = try Self.prepared()
    try session.send("W")
    guard case .checkEdit(let id, _)? = session.effects.last else {
      Issue.record("\(session.effects)")
      return
    }
    try session.send(
      .failed(
        id,
        CoreDataError(
          .refused, code: .validationMissingMandatoryProperty,
          "Recipe/p1 would have no value in a mandatory attribute", entity: "Recipe",
          property: "title")))
    let screen = session.screen().description
    #expect(screen.contains("1 change cannot be written: error 1570"))
    #expect(screen.contains("Recipe/p1 would have no value"))
    #expect(session.state.known.prepared.entries.count == 1)
  }

  @Test("deletions that the app will send to all devices are confirmed by their number")
  func mirrored() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("l", "X", "W")
    try Self.check(&session, Self.receipt(deleted: 3, isMirrored: true))
    #expect(session.screen().description.contains("3 deletions to all devices"))
    try session.send("y")
    #expect(!session.effects.contains { if case .rescue = $0 { true } else { false } })
    try session.send("2", "⏎")
    #expect(!session.effects.contains { if case .rescue = $0 { true } else { false } })
    try session.send("⌫", "3", "⏎")
    guard case .rescue(_, .edit(let order))? = session.effects.last else {
      Issue.record("nothing is written")
      return
    }
    #expect(order.confirmedDeletions == 3)
  }

  @Test("quitting asks while changes are prepared, and so does another store")
  func quit() throws {
    for key in ["q", "O"] {
      var session = try Self.prepared()
      try session.send(key)
      #expect(session.state.layers.count == 1)
      #expect(!session.effects.contains(.quit) && !session.effects.contains(.choose(nil)))
      try session.send("n")
      #expect(session.state.layers.isEmpty)
      try session.send(key, "y")
      #expect(session.effects.last == (key == "q" ? .quit : .choose(nil)))
    }
    var session = try Self.prepared()
    try session.send("u", "q")
    #expect(session.effects.last == .quit)
  }

  @Test("C lists them; x takes one back, Enter goes to its object")
  func list() throws {
    var session = try Self.prepared()
    try session.send("j", "X", "C")
    let screen = session.screen().description
    #expect(screen.contains("▸prepared"))
    #expect(screen.contains("createdAt: 2001-01-02"))
    #expect(screen.contains("D Recipe/p2"))
    try session.send("x")
    #expect(session.state.known.prepared.entries.count == 1)
    try session.send("u")
    #expect(session.state.known.prepared.entries.count == 2)
  }

  @Test("a backup, a store of no known model and rows that were deleted are not changed")
  func refusals() throws {
    var session = try Self.session()
    session.state.known.copy = CopyPlace(root: "/tmp/x", prefix: "B.zip//", noun: "an archive")
    try session.send("E")
    #expect(session.state.notice?.text == "E edit: an archive is never modified")
    try session.send("X")
    #expect(session.state.notice?.text.contains("an archive is never modified") == true)
  }

  @Test("the same keys make the same state and ask for the same")
  func purity() throws {
    let (one, other) = (try Self.prepared(), try Self.prepared())
    #expect(one.state == other.state)
    #expect(one.effects == other.effects)
  }

  @Test("looks as it was", arguments: [(120, 36), (80, 24)])
  func look(width: Int, height: Int) throws {
    let size = "\(width)x\(height)"
    var session = try Self.session(width: width, height: height)
    try session.send("E")
    for key in "2024-02-30" { try session.send(.key(.character(key))) }
    try Snapshot.expect(session.screen(), named: "edit-value-\(size)")
    session = try Self.prepared(width: width, height: height)
    try session.send("j", "j", "j", "X")
    try Snapshot.expect(session.screen(), named: "edit-prepared-\(size)")
    try session.send("C")
    try Snapshot.expect(session.screen(), named: "edit-list-\(size)")
    try session.send("W")
    try Self.check(&session, Self.receipt(deleted: 3, isMirrored: true))
    try Snapshot.expect(session.screen(), named: "edit-write-\(size)")
  }
}
