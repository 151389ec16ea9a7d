import AtomicStores
import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("Transformables of XML and binary stores")
struct AtomicTransformableTests {
  private static let reader =
    #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/") + "/Independent/atomic.py"

  @Test("they keep their bytes, or are archived again; the help says so")
  func converted() throws {
    var box = Entity("Box")
    var own = Attribute("mine", .transformable, optional: true)
    own.valueTransformerName = "MyTransformer"
    box.attributes = [Attribute("shape", .transformable, optional: true), own]
    let model = try Model(entities: [box])
    let folder = try TemporaryFolder()
    let place = folder.path("Box.xcdatamodel")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: place + "/contents")
    let sqlite = folder.path("Box.sqlite")
    let writer = try StoreWriter(
      creating: sqlite, model: model, uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    let bytes: [[UInt8]] = (1...20).map { count in (0..<count * 20).map { UInt8($0 & 0xFF) } }
    for one in bytes {
      _ = try writer.insert("Box", attributes: ["shape": .bytes(one), "mine": .bytes([1])])
    }
    _ = try writer.insert("Box", attributes: [:])
    try writer.finish()
    let (xml, binary) = (folder.path("Box.xml"), folder.path("Box.bin"))
    let keys = try AtomicSamples.writeXML(try Store(path: sqlite), to: xml)
    try AtomicSamples.writeBinary(try Store(path: sqlite), to: binary)
    for source in [xml, binary] {
      let made = source + ".sqlite"
      let run = Captured("convert", source, "--output", made, "--model", place)
      #expect(run.status == .done, "\(run.err)")
      #expect(run.flat.contains("20 values of Box.shape archived") == (source == binary))
      #expect(run.flat.contains("MyTransformer may expect another form") == (source == binary))
      let cursor = try ObjectCursor(try Store(path: made), entity: "Box")
      var found: [Int64: [UInt8]] = [:]
      while let object = try cursor.next() {
        for (attribute, value) in zip(cursor.table.attributes, object.attributes)
        where attribute.attribute.name == "shape" {
          switch value {
          case .data(let data): found[object.key] = data.bytes
          case .value(.bytes(let bytes)): found[object.key] = bytes
          default: break
          }
        }
      }
      #expect(found.count == 20)
      for (index, one) in bytes.enumerated() {
        let kept = found[try #require(keys["Box/p\(index + 1)"])] ?? []
        if source == xml {
          #expect(kept == one)
        } else {
          // The writer's object is a list of the bytes.
          let elements = try KeyedArchive(kept).root.value.elements
          guard elements.count == 1, case .data(let data) = elements[0] else {
            Issue.record("not the list that was archived")
            continue
          }
          #expect(data == one)
        }
      }
      if Tool.python3.isAvailable {
        #expect(OtherProgram.run(Tool.python3.path, ["-B", Self.reader, source, made]) == 0)
      }
    }
    // Equal objects become equal archives, so that a store equals itself.
    #expect(Captured("compare", binary, binary, "--model", place).status == .done)
    let help = Captured("convert", "--help").out
    for word in ["keys", "Transformable", "NSKeyedArchiver"] { #expect(help.contains(word)) }
  }
}

@Suite("Transformables that are values of Foundation's classes")
struct AtomicFoundationTests {
  /// A value, what NSKeyedArchiver has for it alone, and the classes that the object has; no class, no object.
  private struct Case {
    var sample: AtomicSamples.FoundationSample
    var value: ArchivedValue
    var classes: [String] = []
  }

  private static let uuid: [UInt8] = (1...16).map { $0 }

  private static let cases: [Case] = [
    Case(sample: .init(.string("Leek \u{1F96C}")), value: .string("Leek \u{1F96C}")),
    Case(
      sample: .init(.string("Leek"), isMutable: true), value: .string("Leek"),
      classes: ["NSMutableString", "NSString", "NSObject"]),
    Case(sample: .init(.bytes([0, 1, 255])), value: .data([0, 1, 255])),
    Case(
      sample: .init(.bytes([9]), isMutable: true), value: .data([9]),
      classes: ["NSMutableData", "NSData", "NSObject"]),
    Case(sample: .init(.integer(-7)), value: .integer(-7)),
    Case(sample: .init(.boolean(true)), value: .boolean(true)),
    Case(sample: .init(.double(0.1)), value: .real(0.1)),
    Case(
      sample: .init(.date(785_000_000.25)), value: .date(785_000_000.25),
      classes: ["NSDate", "NSObject"]),
    Case(sample: .init(.uuid(uuid)), value: .uuid(uuid), classes: ["NSUUID", "NSObject"]),
    Case(
      sample: .init(.uri("https://example.com/a?b=é")), value: .url("https://example.com/a?b=é"),
      classes: ["NSURL", "NSObject"]),
    Case(
      sample: .init(.decimal("-12.50")), value: .decimal("-12.5"),
      classes: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"]),
  ]

  @Test("convert archives each alone, as NSKeyedArchiver does: the value and its classes stay")
  func archived() throws {
    var box = Entity("Box")
    box.attributes = [Attribute("value", .transformable, optional: true)]
    let model = try Model(entities: [box])
    let folder = try TemporaryFolder()
    let place = folder.path("Box.xcdatamodel")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: place + "/contents")
    let sqlite = folder.path("Box.sqlite")
    let writer = try StoreWriter(creating: sqlite, model: model)
    for index in Self.cases.indices {
      _ = try writer.insert("Box", attributes: ["value": .bytes([UInt8(index)])])
    }
    try writer.finish()
    let (source, made) = (folder.path("Box.bin"), folder.path("Made.sqlite"))
    let keys = try AtomicSamples.writeBinary(
      try Store(path: sqlite), to: source, foundation: Self.cases.map(\.sample))
    let run = Captured("convert", source, "--output", made, "--model", place)
    #expect(run.status == .done, "\(run.err)")
    #expect(run.flat.contains("\(Self.cases.count) values of Box.value archived"), "\(run.out)")
    let connection = try Connection(path: made, mode: .readOnly)
    for (index, one) in Self.cases.enumerated() {
      let key = try #require(keys["Box/p\(index + 1)"])
      let kept = try connection.rows(
        "SELECT ZVALUE FROM ZBOX WHERE Z_PK = ?", [.integer(key)])
      guard case .blob(let bytes)? = kept.first?.first else {
        Issue.record("\(one.value) was not archived")
        continue
      }
      #expect(
        String(describing: try KeyedArchive(bytes).root.value) == String(describing: one.value))
      guard case .dictionary(let archive) = try PropertyList.read(bytes),
        case .uid(let root)? = archive["$top"]?[KeyedArchive.rootKey],
        let objects = archive["$objects"]?.array
      else {
        Issue.record("\(one.value): not an archive")
        continue
      }
      #expect(archive["$archiver"] == .string("NSKeyedArchiver"))
      try #require(objects.indices.contains(root))
      var classes: [String] = []
      if case .uid(let type) = objects[root]["$class"] {
        try #require(objects.indices.contains(type))
        classes = objects[type]["$classes"]?.array?.compactMap(\.string) ?? []
      }
      #expect(classes == one.classes)
    }
    try SecondReader.expectEqual(atomic: source, made)
    #expect(Captured("doctor", made).status == .done)
  }
}

@Suite("Classes that Core Data does not decode")
struct AtomicClassTests {
  /// A binary store of objects with a Transformable, whose value is of a class of the app's own.
  private static func store(_ folder: TemporaryFolder) throws -> (path: String, model: String) {
    var box = Entity("Box")
    box.attributes = [Attribute("colour", .transformable, optional: true)]
    let model = folder.path("Box.xcdatamodel")
    try FileSystem.makeDirectory(model)
    try FileSystem.write(
      Array(try Model(entities: [box]).xcdatamodelContents().utf8), to: model + "/contents")
    let sqlite = folder.path("Box.sqlite")
    let writer = try StoreWriter(
      creating: sqlite, model: try Model(entities: [box]),
      uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    for number in 1...5 {
      _ = try writer.insert("Box", attributes: ["colour": .bytes([UInt8(number)])])
    }
    _ = try writer.insert("Box", attributes: [:])
    try writer.finish()
    let path = folder.path("Box.bin")
    try AtomicSamples.writeBinary(try Store(path: sqlite), to: path, className: "PaintColour")
    return (path, model)
  }

  @Test("their values are read and kept, the class is named, and so is the way out")
  func kept() throws {
    let folder = try TemporaryFolder()
    let (path, model) = try Self.store(folder)
    let doctor = Captured("doctor", path, "--model", model, "--json")
    #expect(doctor.status == .no, "\(doctor.err)")
    #expect(doctor.out.contains("\"kind\":\"atomic-classes\""), "\(doctor.out)")
    #expect(doctor.out.contains("PaintColour"))
    let text = Captured("doctor", path, "--model", model).flat
    #expect(text.contains("NSBinaryStoreSecureDecodingClasses"), "\(text)")
    #expect(text.contains("5") && !text.contains("6 values"))
    for command in ["info", "dump"] {
      let run = Captured(command, path, "--model", model)
      #expect(run.status == .done, "\(run.err)")
      #expect(run.err.contains("PaintColour"), "\(run.err)")
    }
    let made = folder.path("Made.sqlite")
    let run = Captured("convert", path, "--output", made, "--model", model)
    #expect(run.status == .done, "\(run.err)")
    #expect(run.flat.contains("5 values of Box.colour archived"), "\(run.out)")
    #expect(run.flat.contains("objects of PaintColour"), "\(run.out)")
    try SecondReader.expectEqual(atomic: path, made)
    let cursor = try ObjectCursor(try Store(path: made), entity: "Box")
    var found: [[UInt8]] = []
    while let object = try cursor.next() {
      let bytes: [UInt8]
      switch try #require(object.attributes.first) {
      case .data(let data): bytes = data.bytes
      case .value(.bytes(let value)): bytes = value
      case .value(.null): continue
      default:
        Issue.record("a value that is no data")
        continue
      }
      let root = try #require(try KeyedArchive(bytes).root.value.object)
      #expect(root.className == "PaintColour")
      guard case .data(let content) = root["bytes"] else {
        Issue.record("the object lost what it holds")
        continue
      }
      found.append(content)
    }
    #expect(found.sorted { $0[0] < $1[0] } == (1...5).map { [$0] })
    // Once converted there is nothing left to decode.
    #expect(Captured("doctor", made).status == .done)
  }

  @Test(
    "of an attribute that is no Transformable they do not fit: that is said, and the status is 1")
  func unfit() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.store(folder)
    var box = Entity("Box")
    box.attributes = [Attribute("colour", .string, optional: true)]
    let other = folder.path("Text.xcdatamodel")
    try FileSystem.makeDirectory(other)
    try FileSystem.write(
      Array(try Model(entities: [box]).xcdatamodelContents().utf8), to: other + "/contents")
    let rows = Captured("rows", path, "Box", "--model", other, "--format", "ndjson")
    #expect(rows.out.contains("an object of PaintColour"), "\(rows.out)\(rows.err)")
    #expect(rows.err.contains("5 values of Box.colour do not fit"), "\(rows.err)")
    let run = Captured(
      "convert", path, "--output", folder.path("Made.sqlite"), "--model", other)
    #expect(run.status == .refused && run.err.contains("version hashes"), "\(run.err)")
  }
}

@Suite("Uniqueness in XML and binary stores")
struct AtomicUniquenessTests {
  @Test("objects that a constraint asks to differ are all read, and doctor names them")
  func broken() throws {
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    let folder = try TemporaryFolder()
    tag.uniquenessConstraints = [["name"]]
    let model = try Model(entities: [tag])
    let place = folder.path("Tag.xcdatamodel")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: place + "/contents")
    let sqlite = folder.path("Tag.sqlite")
    let writer = try StoreWriter(
      creating: sqlite, model: model, uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    writer.allowsBrokenConstraints = true
    for name in ["a", "b", "a", "c", "a"] {
      _ = try writer.insert("Tag", attributes: ["name": .string(name)])
    }
    try writer.finish()
    let (xml, binary) = (folder.path("Tag.xml"), folder.path("Tag.bin"))
    try AtomicSamples.writeXML(try Store(path: sqlite), to: xml)
    try AtomicSamples.writeBinary(try Store(path: sqlite), to: binary)
    for source in [xml, binary] {
      let made = source + ".sqlite"
      let run = Captured("convert", source, "--output", made, "--model", place)
      #expect(run.flat.contains("lacks the index Z_Tag_UNIQUE_name"), "\(run.out)\(run.err)")
      #expect(
        Captured("rows", source, "Tag", "--model", place, "--format", "ndjson").lines.count == 5)
      let doctor = Captured("doctor", source, "--model", place, "--json")
      #expect(doctor.out.contains("\"kind\":\"uniqueness\""), "\(doctor.out)")
      #expect(Captured("repair", made, "--keep", "newest").status == .done)
      #expect(Captured("rows", made, "Tag", "--format", "ndjson").lines.count == 3)
    }
  }
}
