import ManagedModel
import ManagedStore
import ModelWriting
import TestSupport
import Testing

@testable import Interface
@testable import strata

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
