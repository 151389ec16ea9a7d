import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import Interface

@Suite("Values of a known form are decoded everywhere")
struct DecodedValueTests {
  /// Each with a text that no other has.
  private static let forms: [(name: String, text: String)] = [
    ("gzip of JSON", "leeks"), ("keyed archive", "carrots"), ("property list", "lentils"),
    ("JSON", "barley"), ("gzip of a note", "Buy celery"), ("gzip in an archive", "parsley"),
  ]

  private static func bytes(_ form: String, _ text: String) throws -> [UInt8] {
    func archive(_ values: [PropertyListValue]) -> [UInt8] {
      var writer = KeyedArchiveWriter()
      var fields: [String: PropertyListValue] = [:]
      for (index, value) in values.enumerated() { fields["f\(index)"] = writer.add(value) }
      let root = writer.add(class: ["App.Box", "NSObject"], fields)
      return writer.bytes(root: root)
    }
    let json = Array("{\"steps\": [{\"text\": \"\(text)\"}]}".utf8)
    switch form {
    case "gzip of JSON": return try TarWriter.gzip(json)
    case "keyed archive": return archive([.string(text)])
    case "property list":
      return PropertyList.binary(.dictionary(["a": .array([.string(text)])]))
    case "JSON": return json
    case "gzip of a note":
      // A protocol buffer, as Notes keeps the body of a note.
      let body = Array(text.utf8)
      let inner = [0x12, UInt8(body.count)] + body + [0x1A, 4, 8, 0, 0x10, 0]
      return try TarWriter.gzip([8, 0, 0x12, UInt8(inner.count)] + inner)
    default: return archive([.data(try TarWriter.gzip(json))])
    }
  }

  /// A field of a protocol buffer that holds bytes.
  private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = bytes.count
    while rest >= 0x80 {
      length.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return [number << 3 | 2] + length + [UInt8(rest)] + bytes
  }

  /// The body of a note as Notes keeps it, in gzip: a document of a note of a text, and of runs of attributes, which
  /// are numbers alone.
  private static func body(_ text: String) throws -> [UInt8] {
    let run: [UInt8] = [0x08, 0x05, 0x12, 0x04, 0x08, 0x01, 0x48, 0x01]
    let note = field(2, Array(text.utf8)) + field(5, run) + field(5, run)
    return try TarWriter.gzip(field(2, [0x08, 0x00, 0x10, 0x00] + field(3, note)))
  }

  @Test("the bodies of notes inflate in a store with the tables of Notes")
  func notes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("NoteStore.sqlite")
    var data = Entity("ICNoteData")
    data.attributes = [Attribute("data", .binary, optional: true)]
    let writer = try StoreWriter(creating: path, model: Model(entities: [data]))
    // Longer than a length of one byte and of two can say, with lines and characters of several bytes.
    let texts = [
      "Zwiebelkuchen\nfür Sonntag 🧅", String(repeating: "Rhabarber, ", count: 40) + "Sellerie",
      String(repeating: "Pastinake und ", count: 2_000) + "Topinambur",
    ]
    for text in texts {
      try writer.insert("ICNoteData", attributes: ["data": .bytes(try Self.body(text))])
    }
    try writer.insert("ICNoteData", attributes: [:])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readOnly)
    let kept = try connection.rows("SELECT ZDATA FROM ZICNOTEDATA ORDER BY Z_PK")
    try #require(kept.count == texts.count + 1)
    let beginnings = [
      ["Zwiebelkuchen", "für Sonntag 🧅"], ["Rhabarber,", "Sellerie"], ["Pastinake und"],
    ]
    for (index, words) in beginnings.enumerated() {
      guard case .blob(let bytes)? = kept[index].first else {
        Issue.record("the body \(index) is not there")
        continue
      }
      #expect(bytes.starts(with: [0x1F, 0x8B]))
      let object = Captured("object", path, "ICNoteData/p\(index + 1)")
      for word in words { #expect(object.out.contains(word), "\(word): \(object.out)") }
    }
    for (index, word) in ["für sonntag", "sellerie", "topinambur"].enumerated() {
      let deep = Captured("search", path, word, "--deep")
      #expect(deep.status == .done && deep.lines.count == 1, "\(word): \(deep.out)")
      #expect(deep.out.hasPrefix("ICNoteData/p\(index + 1)  data  "), "\(deep.out)")
    }
    let view = try #require(
      try DecodedText(of: "data", in: ObjectID(entity: "ICNoteData", key: 3), Store(path: path)))
    #expect(view.content.place(of: "Topinambur", from: 0, backwards: false) != nil)
    let file = folder.path("body.gz")
    let written = Captured(
      "object", path, "ICNoteData/p1", "--property", "data", "--output", file)
    #expect(written.status == .done, "\(written.err)")
    #expect(try FileSystem.read(file) == Self.body(texts[0]))
  }

  @Test("in object, the inspector, the view of a value, and search --deep")
  func everywhere() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    var note = Entity("Note")
    note.attributes = [Attribute("data", .binary, optional: true)]
    let writer = try StoreWriter(creating: path, model: Model(entities: [note]))
    for form in Self.forms {
      try writer.insert("Note", attributes: ["data": .bytes(try Self.bytes(form.name, form.text))])
    }
    try writer.finish()
    let store = try Store(path: path)
    for (index, form) in Self.forms.enumerated() {
      let id = ObjectID(entity: "Note", key: Int64(index + 1))
      let object = Captured("object", path, "\(id)")
      #expect(object.status == .done && object.out.contains(form.text), "\(form): \(object.out)")
      let inspection = Inspection(try #require(try store.object(id)))
      #expect(inspection.lines.contains { $0.value.text.contains(form.text) }, "\(form)")
      let view = try #require(try DecodedText(of: "data", in: id, store), "\(form)")
      #expect(view.content.place(of: form.text, from: 0, backwards: false) != nil, "\(form)")
      let deep = Captured("search", path, form.text, "--deep")
      #expect(deep.status == .done && deep.lines.count == 1, "\(form): \(deep.out)")
      #expect(deep.out.hasPrefix("\(id)  data  "), "\(form): \(deep.out)")
    }
  }
}
