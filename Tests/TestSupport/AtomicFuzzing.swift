import AtomicStores
import Files
import ManagedModel
import ManagedStore

/// Damaged XML and binary stores: none may trap, hang, or load anything from outside.
public enum AtomicFuzzing {
  /// - Parameter folder: where the stores are written.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let (model, corpus) = try corpus(in: folder)
    let (path, output) = (folder.path("fuzzed"), folder.path("fuzzed.sqlite"))
    return Fuzzing.Target("atomic stores", corpus: corpus) { bytes in
      FileSystem.remove(path)
      try FileSystem.write(bytes, to: path)
      let contents = try AtomicContents(path: path)
      // A few of them whole: with the model, and with one made of the objects.
      let sum = bytes.reduce(0) { $0 &+ Int($1) }
      guard sum % 20 < 2 else { return }
      let names = try AtomicModel(sum % 20 == 0 ? model : nil, for: contents)
      defer { FileSystem.remove(output) }
      _ = try AtomicConversion(contents, names).write(to: output)
    }
  }

  /// Sound stores of both kinds, and what is sent to break readers.
  private static func corpus(
    in folder: TemporaryFolder
  ) throws -> (model: Model, corpus: [[UInt8]]) {
    var note = Entity("Note")
    note.attributes = [
      Attribute("text", .string, optional: true), Attribute("count", .integer32),
      Attribute("ratio", .double), Attribute("at", .date, optional: true),
      Attribute("body", .binary, optional: true), Attribute("token", .uuid, optional: true),
      Attribute("price", .decimal, optional: true), Attribute("link", .uri, optional: true),
    ]
    note.relationships = [Relationship("author", to: "Person", inverse: "notes", optional: true)]
    var person = Entity("Person")
    person.attributes = [Attribute("name", .string, optional: true)]
    person.relationships = [
      Relationship("notes", to: "Note", inverse: "author", toMany: true, optional: true)
    ]
    let model = try Model(entities: [note, person])
    let store = folder.path("sound.sqlite")
    let writer = try StoreWriter(
      creating: store, model: model, uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    let ann = try writer.insert("Person", attributes: ["name": .string("Ann < \\ & é")])
    for number in 0..<6 {
      _ = try writer.insert(
        "Note",
        attributes: [
          "text": .string("Note \(number)"), "count": .integer(Int64(number)),
          "ratio": .double(0.5), "at": .date(1000), "body": .bytes([1, 2, 3]),
          "token": .uuid([UInt8](repeating: 7, count: 16)), "price": .decimal("1.5"),
          "link": .uri("https://example.com"),
        ], toOne: ["author": ann])
    }
    try writer.finish()
    let opened = try Store(path: store)
    let (xml, binary) = (folder.path("sound.xml"), folder.path("sound.binary"))
    _ = try AtomicSamples.writeXML(opened, to: xml)
    _ = try AtomicSamples.writeBinary(opened, to: binary)
    let sound = [try FileSystem.read(xml), try FileSystem.read(binary)]
    return (model, sound + sound + sound + sound + hostile + BinaryStoreSample.circles)
  }

  /// Entities that unfold or that are outside, and more levels than are read.
  package static let hostile: [[UInt8]] = {
    func document(_ type: String, _ text: String) -> [UInt8] {
      Array(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE database \(type)>\n<database><databaseInfo><version>134481920</version></databaseInfo><object type=\"NOTE\" id=\"z102\"><attribute name=\"text\" type=\"string\">\(text)</attribute></object></database>"
          .utf8)
    }
    let bomb = (1...9).map { level in
      "<!ENTITY a\(level) \"\((0..<10).map { _ in "&a\(level - 1);" }.joined())\">"
    }.joined()
    return [
      document("[<!ENTITY a0 \"ha\">\(bomb)]", "&a9;"),
      document("[<!ENTITY x SYSTEM \"file:///etc/passwd\">]", "&x;"),
      document("SYSTEM \"http://127.0.0.1:9/x.dtd\"", "plain"),
      Array(
        ("<database>" + String(repeating: "<object type=\"NOTE\" id=\"z1\">", count: 10_000))
          .utf8),
      Array(
        ("<database><object type=\"NOTE\" id=\"z1\">" + String(repeating: "<a>", count: 10_000))
          .utf8),
    ]
  }()
}
