import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Migrating composite attributes")
struct CompositeMigrationTests {
  @Test("an added element takes its default in every row, or NULL", arguments: Way.allCases)
  func added(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.elements.insert(
          Attribute("email", .string, optional: true).defaulting(to: .string("none")), at: 1)
        $0.elements.append(Attribute("rank", .integer16, optional: true))
      }
    }
    let result = try CompositeCase.migrate(to: model, way)
    #expect(result.plan.losses == [])
    #expect(
      result.plan.notes.contains(
        "1 object of Item has no author: the default value of author.email makes one."))
    var expected = result.before
    for key in ["Item/p1", "Item/p2", "Magazine/p3"] {
      expected[key]?["author.email"] = "none"
      expected[key]?["author.rank"] = "∅"
    }
    #expect(result.after == expected)
    // The element takes no name from another column.
    #expect(try result.column("ZID1") == [.integer(100), .integer(101), .integer(102)])
  }

  @Test(
    "a removed element is a loss by its path, and its siblings keep their values",
    arguments: Way.allCases)
  func removed(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.remove(element: "born")
        $0.remove(element: "id")
      }
    }
    let result = try CompositeCase.migrate(to: model, way)
    if let losses = result.losses {
      #expect(losses.map(\.name) == ["Item.author.born", "Item.author.id"])
      #expect(losses.map(\.values) == [1, 1])
      #expect(losses.last?.samples == ["7"])
    }
    var expected = result.before
    for key in expected.keys {
      expected[key]?["author.born"] = nil
      expected[key]?["author.id"] = nil
    }
    #expect(result.after == expected)
    // The item's own id is no longer the second of its name.
    #expect(try result.column("ZID") == [.integer(100), .integer(101), .integer(102)])
  }

  @Test("losses of elements are refused until they, or their composite, are allowed")
  func refusedLoss() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") { $0.remove(element: "person") }
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let plan = try Way.inPlace.plan(Store(path: path), to: model)
    #expect(plan.losses.map(\.name) == ["Item.author.person"])
    let loss = try #require(plan.losses.first)
    #expect(loss.values == 2)
    #expect(loss.predicate(in: try CompositeSamples.library()) == "author.person != nil")
    for allowed in ["Item.author.person", "Item.author", "Item"] {
      #expect(plan.unallowedLosses([allowed]).isEmpty, "\(allowed)")
    }
    #expect(plan.unallowedLosses(["Item.author.born", "Item.auth"]).count == 1)
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(error?.property == "author.person")
    #expect(error?.hint?.contains("allowedLosses Item.author.person") == true)
  }

  @Test(
    "elements and composites that were renamed keep what they hold", arguments: Way.allCases)
  func renamed(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.renamingIdentifier = "author"
        $0.edit(element: "person") {
          $0.name = "name"
          $0.renamingIdentifier = "person"
        }
      }
      entities["Magazine"]?.edit("editor") {
        $0.edit(element: "isChief") {
          $0.name = "leads"
          $0.renamingIdentifier = "isChief"
        }
      }
    }
    let result = try CompositeCase.migrate(to: model, way)
    #expect(result.plan.losses == [])
    let names = [
      "author.person": "writer.name", "author.id": "writer.id", "author.born": "writer.born",
      "author.score": "writer.score", "editor.isChief": "editor.leads",
    ]
    #expect(
      result.after
        == result.before.mapValues { values in
          Dictionary(uniqueKeysWithValues: values.map { (names[$0.key] ?? $0.key, $0.value) })
        })
    // writer comes after id: the columns have changed their owners.
    #expect(try result.column("ZID") == [.integer(100), .integer(101), .integer(102)])
    #expect(try result.column("ZID1") == [.integer(7), .null, .null])
  }

  @Test(
    "two composites with the same elements do not mix their values when their order turns",
    arguments: Way.allCases)
  func turned(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("back") {
        $0.name = "under"
        $0.renamingIdentifier = "back"
      }
    }
    let result = try CompositeCase.migrate(to: model, way)
    #expect(try result.column("ZLINEARRED") == [.real(1), .real(0), .real(0)])
    #expect(try result.column("ZLINEARRED1") == [.real(0.25), .real(0), .real(0)])
    #expect(result.after["Item/p1"]?["under.linearGreen"] == "0.5")
    #expect(result.after["Item/p1"]?["front.opacity"] == "0.5")
    #expect(result.after["Item/p1"]?["under.opacity"] == "1.0")
    #expect(result.plan.losses == [])
  }

  @Test(
    "a composite that takes a column's name leaves the values where they belong",
    arguments: Way.allCases, [true, false])
  func clash(_ way: Way, _ isDefaulted: Bool) throws {
    // Its id comes before the item's own, and before that of author: every ZID moves.
    let model = try CompositeCase.model { entities in
      entities["Item"]?.attributes.append(
        CompositeSamples.composite(
          "actor", optional: true,
          [
            isDefaulted
              ? Attribute("id", .integer64, optional: true).defaulting(to: .integer(-1))
              : Attribute("id", .integer64, optional: true)
          ]))
    }
    let result = try CompositeCase.migrate(to: model, way)
    var expected = result.before
    for key in ["Item/p1", "Item/p2", "Magazine/p3"] {
      expected[key]?["actor.id"] = isDefaulted ? "-1" : "∅"
    }
    #expect(result.after == expected)
    let new: Value = isDefaulted ? .integer(-1) : .null
    #expect(try result.column("ZID") == [new, new, new])
    #expect(try result.column("ZID1") == [.integer(7), .null, .null])
    #expect(try result.column("ZID2") == [.integer(100), .integer(101), .integer(102)])
    #expect(try result.column("ZID3") == [.null, .null, .integer(9)])
    #expect(result.plan.losses == [])
  }

  @Test("a composite that goes gives its column's name back", arguments: Way.allCases)
  func gone(_ way: Way) throws {
    let model = try CompositeCase.model { $0["Item"]?.remove("author") }
    let result = try CompositeCase.migrate(to: model, way)
    if let losses = result.losses {
      #expect(
        losses.map(\.name) == [
          "Item.author.born", "Item.author.id", "Item.author.person", "Item.author.score",
        ])
    }
    #expect(
      result.after
        == result.before.mapValues { $0.filter { !$0.key.hasPrefix("author.") } })
    #expect(try result.column("ZID") == [.integer(100), .integer(101), .integer(102)])
    #expect(try result.column("ZID1") == [.null, .null, .integer(9)])
    #expect(!result.columns.contains("ZID2"))
  }

  @Test(
    "a composite whose name alone changed, which no hash shows, keeps its values",
    arguments: Way.allCases)
  func sameHash(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") { $0.name = "auteur" }
      entities["Shelf"]?.attributes.append(Attribute("floor", .integer16, optional: true))
    }
    #expect(
      try model.versionHashes["Item"] == CompositeSamples.library().versionHashes["Item"])
    let result = try CompositeCase.migrate(to: model, way)
    #expect(result.plan.losses == [])
    #expect(result.after["Item/p1"]?["auteur.person"] == "Ann")
    #expect(result.after["Item/p1"]?["auteur.id"] == "7")
    #expect(result.after["Magazine/p3"]?["auteur.person"] == "Zoë")
    #expect(result.after["Shelf/p1"]?["floor"] == "∅")
  }

  @Test(
    "a composite that moves up or down the hierarchy keeps its values", arguments: Way.allCases)
  func moved(_ way: Way) throws {
    let up = try CompositeCase.model { entities in
      guard let editor = entities["Magazine"]?.attributes.first else { return }
      entities["Magazine"]?.attributes = []
      entities["Item"]?.attributes.append(editor)
    }
    let result = try CompositeCase.migrate(to: up, way)
    var expected = result.before
    for key in ["Item/p1", "Item/p2"] {
      for name in ["editor.person", "editor.id", "editor.isChief"] { expected[key]?[name] = "∅" }
    }
    #expect(result.after == expected)
    #expect(result.plan.losses == [])

    let down = try CompositeCase.model { entities in
      guard let author = entities["Item"]?.attributes.first(where: { $0.name == "author" }) else {
        return
      }
      entities["Item"]?.remove("author")
      entities["Magazine"]?.attributes.append(author)
    }
    let other = try CompositeCase.migrate(to: down, way)
    #expect(other.after["Magazine/p3"] == other.before["Magazine/p3"])
    #expect(
      other.after["Item/p1"] == other.before["Item/p1"]?.filter { !$0.key.hasPrefix("author.") })
    if let losses = other.losses {
      #expect(
        Set(losses.map(\.name)) == [
          "Item.author.born", "Item.author.id", "Item.author.person", "Item.author.score",
        ])
      #expect(losses.allSatisfy { $0.values == 1 })
    }
  }

  @Test("an integer element that is made narrower is checked row by row", arguments: Way.allCases)
  func narrower(_ way: Way) throws {
    let model = try CompositeCase.model { entities in
      entities["Magazine"]?.edit("editor") { $0.edit(element: "id") { $0.type = .integer16 } }
    }
    let result = try CompositeCase.migrate(to: model, way)
    #expect(result.after == result.before)
  }

  @Test("indexes follow the columns of their elements", arguments: Way.allCases)
  func indexes(_ way: Way) throws {
    func indexed(_ entities: inout [String: Entity]) {
      entities["Item"]?.edit("author") { $0.edit(element: "id") { $0.isIndexed = true } }
      entities["Item"]?.edit("id") { $0.isIndexed = true }
    }
    let before = try CompositeCase.model(indexed)
    let after = try CompositeCase.model { entities in
      indexed(&entities)
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.renamingIdentifier = "author"
      }
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    let writer = try StoreWriter(creating: path, model: before)
    try writer.insert(
      "Item", attributes: ["author.id": .integer(7), "id": .integer(100), "title": .string("A")])
    try writer.finish()
    let plan = try way.plan(Store(path: path), to: after)
    _ = try StoreMigration.runAndRead(plan)
    let store = try Store(path: path)
    let statements = StoreSchema(model: after).indexStatements()
    for index in statements {
      let columns = try store.connection.rows("PRAGMA index_info(\"\(index.name)\")")
        .compactMap { $0.last?.text }
      #expect(index.sql.contains(columns.first ?? "none"), "\(index.name)")
    }
    #expect(statements.contains { $0.sql.contains("(ZID COLLATE") })
    #expect(statements.contains { $0.sql.contains("(ZID1 COLLATE") })
    #expect(
      try store.connection.rows("SELECT ZID, ZID1 FROM ZITEM") == [[.integer(100), .integer(7)]])
  }
}
