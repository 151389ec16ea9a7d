import Files
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("Warnings of a plan")
struct PlanWarningTests {
  private static func contents(_ extra: String) -> String {
    """
    <model userDefinedModelVersionIdentifier=""><entity name="Note">
    <attribute name="text" optional="YES" attributeType="String"/>\(extra)
    <relationship name="folder" optional="YES" maxCount="1" destinationEntity="Folder" inverseName="notes"/>
    </entity><entity name="Folder">
    <relationship name="notes" optional="YES" toMany="YES" destinationEntity="Note" inverseName="folder"/>
    </entity></model>
    """
  }

  @Test("a warning is told, and keeps neither the plan nor the migration from success")
  func warning() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Model(contents: Array(Self.contents("").utf8)))
    try writer.insert("Note", attributes: ["text": .string("lost")])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZNOTE SET ZFOLDER = 7")
    connection.close()
    let bundle = folder.path("Notes.xcdatamodel")
    try FileSystem.makeDirectory(bundle)
    let added = #"<attribute name="rating" optional="YES" attributeType="Integer 16"/>"#
    try FileSystem.write(Array(Self.contents(added).utf8), to: bundle + "/contents")

    let plan = Captured("plan", path, "--to", bundle)
    #expect(plan.status == .done)
    #expect(
      plan.out.contains(
        "! Note.folder: references to missing objects, in 1 row (133000)"))
    #expect(plan.out.contains("about 1 s"))
    #expect(plan.out.contains("✓ can migrate"))
    let json = Captured("plan", path, "--to", bundle, "--json")
    #expect(json.out.contains(#""warning":true"#))
    #expect(json.out.contains(#""secondsEstimated":0.0"#))
    #expect(Captured("migrate", path, "--to", bundle).status == .done)
  }

  @Test("a store of one configuration is said to be one")
  func configuration() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    let whole = try Model(
      entities: [Entity("Note"), Entity("Setting")], configurations: ["Local": ["Setting"]])
    try StoreCreation.create(
      at: path, model: Model(entities: [Entity("Setting")]), uuid: "X")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.run(
      "UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(try ModelCache.deflate(whole.archived()))])
    connection.close()
    let info = Captured("info", path)
    #expect(info.out.contains("its configuration “Local” has the store's version hashes"))
    #expect(Captured("info", path, "--json").out.contains(#""configuration":"Local""#))
  }
}
