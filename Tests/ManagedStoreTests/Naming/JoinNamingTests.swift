import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Which relationship names a join table")
struct JoinNamingTests {
  private static func relationship(
    _ name: String, to destination: String, inverse: String, ordered: Bool = false
  ) -> String {
    """
    <relationship name="\(name)" optional="YES" toMany="YES" \(ordered ? "ordered=\"YES\"" : "") \
    destinationEntity="\(destination)" inverseName="\(inverse)"/>
    """
  }

  private static func schema(
    _ entities: [(name: String, parent: String?, relationships: [String])]
  ) throws -> StoreSchema {
    let text = entities.map { entity in
      "<entity name=\"\(entity.name)\"\(entity.parent.map { " parentEntity=\"\($0)\"" } ?? "")>"
        + entity.relationships.joined() + "</entity>"
    }.joined()
    let model = try Model(contents: Array("<model>\(text)</model>".utf8))
    return StoreSchema(model: model)
  }

  private static func tables(_ schema: StoreSchema) -> [String] {
    schema.joins.map { "\($0.name)(\($0.columns.joined(separator: " ")))" }.sorted()
  }

  @Test("between two entities the one whose name comes first, whatever the relationships' names")
  func first() throws {
    let schema = try Self.schema([
      ("Zebra", nil, [Self.relationship("a", to: "Ant", inverse: "z")]),
      ("Ant", nil, [Self.relationship("z", to: "Zebra", inverse: "a")]),
    ])
    #expect(Self.tables(schema) == ["Z_1Z(Z_1A Z_2Z)"])
  }

  @Test("a subentity that inherits the relationship counts, on either side and on both")
  func subentities() throws {
    func schema(_ left: String?, _ right: String?) throws -> StoreSchema {
      var entities: [(name: String, parent: String?, relationships: [String])] = [
        ("GenericAlbum", nil, [Self.relationship("lists", to: "List", inverse: "albums")]),
        ("List", nil, [Self.relationship("albums", to: "GenericAlbum", inverse: "lists")]),
      ]
      if let left { entities.append((left, "GenericAlbum", [])) }
      if let right { entities.append((right, "List", [])) }
      return try Self.schema(entities)
    }
    #expect(try Self.tables(schema(nil, nil)) == ["Z_1LISTS(Z_1ALBUMS Z_2LISTS)"])
    #expect(try Self.tables(schema("Album", nil)) == ["Z_1LISTS(Z_1ALBUMS Z_3LISTS)"])
    // List is entity 2 or 3 and yet names the table: a list's subentity comes first of all.
    #expect(try Self.tables(schema(nil, "Board")) == ["Z_2ALBUMS(Z_2LISTS Z_1ALBUMS)"])
    #expect(try Self.tables(schema("Album", "Board")) == ["Z_1LISTS(Z_1ALBUMS Z_3LISTS)"])
    #expect(try Self.tables(schema("Cover", "Board")) == ["Z_3ALBUMS(Z_3LISTS Z_1ALBUMS)"])
  }

  @Test("Photos’ albums and lists: the number is that of the entity that declares the relationship")
  func photos() throws {
    let schema = try Self.schema([
      ("AlbumList", nil, [Self.relationship("albums", to: "GenericAlbum", inverse: "albumLists")]),
      (
        "GenericAlbum", nil,
        [Self.relationship("albumLists", to: "AlbumList", inverse: "albums", ordered: true)]
      ),
      ("Album", "GenericAlbum", [Self.relationship("assets", to: "Asset", inverse: "albums")]),
      ("GenericAsset", nil, []),
      ("Asset", "GenericAsset", [Self.relationship("albums", to: "Album", inverse: "assets")]),
    ])
    #expect(
      Self.tables(schema) == [
        "Z_2ALBUMLISTS(Z_2ALBUMS Z_1ALBUMLISTS Z_FOK_1ALBUMLISTS)",
        "Z_3ASSETS(Z_3ALBUMS Z_5ASSETS)",
      ])
  }

  @Test("within one entity the walk decides, and an attribute more can change the name")
  func within() throws {
    func tables(_ attributes: Int) throws -> [String] {
      let all = (0..<attributes).map {
        "<attribute name=\"value\($0)\" attributeType=\"Integer 64\"/>"
      }
      return try Self.tables(
        Self.schema([
          (
            "Client", nil,
            all + [
              Self.relationship("trusted", to: "Client", inverse: "trustedBy", ordered: true),
              Self.relationship("trustedBy", to: "Client", inverse: "trusted"),
            ]
          )
        ]))
    }
    let names = [
      ["Z_1TRUSTED(Z_1TRUSTEDBY Z_1TRUSTED Z_FOK_1TRUSTED)"],
      ["Z_1TRUSTEDBY(Z_1TRUSTED Z_1TRUSTEDBY Z_FOK_1TRUSTED)"],
    ]
    let found = try (0..<12).map { try #require(names.firstIndex(of: tables($0))) }
    #expect(found == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test("between an entity and one below it the walk decides, as that one has both")
  func hierarchy() throws {
    let schema = try Self.schema([
      ("Thing", nil, [Self.relationship("boxes", to: "Box", inverse: "things")]),
      ("Box", "Thing", [Self.relationship("things", to: "Thing", inverse: "boxes")]),
    ])
    #expect(Self.tables(schema) == ["Z_2THINGS(Z_2BOXES Z_1THINGS)"])
    // An entity before both that has only one of them decides.
    let decided = try Self.schema([
      ("Thing", nil, [Self.relationship("boxes", to: "Box", inverse: "things")]),
      ("Box", "Thing", [Self.relationship("things", to: "Thing", inverse: "boxes")]),
      ("Apple", "Thing", []),
    ])
    #expect(Self.tables(decided) == ["Z_1BOXES(Z_1THINGS Z_3BOXES)"])
  }

  @Test("ordered sides have their positions, one that is its own inverse has REFLEXIVE")
  func ordered() throws {
    let schema = try Self.schema([
      (
        "A", nil,
        [
          Self.relationship("bs", to: "B", inverse: "as", ordered: true),
          Self.relationship("friends", to: "A", inverse: "friends"),
        ]
      ),
      ("B", nil, [Self.relationship("as", to: "A", inverse: "bs", ordered: true)]),
    ])
    #expect(
      Self.tables(schema) == [
        "Z_1BS(Z_1AS Z_2BS Z_FOK_1AS Z_FOK_2BS)", "Z_1FRIENDS(Z_1FRIENDS REFLEXIVE)",
      ])
  }

  @Test("equal column names of a hierarchy are numbered over all its join tables")
  func numbered() throws {
    let schema = try Self.schema([
      ("Reaction", nil, [Self.relationship("users", to: "User", inverse: "reactions")]),
      ("Message", nil, [Self.relationship("users", to: "User", inverse: "messages")]),
      (
        "User", nil,
        [
          Self.relationship("messages", to: "Message", inverse: "users"),
          Self.relationship("reactions", to: "Reaction", inverse: "users"),
        ]
      ),
    ])
    #expect(
      Self.tables(schema) == [
        "Z_1USERS(Z_1MESSAGES Z_3USERS)", "Z_2USERS(Z_2REACTIONS Z_3USERS1)",
      ])
  }

  @Test("a table that is called otherwise is read by its columns, and told")
  func otherName() throws {
    let model = try Self.schema([
      ("Ant", nil, [Self.relationship("z", to: "Zebra", inverse: "a")]),
      ("Zebra", nil, [Self.relationship("a", to: "Ant", inverse: "z")]),
    ]).model
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: model)
    let ant = try writer.insert("Ant")
    try writer.insert("Zebra", toMany: ["a": [ant]])
    try writer.finish()
    // As earlier versions of strata left it.
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("ALTER TABLE Z_1Z RENAME TO Z_2A")
    connection.close()
    let store = try Store(path: path)
    #expect(try StoreDump.lines(store) == ["Ant/p1 z→[Zebra/p1]", "Zebra/p1 a→[Ant/p1]"])
    #expect(
      store.warnings == [
        "The links of Ant.z are in the table Z_2A; Core Data looks for Z_1Z, and does not open the store. A migration or a repair renames them."
      ])
  }
}
