import Files
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("Files that are named as stores and are none")
struct PassedOverTests {
  private let folder: TemporaryFolder
  private var place: String { folder.path("place") }

  /// A folder with a store, an empty file and a database of another kind.
  init() throws {
    folder = try TemporaryFolder()
    try #require(
      Captured("demo", folder.path("place"), "--objects", "50", "--no-open").status == .done)
    try FileSystem.write([], to: place + "/Empty.sqlite")
    let other = try Connection(path: place + "/Other.sqlite", mode: .create)
    try other.execute("CREATE TABLE a (b)")
    other.close()
  }

  @Test("a command that is given their folder names them and the store that it reads")
  func folderOfOne() throws {
    let info = Captured("info", place)
    #expect(info.status == .done && info.out.contains("Recipes.sqlite"))
    for name in ["Empty.sqlite", "Other.sqlite"] {
      #expect(info.err.contains("“\(name)” was passed over"), "\(info.err)")
    }
    #expect(info.err.contains("Recipes.sqlite is read"))
    let named = Captured("info", place + "/Recipes.sqlite")
    #expect(named.status == .done && named.err.isEmpty, "\(named.err)")
  }

  @Test("stores names them too")
  func listed() {
    let stores = Captured("stores", place)
    #expect(stores.status == .done && stores.out.contains("1 store in "))
    for name in ["Empty.sqlite", "Other.sqlite"] {
      #expect(stores.err.contains("“\(name)” was passed over"), "\(stores.err)")
    }
  }

  @Test("a text with a store's name is listed, and not counted as a store")
  func text() throws {
    try FileSystem.write(Array("a text".utf8), to: place + "/A.sqlite")
    let stores = Captured("stores", place)
    #expect(
      stores.lines.first == "1 store and 1 file with the name of one in \(place) (a folder)",
      "\(stores.out)")
    #expect(stores.out.contains("! A.sqlite: not an SQLite file, despite its name"))
    #expect(stores.lines.last?.hasSuffix("//Recipes.sqlite") == true)
    let json = Captured("stores", place, "--json").out
    #expect(json.contains("\"type\":null") && json.contains("\"type\":\"SQLite\""), "\(json)")
  }

  @Test("an empty file comes with what to do: list the folder, look at backups")
  func empty() throws {
    let path = place + "/Empty.sqlite"
    for command in ["info", "doctor", "salvage"] {
      let run = Captured(
        [command, path] + (command == "salvage" ? ["--output", folder.path("a.sqlite")] : []))
      #expect(run.status == .unreadable)
      #expect((run.out + run.err).contains("strata stores \(place)"), "\(run.out) \(run.err)")
      #expect(!(run.out + run.err).contains("strata rollback"))
    }
    try FileSystem.copyOver(place + "/Recipes.sqlite", to: place + "/Empty.backup-1")
    for command in ["info", "doctor"] {
      let run = Captured(command, path)
      let text = (run.out + run.err).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(text.contains("strata rollback \(path) --list"), "\(text)")
    }
    #expect(Captured("rollback", path, "--list").status == .done)
  }
}
