import Files
import ManagedModel
import ManagedStore
import ModelSearch
import SwiftModels
import TestSupport
import Testing

@Suite("Swift source where a model is asked for")
struct SourceReferenceTests {
  private static let versions = """
    enum SchemaV1: VersionedSchema {
      static var versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
      @Model class Item { var name: String }
    }
    enum SchemaV2: VersionedSchema {
      static var versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Item.self] }
    }
    """
  private static let second = "extension SchemaV2 { @Model class Item { var title: String? } }"

  /// A package: source in two files, tests, and what building left.
  private func makePackage() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    func write(_ text: String, _ name: String) throws {
      let path = folder.path(name)
      try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? ".")
      try FileSystem.write(Array(text.utf8), to: path)
    }
    try write("// swift-tools-version: 6.0", "Package.swift")
    try write(Self.versions, "Sources/App/Versions.swift")
    try write(Self.second, "Sources/App/More/Item.swift")
    try write("extension SchemaV1 { @Model class Item { var no: Int } }", "Tests/AppTests/A.swift")
    try write("extension SchemaV1 { @Model class Item { var no: Int } }", ".build/B.swift")
    return folder
  }

  private func names(_ text: String) throws -> [String] {
    try ModelReference(text).load().model.attributes(of: "Item").map(\.name)
  }

  @Test("a package is the current version, PATH@VERSION any")
  func package() throws {
    let folder = try makePackage()
    #expect(try names(folder.path) == ["title"])
    #expect(try names(folder.path + "/@SchemaV1") == ["name"])
    #expect(try names(folder.path + "@1.0.0") == ["name"])
    let loaded = try ModelReference(folder.path + "@SchemaV1").load()
    #expect(loaded.name == "SchemaV1")
    #expect(loaded.path == folder.path + "@SchemaV1")
    #expect(loaded.model.warnings.isEmpty)
    let bundle = try ModelBundle(readingFrom: folder.path)
    #expect(bundle.versions.map(\.name) == ["SchemaV1", "SchemaV2"])
    #expect(bundle.currentVersionName == "SchemaV2")
  }

  @Test("one file is read alone; a file without versions is called by its name")
  func file() throws {
    let folder = try makePackage()
    #expect(try names(folder.path("Sources/App/Versions.swift@SchemaV1")) == ["name"])
    let path = folder.path("Alone.swift")
    try FileSystem.write(Array("@Model class Item { var a: Int }".utf8), to: path)
    let loaded = try ModelReference(path).load()
    #expect((loaded.name, loaded.path) == ("Alone", path))
  }

  @Test("an unknown version names those there are, source without a class says so")
  func unknown() throws {
    let folder = try makePackage()
    let unknown = #expect(throws: CoreDataError.self) { try names(folder.path + "@SchemaV7") }
    #expect(unknown?.hint?.contains("“SchemaV1”, “SchemaV2”") == true)
    let none = #expect(throws: CoreDataError.self) { try names(folder.path("Package.swift")) }
    #expect(none?.message == "no class in the Swift source has @Model")
    try FileSystem.makeDirectory(folder.path("empty"))
    let empty = #expect(throws: CoreDataError.self) { try names(folder.path("empty")) }
    #expect(empty?.message == "no model and no Swift source is in the folder")
  }

  @Test(
    "a git revision of a package, and of a version in it",
    .enabled(if: Tool.git.isAvailable, "git is not installed"))
  func revision() throws {
    let folder = try makePackage()
    func git(_ words: String...) throws {
      let result = try Subprocess.run(
        "git",
        ["-C", folder.path, "-c", "user.name=a", "-c", "user.email=a@b.c"] + words,
        environment: Subprocess.environment(), input: [], output: { _ in })
      #expect(result?.status == 0)
    }
    try git("init", "-q")
    try git("add", "Sources", "Tests", "Package.swift")
    try git("commit", "-q", "-m", "one")
    let file = folder.path("Sources/App/More/Item.swift")
    try FileSystem.removeName(file)
    try FileSystem.write(
      Array("extension SchemaV2 { @Model class Item { var later: Int } }".utf8), to: file)
    #expect(try names(folder.path) == ["later"])
    #expect(try names(folder.path + "@HEAD") == ["title"])
    #expect(try names(folder.path + "@SchemaV1@HEAD") == ["name"])
    #expect(try names(folder.path("Sources/App/Versions.swift") + "@SchemaV1@HEAD") == ["name"])
    #expect(try ModelReference(folder.path + "@HEAD").load().name == "SchemaV2@HEAD")
    // A store of what is no longer there is found in the history.
    try git("commit", "-q", "-a", "-m", "two")
    let hashes = try ModelReference(folder.path + "@HEAD~1").load().model.versionHashes
    var search = ModelSearch(hashes: hashes.mapValues { HashPattern($0) })
    try search.look(in: folder.path)
    #expect(search.matches.map(\.name) == ["SchemaV2"])
    guard case .git(let origin)? = search.matches.first?.origin else {
      Issue.record("the match is not of the history")
      return
    }
    #expect(origin.last?.subject == "one")
  }

  @Test("the version of a package that made a store is found")
  func search() throws {
    let folder = try makePackage()
    let hashes = try ModelReference(folder.path + "@SchemaV1").load().model.versionHashes
    var search = ModelSearch(hashes: hashes.mapValues { HashPattern($0) })
    try search.look(in: folder.path)
    #expect(search.matches.map(\.name) == ["SchemaV1"])
    #expect(search.matches.map(\.origin) == [.file(path: folder.path + "@SchemaV1")])
    #expect(search.nearest?.name == "SchemaV2")
  }

  @Test("a store of Swift source opens with the version that made it")
  func store() throws {
    let folder = try makePackage()
    let first = try ModelReference(folder.path + "@SchemaV1").load().model
    let writer = try StoreWriter(creating: folder.path("a.store"), model: first)
    try writer.insert("Item", attributes: ["name": .string("one")])
    try writer.finish()
    let store = try Store(path: folder.path("a.store"))
    let bundle = try ModelBundle(readingFrom: folder.path)
    #expect(bundle.versions(matching: store.metadata.versionHashes).map(\.name) == ["SchemaV1"])
  }
}
