import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Merging

@Suite("What cannot be merged")
struct MergeRefusalTests {
  private let library: Library

  init() throws { library = try Library() }

  private func refusal(
    _ old: String, _ new: String, base: String? = nil, to output: String? = nil,
    _ change: (inout MergeOptions) -> Void = { _ in }
  ) -> CoreDataError? {
    var options = MergeOptions()
    change(&options)
    do {
      _ = try StoreMerge.run(
        Store(path: old), Store(path: new), base: base.map { try Store(path: $0) },
        options: options, to: output ?? library.output)
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  @Test("stores of two versions are refused with the command that migrates one")
  func versions() throws {
    let other = library.folder.path("Other.sqlite")
    try Library.write(to: other, model: Library.model(extra: true))
    let found = refusal(other, library.new)
    #expect(found?.kind == .refused && found?.code == .persistentStoreIncompatibleVersionHash)
    #expect(
      found?.advice?.values(of: .mergeOutput) == [library.folder.path("Other-migrated.sqlite")])
    #expect(refusal(library.old, library.new, base: other)?.kind == .refused)
  }

  @Test("a damaged store, one that is there twice, and a place that is taken are refused")
  func places() throws {
    #expect(refusal(library.old, library.old)?.kind == .usage)
    try FileSystem.create(library.output, holding: [1, 2, 3])
    #expect(refusal(library.old, library.new, base: library.base)?.kind == .refused)
    #expect(try FileSystem.read(library.output) == [1, 2, 3])
    let (damaged, size) = (
      library.folder.path("Damaged.sqlite"), try FileSystem.read(library.old).count
    )
    try FileSystem.create(
      damaged, holding: Array(try FileSystem.read(library.old).prefix(size - 8192)))
    #expect(refusal(damaged, library.new, to: library.folder.path("D.sqlite"))?.kind == .refused)
  }

  @Test(
    "another store than the common copy, and names that the model does not have, are wrong usage")
  func names() throws {
    let other = library.folder.path("Other.sqlite")
    let writer = try StoreWriter(creating: other, model: Library.model())
    try writer.finish()
    #expect(refusal(library.old, library.new, base: other)?.kind == .usage)
    for change: (inout MergeOptions) -> Void in [
      { $0.entities = ["Nobody"] },
      { $0.preferences = [.newest(entity: "Nobody", attribute: "a")] },
      { $0.preferences = [.newest(entity: "Thing", attribute: "nothing")] },
      { $0.preferences = [.newest(entity: "Thing", attribute: "title")] },
      { $0.matches = [.attributes(entity: "Thing", names: ["nothing"])] },
    ] {
      #expect(refusal(library.old, library.new, base: library.base, change)?.kind == .usage)
    }
    #expect(FileIdentity(of: library.output) == nil)
  }

  @Test("what was deleted cannot stay so where nothing shows what was")
  func unknownDeletions() throws {
    let found = refusal(library.old, library.new) {
      $0.matches = [.key]
      $0.keepsDeleted = true
    }
    #expect(found?.kind == .refused && found?.advice?.names(.mergeBase) == true)
  }

  @Test("words of a preference are read, and others are none")
  func preferences() {
    #expect(MergeOptions.Preference("new") == .new && MergeOptions.Preference("old") == .old)
    #expect(
      MergeOptions.Preference("Book=edited:newest") == .newest(entity: "Book", attribute: "edited"))
    for word in ["", "newer", "Book=edited", "=edited:newest", "Book=:newest", "Book:newest"] {
      #expect(MergeOptions.Preference(word) == nil)
    }
  }

  @Test("a cancelled merge leaves nothing, and both stores as they were")
  func cancelled() throws {
    let before = try library.folder.contents()
    for most in [0, 3, 40] {
      var left = most
      #expect(throws: (any Error).self) {
        try StoreMerge.run(
          Store(path: library.old), Store(path: library.new), base: Store(path: library.base),
          to: library.output,
          isCancelled: {
            left -= 1
            return left < 0
          })
      }
      #expect(try library.folder.contents() == before)
    }
  }
}
