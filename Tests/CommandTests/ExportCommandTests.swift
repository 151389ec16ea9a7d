import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("strata export")
struct ExportCommandTests {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3]

  /// People who know each other in a circle, their recipes, and tags.
  private static func model() throws -> Model {
    var person = Entity("Person")
    person.attributes = [
      Attribute("name", .string, optional: true), Attribute("note", .string, optional: true),
    ]
    person.relationships = [
      Relationship("friends", to: "Person", inverse: "friends", toMany: true, optional: true),
      Relationship("recipes", to: "Recipe", inverse: "author", toMany: true, optional: true),
    ]
    var recipe = Entity("Recipe")
    var photo = Attribute("photo", .binary, optional: true)
    photo.allowsExternalBinaryDataStorage = true
    recipe.attributes = [
      Attribute("title", .string, optional: true), photo,
      Attribute("extra", .transformable, optional: true),
    ]
    recipe.relationships = [
      Relationship("author", to: "Person", inverse: "recipes", optional: true),
      Relationship("tags", to: "Tag", inverse: "recipes", toMany: true, optional: true),
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [person, recipe, tag])
  }

  private func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Self.model(), uuid: "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C")
    let ann = try writer.insert(
      "Person", attributes: ["name": .string("Ann"), "note": .string("")])
    let bob = try writer.insert(
      "Person", attributes: ["name": .string("=Bob, \"the\"\r\ncook")],
      toMany: ["friends": [ann]])
    try writer.insert("Person", attributes: ["name": .string("Zoë")])
    let tags = try ["vegan", "quick"].map {
      try writer.insert("Tag", attributes: ["name": .string($0)])
    }
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("Soup"), "photo": .bytes(Self.jpeg),
        "extra": .bytes(PropertyList.binary(.dictionary(["k": .integer(1)]))),
      ],
      toOne: ["author": ann], toMany: ["tags": tags])
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("Bread"), "photo": .bytes([UInt8](repeating: 7, count: 300_000)),
        "extra": .bytes([1, 0, 2]),
      ], toOne: ["author": bob])
    try writer.finish()
    return path
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try FileSystem.read(path), as: UTF8.self)
  }

  @Test("single objects by their references; beside something else they are refused")
  func objects() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let output = folder.path("Out")
    let done = Captured([
      "export", path, "Person/p3", "Person/p1", "--output", output, "--columns", "name",
    ])
    #expect(done.status == .done, "\(done.err)")
    let lines = String(decoding: try FileSystem.read(output + "/Person.csv"), as: UTF8.self)
      .split(whereSeparator: \.isNewline)
    #expect(lines.count == 3 && lines.last?.hasSuffix("Zoë") == true, "\(lines)")
    let missing = Captured(["export", path, "Person/p99", "--output", folder.path("None")])
    #expect(missing.status == .usage && missing.err.contains("there is no object Person/p99"))
    for words in [
      ["Person/p1", "Tag"], ["Person/p1", "Tag/p1"], ["Person/p1", "--where", "1 == 1"],
    ] {
      let refused = Captured(["export", path, "--output", folder.path("No")] + words)
      #expect(refused.status == .usage && refused.err.contains("--where 'key IN {1"), "\(words)")
    }
  }

  @Test("each entity has a table, and values that are files are files with their bytes")
  func whole() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let out = folder.path("Out")
    let result = Captured("export", path, "--output", out)
    #expect(result.status == .done, "\(result.err)")
    #expect(result.flat.contains("7 objects and 3 files"))
    #expect(try FileSystem.list(out) == ["Person.csv", "Recipe.csv", "Tag.csv", "files"])
    #expect(
      try FileSystem.list(out + "/files") == [
        "Recipe-p1-extra.plist", "Recipe-p1-photo.jpg", "Recipe-p2-photo.bin",
      ])
    #expect(try FileSystem.read(out + "/files/Recipe-p1-photo.jpg") == Self.jpeg)
    #expect(
      try FileSystem.read(out + "/files/Recipe-p2-photo.bin")
        == [UInt8](repeating: 7, count: 300_000))
    #expect(
      try Self.text(out + "/Recipe.csv") == """
        entity,key,extra,photo,title,author,tags\r
        Recipe,1,files/Recipe-p1-extra.plist,files/Recipe-p1-photo.jpg,Soup,Person/p1,\
        "[""Tag/p1"",""Tag/p2""]"\r
        Recipe,2,AQAC,files/Recipe-p2-photo.bin,Bread,Person/p2,[]\r

        """)
    for name in ["Person.csv", "files/Recipe-p1-photo.jpg"] {
      var info = stat()
      #expect(stat(out + "/" + name, &info) == 0)
      #expect(info.st_mode & 0o777 == 0o600, "\(name)")
    }
  }

  @Test(
    "NULL and an empty text differ, and cells that a spreadsheet would run are counted or guarded")
  func formulas() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let words = ["export", path, "Person", "--columns", "name,note", "--output"]
    let plain = Captured(words + [folder.path("A")])
    #expect(plain.flat.contains("! 1 cell of text that a spreadsheet would run"))
    #expect(
      try Self.text(folder.path("A/Person.csv"))
        == "entity,key,name,note\r\nPerson,1,Ann,\"\"\r\nPerson,2,\"=Bob, \"\"the\"\"\r\ncook\",\r\n"
        + "Person,3,Zoë,\r\n")
    #expect(Captured(words + [folder.path("B"), "--quote-formulas"]).status == .done)
    #expect(try Self.text(folder.path("B/Person.csv")).contains("\"'=Bob, \"\"the\"\""))
  }

  @Test("what objects reach through relationships is exported once, circles too")
  func follow() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let ann = ["export", path, "Person", "--where", "name == 'Ann'", "--format", "ndjson"]
    #expect(Captured(ann + ["--output", folder.path("Own")]).status == .done)
    #expect(try FileSystem.list(folder.path("Own")) == ["Person.ndjson"])
    let out = folder.path("All")
    let all = Captured(ann + ["--follow", "friends,recipes,tags,author", "--output", out])
    #expect(all.status == .done, "\(all.err)")
    func keys(_ table: String) throws -> [Int] {
      struct Line: Decodable { let pk: Int }
      return try Self.text("\(out)/\(table).ndjson").split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8)).pk
      }
    }
    #expect(try keys("Person") == [1, 2])
    #expect(try keys("Recipe") == [1, 2])
    #expect(try keys("Tag") == [1, 2])
    let wrong = Captured(ann + ["--follow", "recipe", "--output", folder.path("None")])
    #expect(wrong.status == .usage)
    #expect(FileSystem.status(folder.path("None")) == nil)
  }

  @Test("key paths are columns of rows and exports")
  func keyPaths() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let columns = ["--columns", "title,author.name,tags.name,tags.@count"]
    let table = "Recipe,1,Soup,Ann,\"[\"\"vegan\"\",\"\"quick\"\"]\",2\r\n"
    let rows = Captured(["rows", path, "Recipe", "--format", "csv"] + columns)
    #expect(rows.out.hasPrefix("entity,key,title,author.name,tags.name,tags.@count\r\n" + table))
    #expect(rows.out.hasSuffix(",[],0\r\n"))
    let out = folder.path("Out")
    #expect(Captured(["export", path, "Recipe", "--output", out] + columns).status == .done)
    #expect(try Self.text(out + "/Recipe.csv") == rows.out)
    let wrong = Captured("rows", path, "Recipe", "--columns", "author.nam")
    #expect(wrong.status == .usage)
    #expect(wrong.err.contains("name"))
    let json = Captured(["rows", path, "Recipe", "--format", "ndjson"] + columns)
    #expect(json.lines.first?.contains(#""tags.name":["vegan","quick"]"#) == true)
    let longer = Captured(
      "rows", path, "Person", "--format", "csv", "--columns", "recipes.tags.name,recipes.@count")
    #expect(longer.out.contains("Person,1,\"[\"\"vegan\"\",\"\"quick\"\"]\",1\r\n"))
  }

  @Test("CSV comes back from Python as it was", .enabled(if: Tool.python3.isAvailable))
  func python() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let out = folder.path("Out")
    #expect(Captured("export", path, "Person", "Recipe", "--output", out).status == .done)
    let script = """
      import csv, json, sys
      p = list(csv.DictReader(open(sys.argv[1] + "/Person.csv", newline="", encoding="utf-8")))
      r = list(csv.DictReader(open(sys.argv[1] + "/Recipe.csv", newline="", encoding="utf-8")))
      assert p[1]["name"] == '=Bob, "the"\\r\\ncook', p
      assert [x["key"] for x in p] == ["1", "2", "3"]
      assert json.loads(r[0]["tags"]) == ["Tag/p1", "Tag/p2"]
      assert json.loads(p[0]["friends"]) == ["Person/p2"]
      print("same")
      """
    var printed: [UInt8] = []
    let result = try #require(
      try Subprocess.run(
        Tool.python3.path, ["-c", script, out], environment: Subprocess.environment()
      ) { printed += $0 })
    #expect(result.status == 0, "\(result.message)")
    #expect(String(decoding: printed, as: UTF8.self).contains("same"))
  }

  @Test("a folder that is not empty is refused, an empty one is taken, a missing file is counted")
  func places() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let out = folder.path("Out")
    try FileSystem.makeDirectory(out)
    #expect(Captured("export", path, "--output", out).status == .done)
    let again = Captured("export", path, "--output", out)
    #expect(again.status == .refused)
    #expect(Captured("export", path).status == .usage)
    let external = folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA")
    let name = try #require(try FileSystem.list(external).first)
    #expect(remove(external + "/" + name) == 0)
    let lacking = Captured("export", path, "--output", folder.path("Lacking"), "--json")
    try FormatsArticle.expectMembers(of: lacking.out, like: "{\"export\"", in: ["export"])
    #expect(lacking.status == .no)
    struct Answer: Decodable {
      struct Export: Decodable { let objects, files, missing: Int }
      let export: Export
    }
    let export = try lacking.decoded(Answer.self).export
    #expect(export.objects == 7 && export.files == 2 && export.missing == 1)
    // Nothing is left of what it was made in.
    #expect(try FileSystem.list(folder.path).allSatisfy { !$0.hasPrefix(".strata-new") })
  }

  @Test("one value is written to a file, never over another")
  func oneValue() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let file = folder.path("soup.jpg")
    let words = ["object", path, "Recipe/p1", "--property"]
    let first = Captured(words + ["photo", "--output", file])
    #expect(first.status == .done, "\(first.err)")
    #expect(try FileSystem.read(file) == Self.jpeg)
    #expect(Captured(words + ["title", "--output", file]).status == .refused)
    #expect(try FileSystem.read(file) == Self.jpeg)
    #expect(Captured(words + ["title", "--output", folder.path("title.txt")]).status == .done)
    #expect(try Self.text(folder.path("title.txt")) == "Soup")
    #expect(Captured(words + ["photo"]).status == .usage)
    #expect(Captured(words + ["photo", "--output", path]).status == .usage)
    let none = Captured(
      "object", path, "Person/p3", "--property", "note", "--output", folder.path("none"))
    #expect(none.status == .no)
    #expect(FileSystem.status(folder.path("none")) == nil)
  }
}
