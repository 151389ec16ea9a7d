import Files
import JSON
import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Commands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Files of an export")
struct ExportedFilesTests {
  /// How files of each kind begin, and what they are to be called.
  private static let kinds: [(head: [UInt8], name: String)] = [
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "png"), ([0xFF, 0xD8, 0xFF, 0xE0], "jpg"),
    (Array("GIF89a".utf8), "gif"), ([0, 0, 0, 24] + Array("ftypheic".utf8), "heic"),
    (Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBP".utf8), "webp"), (Array("%PDF-1.7\n".utf8), "pdf"),
    ([0, 0, 0, 24] + Array("ftypM4A ".utf8), "m4a"), ([1, 2, 0, 250], "bin"),
  ]

  private static func model(_ change: (inout Entity) -> Void = { _ in }) throws -> Model {
    var recipe = Entity("Recipe")
    var photo = Attribute("photo", .binary, optional: true)
    photo.allowsExternalBinaryDataStorage = true
    recipe.attributes = [Attribute("title", .string, optional: true), photo]
    change(&recipe)
    return try Model(entities: [recipe])
  }

  private static func mode(_ path: String) -> mode_t {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
  }

  @Test("thousands of pictures are written byte for byte, named by content, for their owner only")
  func pictures() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    var generator = SeededGenerator(seed: 11)
    var digests: [String: [UInt8]] = [:]
    let count = TestScale.count(400, ofAll: 5_000)
    for index in 0..<count {
      let (head, kind) = Self.kinds[index % Self.kinds.count]
      // Some are large enough for a file of their own beside the store, and one for several pieces.
      let size = index == 3 ? 3 << 20 : index.isMultiple(of: 40) ? 200_000 : 64 + index % 700
      var bytes = head
      let noise = (0..<256).map { _ in UInt8.random(in: 128...255, using: &generator) }
      while bytes.count < size { bytes += noise }
      try writer.insert(
        "Recipe", attributes: ["title": .string("R\(index)"), "photo": .bytes(bytes)])
      digests["Recipe-p\(index + 1)-photo.\(kind)"] = Digest.sha256(bytes)
    }
    try writer.finish()
    let out = folder.path("Out")
    let result = Captured("export", path, "--output", out, "--json")
    #expect(result.status == .done, "\(result.err)")
    #expect(try Set(FileSystem.list(out + "/files")) == Set(digests.keys))
    for (name, digest) in digests {
      let file = out + "/files/" + name
      #expect(try FileSystem.sha256(file) == ByteText.hex(digest), "\(name)")
      #expect(Self.mode(file) == 0o600, "\(name)")
    }
    #expect(Self.mode(out) == 0o700 && Self.mode(out + "/files") == 0o700)
    #expect(Self.mode(out + "/Recipe.csv") == 0o600)
  }

  @Test("names that lead elsewhere, steer a terminal, are too long or equal but for case are safe")
  func names() throws {
    let long = String(repeating: "L", count: 255)
    let names = [
      "../../evil", "a/b", "a_b", "pic", "PIC", "Pic", "bell\u{7}\u{1B}[2J", long, long + "x",
      "CON",
      ".hidden", "ü", "Ü",
    ]
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let model = try Self.model { recipe in
      recipe.attributes = names.map { Attribute($0, .binary, optional: true) }
    }
    let writer = try StoreWriter(creating: path, model: model)
    var values: [String: AttributeValue] = [:]
    for (index, name) in names.enumerated() {
      values[name] = .bytes([0xFF, 0xD8, 0xFF, UInt8(index)])
    }
    try writer.insert("Recipe", attributes: values)
    try writer.finish()
    let out = folder.path("Out")
    let result = Captured("export", path, "--output", out)
    #expect(result.status == .done, "\(result.err)")
    #expect(try FileSystem.list(folder.path).sorted().filter { $0.hasPrefix("Out") } == ["Out"])
    let files = try FileSystem.list(out + "/files")
    #expect(files.count == names.count, "\(files)")
    #expect(Set(files.map { $0.lowercased() }).count == names.count, "\(files)")
    for file in files {
      #expect(file.utf8.count <= 255 && !file.hasPrefix("."))
      #expect(file.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "/" && $0.value != 0x7F })
      #expect(file.hasPrefix("Recipe-p1-") && file.hasSuffix(".jpg"), "\(file)")
    }
    // Each value is there once, whatever its file is called.
    let last = try files.map { try #require(try FileSystem.read(out + "/files/" + $0).last) }
    #expect(last.sorted() == (0..<names.count).map { UInt8($0) })
    for line in [result.out, result.err] {
      #expect(!line.unicodeScalars.contains { $0.value == 0x1B || $0.value == 7 })
    }
  }

  @Test("key paths and to-manys come back from Python", .enabled(if: Tool.python3.isAvailable))
  func python() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    var recipe = Entity("Recipe")
    recipe.attributes = [Attribute("title", .string, optional: true)]
    recipe.relationships = [
      Relationship("tags", to: "Tag", inverse: "recipes", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "tags", toMany: true, optional: true)
    ]
    let writer = try StoreWriter(creating: path, model: Model(entities: [recipe, tag]))
    let names = ["a,\"b\"", "line\r\nend", "=1+1", "", "Zoë", "[x]"]
    let tags = try names.map { try writer.insert("Tag", attributes: ["name": .string($0)]) }
    try writer.insert("Recipe", attributes: ["title": .string("All")], toMany: ["tags": tags])
    try writer.insert("Recipe", attributes: ["title": .null])
    try writer.finish()
    let out = folder.path("Out")
    let result = Captured(
      "export", path, "Recipe", "--columns", "title,tags.name,tags.@count,tags", "--output", out)
    #expect(result.status == .done, "\(result.err)")
    let script = """
      import csv, json, sys
      rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
      assert sorted(json.loads(rows[0]["tags.name"])) == sorted(json.loads(sys.argv[2])), rows
      assert [r["tags.@count"] for r in rows] == ["6", "0"], rows
      assert json.loads(rows[0]["tags"]) == ["Tag/p%d" % n for n in range(1, 7)], rows
      assert [json.loads(r["tags"]) for r in rows][1] == [] and rows[1]["title"] == ""
      print("same")
      """
    let list = String(
      decoding: JSONWriter.text { json in json.array { for name in names { $0.string(name) } } },
      as: UTF8.self)
    var printed: [UInt8] = []
    let run = try #require(
      try Subprocess.run(
        Tool.python3.path, ["-c", script, out + "/Recipe.csv", list],
        environment: Subprocess.environment()
      ) { printed += $0 })
    #expect(run.status == 0, "\(run.message)")
    #expect(String(decoding: printed, as: UTF8.self).contains("same"))
  }

  @Test(
    "--follow through cycles of any length gives each object once, and dangling ones are counted")
  func cycles() throws {
    var node = Entity("Node")
    node.attributes = [Attribute("name", .string, optional: true)]
    node.relationships = [
      Relationship("next", to: "Node", optional: true),
      Relationship("others", to: "Node", inverse: "others", toMany: true, optional: true),
    ]
    let folder = try TemporaryFolder()
    let path = folder.path("Nodes.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [node]))
    var made: [ObjectID] = []
    for index in 0..<300 {
      let near = made.last
      made.append(
        try writer.insert(
          "Node", attributes: ["name": .string("n\(index)")],
          toOne: near.map { ["next": $0] } ?? [:],
          toMany: index.isMultiple(of: 7) ? ["others": Array(made.prefix(3))] : [:]))
    }
    try writer.insert("Node", attributes: ["name": .string("alone")])
    try writer.finish()
    let out = folder.path("Out")
    let result = Captured(
      "export", path, "Node", "--where", "name == 'n299'", "--follow", "next,others", "--columns",
      "name", "--output", out, "--json")
    #expect(result.status == .done, "\(result.err)")
    let lines = String(decoding: try FileSystem.read(out + "/Node.csv"), as: UTF8.self)
      .split(separator: "\r\n").dropFirst()
    #expect(lines.count == 300 && Set(lines).count == 300)
    #expect(!lines.contains { $0.hasSuffix("alone") })
  }

  @Test("a bomb in gzip or in an archive ends in a sentence in every command that decodes")
  func bombs() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let bomb = try TarWriter.gzip([UInt8](repeating: 0, count: 8 << 20))
    var archive = KeyedArchiveWriter()
    let inner = archive.add(.data(bomb))
    let root = archive.add(class: ["Box", "NSObject"], ["inner": inner])
    let box = archive.bytes(root: root)
    for value in [bomb, box] { try writer.insert("Recipe", attributes: ["photo": .bytes(value)]) }
    try writer.finish()
    let sentence = "it unpacks to more than 1000 times its size"
    for key in 1...2 {
      let object = Captured("object", path, "Recipe/p\(key)")
      #expect(object.status == .done && object.flat.contains(sentence), "\(object.out)")
    }
    let search = Captured("search", path, "needle", "--deep")
    #expect(search.status == .no)
    #expect(
      search.err.contains("2 values not searched as a whole. First: Recipe/p1 photo: " + sentence))
    let out = folder.path("Out")
    #expect(Captured("export", path, "--output", out).status == .done)
    // As they are: what opens them later has limits of its own.
    #expect(try FileSystem.read(out + "/files/Recipe-p1-photo.gz") == bomb)
    #expect(try FileSystem.read(out + "/files/Recipe-p2-photo.plist") == box)
  }

  @Test("search --deep finds what is packed, and without it says that there is more to look at")
  func deep() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let evil = "leeks \u{1B}[31m and\u{7} carrots"
    try writer.insert(
      "Recipe", attributes: ["photo": .bytes(try TarWriter.gzip(Array(evil.utf8)))])
    try writer.finish()
    let plain = Captured("search", path, "carrots")
    #expect(plain.status == .no && plain.err.contains("--deep looks into data, too"))
    let deep = Captured("search", path, "CARROTS", "--deep")
    #expect(deep.status == .done && deep.out.hasPrefix("Recipe/p1  photo  "))
    let object = Captured("object", path, "Recipe/p1")
    #expect(object.out.contains("carrots"))
    for text in [deep.out, object.out, Captured("object", path, "Recipe/p1", "--json").out] {
      #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 7 }, "\(text)")
    }
    let json = Captured("search", path, "carrots", "--deep", "--json")
    #expect(json.lines.first?.contains(#""object":"Recipe/p1","property":"photo""#) == true)
  }
}
