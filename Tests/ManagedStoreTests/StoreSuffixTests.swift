import Files
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import SQLite

@Suite("The files of a store")
struct StoreSuffixTests {
  @Test("one list for what holds content, one for what lies beside, one for all")
  func lists() {
    #expect(StoreSuffix.content == ["-wal", "-journal"])
    #expect(Set(StoreSuffix.companions) == Set(StoreSuffix.content + ["-shm"]))
    #expect(StoreSuffix.all == [""] + StoreSuffix.companions)
  }

  @Test("StoreFiles names the same files")
  func names() {
    let files = StoreFiles(path: "/stores/App.sqlite")
    #expect(
      StoreSuffix.all.map { files.path + $0 }
        == [files.path, files.walPath, files.shmPath, files.journalPath])
    #expect(files.supportFolder == "/stores/" + StoreSuffix.supportFolder(of: "App.sqlite"))
    #expect(files.externalDataFolder == "/stores/.App_SUPPORT/_EXTERNAL_DATA")
    #expect(StoreSuffix.isSupportFolder(StoreSuffix.supportFolder(of: files.path)))
    #expect(!StoreSuffix.isSupportFolder("App_SUPPORT"))
  }

  @Test("a companion is known by the end of its name", arguments: StoreSuffix.all)
  func companion(suffix: String) {
    #expect(StoreSuffix.isCompanion("App.sqlite" + suffix) == !suffix.isEmpty)
  }

  @Test("each place that measures, clears or refuses takes the files of its list")
  func places() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("App.sqlite")
    for (index, suffix) in StoreSuffix.all.enumerated() {
      try FileSystem.write([UInt8](repeating: 1, count: 1 << index), to: path + suffix)
    }
    // 1 byte of the main file, 2 of the -wal, 4 of the -shm, 8 of the -journal.
    #expect(ValueLimit.size(ofDatabaseAt: path) == 1 + 2 + 8)
    #expect(StoreFiles(path: path).size == 1 + 2)
    #expect(StoreFiles(path: path).list().map(\.bytes) == [1, 2, 4, 8])
    for suffix in StoreSuffix.all {
      #expect(OutputPlace.refusal(toWrite: "it", at: path + suffix, besides: [path]) != nil)
    }
    let free = folder.path("New.sqlite")
    for suffix in StoreSuffix.companions {
      try FileSystem.write([1], to: free + suffix)
      #expect(throws: CoreDataError.self, "\(suffix)") { try NewStorePlace.require(free) }
      FileSystem.remove(free + suffix)
    }
    #expect(throws: Never.self) { try NewStorePlace.require(free) }
    StoreSuffix.removeAll(of: path)
    #expect(try FileSystem.list(folder.path).isEmpty)
  }
}
