import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("A value in full")
struct ValueViewTests {
  private func text(_ session: Session) -> String { session.screen().description }

  @Test("v shows a value in full: pages, ends, search, and bytes")
  func content() throws {
    var session = try Session()
    try session.send("l", "l", "v")
    #expect(text(session).contains("line 1 of the text"))
    try session.send("Space")
    #expect(text(session).contains("line 27 of the text"))
    try session.send("G")
    #expect(text(session).contains("line 3000 of the text"))
    try session.send("g")
    // The frame tells how much there is, and where one is; it did not once, for want of a title.
    #expect(session.screen().row(1).contains("65 kB  0 %"))
    #expect(text(session).contains("line 1 of the text"))
    try session.send("/")
    for character in "line 2000" { try session.send(.key(.character(character))) }
    try session.send("Enter")
    #expect(text(session).contains("line 2000 of the text"))
    try session.send("x")
    #expect(text(session).contains("6c 69 6e 65"))
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }

  /// What a store answers whose value begins with some bytes.
  ///
  /// - Parameter keys: what is pressed first.
  private func session(
    holding bytes: [UInt8]?, total: Int? = nil, width: Int = 100,
    _ keys: [String] = ["l", "l", "l", "l", "l", "v"]
  ) throws -> Session {
    var session = try Session(width: width)
    session.otherAnswer = { effect in
      switch effect {
      case .ask(let id, .content):
        let part = bytes.map {
          StoredContent(total: total ?? $0.count, offset: 0, bytes: $0, isText: false)
        }
        return [.answer(id, .content(part))]
      case .writeValue(let id, let value):
        guard value.path != "taken.gz" else {
          return [.failed(id, CoreDataError(.refused, "a file has that name"))]
        }
        return [.answer(id, .written(path: value.path))]
      default: return nil
      }
    }
    for key in keys { try session.send(key) }
    return session
  }

  @Test("v decodes a value whose form is known, without a control character, and x shows its bytes")
  func decoded() throws {
    var session = try session(holding: [0x1F, 0x8B, 8, 0, 1, 2, 3])
    #expect(text(session).contains("dictionary of 1"))
    #expect(session.screen().row(1).contains("gzip of keyed archive 7 B"))
    #expect(!text(session).unicodeScalars.contains { $0.value == 0x1B })
    try session.send("/", "s", "o", "u", "p", "Enter")
    #expect(session.effects.allSatisfy { if case .ask(_, .find) = $0 { false } else { true } })
    #expect(text(session).contains("›"))
    try session.send("x")
    #expect(text(session).contains("1f 8b 08"))
    try session.send("x")
    #expect(text(session).contains("dictionary of 1"))
  }

  @Test("a value that cannot be decoded is shown as bytes, and decoding can be stopped")
  func undecoded() throws {
    let answer = Answer.decoded(nil)
    var session = try Session()
    session.otherAnswer = { effect in
      switch effect {
      case .ask(let id, .content):
        let part = StoredContent(
          total: 4, offset: 0, bytes: [0x1F, 0x8B, 8, 0], isText: false)
        return [.answer(id, .content(part))]
      case .ask(let id, .decoded): return [.answer(id, answer)]
      default: return nil
      }
    }
    try session.send("l", "l", "l", "l", "l", "v")
    #expect(text(session).contains("1f 8b 08 00"))
    try session.send("Esc")
    session.otherAnswer = { [other = session.otherAnswer] effect in
      if case .ask(_, .decoded) = effect { [] } else { try other?(effect) }
    }
    try session.send("v")
    #expect(!text(session).contains("1f 8b"))
    try session.send("^C")
    #expect(text(session).contains("1f 8b 08 00"))
  }

  @Test("w in the popup of a value proposes a name by its content, and replaces no file")
  func writing() throws {
    var session = try session(holding: [0xFF, 0xD8, 0xFF, 0xE0, 1], total: 1_200_000)
    try session.send("w")
    #expect(text(session).contains("Recipe-p1-photo.jpg"))
    #expect(text(session).contains("1.2 MB of Recipe/p1 photo"))
    try session.send("Enter")
    let written = session.effects.compactMap { effect -> ValueOutput? in
      if case .writeValue(_, let value) = effect { value } else { nil }
    }
    #expect(
      written == [
        ValueOutput(
          object: ObjectID(entity: "Recipe", key: 1), property: "photo",
          path: "Recipe-p1-photo.jpg")
      ])
    #expect(session.state.notice?.text.contains("is in Recipe-p1-photo.jpg") == true)
    // The value is still there to be looked at.
    #expect(session.state.layers.count == 1)

    session = try self.session(holding: [0x1F, 0x8B, 8, 0])
    try session.send("w")
    for _ in "Recipe-p1-photo" { try session.send("Home", "Del") }
    for character in "taken" { try session.send(.key(.character(character))) }
    try session.send("Enter")
    #expect(text(session).contains("a file has that name"))
    let count = session.effects.count
    try session.send("Enter")
    #expect(session.effects.count == count + 1)
    #expect(session.state.layers.count == 2)
  }

  /// To the photo of the first recipe, in the rows and in the inspector.
  private static let ways = [["l", "l", "l", "l", "l"], ["Tab", "j", "j", "j"]]

  @Test(
    "w on data asks for its file at once, and the footer of 80 columns has both v and w",
    arguments: ways)
  func writingAtOnce(way: [String]) throws {
    var session = try session(
      holding: [0xFF, 0xD8, 0xFF, 0xE0, 1], total: 1_200_000, width: 80, way)
    let footer = session.screen().row(29)
    #expect(footer.contains("v view in full  w write to a file"), "\(footer)")
    #expect(footer.contains("Tab pane") && footer.contains("? keys"), "\(footer)")
    try session.send("w")
    #expect(text(session).contains("Recipe-p1-photo.jpg"))
    #expect(text(session).contains("1.2 MB of Recipe/p1 photo"))
    try session.send("Enter")
    let paths = session.effects.compactMap { effect -> String? in
      if case .writeValue(_, let value) = effect { value.path } else { nil }
    }
    #expect(paths == ["Recipe-p1-photo.jpg"])
    #expect(session.state.notice?.text.contains("is in Recipe-p1-photo.jpg") == true)
    #expect(session.state.layers.isEmpty)
  }

  @Test("w says why there is nothing to be written, and Esc stops its reading")
  func nothingToWrite() throws {
    var session = try session(holding: nil, Self.ways[0] + ["w"])
    #expect(session.state.notice?.text == "Recipe/p1 photo: there is no value")
    #expect(session.state.layers.isEmpty)
    session.otherAnswer = { effect in
      guard case .ask(let id, .content) = effect else { return nil }
      return [.failed(id, CoreDataError(.unreadable, "the disk is gone"))]
    }
    try session.send("w")
    #expect(session.state.notice?.text.contains("the disk is gone") == true)
    #expect(session.state.layers.isEmpty)
    session.otherAnswer = { effect in
      if case .ask(_, .content) = effect { [] } else { nil }
    }
    try session.send("w", "Enter")
    #expect(session.state.notice?.text.contains("the value is being read") == true)
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
    guard case .cancel? = session.effects.last else {
      Issue.record("its reading goes on: \(String(describing: session.effects.last))")
      return
    }
    try session.send("Tab", "Tab", "w")
    #expect(session.state.notice?.text.contains("choose the value of an attribute") == true)
  }
}
