import Files
import ManagedModel
import ModelWriting
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Searching within values")
struct DeepSearchTests {
  private static let person: [UInt8] = UUIDText.bytes("A1B2C3D4-0000-4000-8000-00000000BEEF") ?? []

  private static func archive(_ fields: [String: PropertyListValue], inner: [UInt8] = []) -> [UInt8]
  {
    var writer = KeyedArchiveWriter()
    var fields = fields
    for (key, value) in fields { fields[key] = writer.add(value) }
    if !inner.isEmpty { fields["inner"] = writer.add(.data(inner)) }
    return writer.bytes(root: writer.add(class: ["App.Secret", "NSObject"], fields))
  }

  /// What Notes keeps: a protocol buffer packed with gzip.
  private static func note(_ text: String) throws -> [UInt8] {
    let body = Array(text.utf8)
    try #require(body.count < 120)
    let inner = [0x12, UInt8(body.count)] + body + [0x1A, 0x04, 0x08, 0x00, 0x10, 0x00]
    return try TarWriter.gzip([0x08, 0x00, 0x12, UInt8(inner.count)] + inner)
  }

  private static func store(
    in folder: TemporaryFolder, _ values: [[UInt8]], texts: [String] = []
  ) throws -> Store {
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: RecipeBox.model(), uuid: RecipeBox.uuid)
    for value in values { try writer.insert("Recipe", attributes: ["extra": .bytes(value)]) }
    for text in texts { try writer.insert("Recipe", attributes: ["title": .string(text)]) }
    try writer.finish()
    return try Store(path: path)
  }

  private struct Found {
    var hits: [String] = []
    var unread = 0
    var first = ""
  }

  private static func found(
    _ store: Store, _ text: String, isDeep: Bool = true, limit: Int = 100
  ) throws -> Found {
    var found = Found()
    try store.search(for: text, limit: limit, isDeep: isDeep) { progress in
      found.hits += progress.hits.map { "\($0.object.key) \($0.property): \($0.excerpt)" }
      if progress.isEntityDone {
        if found.unread == 0 { found.first = progress.firstUnread }
        found.unread += progress.unreadValues
      }
    }
    return found
  }

  @Test("text in gzip, archives, property lists and JSON is found, within one another too")
  func forms() throws {
    let folder = try TemporaryFolder()
    let list = PropertyList.binary(
      .dictionary(["course": .array([.string("Crème brûlée")]), "servings": .integer(4711)]))
    let store = try Self.store(
      in: folder,
      [
        try Self.note("Buy leeks and carrots"), Self.archive(["title": .string("Leek tart")]), list,
        Array(#"{"who": "Ann\u00e9"}"#.utf8), try TarWriter.gzip(TarWriter.gzip(list)),
        Self.archive(["kind": .string("outer")], inner: try TarWriter.gzip(list)),
        Self.archive(["id": .data(Self.person)]), Array("plain words of a text".utf8),
        [0xFF, 0xD8, 0xFF, 0xE0] + Array("leek in a picture".utf8),
      ], texts: [#"{"name": "caf\u00e9 leek"}"#])
    #expect(try Self.found(store, "leek", isDeep: false).hits.map { $0.prefix(2) } == ["10"])
    #expect(
      try Self.found(store, "LEEK").hits == [
        "1 extra: Buy leeks and carrots", "2 extra: Leek tart",
        #"10 title: {"name": "caf\u00e9 leek"}"#,
      ])
    let brulee = try Self.found(store, "creme brulee")
    #expect(brulee.hits == [3, 5, 6].map { "\($0) extra: Crème brûlée" } && brulee.unread == 0)
    #expect(try Self.found(store, "4711").hits == [3, 5, 6].map { "\($0) extra: 4711" })
    // A number is found as a whole, as in attributes of numbers.
    #expect(try Self.found(store, "471").hits == [])
    #expect(try Self.found(store, "Anné").hits == ["4 extra: Anné"])
    #expect(try Self.found(store, "café").hits == ["10 title: café leek"])
    #expect(
      try Self.found(store, "8000-00000000beef").hits
        == ["7 extra: A1B2C3D4-0000-4000-8000-00000000BEEF"])
    #expect(try Self.found(store, "words of").hits == ["8 extra: plain words of a text"])
    // A key of a property list is the app's word for the person's; a class name is not.
    #expect(try Self.found(store, "course").hits.count == 3)
    #expect(try Self.found(store, "App.Secret").hits == [])
    #expect(try Self.found(store, "NSKeyedArchiver").hits == [])
  }

  @Test("a value in a file of its own is looked into, one whose file is missing is counted")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: RecipeBox.model(), uuid: RecipeBox.uuid)
    var bytes = try TarWriter.gzip(Array("the hidden onion".utf8))
    // Trailing zeros fill it up, so that it is large enough for a file.
    bytes += [UInt8](repeating: 0, count: 300_000)
    for _ in 0..<2 { try writer.insert("Recipe", attributes: ["photo": .bytes(bytes)]) }
    try writer.finish()
    let data = folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA")
    let names = try FileSystem.list(data)
    #expect(names.count == 2)
    FileSystem.remove(data + "/" + (try #require(names.first)))
    let found = try Self.found(try Store(path: path), "onion")
    #expect(found.hits.count == 1 && found.hits.first?.hasSuffix("the hidden onion") == true)
    #expect(found.unread == 1 && found.first.contains("is missing"))
  }

  @Test("bombs, damage and too many layers are counted with a reason, and end soon")
  func bombs() throws {
    let folder = try TemporaryFolder()
    let bomb = try TarWriter.gzip([UInt8](repeating: 0, count: 8 << 20))
    var layers = Array("deep down".utf8)
    for _ in 0..<12 { layers = try TarWriter.gzip(layers) }
    var nested = PropertyList.binary(.string("deep down"))
    for _ in 0..<12 { nested = PropertyList.binary(.array([.data(nested)])) }
    let damaged = Array(try TarWriter.gzip((0..<20_000).map { UInt8($0 % 97) }).dropLast(9))
    let store = try Self.store(
      in: folder,
      [
        bomb, Self.archive(["a": .string("b")], inner: bomb), layers, nested, damaged,
        Array("bplist00 and nothing".utf8),
      ])
    let took = try ProcessorTime.seconds {
      let found = try Self.found(store, "deep down")
      #expect(found.hits == [] && found.unread == 6)
      #expect(found.first == "Recipe/p1 extra: it unpacks to more than 1000 times its size")
    }
    #expect(took < 20)
  }

  @Test(
    "what comes of one value is counted together",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func together() throws {
    let folder = try TemporaryFolder()
    // Each part alone is within the limits.
    var generator = SeededGenerator(seed: 5)
    var bytes: [UInt8] = []
    while bytes.count < 12 << 20 {
      bytes += [UInt8](repeating: 128, count: 1_000)
      bytes += (0..<24).map { _ in UInt8.random(in: 128..<160, using: &generator) }
    }
    let part = try TarWriter.gzip(bytes)
    let parts = PropertyList.binary(.array((0..<7).map { .data(part + [UInt8($0)]) }))
    let found = try Self.found(try Self.store(in: folder, [parts]), "nowhere in it")
    #expect(found.unread == 1 && found.first.contains("64 MB"), "\(found.first)")
  }

  @Test("a long text is found across its pieces, and a search is left when that is asked")
  func long() throws {
    let folder = try TemporaryFolder()
    var text = [UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) - 3)
    text += Array("needle".utf8) + [UInt8](repeating: UInt8(ascii: "y"), count: 1 << 20)
    let store = try Self.store(in: folder, [text, Array("second needle".utf8)])
    #expect(try Self.found(store, "needle").hits.count == 2)
    #expect(try Self.found(store, "needle", limit: 1).hits.count == 1)
    #expect {
      try store.search(for: "needle", isDeep: true, isCancelled: { true }) { _ in }
    } throws: { ($0 as? CoreDataError)?.kind == .cancelled }
  }

  @Test("an excerpt has no control character, wherever the text comes from")
  func hostile() throws {
    let folder = try TemporaryFolder()
    let evil = "onion \u{1B}[2J\u{9B}31m\u{7}\u{202E} end"
    let store = try Self.store(
      in: folder,
      [
        try TarWriter.gzip(Array(evil.utf8)), Self.archive(["t": .string(evil)]),
        PropertyList.binary(.dictionary(["\u{1B}]0;onion\u{7}": .integer(1)])),
        Array("{\"a\": \"onion\\u001b[2J\"}".utf8),
      ])
    let hits = try Self.found(store, "onion").hits
    #expect(hits.count == 4)
    for hit in hits {
      #expect(
        hit.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0.value != 0x202E
        }, "\(hit)")
    }
  }

  @Test(
    "archives of fixtures are looked into",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    let store = try Store(path: Fixtures.path("bookmigration/Model1.sqlite"))
    #expect(try Self.found(store, "file:///", isDeep: false).hits == [])
    let found = try Self.found(store, "file:///")
    #expect(found.hits.count == 4 && found.unread == 0, "\(found)")
  }
}
