import Files
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

@Suite("A model at a git revision", .enabled(if: GitRepository.isAvailable))
struct GitRevisionTests {
  private let folder: TemporaryFolder
  private let repository: GitRepository
  private let bundle: String
  private let first: String

  private static func contents(_ attribute: String) -> String {
    """
    <model userDefinedModelVersionIdentifier="">
    <entity name="Dish"><attribute name="\(attribute)" optional="YES" attributeType="String"/></entity>
    </model>
    """
  }

  init() throws {
    folder = try TemporaryFolder()
    repository = try GitRepository(at: folder.path("repository"))
    bundle = repository.path + "/Dishes.xcdatamodeld"
    let file = "Dishes.xcdatamodeld/Dishes.xcdatamodel/contents"
    first = try repository.commit(file, Self.contents("name"), "A dish has a name")
    try repository.commit(file, Self.contents("title"), "Call it title")
    try repository.commit("README", "nothing about models", "A word on it")
  }

  private func attributes(_ text: String) throws -> [String] {
    try ModelReference(text).load().model.entity(named: "Dish")?.attributes.map(\.name) ?? []
  }

  @Test("is read as the commit has it, of the bundle, of a version in it, and of a file")
  func reading() throws {
    #expect(try attributes(bundle + "@" + first) == ["name"])
    #expect(try attributes(bundle + "@HEAD") == ["title"])
    #expect(try attributes(bundle + "@Dishes@HEAD~2") == ["name"])
    #expect(try attributes(bundle + "/Dishes.xcdatamodel@" + first.prefix(8)) == ["name"])
    #expect(try attributes(bundle + "/Dishes.xcdatamodel/contents@HEAD~2") == ["name"])
  }

  @Test("is read where the path itself is gone")
  func removed() throws {
    FileSystem.removeTree(bundle)
    #expect(try attributes(bundle + "@HEAD") == ["title"])
  }

  @Test("comes after a version of that name")
  func name() throws {
    try repository.run("branch", "Dishes", first)
    #expect(try attributes(bundle + "@Dishes") == ["title"])
  }

  @Test("a name that is neither says that both were tried", arguments: ["nope", "--output=x", ""])
  func unknown(name: String) throws {
    let result = Captured("hash", bundle + "@" + name)
    #expect(result.status != .done)
    #expect(result.err.contains("is neither a version of the bundle nor a git revision"))
    #expect(result.err.contains("Its versions are “Dishes”."))
  }

  @Test("the commits that changed a model are listed, newest first, and no others")
  func commits() throws {
    let commits = try GitRevision.commits(changing: bundle)
    #expect(commits.map(\.subject) == ["Call it title", "A dish has a name"])
    #expect(commits.last?.id == first)
  }

  @Test("outside of a repository it is said so")
  func outside() throws {
    let path = folder.path("Alone.xcdatamodeld")
    try FileSystem.makeDirectory(path)
    #expect(throws: CoreDataError.self) { try GitRevision.commits(changing: path) }
  }
}
