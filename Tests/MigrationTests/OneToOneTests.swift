import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// Links of a one-to-one that come from one side only: both columns are written all the same.
@Suite("Both sides of one-to-ones")
struct OneToOneTests {
  private static let uuid = "11111111-2222-4333-8444-555555555555"

  /// A library and the item that was played last, as in a player's app.
  private static func model(
    item: [Relationship], library: [Relationship], note: Bool = false
  ) throws -> Model {
    var thing = Entity("Item")
    thing.attributes = [Attribute("title", .string, optional: true)]
    if note { thing.attributes.append(Attribute("note", .string, optional: true)) }
    thing.relationships = item
    var place = Entity("Library")
    place.attributes = [Attribute("name", .string, optional: true)]
    if note { place.attributes.append(Attribute("note", .string, optional: true)) }
    place.relationships = library
    // An entity below: the library's column of its kind is there, too.
    return try Model(entities: [thing, Entity("Song", parent: "Item"), place])
  }

  private static func link(
    _ name: String, to: String, inverse: String?, identifier: String? = nil, many: Bool = false,
    optional: Bool = true
  ) -> Relationship {
    var link = Relationship(name, to: to, inverse: inverse, toMany: many, optional: optional)
    link.renamingIdentifier = identifier
    return link
  }

  /// Items 1, 3 and 4 are played last in libraries; by `claims`: item to library.
  private func store(
    in folder: TemporaryFolder, _ model: Model, claims: [(item: Int, library: Int)],
    relationship: String = "lastPlayed", sides: Bool = false
  ) throws -> String {
    let path = folder.path("Player.sqlite")
    let writer = try StoreWriter(creating: path, model: model, uuid: Self.uuid)
    for index in 1...5 {
      let claim = claims.first { $0.item == index }
      try writer.insert(
        index == 3 ? "Song" : "Item", attributes: ["title": .string("item \(index)")],
        toOne: claim.map {
          [relationship: ObjectID(entity: "Library", key: Int64($0.library))]
        } ?? [:])
    }
    for index in 1...3 {
      let claim = claims.last { $0.library == index }
      try writer.insert(
        "Library", attributes: ["name": .string("library \(index)")],
        toOne: sides
          ? claim.map {
            ["lastItem": ObjectID(entity: $0.item == 3 ? "Song" : "Item", key: Int64($0.item))]
          } ?? [:] : [:])
    }
    try writer.finish()
    return path
  }

  /// `item>library` of the items' column, and `library<item:entity` of the libraries'.
  private func links(_ path: String) throws -> [String] {
    let store = try Store(path: path)
    let connection = try Connection(path: path, mode: .readOnly)
    let items = try connection.rows(
      "SELECT Z_PK, ZLASTPLAYED FROM ZITEM WHERE ZLASTPLAYED IS NOT NULL ORDER BY 1"
    ).map { "\($0[0].integer ?? 0)>\($0[1].integer ?? 0)" }
    let number = store.schema.numbers["Item"] ?? 0
    let libraries = try connection.rows(
      "SELECT Z_PK, ZLASTITEM, Z\(number)_LASTITEM FROM ZLIBRARY WHERE ZLASTITEM IS NOT NULL OR Z\(number)_LASTITEM IS NOT NULL ORDER BY 1"
    ).map {
      "\($0[0].integer ?? 0)<\($0[1].integer ?? 0):\(store.entityNames[$0[2].integer ?? 0] ?? "?")"
    }
    return items + libraries
  }

  private static let lone = link("lastPlayed", to: "Library", inverse: nil)
  private static let last = link("lastPlayed", to: "Library", inverse: "lastItem")
  private static let back = link("lastItem", to: "Item", inverse: "lastPlayed")

  @Test("the side that is new is set with the one that is carried", arguments: Way.allCases)
  func oneSide(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try store(
      in: folder, Self.model(item: [Self.lone], library: []), claims: [(1, 2), (3, 1)])
    let plan = try way.plan(
      Store(path: path), to: Self.model(item: [Self.last], library: [Self.back]))
    #expect(plan.losses == [] && plan.failures == [])
    let receipt = try StoreMigration.runAndRead(plan)
    #expect(try links(path) == ["1>2", "3>1", "1<3:Song", "2<1:Item"])
    if way == .inPlace || way == .copying || way == .mapped {
      #expect(
        receipt.verified.contains { $0.what == "sides of one-to-ones set" && $0.count == 4 })
    }
    #expect(try Store(path: path).oneSidedLinks() == [])
  }

  @Test(
    "a renaming identifier on one side alone carries both", arguments: [Way.inPlace, .copying])
  func identifierOnOneSide(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let before = try Self.model(
      item: [Self.link("played", to: "Library", inverse: "lastItem")],
      library: [Self.link("lastItem", to: "Item", inverse: "played")])
    let path = try store(
      in: folder, before, claims: [(1, 2), (3, 1), (4, 3)], relationship: "played", sides: true)
    // The library's side says that it was another one, so that only the item's is carried.
    let after = try Self.model(
      item: [Self.link("lastPlayed", to: "Library", inverse: "lastItem", identifier: "played")],
      library: [Self.link("lastItem", to: "Item", inverse: "lastPlayed", identifier: "gone")])
    let plan = try way.plan(Store(path: path), to: after)
    #expect(plan.losses == [])
    _ = try StoreMigration.runAndRead(plan)
    #expect(try links(path) == ["1>2", "3>1", "4>3", "1<3:Song", "2<1:Item", "3<4:Item"])
  }

  @Test(
    "of two that claim one object the later has it, which is told as a loss",
    arguments: [Way.inPlace, .copying, .mapped])
  func claims(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try store(
      in: folder, Self.model(item: [Self.lone], library: []),
      claims: [(1, 2), (3, 1), (4, 3), (5, 2), (2, 2)])
    let plan = try way.plan(
      Store(path: path), to: Self.model(item: [Self.last], library: [Self.back]))
    #expect(plan.losses.map(\.name) == ["Item.lastPlayed"])
    #expect(plan.losses.first?.values == 2)
    #expect(plan.losses.first?.samples.contains("Item/p1 → Library/p2") == true)
    #expect(plan.losses.first?.suggestion?.contains("one-to-one") == true)
    #expect(throws: CoreDataError.self) { _ = try StoreMigration.runAndRead(plan) }
    var options = MigrationOptions()
    options.allowedLosses = ["Item.lastPlayed"]
    _ = try StoreMigration.runAndRead(plan, options: options)
    #expect(try links(path) == ["3>1", "4>3", "5>2", "1<3:Song", "2<5:Item", "3<4:Item"])
  }

  @Test("a mandatory side that stays empty is refused before the run and not after it")
  func mandatory() throws {
    let folder = try TemporaryFolder()
    let path = try store(
      in: folder, Self.model(item: [Self.lone], library: []), claims: [(1, 2), (3, 1)])
    let after = try Self.model(
      item: [Self.last],
      library: [Self.link("lastItem", to: "Item", inverse: "lastPlayed", optional: false)])
    for way in [Way.inPlace, .mapped] {
      let plan = try way.plan(Store(path: path), to: after)
      #expect(
        plan.failures.map { "\($0.entity).\($0.property ?? "") \($0.rows) \($0.first)" }
          == ["Library.lastItem 1 [Library/p3]"], "\(way)")
    }
    // All three are led to: nothing stands in the way.
    let full = try TemporaryFolder()
    let other = try store(
      in: full, Self.model(item: [Self.lone], library: []), claims: [(1, 2), (3, 1), (5, 3)])
    for way in [Way.copying, .mapped, .inPlace] {
      let plan = try way.plan(Store(path: other), to: after)
      #expect(plan.failures == [], "\(way)")
    }
    _ = try StoreMigration.runAndRead(Way.mapped.plan(Store(path: other), to: after))
    #expect(try links(other) == ["1>2", "3>1", "5>3", "1<3:Song", "2<1:Item", "3<5:Item"])
  }

  @Test("two sides that meet for the first time are set one after the other")
  func meeting() throws {
    let folder = try TemporaryFolder()
    let before = try Self.model(
      item: [Self.lone], library: [Self.link("lastItem", to: "Item", inverse: nil)])
    let path = try store(in: folder, before, claims: [(1, 2), (4, 3)], sides: false)
    let connection = try Connection(path: path, mode: .readWrite)
    let number = try Store(path: path).schema.numbers["Item"] ?? 0
    // Library 1 leads to item 5, library 3 to item 1, who leads to library 2.
    try connection.execute(
      """
      UPDATE ZLIBRARY SET ZLASTITEM = 5, Z\(number)_LASTITEM = \(number) WHERE Z_PK = 1;
      UPDATE ZLIBRARY SET ZLASTITEM = 1, Z\(number)_LASTITEM = \(number) WHERE Z_PK = 3
      """)
    connection.close()
    let after = try Self.model(item: [Self.last], library: [Self.back])
    var results: [[String]] = []
    for way in [Way.inPlace, .copying, .mapped] {
      let plan = try way.plan(Store(path: path), to: after)
      #expect(plan.losses.map { "\($0.name) \($0.values)" } == ["Item.lastPlayed 2"])
      var options = MigrationOptions()
      options.allowedLosses = ["Item.lastPlayed"]
      options.output = folder.path("\(way).sqlite")
      _ = try StoreMigration.runAndRead(plan, options: options)
      results.append(try links(folder.path("\(way).sqlite")))
    }
    #expect(results == [[String]](repeating: ["1>3", "5>1", "1<5:Item", "3<1:Item"], count: 3))
  }

  /// A mapping model as Xcode writes it, which carries the items' side and leaves the libraries'.
  @Test("a mapping model that carries one side sets both columns", arguments: [true, false])
  func mappingModel(isCompiled: Bool) throws {
    let folder = try TemporaryFolder()
    let before = try Self.model(item: [Self.last], library: [Self.back])
    let after = try Self.model(item: [Self.last], library: [Self.back], note: true)
    let path = try store(in: folder, before, claims: [(1, 2), (3, 1)], sides: true)
    let mappings = ["Item", "Song", "Library"].map { entity in
      var mapping = MappingSamples.Mapping(
        "\(entity)To\(entity)", source: entity, destination: entity)
      mapping.attributes =
        entity == "Library"
        ? [("name", "$source.name"), ("note", nil)] : [("title", "$source.title"), ("note", nil)]
      mapping.relationships =
        entity == "Library"
        ? [("lastItem", nil)]
        : [("lastPlayed", MappingSamples.objects("LibraryToLibrary", "$source.lastPlayed"))]
      return mapping
    }
    var documents = MappingDocuments()
    // In Xcode's own form a relationship without a value is worked out.
    let bytes =
      isCompiled
      ? try MappingSamples.compiled(mappings, from: before, to: after)
      : try MappingSamples.document(
        mappings.map {
          var mapping = $0
          if mapping.source == "Library" { mapping.relationships = [] }
          return mapping
        }, models: (before, after))
    documents.add(try MappingModelDocument(bytes: bytes, path: "Player"))
    let plan = try Store(path: path).plan(to: after, names: ("1", "2"), documents: documents)
    #expect(plan.steps.map(\.mapping.kind) == [.mapping])
    #expect(plan.losses == [] && plan.failures == [])
    _ = try StoreMigration.runAndRead(plan)
    #expect(try links(path) == ["1>2", "3>1", "1<3:Song", "2<1:Item"])
  }

  @Test("a recipe that makes objects for a one-to-one sets both columns; of several the last stays")
  func created() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder, Self.model(item: [], library: []), claims: [])
    let after = try Self.model(item: [Self.last], library: [Self.back])
    func plan() throws -> MigrationPlan {
      var documents = MappingDocuments()
      documents.add(
        try Recipe(
          text: """
            { "from": "1", "to": "2", "entityMappings": [
              { "source": "Item", "destination": "Item",
                "create": [ { "destination": "Library", "relationship": "lastPlayed",
                              "attributes": { "name": "title" } } ] },
              { "source": "Library", "delete": true } ] }
            """, path: "r.json5"))
      return try Store(path: path).plan(to: after, names: ("1", "2"), documents: documents)
    }
    var options = MigrationOptions()
    options.output = folder.path("one.sqlite")
    let one = try plan()
    #expect(one.checks == [])
    _ = try StoreMigration.runAndRead(one, options: options)
    #expect(
      try links(folder.path("one.sqlite")) == [
        "1>1", "2>2", "4>3", "5>4", "1<1:Item", "2<2:Item", "3<4:Item", "4<5:Item",
      ])
    // A recipe may not ask for several; a program's mapping can.
    var step = try #require(one.steps.first)
    let place = try #require(step.mapping.entityMappings.firstIndex { !$0.children.isEmpty })
    step.mapping.entityMappings[place].children[0].each = .sql("'[1, 2]'")
    let two = try Store(path: path).plan(steps: [step])
    #expect(
      two.checks.map { "\($0.isWarning) \($0.entity).\($0.property ?? "") \($0.rows)" } == [
        "true Library.lastItem 4"
      ])
    options.output = folder.path("two.sqlite")
    _ = try StoreMigration.runAndRead(two, options: options)
    #expect(
      try links(folder.path("two.sqlite")) == [
        "1>2", "2>4", "4>6", "5>8", "2<1:Item", "4<2:Item", "6<4:Item", "8<5:Item",
      ])
  }

  @Test(
    "what a recipe says of one side goes before what is inferred of the other",
    arguments: [("alternative", ["1<2:Item", "2<1:Item"]), ("null", [])])
  func written(source: String, libraries: [String]) throws {
    let folder = try TemporaryFolder()
    let other = Self.link("alternative", to: "Library", inverse: nil)
    let path = folder.path("Player.sqlite")
    let model = try Self.model(item: [Self.last, other], library: [Self.back])
    let writer = try StoreWriter(creating: path, model: model, uuid: Self.uuid)
    let places = (1...2).map { ObjectID(entity: "Library", key: $0) }
    for index in 0..<2 {
      try writer.insert(
        "Item", toOne: ["lastPlayed": places[index], "alternative": places[1 - index]])
    }
    for index in 1...2 {
      try writer.insert(
        "Library", toOne: ["lastItem": ObjectID(entity: "Item", key: Int64(index))])
    }
    try writer.finish()
    var documents = MappingDocuments()
    let word = source == "null" ? source : "'\(source)'"
    documents.add(
      try Recipe(
        text: """
          { from: '1', to: '2', entityMappings: [
            { source: 'Item', destination: 'Item', relationships: { lastPlayed: \(word) } } ] }
          """, path: "r.json5"))
    let plan = try Store(path: path).plan(
      to: Self.model(item: [Self.last, other], library: [Self.back], note: true),
      names: ("1", "2"), documents: documents)
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    try StoreMigration.runAndRead(plan, options: options)
    let links = try links(path)
    #expect(links.filter { $0.contains("<") } == libraries)
    #expect(links.filter { $0.contains(">") } == (libraries.isEmpty ? [] : ["1>2", "2>1"]))
  }

  @Test("one that is its own inverse is set on both ends")
  func spouses() throws {
    let folder = try TemporaryFolder()
    func model(_ inverse: String?, extra: Bool) throws -> Model {
      var person = Entity("Person")
      person.attributes = [Attribute("name", .string, optional: true)]
      if extra { person.attributes.append(Attribute("note", .string, optional: true)) }
      person.relationships = [Self.link("spouse", to: "Person", inverse: inverse)]
      return try Model(entities: [person])
    }
    let path = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: path, model: model(nil, extra: false), uuid: Self.uuid)
    // 1 → 2, 3 → 4, 4 → 5: the last takes 4 away from 3.
    for (key, spouse) in [1: 2, 3: 4, 4: 5, 2: nil, 5: nil].sorted(by: { $0.key < $1.key }) {
      try writer.insert(
        "Person", key: Int64(key),
        toOne: spouse.map { ["spouse": ObjectID(entity: "Person", key: Int64($0))] } ?? [:])
    }
    try writer.finish()
    for way in [Way.inPlace, .copying, .mapped] {
      let plan = try way.plan(Store(path: path), to: model("spouse", extra: true))
      #expect(plan.losses.map { "\($0.name) \($0.values)" } == ["Person.spouse 1"])
      var options = MigrationOptions()
      options.allowedLosses = ["Person"]
      options.output = folder.path("\(way).sqlite")
      _ = try StoreMigration.runAndRead(plan, options: options)
      let connection = try Connection(path: folder.path("\(way).sqlite"), mode: .readOnly)
      let pairs = try connection.rows("SELECT Z_PK, ZSPOUSE FROM ZPERSON ORDER BY 1")
        .map { "\($0[0].integer ?? 0)-\($0[1].integer ?? 0)" }
      #expect(pairs == ["1-2", "2-1", "3-0", "4-5", "5-4"], "\(way)")
    }
  }

  @Test("sides that disagree already stay as they are, and info and verify see it")
  func disagreeing() throws {
    let folder = try TemporaryFolder()
    let before = try Self.model(item: [Self.last], library: [Self.back])
    let path = try store(in: folder, before, claims: [(1, 2), (3, 1)], sides: true)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZLIBRARY SET ZLASTITEM = NULL WHERE Z_PK = 2")
    connection.close()
    let odd = try Store(path: path)
    #expect(
      try odd.oneSidedLinks().map { "\($0.entity).\($0.relationship) \($0.objects) \($0.first)" }
        == ["Item.lastPlayed 1 [Item/p1]"])
    #expect(odd.warnings == [])
    let after = try Self.model(item: [Self.last], library: [Self.back], note: true)
    for way in [Way.inPlace, .copying] {
      let plan = try way.plan(Store(path: path), to: after)
      #expect(plan.failures == [] && plan.losses == [])
      var options = MigrationOptions()
      options.output = folder.path("\(way).sqlite")
      _ = try StoreMigration.runAndRead(plan, options: options)
      let result = folder.path("\(way).sqlite")
      #expect(try Store(path: result).oneSidedLinks().map(\.objects) == [1])
      let mapping = try MappingInference.mapping(from: before, to: after)
      let same = try StoreVerification.compare(
        before: Store(path: path), after: Store(path: result), mapping: mapping)
      #expect(same.isEqual)
      #expect(same.notes.count == 1)
      // Another pair that disagrees is a difference.
      let spoiling = try Connection(path: result, mode: .readWrite)
      try spoiling.execute("UPDATE ZITEM SET ZLASTPLAYED = NULL WHERE Z_PK = 3")
      spoiling.close()
      let other = try StoreVerification.compare(
        before: Store(path: path), after: Store(path: result), mapping: mapping)
      #expect(
        other.differences.contains {
          $0.entity == "Library" && $0.property == "lastItem"
            && $0.message == "the two sides of a one-to-one do not match"
        })
    }
  }
}
