import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("What is told of bad input")
struct BadInputTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("Recipes.sqlite")
    _ = try DemoCommand.write(to: folder.path, objects: 60)
  }

  private func expect(
    _ words: [String], _ status: CommandStatus, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let told = Captured(words)
    #expect(told.status == status, "\(told.err)", sourceLocation: location)
    #expect(told.err.hasPrefix("strata: "), sourceLocation: location)
    #expect(told.out == "", sourceLocation: location)
    let json = Captured(words + ["--json"])
    #expect(json.status == status, sourceLocation: location)
    #expect(try json.decoded(ErrorShape.self).error.message != "", sourceLocation: location)
  }

  @Test("what is no store is unreadable, for every command that takes one")
  func noStore() throws {
    let text = folder.path("text.sqlite")
    try FileSystem.write(Array("hello".utf8), to: text)
    let empty = folder.path("empty.sqlite")
    try FileSystem.write([], to: empty)
    let cut = folder.path("cut.sqlite")
    let bytes = try FileSystem.read(store)
    try FileSystem.write(Array(bytes.prefix(bytes.count / 2)), to: cut)
    let other = folder.path("other.sqlite")
    try Connection(path: other, mode: .create).execute("CREATE TABLE t (a)")
    for path in [folder.path("none.sqlite"), folder.path, text, empty, cut, other] {
      // In the folder are several, of which one is to be named.
      let status = path == folder.path ? CommandStatus.usage : .unreadable
      for command in ["info", "dump"] { try expect([command, path], status) }
      try expect(["rows", path, "Recipe"], status)
      try expect(["plan", path, "--to", folder.path("Recipes.xcdatamodeld")], status)
      // A folder stands for the stores in it.
      if path != folder.path {
        try expect(["migrate", path, "--to", folder.path("Recipes.xcdatamodeld")], .unreadable)
      }
      // The interface chooses among the stores of a folder, for which it needs a terminal.
      #expect(Captured(path).status == (path == folder.path ? .usage : .unreadable))
    }
  }

  @Test(
    "a store with damaged bookkeeping is unreadable",
    arguments: [
      "UPDATE Z_METADATA SET Z_PLIST = x''", "UPDATE Z_METADATA SET Z_PLIST = x'0102'",
      "DELETE FROM Z_METADATA", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00ff00ff'",
    ])
  func damaged(_ sql: String) throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute(sql)
    }
    try FileSystem.rename(folder.path("Recipes.xcdatamodeld"), to: folder.path("elsewhere"))
    try expect(["info", store], .unreadable)
  }

  @Test("a damaged model cache is told, and a model that lies beside the store serves instead")
  func damagedCache() throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00ff00ff'")
    }
    let found = Captured("info", store)
    #expect(found.status == .done)
    #expect(found.out.contains("does not inflate"))
  }

  @Test("a table that is missing fails the plan")
  func missingTable() throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("DROP TABLE ZTAG")
    }
    let to = folder.path("Recipes.xcdatamodeld") + "@Recipes 2"
    let plan = Captured("plan", store, "--to", to)
    #expect(plan.status == .refused)
    #expect(plan.out.contains("the table ZTAG is missing"))
    #expect(Captured("migrate", store, "--to", to).status == .refused)
  }

  @Test("behind a link, external data are found beside the real store")
  func link() throws {
    let elsewhere = try TemporaryFolder()
    #expect(symlink(store, elsewhere.path("link.sqlite")) == 0)
    let ours = Captured("dump", store)
    #expect(!ours.out.contains("missing"))
    #expect(Captured("dump", elsewhere.path("link.sqlite")).out == ours.out)
  }

  @Test("a store without a model in it is read with one that lies beside it, or raw")
  func withoutModel() throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("DROP TABLE Z_MODELCACHE")
    }
    let found = try Captured("info", store, "--json").decoded(InfoShape.self)
    #expect(found.model.source == "file" && found.model.matches)
    try FileSystem.rename(folder.path("Recipes.xcdatamodeld"), to: folder.path("elsewhere"))
    let raw = try Captured("info", store, "--json").decoded(InfoShape.self)
    #expect(raw.model.source == nil && !raw.model.matches)
    try expect(
      ["plan", store, "--to", folder.path("elsewhere/Recipes.xcdatamodel")], .refused)
    #expect(
      Captured("info", store, "--model", folder.path("elsewhere/Recipes.xcdatamodel")).status
        == .done)
  }

  @Test("a model that is none is unreadable, and an unknown version wrong usage")
  func badModel() throws {
    let broken = folder.path("Broken.xcdatamodel")
    try FileSystem.makeDirectory(broken)
    try FileSystem.write(Array("<model><entity".utf8), to: broken + "/contents")
    for command in ["model", "hash"] {
      try expect([command, broken], .unreadable)
      try expect([command, folder.path("none.mom")], .unreadable)
      try expect([command, folder.path("Recipes.xcdatamodeld") + "@Nope"], .usage)
    }
    try expect(["diff", store, broken], .unreadable)
    try expect(["info", store, "--model", broken], .unreadable)
  }

  @Test("control characters of a store reach neither a terminal nor a pipe")
  func hostileText() throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.run(
        "UPDATE ZTAG SET ZNAME = ? WHERE Z_PK = 1", [.text("\u{1B}[2Jx\u{202E}y\u{7}")])
    }
    // CSV is exact where no terminal reads it: RowsCommandTests.
    for format in ["table", "json", "ndjson"] {
      let rows = Captured("rows", store, "Tag", "--format", format)
      #expect(rows.status == .done)
      #expect(!rows.out.utf8.contains(0x1B) && !rows.out.utf8.contains(7))
      if format == "table" {
        #expect(!rows.out.unicodeScalars.contains("\u{202E}"))
      }
    }
  }
}
