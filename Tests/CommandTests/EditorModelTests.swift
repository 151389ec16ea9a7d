import Files
import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Commands

@Suite("Models of Xcode 3, and models inside mapping models")
struct EditorModelTests {
  private static func model(_ version: Int) throws -> Model {
    var person = Entity("Person")
    person.className = "Person"
    person.versionHashModifier = "p"
    person.attributes = [
      Attribute("name", .string, optional: true), Attribute("age", .integer32),
      Attribute("photo", .binary, optional: true),
    ]
    person.attributes[1].defaultValue = .integer(7)
    person.attributes[1].renamingIdentifier = "years"
    if version == 2 { person.attributes.append(Attribute("rank", .double, optional: true)) }
    person.relationships = [
      Relationship("notes", to: "Note", inverse: "author", toMany: true, optional: true)
    ]
    person.relationships[0].deleteRule = .cascade
    var student = Entity("Student", parent: "Person")
    student.attributes = [Attribute("started", .date, optional: true)]
    var note = Entity("Note")
    note.isAbstract = version == 2
    note.attributes = [Attribute("text", .string, optional: true)]
    note.relationships = [Relationship("author", to: "Person", inverse: "notes", optional: true)]
    return try Model(entities: [person, student, note], versionIdentifiers: ["v\(version)"])
  }

  @Test("an archive that is both the editor's and a compiled model's is read once")
  func both() throws {
    var writer = KeyedArchiveWriter()
    let null = KeyedArchiveWriter.null
    let root = writer.add(
      class: ["NSManagedObjectModel", "NSObject"], ["_xd_rootPackage": null, "NSEntities": null])
    let bytes = writer.bytes(root: root)
    #expect(try Model(archive: bytes).entities.isEmpty)
    #expect(try EditorModel(KeyedArchive(bytes)).model.entities.isEmpty)
  }

  private static func write(_ bytes: [UInt8], _ path: String) throws {
    try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? "")
    try FileSystem.write(bytes, to: path)
  }

  @Test("an archive of the editor gives the model with its version hashes")
  func read() throws {
    let expected = try Self.model(1)
    let found = try Model(archive: EditorSamples.elements(expected))
    #expect(found.versionHashes == expected.versionHashes)
    #expect(found.versionIdentifiers == ["v1"])
    #expect(found.entity(named: "Person")?.className == "Person")
    #expect(found.attribute(named: "age", of: "Student")?.defaultValue == .integer(7))
    #expect(found.attribute(named: "age", of: "Person")?.renamingIdentifier == "years")
    #expect(found.relationship(named: "notes", of: "Person")?.deleteRule == .cascade)
    #expect(found.warnings.isEmpty)
    // Cut off or changed, it is an error or another model, and never a trap.
    let bytes = EditorSamples.elements(expected)
    for count in stride(from: 0, to: bytes.count, by: 7) {
      _ = try? Model(archive: Array(bytes.prefix(count)))
      var changed = bytes
      changed[count] = 0xFF
      _ = try? Model(archive: changed)
    }
  }

  @Test("bundles with elements in them: model, hash, diff, find-model")
  func bundle() throws {
    let folder = try TemporaryFolder()
    let bundle = folder.path("Old.xcdatamodeld")
    for version in 1...2 {
      try Self.write(
        EditorSamples.elements(Self.model(version)),
        "\(bundle)/Old \(version).xcdatamodel/elements")
    }
    let single = folder.path("Single.xcdatamodel")
    try Self.write(EditorSamples.elements(Self.model(1)), single + "/elements")
    let hash = Captured("hash", bundle + "@Old 1")
    #expect(hash.status == .done)
    #expect(hash.out.contains(try Self.model(1).versionHashesDigest))
    #expect(Captured("hash", single).out.contains(try Self.model(1).versionHashesDigest))
    #expect(Captured("hash", single + "/elements").status == .done)
    let shown = Captured("model", bundle + "@Old 2")
    #expect(shown.status == .done)
    #expect(shown.out.contains("rank"))
    let diff = Captured("diff", bundle + "@Old 1", bundle + "@Old 2")
    #expect(diff.status == .no)
    #expect(diff.out.contains("rank"))
    let store = folder.path("Old.sqlite")
    try StoreWriter(
      creating: store, model: Self.model(2), uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA"
    ).finish()
    let search = Captured("find-model", store, bundle)
    #expect(search.status == .done)
    #expect(search.out.contains("Old 2"))
    // What later versions of Xcode wrote beside it counts alone.
    try Self.write(
      Array(try Self.model(1).xcdatamodelContents().utf8), "\(bundle)/Old 2.xcdatamodel/contents")
    #expect(
      Captured("hash", bundle + "@Old 2").out.contains(try Self.model(1).versionHashesDigest))
  }

  @Test("both models inside a mapping model are read by name, and found")
  func copies() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("OneToTwo.xcmappingmodel")
    func data(_ name: String, _ model: Model) -> String {
      "<attribute name=\"\(name)\" type=\"binary\">\(ByteText.base64(EditorSamples.elements(model)))</attribute>"
    }
    let text = """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version></databaseInfo>
      <object type="XDDEVMAPPINGMODEL" id="z101">
      \(data("sourcemodeldata", try Self.model(1)))
      \(data("destinationmodeldata", try Self.model(2)))
      </object></database>
      """
    try Self.write(Array(text.utf8), path + "/xcmapping.xml")
    for (version, side) in ["source", "destination"].enumerated() {
      let hash = Captured("hash", path + "@" + side)
      #expect(hash.status == .done, "\(hash.err)")
      #expect(hash.out.contains(try Self.model(version + 1).versionHashesDigest))
    }
    #expect(Captured("model", path).status == .usage)
    #expect(Captured("diff", path + "@source", path + "@destination").out.contains("rank"))
    let store = folder.path("Old.sqlite")
    try StoreWriter(
      creating: store, model: Self.model(1), uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA"
    ).finish()
    let search = Captured("find-model", store, path)
    #expect(search.status == .done)
    #expect(search.out.contains("@source"))
  }
}
