import Files
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Interface
@testable import strata

@Suite("What is kept of a store")
struct SessionFolderTests {
  private func record(_ path: String, opened: Double = 1) -> SessionFolder.Record {
    var session = SavedSession()
    session.screen = 2
    session.row = "Recipe/p12"
    return SessionFolder.Record(
      path: path, uuid: "A", model: "Recipes", opened: opened, session: session)
  }

  @Test("it comes back for the same store in the same place, and for no other")
  func kept() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("a.sqlite")
    try FileSystem.write([1], to: store)
    let sessions = SessionFolder(state: folder.path("state/strata"))
    sessions.keep(record(store))
    #expect(sessions.session(uuid: "A", path: store)?.row == "Recipe/p12")
    #expect(sessions.session(uuid: "B", path: store) == nil)
    #expect(sessions.session(uuid: "A", path: folder.path("b.sqlite")) == nil)
  }

  @Test("only the owner can read it, and nothing half written is left")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let sessions = SessionFolder(state: folder.path("state"))
    sessions.keep(record(folder.path("a.sqlite")))
    sessions.keep(record(folder.path("a.sqlite")))
    let files = try FileSystem.list(folder.path("state/sessions"))
    #expect(files.count == 1)
    let file = folder.path("state/sessions/\(files.first ?? "")")
    #expect(FileSystem.status(file)?.permissions == 0o600)
    #expect(FileSystem.status(folder.path("state"))?.permissions == 0o700)
  }

  @Test("a damaged file is passed over", arguments: ["", "{", "[]", "{\"path\": 5}", "\u{0}"])
  func damaged(text: String) throws {
    let folder = try TemporaryFolder()
    let sessions = SessionFolder(state: folder.path("state"))
    sessions.keep(record(folder.path("a.sqlite")))
    let files = try FileSystem.list(folder.path("state/sessions"))
    for file in files {
      try FileSystem.write(Array(text.utf8), to: folder.path("state/sessions/\(file)"))
    }
    #expect(sessions.session(uuid: "A", path: folder.path("a.sqlite")) == nil)
    #expect(try sessions.recent().isEmpty)
  }

  @Test("where nothing can be written nothing is kept, and nobody is troubled")
  func unwritable() {
    let sessions = SessionFolder(state: "/dev/null/strata")
    sessions.keep(record("/tmp/a.sqlite"))
    #expect(sessions.session(uuid: "A", path: "/tmp/a.sqlite") == nil)
  }

  @Test("two stores whose names differ only in how a letter is spelled are both listed")
  func twins() throws {
    let folder = try TemporaryFolder()
    let state = SessionFolder(state: folder.path("state"))
    let paths = ["Caf\u{E9}.sqlite", "Cafe\u{301}.sqlite"].map { folder.path($0) }
    for path in paths { try FileSystem.write([1], to: path) }
    for path in paths { state.keep(record(path)) }
    let names = try FileSystem.list(folder.path).filter { $0.hasSuffix(".sqlite") }
    #expect(try state.recent().count == names.count)
  }

  @Test("the stores of late are those that are still there")
  func recent() throws {
    let folder = try TemporaryFolder()
    let sessions = SessionFolder(state: folder.path("state"))
    let (here, gone) = (folder.path("a.sqlite"), folder.path("gone.sqlite"))
    try FileSystem.write([1], to: here)
    sessions.keep(record(here))
    sessions.keep(record(gone))
    let stores = try sessions.recent()
    #expect(stores.map(\.path) == [FileSystem.canonical(here)])
    #expect(stores.map(\.model) == ["Recipes"])
  }
}
