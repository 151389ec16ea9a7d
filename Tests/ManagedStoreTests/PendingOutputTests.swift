import ManagedModel
import TestSupport
import Testing

@testable import Files

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Outputs of several files")
struct PendingOutputTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("New.sqlite") }
  private var support: String { folder.path(".New_SUPPORT") }
  private var names: [String] { get throws { try FileSystem.list(folder.path) } }

  init() throws { folder = try TemporaryFolder() }

  /// An output with a folder beside it, all written.
  private func written(_ text: String = "new") throws -> PendingOutput {
    let output = try PendingOutput(for: path)
    try output.folder.create("New.sqlite").append(Array(text.utf8))
    try output.folder.makeFolder(".New_SUPPORT").create("file").append([1])
    return output
  }

  /// What a process that was killed left: its files are there, and nobody holds the lock.
  private func leave(_ files: [String], for name: String = "New.sqlite") throws -> String {
    let work = WorkName.new(for: name)
    try FileSystem.makeDirectory(folder.path(work))
    for file in [".strata-lock"] + files {
      let place = folder.path(work + "/" + file)
      try FileSystem.makeDirectory(FileSystem.parent(of: place) ?? ".")
      try FileSystem.write(Array(name.utf8), to: place)
    }
    return work
  }

  @Test("get their names as one, and nothing else is left")
  func whole() throws {
    let output = try written()
    try output.finish(with: [".New_SUPPORT", ".none"])
    #expect(try names == [".New_SUPPORT", "New.sqlite"])
    #expect(try FileSystem.list(support) == ["file"])
    #expect(try FileSystem.read(path) == Array("new".utf8))
  }

  @Test("go away unfinished, with the folders that were made for them")
  func unfinished() throws {
    do { _ = try written() }
    #expect(try names == [])
    do { _ = try PendingOutput(for: folder.path("a/b/New"), makesFolders: true) }
    #expect(try names == [])
    #expect(throws: (any Error).self) { try PendingOutput(for: folder.path("a/b/New")) }
  }

  @Test("replace nothing, and what was put beside is taken back", arguments: ["file", "support"])
  func taken(what: String) throws {
    do {
      let output = try written()
      if what == "file" {
        try FileSystem.write([7], to: path)
      } else {
        try FileSystem.makeDirectory(support)
      }
      let error = #expect(throws: CoreDataError.self) {
        try output.finish(with: [".New_SUPPORT"])
      }
      #expect(error?.kind == .failed)
    }
    #expect(try names == [what == "file" ? "New.sqlite" : ".New_SUPPORT"])
    #expect(try what == "support" || FileSystem.read(path) == [7])
    #expect(try what == "file" || FileSystem.list(support) == [])
  }

  @Test("are begun once at a time, and others in the same folder meanwhile")
  func twice() throws {
    let first = try written()
    let other = try PendingOutput(for: folder.path("Other.sqlite"))
    let error = #expect(throws: CoreDataError.self) { try PendingOutput(for: path) }
    #expect(error?.kind == .failed && error?.message.contains("another strata") == true)
    #expect(PendingOutput.abandoned(beside: path) == [])
    try first.finish(with: [".New_SUPPORT"])
    #expect(try FileSystem.list(support) == ["file"])
    withExtendedLifetime(other) {}
  }

  @Test("remove what a process that is gone left, and no other hidden name")
  func leftovers() throws {
    let left = try [leave(["New.sqlite", ".New_SUPPORT/file"]), leave([], for: "Other")].sorted()
    let file = WorkName.new(for: "report.json")
    try FileSystem.write([1], to: folder.path(file))
    // Made by a process that got no further.
    try FileSystem.makeDirectory(folder.path(WorkName.new(for: "New.sqlite")))
    let kept = [".strata-new-", ".strata-new-notes", ".strata-new-New.sqlite-short"]
    for name in kept { try FileSystem.write([1], to: folder.path(name)) }
    let link = WorkName.new(for: "link")
    #expect(symbolicLink(folder.path(link), to: "elsewhere"))
    #expect(PendingOutput.abandoned(beside: path) == (left + [file]).sorted())
    let output = try written()
    try output.finish(with: [".New_SUPPORT"])
    #expect(try names == ([".New_SUPPORT", "New.sqlite", link] + kept).sorted())
  }

  @Test("take back the folder of one that was killed between two names")
  func between() throws {
    let work = try leave(["New.sqlite"])
    try FileSystem.makeDirectory(support)
    try FileSystem.write(Array("New.sqlite".utf8), to: support + "/" + work)
    try FileSystem.write([1], to: support + "/old")
    let output = try written()
    try output.finish(with: [".New_SUPPORT"])
    #expect(try FileSystem.list(support) == ["file"])
    #expect(try names == [".New_SUPPORT", "New.sqlite"])
  }

  @Test(
    "leave a folder alone that is a store's by now, or has no right mark",
    arguments: ["finished", "anew", "unmarked", "other"])
  func kept(state: String) throws {
    let work = try leave(state == "finished" ? [] : ["New.sqlite"])
    try FileSystem.makeDirectory(support)
    try FileSystem.write([1], to: support + "/file")
    if state == "finished" || state == "anew" { try FileSystem.write([7], to: path) }
    let mark = support + "/" + (state == "other" ? WorkName.new(for: "New.sqlite") : work)
    if state != "unmarked" { try FileSystem.write(Array("New.sqlite".utf8), to: mark) }
    PendingOutput.removeAbandoned(beside: path)
    #expect(FileIdentity(of: support + "/file") != nil)
    #expect(FileIdentity(of: folder.path(work)) == nil)
    #expect(FileIdentity(of: mark) == nil || state == "other")
  }

  @Test(
    "a folder of few or many files is brought to the disk, and one that is missing is nothing",
    arguments: [3, 200])
  func synced(files: Int) throws {
    let output = try PendingOutput(for: folder.path("Out"))
    let made = try output.folder.createFolder("Out")
    let inner = try made.createFolder("files")
    for number in 0..<files { try inner.create("\(number)").append([1, 2, 3]) }
    #if canImport(Glibc)
      let isCalled = try made.syncFileSystem()
      #expect(isCalled)
    #endif
    try output.sync("Out", files: files)
    try output.sync("None", files: files)
    try output.finish()
    #expect(try FileSystem.list(folder.path("Out/files")).count == files)
  }

  @Test("names of one output sort as they were made, and fit into a name of a file")
  func sorted() throws {
    let long = String(repeating: "ä", count: 120)
    #expect(WorkName.new(for: long).utf8.count <= 255)
    var last = WorkName.new(for: "a")
    for _ in 0..<5 {
      usleep(10)
      let next = WorkName.new(for: "a")
      #expect(last < next)
      last = next
    }
  }
}
