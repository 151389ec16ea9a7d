import Testing

@testable import ManagedModel

@Suite("model bundles")
struct ModelBundleTests {
  private static let contents = Array("<model><entity name=\"A\"/></model>".utf8)

  @Test("a broken version hides no other, and versions come in natural order")
  func broken() throws {
    let bundle = try ModelBundle(
      name: "M.xcdatamodeld",
      files: [
        "M 10.xcdatamodel/contents": Self.contents, "M 2.xcdatamodel/contents": [1, 2, 3],
        "M.xcdatamodel/contents": Self.contents,
        ".xccurrentversion": PropertyList.binary(
          .dictionary(["_XCCurrentVersionName": .string("M 10.xcdatamodel")])),
        "M 10.xcdatamodel/.DS_Store": [0],
      ])
    #expect(bundle.name == "M")
    #expect(bundle.versions.map(\.name) == ["M", "M 2", "M 10"])
    #expect(bundle.currentVersion?.name == "M 10")
    #expect(try bundle.version(named: "M.xcdatamodel").model.entities.map(\.name) == ["A"])
    #expect(throws: CoreDataError.self) { try bundle.version(named: "M 2").model }
  }

  @Test("an unknown version lists those there are")
  func unknownVersion() throws {
    let bundle = try ModelBundle(name: "M", files: ["V.xcdatamodel/contents": Self.contents])
    #expect(bundle.currentVersion?.name == "V")
    do {
      _ = try bundle.version(named: "W")
      Issue.record("found W")
    } catch {
      #expect(error.kind == .usage)
      #expect(error.hint?.hasSuffix("Its versions are “V”.") == true)
    }
  }

  @Test("a bundle without a version is an error")
  func empty() {
    #expect(throws: CoreDataError.self) { try ModelBundle(name: "M", files: [:]) }
  }

  @Test("only what a bundle is made of needs reading")
  func relevance() {
    let paths = [
      "A.xcdatamodel/contents", "A.mom", "VersionInfo.plist", ".xccurrentversion", "A.omo",
      "A.xcdatamodel/elements", "contents",
    ]
    #expect(
      paths.filter(ModelBundle.isRelevant) == [
        "A.xcdatamodel/contents", "A.mom", "VersionInfo.plist", ".xccurrentversion",
        "A.xcdatamodel/elements", "contents",
      ])
  }
}
