import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Stores whose text is UTF-16")
struct TextEncodingTests {
  static let encodings = ["UTF-16le", "UTF-16be"]

  @Test(
    "migrate in place, by copying and by a recipe to what a store in UTF-8 becomes",
    arguments: encodings)
  func migrated(encoding: String) throws {
    for way in Way.allCases {
      let folder = try TemporaryFolder()
      let plain = try Self.store(in: folder, named: "Plain.sqlite")
      let path = folder.path("Wide.sqlite")
      try Connection.transcode(plain, to: path, encoding)
      #expect(try Self.encoding(of: path) == encoding)
      #expect(try StoreDump.lines(at: path) == StoreDump.lines(at: plain))
      _ = try StoreMigration.runAndRead(way.plan(plain))
      let receipt = try StoreMigration.runAndRead(way.plan(path))
      #expect(receipt.entities.first?.after == 3, "\(way)")
      #expect(try StoreDump.lines(at: path) == StoreDump.lines(at: plain), "\(way)")
      #expect(try Self.encoding(of: path) == encoding, "\(way)")
      #expect(
        try Self.structure(of: path) == Self.structure(of: plain), "\(way)")
    }
  }

  @Test(
    "show their statements, verify, and are read in pieces as text in UTF-8", arguments: encodings)
  func read(encoding: String) throws {
    let folder = try TemporaryFolder()
    let plain = try Self.store(in: folder, named: "Plain.sqlite")
    let path = folder.path("Wide.sqlite")
    try Connection.transcode(plain, to: path, encoding)
    for way in Way.allCases {
      #expect(try !StoreMigration.statements(of: way.plan(path)).isEmpty)
    }
    let store = try Store(path: path)
    let content = try #require(
      try store.content(
        of: "title", in: ObjectID(entity: "Note", key: 1), from: 0, count: 100))
    #expect(String(decoding: content.bytes, as: UTF8.self) == "Crème 😀")
    #expect(content.total == "Crème 😀".utf8.count)
    let filter = try RowFilter(
      "uppercase:(title) == 'CRÈME 😀' AND length:(title) == 8", entity: "Note", store: store)
    #expect(try store.count(of: "Note", filter: filter) == 1)
  }

  enum Way: CaseIterable {
    case inPlace, copying, recipe

    func plan(_ path: String) throws -> MigrationPlan {
      let store = try Store(path: path)
      let after = try TextEncodingTests.model(2)
      switch self {
      case .inPlace, .copying:
        return try store.plan(
          steps: [
            MigrationStep(
              from: "1", to: "2", source: store.model, destination: after,
              mapping: try MappingInference.mapping(from: store.model, to: after))
          ], strategy: self == .inPlace ? .inPlace : .copy)
      case .recipe:
        let recipe = try Recipe(
          text: """
            { "from": "1", "to": "2", "entityMappings": [
              { "source": "Note", "destination": "Note", "attributes": {
                "title": "upper(title) || ' ' || length(title) || '|'",
                "digest": "sha256(title)" } } ] }
            """, path: "r.json5")
        let mapping = try #require(
          try recipe.mapping(from: store.model, to: after, names: ("1", "2")))
        return try store.plan(steps: [
          MigrationStep(
            from: "1", to: "2", source: store.model, destination: after, mapping: mapping)
        ])
      }
    }
  }

  static func model(_ version: Int) throws -> Model {
    var note = Entity("Note")
    note.attributes = [Attribute("title", .string, optional: true)]
    if version == 2 {
      var label = Attribute("label", .string)
      label.defaultValue = .string("a\0é")
      note.attributes += [label, Attribute("digest", .string, optional: true)]
    }
    note.uniquenessConstraints = [["title"]]
    note.relationships = [
      Relationship("tags", to: "Tag", inverse: "notes", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("notes", to: "Note", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [note, tag], versionIdentifiers: [String(version)])
  }

  private static func store(in folder: TemporaryFolder, named name: String) throws -> String {
    let path = folder.path(name)
    let writer = try StoreWriter(creating: path, model: model(1), uuid: "A")
    let tag = try writer.insert("Tag", attributes: ["name": .string("Ω")])
    for title in ["Crème 😀", "日本", "plain"] {
      try writer.insert("Note", attributes: ["title": .string(title)], toMany: ["tags": [tag]])
    }
    try writer.finish()
    return path
  }

  private static func encoding(of path: String) throws -> String? {
    try Store(path: path).connection.value("PRAGMA encoding")?.text
  }

  /// The text of everything in the database, in order of names.
  private static func structure(of path: String) throws -> [[Value]] {
    try Store(path: path).connection.rows(
      "SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
  }
}
