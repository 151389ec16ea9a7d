import ManagedModel
import Migration
import Terminal
import TestSupport
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("The mirroring to CloudKit in the interface")
struct CloudKitPanelTests {
  /// A session on a mirrored store, which answers what is asked of its mirroring.
  private static func session(
    _ folder: TemporaryFolder, width: Int, height: Int
  ) throws -> Session {
    let store = try Store(path: CloudKitSamples.store(in: folder, .model16))
    var session = try Session(width: width, height: height)
    session.otherAnswer = { effect in
      switch effect {
      case .ask(let id, .facts):
        let facts = try StoreRequest.facts(versions: []).answer(
          from: store, localTime: { _ in nil }, post: { _ in })
        return facts.map { [.answer(id, $0)] }
      case .ask(let id, .object(let object)):
        let found = try SampleStore.object(object)
        // The sample's row, with what the mirror knows of one of the store's.
        let mirrored = ObjectID(entity: "Base", key: 3)
        return [
          .answer(
            id,
            .object(
              Inspection(found, cloud: try store.cloudObject(mirrored), localTime: { _ in nil })))
        ]
      default: return nil
      }
    }
    return session
  }

  private static func opened(
    _ folder: TemporaryFolder, width: Int = 120, height: Int = 36
  ) throws -> Session {
    var session = try session(folder, width: width, height: height)
    try session.send("i", "→", "→", "→", "→", "→")
    return session
  }

  @Test("the tab says what waits, how the last runs ended, and where each entity stands")
  func tab() throws {
    let folder = try TemporaryFolder()
    var session = try Self.opened(folder)
    try Snapshot.expect(session.screen(), named: "cloudkit-120x36")
    try session.send("G")
    try Snapshot.expect(session.screen(), named: "cloudkit-end-120x36")
    let other = try TemporaryFolder()
    var small = try Self.opened(other, width: 80, height: 24)
    try Snapshot.expect(small.screen(), named: "cloudkit-80x24")
    for _ in 1...18 { try small.send("j") }
    try Snapshot.expect(small.screen(), named: "cloudkit-middle-80x24")
  }

  @Test("no line is cut: what has no room goes on below", arguments: [80, 100, 120])
  func whole(width: Int) throws {
    let folder = try TemporaryFolder()
    let session = try Self.opened(folder, width: width, height: 100)
    // A run that did not end has the sign itself.
    let cut = session.screen().description.split(separator: "\n")
      .filter { $0.contains("…") && !$0.contains("… setup") }
    #expect(cut.isEmpty, "\(cut)")
  }

  @Test("Enter on an entity lists its objects that are not synced")
  func rows() throws {
    let folder = try TemporaryFolder()
    var session = try Self.opened(folder, height: 60)
    for _ in 1...60 {
      guard session.state.layers.last?.content is StorePanel else { break }
      if session.state.layers.last?.content.bindings(session.state.context)
        .contains(where: { $0.title == "go to the rows" && $0.reason == nil }) == true
      {
        // The sample has no Base: what is asked for is seen by the panel closing.
        try session.send("⏎")
        #expect(session.state.layers.isEmpty)
        return
      }
      try session.send("j")
    }
    Issue.record("no line leads to rows")
  }

  @Test("the inspector says the state of an object and its record")
  func inspector() throws {
    for (width, height, name) in [
      (120, 36, "cloudkit-object-120x36"), (80, 24, "cloudkit-object-80x24"),
    ] {
      let folder = try TemporaryFolder()
      var session = try Self.session(folder, width: width, height: height)
      // The last lines of the inspector.
      try session.send("j", "Tab", "G")
      try Snapshot.expect(session.screen(), named: name)
      #expect(session.screen().description.contains("@cloud"))
    }
  }
}
