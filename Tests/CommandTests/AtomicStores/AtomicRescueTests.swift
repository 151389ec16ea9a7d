import AtomicStores
import Files
import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Commands

@Suite("XML and binary stores that are damaged")
struct AtomicRescueTests {
  /// Bytes of the map of a binary store.
  private static func map(of bytes: [UInt8]) -> Range<Int> {
    let length = bytes[40..<48].reduce(0) { $0 << 8 | Int($1) }
    return 64..<64 + length
  }

  @Test(
    "of a binary store that is cut off every object before the cut is read, and none is invented")
  func cutMap() throws {
    let place = try AtomicFolder()
    let bytes = try FileSystem.read(place.binary)
    let all = try AtomicContents(path: place.binary).objects
    let whole = place.folder.path("Whole.sqlite")
    #expect(
      Captured("convert", place.binary, "--output", whole, "--model", place.model).status == .done)
    let keys = Set(try StoreDump.lines(at: whole).map { $0.prefix { $0 != " " } })
    let map = Self.map(of: bytes)
    var former = 0
    for percent in [30, 60, 90, 99] {
      let path = place.folder.path("Cut.binary")
      FileSystem.remove(path)
      try FileSystem.write(Array(bytes[..<(map.lowerBound + map.count * percent / 100)]), to: path)
      let cut = try AtomicContents(path: path)
      #expect(cut.objects >= former && cut.objects <= all, "\(percent)")
      former = cut.objects
      #expect(cut.losses.contains { $0.kind == .damage })
      let saved = place.folder.path("Saved\(percent).sqlite")
      let run = Captured("salvage", path, "--output", saved, "--model", place.model)
      #expect(run.status == .no, "\(percent) \(run.err)")
      let found = Set(try StoreDump.lines(at: saved).map { $0.prefix { $0 != " " } })
      #expect(found.isSubset(of: keys), "\(percent)")
      #expect(found.count == cut.objects, "\(percent)")
    }
    #expect(former > all * 8 / 10)
    // Cut in the metadata, all objects are there.
    let path = place.folder.path("Tail.binary")
    try FileSystem.write(Array(bytes[..<(map.upperBound + 40)]), to: path)
    #expect(try AtomicContents(path: path).objects == all)
  }

  @Test(
    "what of the file could not be read is lost in salvage's report, which calls nothing whole then"
  )
  func salvageTellsLosses() throws {
    let place = try AtomicFolder(objects: 30)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let half = place.folder.path("Half.xml")
    try FileSystem.write(Array(text.utf8.prefix(text.utf8.count / 2)), to: half)
    func salvage(_ path: String, _ output: String, _ more: String...) -> Captured {
      let output = place.folder.path(output)
      return Captured(["salvage", path, "--output", output, "--model", place.model] + more)
    }
    let cut = salvage(half, "Half.sqlite")
    #expect(cut.status == .no)
    #expect(cut.out.hasPrefix("! ") && cut.out.contains("saved in"), "\(cut.out)")
    #expect(cut.out.contains("\n! The file is damaged: "), "\(cut.out)")
    // It is said once, and nothing of an XML file is left that undelete could find.
    #expect(!cut.err.contains("The file is damaged") && !cut.out.contains("Earlier states"))
    let lines = salvage(half, "Lines.sqlite", "--json").out
    #expect(lines.contains("\"lossy\":true") && lines.contains("\"unread\":[\"The file is damaged"))
    let whole = salvage(place.xml, "Whole.sqlite")
    #expect(whole.status == .done, "\(whole.out)")
    #expect(whole.out.contains("nothing is known to be lost"))
  }

  @Test("without a model nothing is called wrong, and what is offered of a damaged file can be run")
  func withoutModel() throws {
    let place = try AtomicFolder(objects: 30)
    let alone = try TemporaryFolder()
    let path = alone.path("Notes.xml")
    try FileSystem.write(FileSystem.read(place.xml), to: path)
    let sound = Captured("doctor", path)
    #expect(sound.status == .done, "\(sound.out)")
    #expect(sound.err.contains("The model is made of the objects"), "\(sound.err)")
    for command in ["info", "dump"] {
      let run = Captured(command, path)
      #expect(!(run.out + run.err).contains("134100"), "\(run.out) \(run.err)")
    }

    // A file that states no hash proves no model.
    let text = String(decoding: try FileSystem.read(path), as: UTF8.self)
    let start = try #require(text.firstRange(of: "<metadata>"))
    let end = try #require(text.firstRange(of: "</metadata>"))
    let unnamed = alone.path("Unnamed.xml")
    try FileSystem.write(
      Array((text[..<start.upperBound] + text[end.lowerBound...]).utf8), to: unnamed)
    let saved = Captured("salvage", unnamed, "--output", alone.path("Unnamed.sqlite"))
    #expect(saved.out.contains("· it opens with the model in it, which was made of the objects"))
    #expect(!saved.out.contains("✓ it opens"), "\(saved.out)")
    let named = Captured(
      "salvage", place.xml, "--output", alone.path("Named.sqlite"), "--model", place.model)
    #expect(named.out.contains("✓ it opens with the model in it"), "\(named.out)")

    try FileSystem.write(Array(FileSystem.read(path).dropLast(2_000)), to: alone.path("Cut.xml"))
    let cut = Captured("doctor", alone.path("Cut.xml"))
    #expect(cut.status == .no && !cut.out.contains("strata repair"), "\(cut.out)")
    let command = try #require(cut.lines.map(\.trimmed).first { $0.hasPrefix("strata salvage ") })
    let words = command.split(separator: " ").dropFirst().map(String.init)
    #expect(words.last == alone.path("Cut-salvaged.sqlite"))
    #expect(Captured(words).status == .no)
    #expect(FileSystem.isDatabase(alone.path("Cut-salvaged.sqlite")))
  }

  @Test("doctor lists one-sided references, double ids, lost metadata and damage as findings")
  func findings() throws {
    let place = try AtomicFolder(objects: 30)
    let sound = Captured("doctor", place.xml, "--model", place.model)
    #expect(sound.status == .done, "\(sound.out)")
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let more = """
      <object type="PASSPORT" id="z9000"><relationship name="owner" type="0/1" destination="PERSON" idrefs="z9001"/></object>
      <object type="PERSON" id="z9001"><attribute name="name" type="string">Ann</attribute></object>
      <object type="PERSON" id="z9001"><relationship name="friends" type="0/0" destination="PERSON" idrefs="z77777"/></object>
      </database>
      """
    let start = try #require(text.firstRange(of: "<metadata>"))
    let end = try #require(text.firstRange(of: "</metadata>"))
    let emptied = String(text[..<start.upperBound]) + String(text[end.lowerBound...])
    let path = place.folder.path("Edited.xml")
    try FileSystem.write(Array(emptied.replacing("</database>", with: more).utf8), to: path)
    let sick = Captured("doctor", path, "--model", place.model, "--json")
    #expect(sick.status == .no)
    for kind in ["atomic-metadata", "atomic-ids", "atomic-links"] {
      #expect(sick.out.contains("\"kind\":\"\(kind)\""), "\(kind)")
    }
    #expect(!sick.err.contains("an id that another has"))
    let half = place.folder.path("Half.xml")
    try FileSystem.write(Array(text.utf8.prefix(text.utf8.count / 2)), to: half)
    #expect(
      Captured("doctor", half, "--model", place.model, "--json").out.contains("\"atomic-damage\""))
  }

  @Test("metadata with objects of the app's own would not stay as they are: repair refuses")
  func ownMetadata() throws {
    let place = try AtomicFolder(objects: 10)
    var writer = KeyedArchiveWriter()
    let root = writer.dictionary([
      (writer.string("appInfo"), writer.add(class: ["Foo", "NSObject"], [:]))
    ])
    var list = try #require(writer.propertyList(root: root).dictionary)
    list["$top"] = .dictionary(["metadata": root])
    let about = PropertyList.binary(.dictionary(list))
    var bytes = try FileSystem.read(place.binary)
    bytes.removeSubrange(Self.map(of: bytes).upperBound...)
    for index in 0..<8 {
      bytes[24 + index] = UInt8(truncatingIfNeeded: about.count >> ((7 - index) * 8))
    }
    let path = place.folder.path("Own.binary")
    try FileSystem.write(bytes + about, to: path)
    let output = place.folder.path("Repaired.binary")
    let run = Captured("repair", path, "--model", place.model, "--output", output)
    #expect(run.status == .refused && run.err.contains("would not stay as they are"), "\(run.err)")
    #expect(!FileSystem.isFile(output))
  }

  @Test("repair puts a model's hashes into a copy, and only those of a model that fits")
  func metadata() throws {
    let place = try AtomicFolder(objects: 30)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let start = try #require(text.firstRange(of: "<metadata>"))
    let end = try #require(text.firstRange(of: "</metadata>"))
    let path = place.folder.path("Emptied.xml")
    try FileSystem.write(
      Array((String(text[..<start.upperBound]) + String(text[end.lowerBound...])).utf8), to: path)
    let other = place.folder.path("Other.xcdatamodel")
    try FileSystem.makeDirectory(other)
    try FileSystem.write(
      Array("<model><entity name=\"Album\"/></model>".utf8), to: other + "/contents")
    let fixed = place.folder.path("Fixed.xml")
    #expect(
      Captured("repair", path, "--model", other, "--output", fixed).status == .refused)
    #expect(!FileSystem.isFile(fixed))
    #expect(Captured("repair", path, "--output", fixed).status == .usage)
    let run = Captured("repair", path, "--model", place.model, "--output", fixed)
    #expect(run.status == .done, "\(run.err)")
    let contents = try AtomicContents(path: fixed)
    #expect(contents.versionHashes == (try AtomicContents(path: place.xml)).versionHashes)
    #expect(contents.objects == (try AtomicContents(path: path)).objects)
    #expect(Captured("info", fixed, "--model", place.model).status == .done)
    #expect(Captured("repair", fixed, "--model", place.model, "--output", path).status == .refused)
    // A binary store whose metadata are cut off.
    let bytes = try FileSystem.read(place.binary)
    let cut = place.folder.path("Cut.binary")
    try FileSystem.write(Array(bytes[..<(Self.map(of: bytes).upperBound + 8)]), to: cut)
    let mended = place.folder.path("Mended.binary")
    let made = Captured("repair", cut, "--model", place.model, "--output", mended)
    #expect(made.status == .done || made.status == .unreadable, "\(made.err)")
    #expect(made.flat.contains("other metadata could not be read"), "\(made.out)")
    #expect(
      try AtomicContents(path: mended).versionHashes
        == AtomicContents(path: place.binary).versionHashes)
    #expect(Captured("info", mended, "--model", place.model).status == .done)
  }

  @Test("stores lists both kinds by their type, and opens them in the folder")
  func listed() throws {
    let place = try AtomicFolder(objects: 30)
    let listed = Captured("stores", place.folder.path(""), "--json")
    #expect(listed.status == .done)
    #expect(listed.out.contains("\"type\":\"XML\""))
    #expect(listed.out.contains("\"type\":\"Binary\""))
    #expect(listed.out.contains("\"type\":\"SQLite\""))
    #expect(Captured("stores", place.folder.path("")).flat.contains("Binary store"))
    let alone = place.folder.path("alone")
    try FileSystem.makeDirectory(alone)
    try FileSystem.write(try FileSystem.read(place.xml), to: alone + "/Notes.xml")
    try FileSystem.write(Array("<?xml version=\"1.0\"?><plist/>".utf8), to: alone + "/other.xml")
    for path in [alone, alone + "//Notes.xml"] {
      let info = Captured("info", path, "--model", place.model)
      #expect(info.status == .done, "\(path) \(info.err)")
      #expect(info.out.contains("XML"), "\(path)")
    }
  }

  @Test(
    "mutated stores, entity bombs, external entities and 10,000 levels: no trap, nothing from outside"
  )
  func fuzzing() throws {
    let folder = try TemporaryFolder()
    let result = Fuzzing.run(try AtomicFuzzing.target(in: folder), count: 60, seed: 11)
    #expect(result.inputs == 60)
    #expect(result.accepted > 0)
    #expect(result.slowest < 20)
    for (index, bytes) in AtomicFuzzing.hostile.enumerated() {
      let path = folder.path("hostile\(index).xml")
      try FileSystem.write(bytes, to: path)
      let shown = Captured("dump", path)
      #expect(!(shown.out + shown.err).contains("root:"), "\(index)")
      #expect(!shown.out.contains("hahaha"), "\(index)")
    }
  }
}
