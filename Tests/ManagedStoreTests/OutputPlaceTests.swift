import Files
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Where a file may be written")
struct OutputPlaceTests {
  /// A store with every file that one has.
  private struct Place {
    let folder: TemporaryFolder
    let store: String

    init() throws {
      folder = try TemporaryFolder()
      store = try OpeningTests.storeWithLog(in: folder)
      try FileSystem.write([1], to: store + "-shm")
      try FileSystem.copyOver(store, to: folder.path("Notes.backup-1"))
      try FileSystem.copyOver(store, to: folder.path("Notes-backup-1.sqlite"))
      try FileSystem.makeDirectory(folder.path(".Notes_SUPPORT/_EXTERNAL_DATA"))
      try FileSystem.write([1], to: folder.path(".Notes_SUPPORT/_EXTERNAL_DATA/A"))
    }
  }

  @Test(
    "never over a file of a store, nor where one would be",
    arguments: [
      "Notes.sqlite", "Notes.sqlite-wal", "Notes.sqlite-shm", "Notes.sqlite-journal",
      "Notes.backup-1", "Notes.backup-1-wal", "Notes-backup-1.sqlite",
      "Notes-backup-1.sqlite-journal", ".Notes_SUPPORT/_EXTERNAL_DATA/A", ".Notes_SUPPORT/new",
      "./sub/../Notes.sqlite-wal", "sub", "linked-wal", "second", "New.sqlite-wal", "New.sqlite",
    ])
  func refused(name: String) throws {
    let place = try Place()
    try FileSystem.makeDirectory(place.folder.path("sub"))
    #expect(symbolicLink(place.folder.path("linked-wal"), to: place.store + "-wal"))
    #expect(FileSystem.link(place.store + "-shm", to: place.folder.path("second")))
    let error = OutputPlace.refusal(
      toWrite: "the receipt", at: place.folder.path(name),
      besides: [place.folder.path("sub/../Notes.sqlite"), place.folder.path("New.sqlite")])
    #expect(error?.kind == .usage && error?.message.contains("the receipt") == true)
  }

  @Test("also where nobody says which store it is")
  func unnamed() throws {
    let place = try Place()
    for name in ["Notes.sqlite", "Notes.sqlite-wal", "Notes.sqlite-journal", "Notes.backup-1"] {
      #expect(OutputPlace.refusal(toWrite: "it", at: place.folder.path(name)) != nil, "\(name)")
    }
  }

  @Test("a folder that is not there, or cannot be written to, is named with what to try")
  func folders() async throws {
    let folder = try TemporaryFolder()
    let missing = folder.path("none")
    let error = try #require(OutputPlace.refusal(toWrite: "the recipe", at: missing + "/r.json5"))
    #expect(error.kind == .usage && error.path == missing)
    #expect(error.message == "the folder for the recipe does not exist")
    #expect(error.hint == "Name a file in a folder that exists.")
    #expect(
      OutputPlace.refusal(toWrite: "it", at: missing + "/r.json5", makesFolder: true) == nil)
    try FileSystem.write([1], to: folder.path("file"))
    #expect(OutputPlace.refusal(toWrite: "it", at: folder.path("file/r")) != nil)
  }

  @Test(
    "a folder that is only to be read is named, for new files and for those that are there",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func readOnly() async throws {
    let folder = try TemporaryFolder()
    try FileSystem.write([1], to: folder.path("there"))
    chmod(folder.path, 0o555)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      // Both: what may be written is asked for the real user.
      setuid(65534)
      for name in ["new", "there"] {
        let error = OutputPlace.refusal(toWrite: "the new store", at: path + "/" + name)
        #expect(error?.message == "the new store cannot be written into that folder", "\(name)")
        #expect(error?.path == path)
        #expect(error?.hint == "Name a file in a folder that you may write to.")
      }
    }
    chmod(folder.path, 0o700)
  }

  @Test("anywhere else, over other files too")
  func allowed() throws {
    let place = try Place()
    try FileSystem.write([1, 2, 3], to: place.folder.path("receipt.json"))
    for name in ["receipt.json", "new.json", "Other-wal", "-wal"] {
      #expect(
        OutputPlace.refusal(
          toWrite: "it", at: place.folder.path(name), besides: [place.store]) == nil, "\(name)")
    }
  }
}
