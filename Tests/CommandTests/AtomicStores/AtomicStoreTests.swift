import AtomicStores
import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

/// A model with every type of attribute and every kind of relationship, a store of it, and the same objects in an XML
/// and in a binary store.
struct AtomicFolder {
  let folder: TemporaryFolder
  let model: String
  let sqlite: String
  let xml: String
  let binary: String
  let keys: AtomicSamples.Keys

  static let contents = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Album">
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="photos" optional="YES" toMany="YES" ordered="YES" destinationEntity="Photo" inverseName="albums"/>
      <relationship name="cover" optional="YES" maxCount="1" destinationEntity="Photo"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="albums"/>
      <relationship name="fans" optional="YES" toMany="YES" destinationEntity="Person" inverseName="likes"/>
      <relationship name="guests" optional="YES" toMany="YES" ordered="YES" destinationEntity="Person" inverseName="visits"/>
    </entity>
    <entity name="Person">
      <attribute name="name" attributeType="String"/>
      <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends"/>
      <relationship name="passport" optional="YES" maxCount="1" destinationEntity="Passport" inverseName="owner"/>
      <relationship name="notes" optional="YES" toMany="YES" ordered="YES" destinationEntity="Note" inverseName="author"/>
      <relationship name="things" optional="YES" toMany="YES" destinationEntity="Passport"/>
      <relationship name="albums" optional="YES" toMany="YES" destinationEntity="Album" inverseName="owner"/>
      <relationship name="likes" optional="YES" toMany="YES" destinationEntity="Album" inverseName="fans"/>
      <relationship name="visits" optional="YES" toMany="YES" destinationEntity="Album" inverseName="guests"/>
    </entity>
    <entity name="Passport">
      <attribute name="number" optional="YES" attributeType="Integer 64"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="passport"/>
    </entity>
    <entity name="Note">
      <attribute name="bigCount" attributeType="Integer 64"/>
      <attribute name="count" attributeType="Integer 32"/>
      <attribute name="small" attributeType="Integer 16"/>
      <attribute name="isDone" attributeType="Boolean"/>
      <attribute name="ratio" attributeType="Double"/>
      <attribute name="size" attributeType="Float"/>
      <attribute name="price" optional="YES" attributeType="Decimal"/>
      <attribute name="at" optional="YES" attributeType="Date"/>
      <attribute name="text" optional="YES" attributeType="String"/>
      <attribute name="body" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="token" optional="YES" attributeType="UUID"/>
      <attribute name="link" optional="YES" attributeType="URI"/>
      <attribute name="draft" optional="YES" transient="YES" attributeType="String"/>
      <relationship name="author" optional="YES" maxCount="1" destinationEntity="Person" inverseName="notes"/>
    </entity>
    <entity name="Photo">
      <attribute name="caption" optional="YES" attributeType="String"/>
      <relationship name="albums" optional="YES" toMany="YES" ordered="YES" destinationEntity="Album" inverseName="photos"/>
    </entity>
    <entity name="Portrait" parentEntity="Photo">
      <attribute name="angle" attributeType="Double"/>
      <fetchedProperty name="others" optional="YES">
        <fetchRequest name="fetchedPropertyFetchRequest" entity="Photo" predicateString="caption != nil"/>
      </fetchedProperty>
    </entity>
    </model>
    """

  init(objects: Int = 120) throws {
    folder = try TemporaryFolder()
    model = folder.path("Album.xcdatamodel")
    try FileSystem.makeDirectory(model)
    try FileSystem.write(Array(Self.contents.utf8), to: model + "/contents")
    sqlite = folder.path("A.sqlite")
    let seeded = Captured(
      "seed", model, sqlite, "--objects", "\(objects)", "--seed", "7")
    try #require(seeded.status == .done, "\(seeded.err)")
    (xml, binary) = (folder.path("A.xml"), folder.path("A.storedata"))
    let store = try Store(path: sqlite)
    keys = try AtomicSamples.writeXML(store, to: xml)
    try AtomicSamples.writeBinary(store, to: binary)
  }

  /// What a store of the same objects must dump to.
  func expected() throws -> [String] {
    AtomicSamples.renumbered(try StoreDump.lines(at: sqlite), keys)
  }
}

@Suite("XML and binary stores")
struct AtomicStoreTests {
  @Test(
    "each becomes an SQLite store with the same objects, keys and order, which passes as Core Data's"
  )
  func convert() throws {
    let place = try AtomicFolder()
    for (source, name) in [(place.xml, "X.sqlite"), (place.binary, "B.sqlite")] {
      let made = place.folder.path(name)
      let run = Captured("convert", source, "--output", made, "--model", place.model, "--json")
      #expect(run.status == .done, "\(run.out)\(run.err)")
      try FormatsArticle.expectMembers(of: run.out, like: "{\"converted\"", in: ["converted"])
      let lines = try StoreDump.lines(at: made).sorted()
      #expect(lines == (try place.expected()), "\(name)")
      #expect(lines.count >= 120)
      let store = try Store(path: made)
      #expect(store.modelMatches)
      #expect(store.metadata.uuid == (try Store(path: place.sqlite)).metadata.uuid)
      #expect(store.metadata.values["an app's own"] == .string("a < b & c"))
      #expect(store.metadata.storeType == "SQLite")
      #expect(throws: Never.self) { try SecondReader.expectAgreement(at: made) }
      #expect(Captured("doctor", made).status == .done)
    }
  }

  @Test(
    "a reader of the description of the formats finds the same in both stores",
    .enabled(if: Tool.python3.isAvailable, "python3 is missing"))
  func secondReader() throws {
    let place = try AtomicFolder()
    let script =
      #filePath.split(separator: "/", omittingEmptySubsequences: false)
      .dropLast(3).joined(separator: "/") + "/Independent/atomic.py"
    for (source, name) in [(place.xml, "X.sqlite"), (place.binary, "B.sqlite")] {
      let made = place.folder.path(name)
      #expect(
        Captured("convert", source, "--output", made, "--model", place.model).status == .done)
      #expect(OtherProgram.run(Tool.python3.path, ["-B", script, source, made]) == 0, "\(name)")
    }
    // It does find what differs.
    let other = place.folder.path("Other.sqlite")
    #expect(
      Captured("convert", place.xml, "--output", other, "--model", place.model).status == .done)
    let connection = try Connection(path: other, mode: .readWrite)
    try connection.execute("UPDATE ZPASSPORT SET ZNUMBER = 77 WHERE ZNUMBER IS NOT NULL")
    connection.close()
    #expect(OtherProgram.run(Tool.python3.path, ["-B", script, place.xml, other]) != 0)
  }

  @Test("every command that reads gets a private copy, and leaves nothing")
  func read() throws {
    let place = try AtomicFolder()
    for (path, type) in [(place.xml, "XML"), (place.binary, "Binary")] {
      let bytes = try FileSystem.read(path)
      let info = Captured("info", path, "--model", place.model)
      #expect(info.status == .done, "\(info.err)")
      #expect(info.flat.contains("type \(type), framework"))
      #expect(info.out.contains(path) && !info.flat.contains("WAL mode"))
      // The store is one file: nothing is said of others.
      #expect(!info.out.contains("\nwal ") && !info.out.contains("\nexternal "))
      let rows = Captured("rows", path, "Note", "--model", place.model, "--format", "ndjson")
      #expect(rows.status == .done && rows.lines.count > 10)
      let out = place.folder.path("New-\(type).sqlite")
      let migrated = Captured(
        "migrate", path, "--from", place.model, "--to", place.model, "--output", out)
      #expect(migrated.status == .done, "\(migrated.out)\(migrated.err)")
      let refused = Captured("rollback", path)
      #expect(refused.status == .refused)
      #expect(refused.err.contains("strata convert"))
      #expect(try FileSystem.read(path) == bytes)
    }
  }

  @Test("their large values are in the store's own file: no command counts external files")
  func externalFiles() throws {
    let place = try AtomicFolder(objects: 20)
    let large = [UInt8](repeating: 7, count: 300_000)
    let sqlite = place.folder.path("Large.sqlite")
    let writer = try StoreWriter(
      creating: sqlite, model: try Store(path: place.sqlite).model,
      uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    _ = try writer.insert("Note", attributes: ["body": .bytes(large)])
    try writer.finish()
    let store = try Store(path: sqlite)
    #expect(try store.externalData().referenced == 1)
    let (xml, binary) = (place.folder.path("Large.xml"), place.folder.path("Large.bin"))
    try AtomicSamples.writeXML(store, to: xml)
    try AtomicSamples.writeBinary(store, to: binary)
    let compared = Captured("compare", xml, binary, "--model", place.model)
    #expect(compared.status == .done, "\(compared.out)\(compared.err)")
    #expect(!compared.out.contains("external"), "\(compared.out)")
    let mixed = Captured("compare", sqlite, binary, "--model", place.model)
    #expect(mixed.out.contains("external files of A: 1"), "\(mixed.out)")
    #expect(!mixed.out.contains("external files of B"), "\(mixed.out)")
    let json = Captured("compare", sqlite, binary, "--model", place.model, "--json")
    #expect(json.out.contains("\"referenced\":1") && json.out.contains("\"referenced\":0"))
    for path in [xml, binary] {
      let info = Captured("info", path, "--model", place.model)
      #expect(!info.out.contains("external"), "\(info.out)")
      let json = Captured("info", path, "--model", place.model, "--json")
      #expect(json.out.contains("\"externalData\":{\"referenced\":0"), "\(json.out)")
    }
  }

  @Test("a model rebuilt from an XML store has the hashes of the entities whose names are small")
  func rebuilt() throws {
    let place = try AtomicFolder()
    let contents = try AtomicContents(path: place.xml)
    let names = try AtomicModel(nil, for: contents)
    guard case .rebuilt(let proved) = names.source else {
      Issue.record("the model was not rebuilt")
      return
    }
    // The others have capitals in a name, no object of their own, or an order.
    #expect(proved.contains("Passport"))
    #expect(!proved.contains("Note") && !names.matches)
    for entity in proved {
      #expect(names.model.versionHashes[entity] == contents.versionHashes[entity])
    }
    let run = Captured("convert", place.xml, "--output", place.folder.path("R.sqlite"))
    #expect(run.status == .refused && run.err.contains("--model"))
    let rows = Captured("rows", place.xml, "Passport")
    #expect(rows.status == .done)
    #expect(rows.err.contains("1 of") || rows.err.contains("of 6 entities"))
  }

  @Test("a binary store without its model has values by their places")
  func withoutModel() throws {
    let place = try AtomicFolder()
    let run = Captured("rows", place.binary, "Passport", "--format", "csv")
    #expect(run.status == .done, "\(run.err)")
    #expect(run.lines.first?.contains("#0") == true)
    #expect(run.err.contains("no names of attributes"))
  }

  @Test("a model with another number of properties is refused: it would give values other names")
  func wrongModel() throws {
    let place = try AtomicFolder()
    let other = place.folder.path("Other.xcdatamodel")
    try FileSystem.makeDirectory(other)
    let text = AtomicFolder.contents.replacing(
      "<attribute name=\"caption\"",
      with:
        "<attribute name=\"extra\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"caption\""
    )
    try FileSystem.write(Array(text.utf8), to: other + "/contents")
    let run = Captured("info", place.binary, "--model", other)
    #expect(run.status == .no || run.status == .unreadable || run.status == .refused)
    #expect(run.err.contains("134020") && run.err.contains("#0"))
  }

  @Test(
    "Core Data's escapes are read, of either byte order",
    arguments: [
      ("\\u3c00b\\u3e00 \\u2600 \\\\ \\u0cff", "<b> & \\ \u{FF0C}"),
      ("\\u003c \\u0026", "< &"), ("\\u3dd8\\u00de", "😀"), ("a\\q \\u12", "a\\q \\u12"),
    ])
  func escapes(_ written: String, _ meant: String) throws {
    let place = try AtomicFolder(objects: 30)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let object =
      "    <object type=\"ALBUM\" id=\"z9000\"><attribute name=\"title\" type=\"string\">\(written)</attribute></object>\n</database>"
    let path = place.folder.path("E.xml")
    try FileSystem.write(Array(text.replacing("</database>", with: object).utf8), to: path)
    let out = place.folder.path("E.sqlite")
    #expect(Captured("convert", path, "--output", out, "--model", place.model).status == .done)
    let line = try StoreDump.lines(at: out).first { $0.hasPrefix("Album/p9000 ") }
    #expect(line?.contains("title=\(meant) ") == true, "\(line ?? "")")
    try SecondReader.expectEqual(atomic: path, out)
  }

  @Test("a cut-off or broken XML store gives every other object, and says what is missing")
  func damaged() throws {
    let place = try AtomicFolder()
    let bytes = try FileSystem.read(place.xml)
    let all = try AtomicContents(path: place.xml).objects
    let half = place.folder.path("Half.xml")
    try FileSystem.write(Array(bytes[..<(bytes.count / 2)]), to: half)
    let whole =
      String(decoding: bytes[..<(bytes.count / 2)], as: UTF8.self)
      .split(separator: "</object>", omittingEmptySubsequences: false).count - 1
    let cut = try AtomicContents(path: half)
    #expect(cut.objects == whole || cut.objects == whole + 1)
    #expect(!cut.losses.isEmpty)
    #expect(Captured("info", half, "--model", place.model).status == .unreadable)
    // One object's tag is broken.
    let middle = place.folder.path("Middle.xml")
    var broken = bytes
    let mark = Array("<attribute ".utf8)
    let at = try #require(ByteSearch.place(of: mark, in: broken, from: bytes.count / 2))
    broken[at] = UInt8(ascii: "&")
    try FileSystem.write(broken, to: middle)
    let rest = try AtomicContents(path: middle)
    #expect(rest.objects == all)
    #expect(rest.losses.contains { $0.sentence.contains("only a part") })
  }

  @Test("dangling and one-sided references, double ids and a low counter are told")
  func handEdited() throws {
    let place = try AtomicFolder(objects: 30)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let path = place.folder.path("Edited.xml")
    let more = """
      <object type="ALBUM" id="atom0"><attribute name="title" type="string">named</attribute></object>
      <object type="PASSPORT" id="z9000"><relationship name="owner" type="0/1" destination="PERSON" idrefs="z9001"/></object>
      <object type="PERSON" id="z9001"><attribute name="name" type="string">Ann</attribute></object>
      <object type="PERSON" id="z9001"><relationship name="friends" type="0/0" destination="PERSON" idrefs="z77777"/></object>
      <object type="PASSPORT" id="z9002"><attribute name="number" type="int64">many</attribute></object>
      </database>
      """
    try FileSystem.write(Array(text.replacing("</database>", with: more).utf8), to: path)
    let out = place.folder.path("E.sqlite")
    let run = Captured("convert", path, "--output", out, "--model", place.model)
    #expect(run.status == .no)
    for part in [
      "1 object has an id that another has", "1 reference to objects that are not in the file",
      "1 reference of Passport.owner is missing on the other side", "The counter of ids",
      "1 value of Passport.number does not fit",
    ] {
      #expect(run.flat.contains(part), "\(part): \(run.flat)")
    }
    try SecondReader.expectEqual(atomic: path, out)
    let lines = try StoreDump.lines(at: out)
    #expect(lines.contains { $0.hasPrefix("Album/p") && $0.contains("title=named") })
    // The side that names nothing follows the one that does.
    #expect(
      lines.contains { $0.hasPrefix("Person/p9001 ") && $0.contains("passport→Passport/p9000") })
  }

  @Test("entities, outside references, deep nesting and circles end in a sentence")
  func hostile() throws {
    let place = try AtomicFolder(objects: 30)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let bomb = text.replacing(
      "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">",
      with: "<!DOCTYPE database [<!ENTITY a \"aaaa\"><!ENTITY b SYSTEM \"file:///etc/passwd\">]>")
    let path = place.folder.path("Bomb.xml")
    try FileSystem.write(Array(bomb.utf8), to: path)
    let run = Captured("info", path)
    #expect(run.status == .unreadable && run.err.contains("entity declarations"))
    let deep = place.folder.path("Deep.xml")
    try FileSystem.write(
      Array(("<database>" + String(repeating: "<a>", count: 10_000)).utf8), to: deep)
    #expect(Captured("info", deep).status == .unreadable)
  }

  @Test("any bytes at all end in an answer", .enabled(if: TestScale.isFull))
  func mutated() throws {
    let place = try AtomicFolder(objects: 40)
    var random = SeededGenerator(seed: 33)
    let path = place.folder.path("M")
    let model = try Store(path: place.sqlite).model
    for source in [place.xml, place.binary] {
      let bytes = try FileSystem.read(source)
      for _ in 0..<100 {
        var mutated = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let at = Int.random(in: 0..<mutated.count, using: &random)
          mutated[at] = UInt8.random(in: 0...255, using: &random)
        }
        try FileSystem.write(mutated, to: path)
        _ = try? AtomicCopy(of: path, model: model)
      }
    }
  }
}
