import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// Where an inferred mapping and a written one could differ: each is decided once, as Core Data does.
@Suite("One decision for every kind of step")
struct OneDecisionTests {
  /// The ways whose plan can be told beforehand: a policy decides as it runs.
  static let told: [Way] = [.inPlace, .copying, .mapped]

  private static func plan(
    _ way: Way, from old: [Entity], to new: [Entity], in folder: TemporaryFolder, sql: String = "",
    _ fill: (StoreWriter) throws -> Void
  ) throws -> MigrationPlan {
    let path = folder.path("Made.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: old))
    try fill(writer)
    try writer.finish()
    if !sql.isEmpty {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(sql)
      connection.close()
    }
    return try way.plan(Store(path: path), to: Model(entities: new))
  }

  private static func text(_ checks: [DataCheck]) -> [String] {
    checks.map { "\($0.entity).\($0.property ?? "") \($0.rows)" }
  }

  @Test(
    "a default is applied, then what is missing is looked for: one that is nothing fills no row",
    arguments: Way.allCases, [AttributeValue.null, .decimal("none")])
  func emptyDefault(way: Way, nothing: AttributeValue) throws {
    let folder = try TemporaryFolder()
    var old = Entity("Item")
    old.attributes = [Attribute("price", .decimal, optional: true)]
    var new = Entity("Item")
    new.attributes = [Attribute("price", .decimal)]
    new.attributes[0].defaultValue = nothing
    let plan = try Self.plan(way, from: [old], to: [new], in: folder) { writer in
      try writer.insert("Item")
      try writer.insert("Item", attributes: ["price": .decimal("1.5")])
    }
    if way != .policies { #expect(Self.text(plan.failures) == ["Item.price 1"]) }
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    #expect(error?.kind == .refused && error?.property == "price")
  }

  @Test(
    "a default that is something fills the rows, and nothing is missing", arguments: Way.allCases)
  func filledDefault(way: Way) throws {
    let folder = try TemporaryFolder()
    var old = Entity("Item")
    old.attributes = [Attribute("price", .decimal, optional: true)]
    var new = Entity("Item")
    new.attributes = [Attribute("price", .decimal)]
    new.attributes[0].defaultValue = .decimal("2.5")
    let plan = try Self.plan(way, from: [old], to: [new], in: folder) { try $0.insert("Item") }
    #expect(plan.checks == [])
    _ = try StoreMigration.run(plan)
    let result = try Store(path: plan.storePath)
    #expect(try result.connection.value("SELECT ZPRICE FROM ZITEM") == .real(2.5))
  }

  @Test("a default is asked what a save asks of every value", arguments: told)
  func boundedDefault(way: Way) throws {
    let folder = try TemporaryFolder()
    let old = Entity("Item")
    var new = Entity("Item")
    for (name, value) in [("low", Int64(3)), ("right", 7)] {
      var count = Attribute(name, .integer32, optional: true)
      count.defaultValue = .integer(value)
      count.validation.minimum = "5"
      new.attributes.append(count)
    }
    let plan = try Self.plan(way, from: [old], to: [new], in: folder) { writer in
      for _ in 0..<2 { try writer.insert("Item") }
    }
    #expect(Self.text(plan.checks) == ["Item.low 2"])
    #expect(plan.checks.map(\.code) == [.validationNumberTooSmall])
    // Only with a mapping model every object is validated.
    #expect(plan.failures.isEmpty == (way != .mapped))
  }

  @Test("a derived attribute is asked nothing, mandatory or not", arguments: Way.allCases)
  func derived(way: Way) throws {
    let folder = try TemporaryFolder()
    var old = Entity("Item")
    old.attributes = [Attribute("name", .string, optional: true)]
    var new = old
    var search = Attribute("search", .string)
    search.derivation = Attribute.Derivation(expression: "canonical:(name)")
    search.validation.minimum = "4"
    new.attributes.append(search)
    let plan = try Self.plan(way, from: [old], to: [new], in: folder) { writer in
      try writer.insert("Item")
      try writer.insert("Item", attributes: ["name": .string("É")])
    }
    #expect(plan.checks == [])
    _ = try StoreMigration.run(plan)
    let result = try Store(path: plan.storePath)
    #expect(
      try result.connection.rows("SELECT ZSEARCH FROM ZITEM ORDER BY Z_PK") == [
        [.null], [.text("e")],
      ])
  }

  @Test(
    "what was mandatory and empty before, links to nothing and new counts are told by a recipe's plan, too",
    arguments: [MappingModel.Kind.inferred, .recipe])
  func links(kind: MappingModel.Kind) throws {
    let folder = try TemporaryFolder()
    func entities(isNew: Bool) -> [Entity] {
      var parent = Entity("Parent")
      var children = Relationship(
        "children", to: "Child", inverse: "parent", toMany: true, optional: true)
      if isNew { children.maxCount = 2 }
      parent.relationships = [children]
      var child = Entity("Child")
      if isNew { child.attributes = [Attribute("name", .string, optional: true)] }
      child.relationships = [
        Relationship("parent", to: "Parent", inverse: "children"),
        Relationship("friend", to: "Child", optional: true),
      ]
      return [parent, child]
    }
    let path = folder.path("Made.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: entities(isNew: false)))
    let parent = try writer.insert("Parent")
    for _ in 0..<4 { try writer.insert("Child", toOne: ["parent": parent]) }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      UPDATE ZCHILD SET ZPARENT = NULL WHERE Z_PK = 2; UPDATE ZCHILD SET ZFRIEND = 9 WHERE Z_PK = 3
      """)
    connection.close()
    let store = try Store(path: path)
    let destination = try Model(entities: entities(isNew: true))
    var mapping = try MappingInference.mapping(from: store.model, to: destination)
    mapping.kind = kind
    let plan = try store.plan(
      steps: [
        MigrationStep(
          from: "1", to: "2", source: store.model, destination: destination, mapping: mapping)
      ])
    #expect(
      Set(plan.checks.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows)" }) == [
        "1570 Child.parent 1", "133000 Child.friend 1", "1590 Parent.children 1",
      ])
    #expect(plan.failures.isEmpty)
    _ = try StoreMigration.run(plan)
  }

  @Test(
    "of two mappings into one entity each is asked by itself: old gaps of one excuse no new ones")
  func twoSources() throws {
    let folder = try TemporaryFolder()
    func entity(_ name: String, isOptional: Bool) -> Entity {
      var entity = Entity(name)
      entity.attributes = [Attribute("name", .string, optional: isOptional)]
      return entity
    }
    let path = folder.path("Made.sqlite")
    let writer = try StoreWriter(
      creating: path,
      model: Model(entities: [entity("One", isOptional: true), entity("Two", isOptional: false)]))
    for name in ["One", "Two", "Two"] { try writer.insert(name) }
    try writer.finish()
    let store = try Store(path: path)
    let mapping = MappingModel(
      kind: .recipe,
      entityMappings: ["One", "Two"].map { (from: String) in
        EntityMapping(
          name: from + "ToItem", kind: .custom, source: from, destination: "Item",
          attributes: [AttributeMapping(name: "name", source: "name")])
      })
    let plan = try store.plan(
      steps: [
        MigrationStep(
          from: "1", to: "2", source: store.model,
          destination: Model(entities: [entity("Item", isOptional: false)]), mapping: mapping)
      ])
    #expect(
      plan.checks.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows) \($0.isWarning)" }
        == ["134110 Item.name 1 false", "1570 Item.name 2 true"])
    #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
  }

  @Test("values whose files are missing are reported where they are copied", arguments: told)
  func files(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let store = try Store(path: path)
    let name = try #require(try FileSystem.list(store.files.externalDataFolder).first)
    FileSystem.remove(store.files.externalDataFolder + "/" + name)
    let label = #"<attribute name="label" optional="YES" attributeType="String"/>"#
    let model = try Library.model(replacing: [
      (label, label + #"<attribute name="height" optional="YES" attributeType="Float"/>"#)
    ])
    let checks = try way.plan(Store(path: path), to: model).checks.filter {
      $0.property == "cover"
    }
    #expect(Self.text(checks) == ["Manual.cover 1"])
    #expect(checks.first?.first == [ObjectID(entity: "Manual", key: 2)])
    #expect(checks.first?.isWarning == true)
    #expect(checks.first?.message.contains(name) == true)
  }

  @Test(
    "lost links whose inverse has the same name count once, with the links as samples",
    arguments: told, [true, false])
  func sameName(way: Way, isToMany: Bool) throws {
    let folder = try TemporaryFolder()
    func entity(_ name: String, _ other: String, isNew: Bool) -> Entity {
      var entity = Entity(name)
      entity.attributes = [Attribute("name", .string, optional: true)]
      guard !isNew else { return entity }
      entity.relationships = [
        Relationship("other", to: other, inverse: "other", toMany: isToMany, optional: true)
      ]
      return entity
    }
    let entities = { isNew in
      [entity("A", "B", isNew: isNew), entity("B", "A", isNew: isNew)]
    }
    let plan = try Self.plan(way, from: entities(false), to: entities(true), in: folder) { writer in
      let others = try (0..<2).map { _ in try writer.insert("B") }
      if isToMany {
        try writer.insert("A", toMany: ["other": others])
        try writer.insert("A", toMany: ["other": [others[0]]])
      } else {
        for other in others { try writer.insert("A", toOne: ["other": other]) }
      }
    }
    #expect(plan.losses.map(\.name) == ["A.other"])
    #expect(
      plan.losses.first?.samples
        == (isToMany
          ? ["A/p1 → B/p1", "A/p1 → B/p2", "A/p2 → B/p1"] : ["A/p1 → B/p1", "A/p2 → B/p2"]))
    #expect(plan.losses.first?.values == (isToMany ? 3 : 2))
  }

  @Test(
    "of a to-one that is its own inverse a pair counts once, and so does a link that is not returned",
    arguments: told)
  func ownInverse(way: Way) throws {
    let folder = try TemporaryFolder()
    var old = Entity("Person")
    old.attributes = [Attribute("name", .string, optional: true)]
    var new = old
    old.relationships = [Relationship("mate", to: "Person", inverse: "mate", optional: true)]
    new.relationships = []
    let plan = try Self.plan(
      way, from: [old], to: [new], in: folder,
      sql: """
        UPDATE ZPERSON SET ZMATE = CASE Z_PK WHEN 1 THEN 2 WHEN 2 THEN 1 WHEN 4 THEN 3 WHEN 5 THEN 5 END
        """
    ) { writer in
      for _ in 0..<5 { try writer.insert("Person") }
    }
    #expect(plan.losses.map(\.name) == ["Person.mate"])
    #expect(plan.losses.first?.values == 3)
    #expect(
      plan.losses.first?.samples == [
        "Person/p1 → Person/p2", "Person/p4 → Person/p3", "Person/p5 → Person/p5",
      ])
  }
}

@Suite("Rules of a destination")
struct DestinationRuleTests {
  private static func rule(
    _ condition: String?, _ answer: DestinationRule.Answer? = nil, former: Int = 0
  ) -> DestinationRule {
    DestinationRule(
      entity: "Item", property: condition, conditions: [condition].compactMap { $0 },
      message: "broken", hint: "", answer: answer, former: { former })
  }

  private static func found(_ rules: [DestinationRule]) throws -> [String] {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute(
      """
      CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, N INTEGER);
      INSERT INTO ZITEM VALUES (1, 1), (2, 2), (3, NULL), (4, 4)
      """)
    return try rules.broken(in: "ZITEM t", key: "t.Z_PK", on: connection).map { rule, rows in
      "\(rule.property ?? "all"): \(rows.count) \(rows.keys) \(rule.isWarning)"
    }
  }

  @Test("rows are found alike, asked alone, asked together, or known before")
  func answers() throws {
    let some = Self.rule("t.N > 1 OR t.N IS NULL")
    let none = Self.rule("t.N > 5")
    let expected = "t.N > 1 OR t.N IS NULL: 3 [2, 3, 4] false"
    #expect(try Self.found([]) == [])
    #expect(try Self.found([some]) == [expected])
    #expect(try Self.found([none]) == [])
    #expect(
      try Self.found([none, some, Self.rule(nil)]) == [expected, "all: 4 [1, 2, 3, 4] false"])
    #expect(try Self.found([Self.rule("t.N > 1 OR t.N IS NULL", .count(3)), none]) == [expected])
    #expect(try Self.found([Self.rule("t.N > 1 OR t.N IS NULL", .count(0)), none]) == [])
    let rows = FoundRows(count: 2, first: [ObjectID(entity: "Item", key: 7)])
    #expect(try Self.found([Self.rule("no SQL", .rows(rows))]) == ["no SQL: 2 [7] false"])
    #expect(try Self.found((0..<450).map { Self.rule("t.Z_PK = \($0)") }).count == 4)
  }

  @Test("what was broken before is no fault, and is told where a rule says so")
  func former() throws {
    for others in [[], [Self.rule("t.N > 5"), Self.rule("t.N > 6")]] {
      #expect(try Self.found([Self.rule("t.N > 1", former: 2)] + others) == [])
      #expect(
        try Self.found([Self.rule("t.N > 1", former: 1)] + others) == ["t.N > 1: 2 [2, 4] false"])
      var told = Self.rule("t.N > 1", former: 2)
      told.tellsFormer = true
      #expect(try Self.found([told] + others) == ["t.N > 1: 2 [2, 4] true"])
    }
  }

  @Test("of a value that is never missing nobody asks whether it is, and of a copy what is new")
  func values() {
    var attribute = Attribute("count", .integer32)
    attribute.validation.minimum = "5"
    var former = attribute
    former.validation.minimum = "3"
    func codes(_ value: AskedValue, validatesAll: Bool = false) -> [String] {
      DestinationRule.all(of: attribute, in: "Item", value, validatesAll: validatesAll).map {
        "\($0.code) \($0.isWarning)"
      }
    }
    #expect(codes(AskedValue(sql: "c")) == ["134110 false", "1620 true"])
    #expect(codes(AskedValue(sql: "c", nulls: 0)) == ["1620 true"])
    #expect(codes(AskedValue(sql: nil)) == ["134110 false"])
    #expect(codes(AskedValue(sql: "c", former: former)) == ["1570 true", "1620 true"])
    #expect(codes(AskedValue(sql: "c", nulls: 0, former: attribute)) == [])
    #expect(codes(AskedValue(sql: "c"), validatesAll: true) == ["1570 false", "1620 false"])
    #expect(
      codes(AskedValue(sql: "c", nulls: 0, former: attribute), validatesAll: true) == [
        "1620 false"
      ])
    attribute.derivation = Attribute.Derivation(expression: "parts.@count")
    #expect(codes(AskedValue(sql: "c")) == [])
  }
}
