import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("models written and read again", .enabled(if: Fixtures.isAvailable, "no fixtures"))
struct FixtureRoundTripTests {
  @Test(
    "a compiled model archived anew reads back equal", arguments: Fixtures.paths(endingWith: ".mom")
  )
  func archive(path: String) throws {
    let model = try Model(archive: Fixtures.bytes(path))
    let copy = try Model(archive: model.archived())
    #expect(copy == model)
    #expect(copy.versionHashes == model.versionHashes)
  }

  @Test(
    "a source model written as XML reads back equal",
    arguments: Fixtures.paths(endingWith: "/contents"))
  func xml(path: String) throws {
    let model = try Model(contents: Fixtures.bytes(path))
    let copy = try Model(contents: Array(model.xcdatamodelContents().utf8))
    #expect(copy == model)
    let archived = try Model(archive: model.archived())
    #expect(archived.versionHashes == model.versionHashes)
    #expect(archived.warnings == [])
  }

  @Test("a compiled model as XML keeps its hashes", arguments: Fixtures.paths(endingWith: ".mom"))
  func compiledAsXML(path: String) throws {
    let model = try Model(archive: Fixtures.bytes(path))
    let copy = try Model(contents: Array(model.xcdatamodelContents().utf8))
    #expect(copy.versionHashes == model.versionHashes)
    #expect(copy == model)
  }
}
