import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("migrate --output of a store that is of the version already")
struct CopyingOutputTests {
  private let place: StoreFolder
  private let store: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
  }

  private struct Told: Decodable {
    struct Receipt: Decodable {
      let result: String
      let notes: [String]
      let backup: String?
    }
    let receipt: Receipt
  }

  @Test("is a copy, compared value by value, with its external data; the store stays as it is")
  func copied() throws {
    let version = place.bundle + "@Recipes"
    let before = try place.folder.contents()
    let output = place.folder.path("out/Copy.sqlite")
    try FileSystem.makeDirectory(place.folder.path("out"))
    let told = Captured("migrate", store, "--to", version, "--output", output)
    #expect(told.status == .done, "\(told.err)")
    #expect(told.out.contains("✓ copied “Recipes” → “Recipes” in "), "\(told.out)")
    #expect(told.lines.contains { $0.hasPrefix("\(output), ") }, "\(told.out)")
    #expect(told.flat.contains("this is a copy of it"))
    #expect(Captured("dump", output, "--blobs").out == Captured("dump", store, "--blobs").out)
    #expect(Captured("info", output).status == .done)
    let after = try place.folder.contents().filter { !$0.key.hasPrefix("out") }
    #expect(after == before)
    // What is there is not written over.
    #expect(
      Captured("migrate", store, "--to", version, "--output", output).status == .refused)
    let second = place.folder.path("out/Second.sqlite")
    let json = Captured("migrate", store, "--to", version, "--output", second, "--json")
    let line = try #require(json.lines.last)
    let receipt = try Captured.decoded(Told.self, from: Array(line.utf8)).receipt
    #expect(receipt.result == second && receipt.backup == nil && receipt.notes.count == 1)
  }

  @Test("has the rows that only the -wal holds")
  func logged() throws {
    let writer = try Connection(path: store, mode: .readWrite)
    try writer.execute(
      "PRAGMA wal_autocheckpoint = 0; UPDATE ZRECIPE SET ZTITLE = 'from the log' WHERE Z_PK = 1")
    let output = place.folder.path("Copy.sqlite")
    let told = Captured(
      "migrate", store, "--to", place.bundle + "@Recipes", "--output", output)
    #expect(told.status == .done, "\(told.err)")
    #expect(Captured("dump", output).out.contains("from the log"))
    writer.close()
  }

  @Test("without --output there is nothing to do")
  func nothing() throws {
    let told = Captured("migrate", store, "--to", place.bundle + "@Recipes")
    #expect(told.status == .done && told.out.contains("nothing to do"))
  }
}
