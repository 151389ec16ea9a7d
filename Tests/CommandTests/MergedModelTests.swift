import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("Stores of several merged models")
struct MergedModelTests {
  /// Two bundles with two versions each, and a store that an app made of the first version of both.
  private struct Merged {
    let folder = try? TemporaryFolder()
    let store: String
    let places: [String]

    init() throws {
      let folder = try #require(folder)
      store = folder.path("Merged.sqlite")
      places = ["Music", "People"].map { folder.path("models/\($0).xcdatamodeld") }
      for (index, place) in places.enumerated() {
        for version in 1...2 {
          try Self.write(
            MergedModelTests.model(index, version), to: place + "/V\(version).xcdatamodel")
        }
        try FileSystem.write(
          Array(
            "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>V1.xcdatamodel</string></dict></plist>"
              .utf8), to: place + "/.xccurrentversion")
      }
      let model = try Model(
        merging: [MergedModelTests.model(0, 1), MergedModelTests.model(1, 1)])
      let writer = try StoreWriter(
        creating: store, model: model, uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
      _ = try writer.insert("Album", attributes: ["title": .string("Blue")])
      _ = try writer.insert("Person", attributes: ["name": .string("Ann")])
      try writer.finish()
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("DROP TABLE Z_MODELCACHE")
      connection.close()
    }

    static func write(_ model: Model, to path: String) throws {
      try FileSystem.makeDirectory(path)
      try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: path + "/contents")
    }
  }

  private static func model(_ index: Int, _ version: Int) throws -> Model {
    var entity = Entity(index == 0 ? "Album" : "Person")
    let names = index == 0 ? ["title", "year"] : ["name", "age"]
    entity.attributes = [Attribute(names[0], .string, optional: true)]
    if version == 2 { entity.attributes.append(Attribute(names[1], .integer32, optional: true)) }
    return try Model(entities: [entity])
  }

  @Test("the models are found in two bundles, and the store is read with both")
  func found() throws {
    let merged = try Merged()
    let folder = FileSystem.parent(of: merged.places[0]) ?? ""
    let search = Captured("find-model", merged.store, folder)
    #expect(search.status == .done)
    #expect(search.flat.contains("made of 2 models: V1 (1 entities) + V1 (1 entities)"))
    for place in merged.places { #expect(search.flat.contains(place + "/V1.xcdatamodel")) }
    let json = Captured("find-model", merged.store, folder, "--json")
    #expect(json.out.contains("\"found\":true"))
    // One bundle alone is not enough.
    #expect(Captured("find-model", merged.store, merged.places[0]).status == .no)
    let info = Captured(
      "info", merged.store, "--model", merged.places[0], "--model", merged.places[1])
    #expect(info.status == .done)
    #expect(info.flat.contains("✓ its version hashes are the store's"))
    let rows = Captured(
      "rows", merged.store, "Person", "--model", merged.places[0], "--model", merged.places[1])
    #expect(rows.out.contains("Ann"))
    #expect(
      Captured("rows", merged.store, "Album", "--model", merged.places.joined(separator: " + "))
        .out.contains("Blue"))
  }

  @Test("bundles beside the store are merged without being named")
  func beside() throws {
    let merged = try Merged()
    let folder = try #require(FileSystem.parent(of: merged.store))
    for place in merged.places {
      try FileSystem.rename(place, to: folder + "/" + FileSystem.name(of: place))
    }
    let info = Captured("info", merged.store)
    #expect(info.status == .done)
    #expect(info.flat.contains("from a file, ✓ its version hashes are the store's"))
  }

  @Test("the store is migrated to two models")
  func migrated() throws {
    let merged = try Merged()
    let target = merged.places.flatMap { ["--to", $0 + "@V2"] }
    let source = merged.places.flatMap { ["--from", $0 + "@V1"] }
    let plan = Captured(["plan", merged.store] + target + source)
    #expect(plan.status == .done, "\(plan.err)")
    let run = Captured(["migrate", merged.store] + target + source)
    #expect(run.status == .done, "\(run.err)")
    let after = try Store(path: merged.store)
    let expected = try Model(merging: [Self.model(0, 2), Self.model(1, 2)])
    #expect(after.metadata.versionHashes == expected.versionHashes)
    let rows = Captured("rows", merged.store, "Person", "--format", "csv")
    #expect(rows.out.contains("Ann"))
    #expect(rows.out.contains("age"))
  }

  @Test("one entity in two forms is a conflict, named; the same one is none")
  func conflict() throws {
    let merged = try Merged()
    let both = Captured(
      "info", merged.store, "--model", merged.places[0] + "@V1", "--model", merged.places[0] + "@V2"
    )
    #expect(both.status == .refused)
    #expect(both.err.contains("Album"))
    let same = try Model(merging: [Self.model(0, 1), Self.model(1, 1), Self.model(0, 1)])
    #expect(same.entities.map(\.name) == ["Album", "Person"])
  }
}
