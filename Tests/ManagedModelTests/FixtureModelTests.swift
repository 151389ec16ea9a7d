import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("models that Apple's tools wrote", .enabled(if: Fixtures.isAvailable, "no fixtures"))
struct FixtureModelTests {
  @Test(
    "every compiled version hashes as VersionInfo.plist states",
    arguments: Fixtures.paths(endingWith: ".momd/VersionInfo.plist"))
  func compiledHashes(path: String) throws {
    let folder = String(path.dropLast("/VersionInfo.plist".count))
    let bundle = try ModelBundle(name: folder, files: Fixtures.contents(of: folder))
    #expect(!bundle.statedVersionHashes.isEmpty)
    for (name, hashes) in bundle.statedVersionHashes {
      let model = try bundle.version(named: name).model
      #expect(model.versionHashes == hashes, "\(name)")
      #expect(model.warnings == [])
      if let checksum = bundle.statedVersionChecksums[name] {
        #expect(model.versionChecksum == checksum, "\(name)")
      }
    }
    #expect(bundle.currentVersion != nil)
  }

  @Test(
    "a source version hashes as its compiled one",
    arguments: [
      (
        "coredataplus/SampleModel/SampleModel.xcdatamodeld",
        "coredataplus/SampleModel/Fixtures/SampleModel.momd"
      ),
      (
        "coredataplus/SampleModel3/SampleModel3.xcdatamodeld",
        "coredataplus/SampleModel3/Fixtures/SampleModel3.momd"
      ),
      ("cartkit/CartStorage.xcdatamodeld", "cartkit/CartStorage.momd"),
    ])
  func sourceHashes(source: String, compiled: String) throws {
    let source = try ModelBundle(name: source, files: Fixtures.contents(of: source))
    let compiled = try ModelBundle(name: compiled, files: Fixtures.contents(of: compiled))
    #expect(source.versions.map(\.name) == compiled.versions.map(\.name))
    for version in source.versions {
      let other = try compiled.version(named: version.name).model
      #expect(try version.model.versionHashes == other.versionHashes, "\(version.name)")
    }
  }

  @Test(
    "a source model is read without a warning", arguments: Fixtures.paths(endingWith: "/contents"))
  func sourceWarnings(path: String) throws {
    let model = try Model(contents: Fixtures.bytes(path))
    #expect(model.warnings == [])
    #expect(!model.entities.isEmpty)
  }

  @Test(
    "a version does not differ from itself",
    arguments: Fixtures.paths(endingWith: "/contents") + Fixtures.paths(endingWith: ".mom"))
  func itself(path: String) throws {
    let bytes = try Fixtures.bytes(path)
    let model =
      path.hasSuffix(".mom") ? try Model(archive: bytes) : try Model(contents: bytes)
    let difference = ModelDifference(from: model, to: model)
    #expect(difference.isIdentical && difference.hashesAreEqual)
    #expect(difference.conflicts == [])
    #expect(difference.entities.count == model.entities.count)
  }
}
