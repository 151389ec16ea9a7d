import AtomicStores
import Files
import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Commands

@Suite("repair of XML and binary stores")
struct AtomicRepairTests {
  /// A store whose metadata have no hashes, and values that strata does not know.
  private static func emptied(_ place: AtomicFolder, _ form: AtomicStoreForm) throws -> String {
    let path = place.folder.path("Emptied." + form.rawValue)
    switch form {
    case .xml:
      let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
      let (start, end) = (
        try #require(text.firstRange(of: "<metadata>")),
        try #require(text.firstRange(of: "</metadata>"))
      )
      let own = """
        <plist version="1.0"><dict><key>own &lt;key&gt;</key><array><integer>7</integer><real>0.1</real>\
        <true/><date>2020-01-02T03:04:05Z</date><data>AQID</data><dict/></array></dict></plist>
        """
      try FileSystem.write(
        Array((text[..<start.upperBound] + own + text[end.lowerBound...]).utf8), to: path)
    case .binary:
      var writer = KeyedArchiveWriter()
      let elements = [
        writer.add(.integer(7)), writer.add(.real(0.1)), writer.add(.boolean(true)),
        writer.add(class: ["NSDate", "NSObject"], ["NS.time": .real(0.25)]),
        writer.add(.data([1, 2, 3])), writer.dictionary([]),
      ]
      let list = writer.array(elements)
      let root = writer.dictionary([(writer.string("own <key>"), list)])
      var archive = try #require(writer.propertyList(root: root).dictionary)
      archive["$top"] = .dictionary(["metadata": root])
      try FileSystem.write(
        Self.binary(place, metadata: PropertyList.binary(.dictionary(archive))), to: path)
    }
    return path
  }

  private static func binary(_ place: AtomicFolder, metadata: [UInt8]) throws -> [UInt8] {
    var bytes = try FileSystem.read(place.binary)
    let length = bytes[40..<48].reduce(0) { $0 << 8 | Int($1) }
    bytes.removeSubrange((64 + length)...)
    for index in 0..<8 {
      bytes[24 + index] = UInt8(truncatingIfNeeded: metadata.count >> ((7 - index) * 8))
    }
    return bytes + metadata
  }

  @Test(
    "what the metadata hold besides stays, and the receipt says what was done",
    arguments: AtomicStoreForm.allCases)
  func kept(_ form: AtomicStoreForm) throws {
    let place = try AtomicFolder(objects: 30)
    let path = try Self.emptied(place, form)
    let before = try FileSystem.read(path)
    let own = try #require(try AtomicContents(path: path).metadata?["own <key>"])
    #expect(own.array?.count == 6)
    let (output, receipt) = (place.folder.path("out"), place.folder.path("receipt.json"))
    let trial = Captured("repair", path, "--model", place.model, "--dry-run")
    #expect(trial.status == .done && trial.out.contains("would be written"), "\(trial.err)")
    #expect(!FileSystem.isFile(output))
    let inPlace = Captured("repair", path, "--model", place.model)
    #expect(inPlace.status == .refused && inPlace.err.contains("--output"), "\(inPlace.err)")
    let run = Captured(
      "repair", path, "--model", place.model, "--output", output, "--receipt", receipt)
    #expect(run.status == .done, "\(run.err)")
    let contents = try AtomicContents(path: output)
    #expect(contents.metadata?["own <key>"] == own)
    #expect(!contents.versionHashes.isEmpty)
    let written = String(decoding: try FileSystem.read(receipt), as: UTF8.self)
    #expect(written.contains("\"repaired\"") && written.contains("\"objects\":30"), "\(written)")
    #expect(Captured("doctor", output, "--model", place.model).status == .done)
    let model = try Store(path: place.sqlite).model
    for store in [path, output] { try SecondReader.expectAgreement(onAtomic: store, model: model) }
    #expect(try FileSystem.read(path) == before)
  }

  @Test("metadata that would not stay as they are: nothing is written")
  func refused() throws {
    let place = try AtomicFolder(objects: 10)
    let text = String(decoding: try FileSystem.read(place.xml), as: UTF8.self)
    let (start, end) = (
      try #require(text.firstRange(of: "<metadata>")),
      try #require(text.firstRange(of: "</metadata>"))
    )
    var stores: [(name: String, bytes: [UInt8])] = [
      "words", "<plist version=\"1.0\"><string>no dictionary</string></plist>",
      "<plist version=\"1.0\"><dict><key>a</key><unknown/></dict></plist>",
    ].enumerated().map {
      ("\($0).xml", Array((text[..<start.upperBound] + $1 + text[end.lowerBound...]).utf8))
    }
    // Keys that are no text, and classes of the app's own.
    for (index, isKey) in [true, false].enumerated() {
      var writer = KeyedArchiveWriter()
      let other = writer.add(class: ["Foo", "NSObject"], [:])
      let root = writer.dictionary([
        isKey ? (writer.add(.integer(4)), writer.string("x")) : (writer.string("x"), other)
      ])
      var archive = try #require(writer.propertyList(root: root).dictionary)
      archive["$top"] = .dictionary(["metadata": root])
      stores.append(
        (
          "\(index).bin",
          try Self.binary(place, metadata: PropertyList.binary(.dictionary(archive)))
        ))
    }
    for store in stores {
      let (path, output) = (place.folder.path(store.name), place.folder.path("out"))
      try FileSystem.write(store.bytes, to: path)
      for words in [["--output", output], ["--dry-run"]] {
        let run = Captured(["repair", path, "--model", place.model] + words)
        #expect(run.status == .refused, "\(store.name) \(run.out)")
        #expect(run.err.contains("would not stay as they are"), "\(store.name) \(run.err)")
        #expect(!FileSystem.isFile(output))
      }
      // A conversion is the way out.
      #expect(
        Captured("convert", path, "--model", place.model, "--output", path + ".sqlite").status
          == .done)
    }
  }
}
