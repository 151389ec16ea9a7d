import ManagedModel
import Terminal
import TestSupport
import Testing

@testable import Interface
@testable import ManagedStore

@Suite("An XML or binary store in the store panel")
struct WholeFileTests {
  @Test("it is one file: what lies beside the private copy is nothing of it")
  func panel() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: CloudKitSamples.store(in: folder, .model16))
    var session = try Session(width: 120, height: 36)
    session.otherAnswer = { effect in
      guard case .ask(let id, .facts) = effect else { return nil }
      let facts = try StoreRequest.facts(versions: []).answer(
        from: store, localTime: { _ in nil }, post: { _ in })
      return facts.map { [.answer(id, $0)] }
    }
    session.state.copy = CopyPlace(
      root: folder.path(""), prefix: "", noun: "an XML store",
      whole: CopyPlace.WholeFile(
        type: "XML",
        file: StoreFile(role: .main, path: "/data/Notes.xml", bytes: 6_769_801, modified: nil)))
    try session.send("i")
    let files = session.screen().description
    #expect(files.contains("/data/Notes.xml") && files.contains("6.8 MB"), "\(files)")
    #expect(files.contains("This is an XML store."), "\(files)")
    #expect(files.contains("strata convert"), "\(files)")
    #expect(!files.contains("page size") && !files.contains("Cloud.sqlite"), "\(files)")
    try session.send("→")
    let metadata = session.screen().description
    #expect(metadata.contains("XML") && !metadata.contains("Z_PLIST"), "\(metadata)")
    try session.send("→", "→")
    let external = session.screen().description
    #expect(external.contains("an XML store holds all values itself"), "\(external)")
    // Any other store is shown as before.
    session.state.copy = nil
    try session.send("←", "←", "←")
    #expect(session.screen().description.contains("page size"))
  }
}
