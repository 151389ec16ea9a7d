import AtomicStores
import Files
import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Commands

/// A binary property list in which lists are shared, which no sound writer makes.
private enum FoldedList {
  /// Stands for the outermost of the lists.
  static let mark = PropertyListValue.string("@deep")

  /// - Parameter levels: how many lists there are, each of which holds the next one twice.
  static func bytes(_ value: PropertyListValue, levels: Int) -> [UInt8] {
    var objects: [[UInt8]] = []
    func sized(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind << 4 | 15, 0x11] + two(count) }
    func two(_ number: Int) -> [UInt8] {
      [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
    func add(_ value: PropertyListValue) -> Int {
      let place = objects.count
      objects.append([])
      switch value {
      case mark:
        for level in 0..<levels {
          objects[objects.count - 1] =
            sized(0xA, 2) + two(place + level + 1) + two(place + level + 1)
          objects.append(sized(0x5, 0))
        }
      case .string(let text): objects[place] = sized(0x5, text.utf8.count) + Array(text.utf8)
      case .integer(let number):
        objects[place] =
          [0x13] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      case .uid(let number): objects[place] = [0x81] + two(number)
      case .array(let values):
        let places = values.map(add)
        objects[place] = sized(0xA, places.count) + places.flatMap(two)
      case .dictionary(let fields):
        let pairs = fields.map { (add(.string($0.key)), add($0.value)) }
        objects[place] =
          sized(0xD, pairs.count) + pairs.flatMap { two($0.0) } + pairs.flatMap { two($0.1) }
      default: break
      }
      return place
    }
    let root = add(value)
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for object in objects {
      table += two(bytes.count)
      bytes += object
    }
    let start = bytes.count
    bytes += table + [0, 0, 0, 0, 0, 0, 2, 2]
    for number in [objects.count, root, start] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return bytes
  }
}

/// Binary stores that unfold to far more than they are, or go round in circles, and XML stores that would.
@Suite("XML and binary stores that are made to do harm")
struct AtomicHostileTests {
  /// Metadata with nothing in them.
  private static let noMetadata = BinaryStoreSample.noMetadata

  /// A map of nodes that share what they hold: `values` is the object of their values.
  private static func map(nodes: Int, _ rest: [PropertyListValue]) -> [PropertyListValue] {
    // 1 the map, 2 and 3 classes, 4 the entity's name, 5 the values, 6… the rest, then the nodes.
    let first = 5 + rest.count
    let fixed: [PropertyListValue] = [
      BinaryStoreSample.type("NSDictionary"), BinaryStoreSample.type("NSArray"), .string("Note"),
    ]
    let list = (0..<nodes).map { PropertyListValue.uid(first + $0) }
    return [BinaryStoreSample.dictionary(list.map { (.uid(4), $0) }, 2)] + fixed + rest
      + (0..<nodes).map { number in
        .dictionary([
          "NSPrimaryKey64": .integer(Int64(number + 1)), "NSEntityName": .uid(4),
          "NSAttributeValues": .uid(5), "$class": .uid(2),
        ])
      }
  }

  /// Reads a store, with what it took of the processor.
  private static func read(_ bytes: [UInt8]) throws -> (AtomicContents, seconds: Double) {
    let folder = try TemporaryFolder()
    let path = folder.path("hostile")
    try FileSystem.write(bytes, to: path)
    var contents: Result<AtomicContents, any Error>?
    let seconds = ProcessorTime.seconds { contents = Result { try AtomicContents(path: path) } }
    return (try #require(contents).get(), seconds)
  }

  @Test("metadata whose lists hold each other again and again are not unfolded")
  func metadata() throws {
    // Each of 15 lists holds the next one 30 times: 30¹⁵ values in a few kilobytes.
    var about = [
      BinaryStoreSample.dictionary([(.uid(4), .uid(5))], 2), BinaryStoreSample.type("NSDictionary"),
      BinaryStoreSample.type("NSArray"),
      .string("key"),
    ]
    for level in 0..<15 {
      about.append(
        BinaryStoreSample.list((0..<30).map { _ in .uid(level < 14 ? 6 + level : 4) }, 3))
    }
    let bytes = BinaryStoreSample.store(
      Self.map(nodes: 1, [BinaryStoreSample.list([.uid(4)], 3)]), metadata: about)
    #expect(bytes.count < 4_000)
    let (contents, seconds) = try Self.read(bytes)
    #expect(seconds < 5)
    #expect(contents.metadata == nil)
    #expect(contents.losses.contains { $0.sentence.contains("too often") })
    #expect(contents.objects == 1)
  }

  @Test("values that objects share are not unfolded for each: some are left out, and that is said")
  func shared() throws {
    // Each place of each object has the same value: 26 lists, each of which holds the next one twice, in place.
    let rest = [
      BinaryStoreSample.list((0..<40).map { _ in .uid(6) }, 3),
      PropertyListValue.dictionary(["deep": FoldedList.mark, "$class": .uid(2)]),
    ]
    let bytes = BinaryStoreSample.store(
      Self.map(nodes: 30, rest), metadata: Self.noMetadata
    ) { FoldedList.bytes($0, levels: 16) }
    #expect(bytes.count < 8_000)
    let (contents, seconds) = try Self.read(bytes)
    #expect(seconds < 60)
    #expect(contents.objects < 30)
    #expect(contents.losses.contains { $0.sentence.contains("could not be read") })
  }

  @Test("a large value that all objects share costs no more than a thousand times the file")
  func repeated() throws {
    let blob = PropertyListValue.data([UInt8](repeating: 7, count: 1 << 20))
    let rest = [BinaryStoreSample.list((0..<64).map { _ in .uid(6) }, 3), blob]
    let (contents, seconds) = try Self.read(
      BinaryStoreSample.store(Self.map(nodes: 500, rest), metadata: Self.noMetadata))
    #expect(seconds < 60)
    #expect(contents.objects < 500)
    #expect(contents.losses.contains { $0.kind == .damage })
  }

  @Test("maps, values, keys and references that go round in circles end")
  func circles() throws {
    let stores = BinaryStoreSample.circles
    let folder = try TemporaryFolder()
    for (index, bytes) in stores.enumerated() {
      let path = folder.path("circle\(index)")
      try FileSystem.write(bytes, to: path)
      let seconds = ProcessorTime.seconds {
        for command in ["info", "dump", "doctor"] {
          let run = Captured(command, path)
          #expect([.done, .no, .unreadable].contains(run.status), "\(index) \(command) \(run.err)")
        }
        _ = Captured("salvage", path, "--output", folder.path("saved\(index).sqlite"))
      }
      #expect(seconds < 10, "\(index)")
    }
  }

  @Test(
    "attributes with defaults, entities from outside, and unknown ones end in a sentence",
    arguments: [
      ("[<!ATTLIST attribute pad CDATA \"padding\">]", "text", "attribute declarations"),
      ("[<!ENTITY x SYSTEM \"file:///etc/passwd\">]", "&x;", "entity declarations"),
      ("[<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]", "text", "entity declarations"),
      ("SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\"", "&x;", "&x; is not declared"),
      ("PUBLIC \"x\" \"http://127.0.0.1:9/x.dtd\"", "&x;", "&x; is not declared"),
    ])
  func declarations(_ type: String, _ text: String, _ sentence: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("hostile.xml")
    try FileSystem.write(
      Array(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE database \(type)>\n<database><databaseInfo><version>134481920</version></databaseInfo><object type=\"NOTE\" id=\"z102\"><attribute name=\"text\" type=\"string\">\(text)</attribute></object></database>"
          .utf8), to: path)
    let run = Captured("dump", path)
    #expect(run.status == .unreadable, "\(run.out)")
    #expect(run.err.contains(sentence), "\(run.err)")
    #expect(!(run.out + run.err).contains("root:"))
  }

  @Test("a document of beginnings alone, and one of 10,000 levels, are read in time that is theirs")
  func beginnings() throws {
    let head = "<database><databaseInfo><version>1</version></databaseInfo><&"
    for text in [
      head + String(repeating: "<object ", count: 20_000),
      head + String(repeating: "<object type=\"NOTE\" id=\"z1\">", count: 10_000),
      "<database><object type=\"NOTE\" id=\"z1\">" + String(repeating: "<a>", count: 10_000),
    ] {
      let (contents, seconds) = try Self.read(Array(text.utf8))
      #expect(seconds < 30)
      #expect(contents.losses.contains { $0.kind == .damage })
    }
  }
}
