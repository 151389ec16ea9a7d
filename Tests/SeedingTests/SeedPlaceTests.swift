import Demo
import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Seeding

@Suite("Where a seeded store is written")
struct SeedPlaceTests {
  private func refusal(at path: String, objects: Int = 100) throws -> CoreDataError? {
    let model = try SeedModels.values()
    return #expect(throws: CoreDataError.self) {
      try StoreSeed.write(to: path, model: model, options: SeedOptions(objects: objects))
    }
  }

  @Test("a file that is there is refused and stays as it was")
  func existing() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write([1, 2], to: folder.path("S.sqlite"))
    let error = try refusal(at: folder.path("S.sqlite"))
    #expect(error?.kind == .refused && error?.message == "the file exists already")
    #expect(try folder.contents() == ["S.sqlite": [1, 2]])
  }

  /// Numbers from 16001 on are those of persistent history.
  @Test(
    "a model with more entities than there are numbers for is refused before anything is written")
  func numbers() throws {
    let folder = try TemporaryFolder()
    let model = try Model(entities: (1...16_001).map { Entity("E\($0)") })
    let error = #expect(throws: CoreDataError.self) {
      try StoreSeed.write(
        to: folder.path("S.sqlite"), model: model, options: SeedOptions(objects: 1))
    }
    #expect(error?.kind == .refused)
    #expect(error?.message.contains("16001 entities") == true)
    #expect(error?.path == folder.path("S.sqlite"))
    for make: () throws -> Void in [
      { _ = try StoreWriter(creating: folder.path("S.sqlite"), model: model) },
      { try StoreCreation.create(at: folder.path("S.sqlite"), model: model, uuid: "U") },
    ] {
      #expect(throws: CoreDataError.self) { try make() }
    }
    #expect(try FileSystem.list(folder.path) == [])
    let largest = try Model(entities: (1...16_000).map { Entity("E\($0)") })
    #expect(throws: Never.self) { try EntityNumbering.requireRoom(for: largest, path: "") }
  }

  @Test(
    "what a store of that name would take for its own is refused",
    arguments: ["S.sqlite-wal", "S.sqlite-journal", "S.sqlite-shm", ".S_SUPPORT"])
  func companion(name: String) throws {
    let folder = try TemporaryFolder()
    try FileSystem.write([1], to: folder.path(name))
    let error = try refusal(at: folder.path("S.sqlite"))
    #expect(error?.kind == .refused && error?.path == folder.path(name))
    #expect(try FileSystem.list(folder.path) == [name])
  }

  @Test("a folder that is not there is wrong usage, and is not made")
  func noFolder() throws {
    let folder = try TemporaryFolder()
    let error = try refusal(at: folder.path("none/S.sqlite"))
    #expect(
      error?.kind == .usage && error?.message == "the folder for the new store does not exist")
    #expect(try FileSystem.list(folder.path) == [])
  }

  @Test(
    "a folder that cannot be written to is told",
    .enabled(if: SmallDisk.isAvailable, "a tmpfs cannot be mounted: not root, or not Linux"))
  func readOnly() throws {
    let disk = try SmallDisk(kilobytes: 256)
    try #require(disk.makeReadOnly())
    let error = try refusal(at: disk.path + "/S.sqlite")
    #expect(error?.kind == .usage)
    #expect(error?.message == "the new store cannot be written into that folder")
  }

  @Test(
    "a disk that fills up ends in a sentence, and nothing is left",
    .enabled(if: SmallDisk.isAvailable, "a tmpfs cannot be mounted: not root, or not Linux"),
    arguments: [64, 300, 700])
  func full(kilobytes: Int) throws {
    let disk = try SmallDisk(kilobytes: kilobytes)
    let error = try refusal(at: disk.path + "/S.sqlite", objects: 20_000)
    #expect(error?.path != nil)
    let text = [error?.message, error?.hint].compactMap { $0 }.joined(separator: " ")
    #expect(text.contains("full") || text.contains("No space"), "\(text)")
    #expect(try FileSystem.list(disk.path) == [])
  }

  @Test("one that is cancelled leaves nothing")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let model = try SeedModels.values()
    var asked = 0
    let error = #expect(throws: CoreDataError.self) {
      try StoreSeed.write(
        to: folder.path("S.sqlite"), model: model, options: SeedOptions(objects: 9000),
        isCancelled: {
          asked += 1
          return asked > 2
        })
    }
    #expect(error?.kind == .cancelled)
    #expect(try FileSystem.list(folder.path) == [])
  }

  @Test(
    "every model of the fixtures seeds", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    var seen: Set<String> = []
    for contents in TestScale.some(8, of: Fixtures.paths(endingWith: ".xcdatamodel/contents")) {
      let model = try Model(contents: Fixtures.bytes(contents))
      guard seen.insert(model.versionChecksum).inserted else { continue }
      let seeded = try SeededFolder(model, objects: 150)
      #expect(try seeded.alarms() == [], "\(contents)")
    }
    #expect(seen.count > (TestScale.isFull ? 20 : 2))
  }
}
