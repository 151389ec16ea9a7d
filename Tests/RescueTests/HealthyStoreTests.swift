import Demo
import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Rescue

@Suite("Nothing is wrong with a healthy store")
struct HealthyStoreTests {
  @Test("the recipe box of every version", arguments: TestScale.some(2, of: [0, 1, 2, 3]))
  func demo(version: Int) throws {
    let patient = try Patient()
    let versions = try DemoModels.versions()
    try #require(version < versions.count)
    let path = patient.folder.path("Version.sqlite")
    try StoreCreation.create(at: path, model: versions[version].model, uuid: "A")
    let diagnosis = try Diagnosis(of: path)
    #expect(diagnosis.alarms == [])
    #expect(diagnosis.isComplete && diagnosis.isReadable && diagnosis.refusal == nil)
    #expect(try patient.diagnosis().alarms == [])
  }

  @Test("composite attributes")
  func composites() throws {
    let folder = try TemporaryFolder()
    try CompositeSamples.writeLibrary(to: folder.path("Library.sqlite"))
    #expect(try Diagnosis(of: folder.path("Library.sqlite")).alarms == [])
  }

  @Test("triggers that call what only Core Data has")
  func triggers() throws {
    let folder = try TemporaryFolder()
    var count = Attribute("tagCount", .integer64, optional: true)
    count.derivation = Attribute.Derivation(expression: "tags.@count")
    var book = Entity("Book")
    book.attributes = [count]
    book.relationships = [
      Relationship("tags", to: "Tag", inverse: "book", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.relationships = [Relationship("book", to: "Book", inverse: "tags", optional: true)]
    let path = folder.path("Books.sqlite")
    try StoreCreation.create(
      at: path, model: Model(entities: [book, tag]), uuid: "A")
    let store = try Store(path: path)
    #expect(!store.database.triggers.isEmpty)
    #expect(try Diagnosis(of: path).alarms == [])
  }

  @Test("rows that only the -wal has")
  func log() throws {
    let patient = try Patient()
    try patient.log("UPDATE ZTAG SET Z_OPT = 9")
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.alarms == [])
    // The page has no other object, so that nothing in it is the main file's.
    #expect(diagnosis.findings.map(\.kind) == [.walUnknown])
  }

  /// Fixtures that lack something, and what.
  private static let lacking: [String: FindingKind] = [
    "system/NotesV7.storedata": .metadata
  ]

  @Test(
    "stores that Apple's engine wrote",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: TestScale.some(
      10,
      of: ["sqlite", "store", "wiredatabase", "moody", "db", "storedata"].flatMap {
        Fixtures.paths(endingWith: "." + $0)
      }.filter {
        // They are told from other files of these endings by their first bytes.
        (try? FileSystem.read(Fixtures.path($0), limit: 15)) == Array("SQLite format 3".utf8)
      }))
  func fixtures(path: String) throws {
    let diagnosis = try Diagnosis(of: Fixtures.path(path))
    let alarms = diagnosis.findings.filter { $0.severity != .note }
    if let kind = Self.lacking[path] {
      #expect(alarms.contains { $0.kind == kind })
    } else {
      // The one file that the wire stores of old name was not published with them.
      #expect(
        alarms.allSatisfy { $0.kind == .externalMissing && path.hasPrefix("wire/") },
        "\(diagnosis.alarms)")
    }
  }
}
