import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface

@Suite("Labels of related objects")
struct LabelTests {
  /// A session whose persons are called Julia and whatever key they have.
  private func session() throws -> Session {
    var session = try Session(width: 140)
    session.otherAnswer = { effect in
      guard case .names(let id, let request) = effect else { return nil }
      var names = ObjectNames()
      for object in request.objects { names.names[object] = "Julia \(object.key)" }
      for owner in request.owners {
        for relationship in owner.relationships {
          let first = ObjectID(entity: "Person", key: 1)
          names.firsts[owner.id, default: [:]][relationship] = [first]
          names.names[first] = "Julia 1"
        }
      }
      return [.answer(id, .names(names))]
    }
    try session.send("^R")
    return session
  }

  @Test("a to-one tells the object's name and key")
  func toOne() throws {
    let session = try session()
    #expect(session.screen().description.contains("→ Julia 2 (p2)"))
  }

  @Test("without a name the key stands alone")
  func keyAlone() throws {
    let session = try Session(width: 140)
    #expect(session.screen().description.contains("→ p2"))
  }

  @Test("only what is in sight is asked about, and once")
  func bounded() throws {
    var session = try session()
    func asked() -> [Int] {
      session.effects.compactMap { effect in
        if case .names(_, let request) = effect { request.objects.count } else { nil }
      }
    }
    let before = asked()
    try session.send("j", "k", "j", "k")
    #expect(asked().filter { $0 > 200 } == [])
    let after = asked()
    try session.send("j", "k")
    #expect(asked() == after || asked().count <= after.count + 2)
    #expect(!before.isEmpty)
  }

  @Test("L picks the attribute, u takes it back, and it is asked anew")
  func choosing() throws {
    var session = try session()
    try session.send("L", "j", "Enter")
    let chosen = session.state.view.browse.labels
    #expect(chosen.count == 1)
    let labels = session.effects.compactMap { effect -> [String: String]? in
      if case .names(_, let request) = effect { request.labels.choices } else { nil }
    }
    #expect(labels.last == chosen)
    try session.send("u")
    #expect(session.state.view.browse.labels == [:])
  }

  @Test("the key alone can be chosen")
  func none() throws {
    var session = try session()
    try session.send("L", "End", "Enter")
    #expect(Array(session.state.view.browse.labels.values) == [""])
  }

  @Test("the column that labels objects is the first on screen, also one that was chosen")
  func firstColumn() throws {
    var session = try session()
    func titles() -> [String] {
      session.state.browse.table.map { table in table.columns.map { table.title($0) } } ?? []
    }
    #expect(titles().prefix(3) == ["key", "entity", "title"])
    let all = titles().count
    _ = session.state.on(BrowseScreen.self) {
      $0.labels.choices["Recipe"] = "serves"
      return $0.nameAnew(in: &$1)
    }
    #expect(titles().prefix(3) == ["key", "entity", "serves"])
    #expect(titles().count == all)
  }
}
