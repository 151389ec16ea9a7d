import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// What Core Data's inference refuses, loses and carries on, rule by rule.
@Suite("Core Data's rules of inference")
struct InferenceRulesTests {
  static func model(
    _ attributes: [Attribute], relationships: [Relationship] = [], others: [Entity] = []
  ) throws -> Model {
    var entity = Entity("E")
    entity.attributes = attributes
    entity.relationships = relationships
    return try Model(entities: [entity] + others)
  }

  static func attribute(
    _ name: String, _ type: AttributeType = .string, id: String? = nil, marked: Bool = false,
    external: Bool = false
  ) -> Attribute {
    var attribute = Attribute(name, type, optional: true)
    attribute.renamingIdentifier = id
    attribute.allowsExternalBinaryDataStorage = external
    if marked { attribute.userInfo["NSMigrationAllowTypeTransformation"] = "YES" }
    if type == .composite { attribute.elements = [Attribute("part", .string, optional: true)] }
    return attribute
  }

  private static func refusal(from source: Model, to destination: Model) -> CoreDataError? {
    do {
      _ = try MappingInference.mapping(from: source, to: destination)
      return nil
    } catch { return error }
  }

  static let numbers: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean,
  ]
  static let types: [AttributeType] =
    numbers + [.string, .date, .uuid, .uri, .binary, .transformable, .undefined, .composite]

  /// The table of the specification, by its rows and columns.
  private static func isAllowed(_ old: AttributeType, _ new: AttributeType, marked: Bool) -> Bool {
    if (old == .composite) != (new == .composite) { return true }
    if marked {
      guard new == .binary || new == .transformable else { return false }
      if [.binary, .transformable].contains(old) { return true }
    }
    if old == .undefined || new == .undefined { return false }
    return old == new || (numbers.contains(old) && numbers.contains(new))
  }

  @Test("each type to each other, with and without the key that allows a transformation")
  func types() throws {
    for old in Self.types {
      for new in Self.types {
        for marked in [false, true] where !(marked && new == .composite) {
          let source = try Self.model([Self.attribute("x", old)])
          // Another attribute, so that there is something to migrate.
          let destination = try Self.model([
            Self.attribute("x", new, marked: marked), Self.attribute("y"),
          ])
          let refusal = Self.refusal(from: source, to: destination)
          #expect(
            (refusal == nil) == Self.isAllowed(old, new, marked: marked),
            "\(old) → \(new)\(marked ? ", marked" : ""): \(String(describing: refusal))")
          guard let refusal else { continue }
          #expect(refusal.code == 134190 && refusal.entity == "E" && refusal.property == "x")
          let sentence =
            marked && ![.binary, .transformable].contains(new)
            ? "Type Transformation expects NSTransformableAttributeType or NSBinaryDataAttributeType"
            : "Source and destination attribute types are incompatible"
          #expect(refusal.message.contains(sentence), "\(old) → \(new)")
        }
      }
    }
  }

  @Test("a transformation into external storage is refused")
  func externalTransformation() throws {
    let refusal = Self.refusal(
      from: try Self.model([Self.attribute("x", .transformable)]),
      to: try Self.model([Self.attribute("x", .binary, marked: true, external: true)]))
    #expect(refusal?.message.contains("NOT to be stored externally") == true)
  }

  @Test("properties of the source that share an identifier are refused, of the destination not")
  func uniqueness() throws {
    let shared = try Self.model([Self.attribute("a"), Self.attribute("b", id: "a")])
    // Any change elsewhere will do.
    let other = Entity("Other")
    for destination in [
      try Self.model([Self.attribute("a"), Self.attribute("b", id: "a"), Self.attribute("c")]),
      try Self.model([Self.attribute("a"), Self.attribute("b", id: "a")], others: [other]),
      try Self.model([Self.attribute("a")]),
    ] {
      let refusal = Self.refusal(from: shared, to: destination)
      #expect(refusal?.code == 134190 && refusal?.property == "b")
      #expect(
        refusal?.message.contains("Each property must have a unique renaming identifier") == true)
    }
    // A relationship and an attribute share one, too.
    let linked = try Self.model(
      [Self.attribute("a", id: "r")], relationships: [Relationship("r", to: "E", optional: true)])
    #expect(Self.refusal(from: linked, to: try Self.model([Self.attribute("a")]))?.code == 134190)
    let twice = try MappingInference.mapping(
      from: Self.model([Self.attribute("a")]), to: shared)
    #expect(
      twice.mapping(toDestination: "E")?.attributes.map(\.source) == ["a", "a"])
    // An entity that is removed is not asked.
    var gone = Entity("Gone")
    gone.attributes = [Self.attribute("a"), Self.attribute("b", id: "a")]
    #expect(
      Self.refusal(
        from: try Self.model([], others: [gone]), to: try Self.model([Self.attribute("x")])) == nil)
  }

  @Test("entities that share an identifier are refused, in either version")
  func entities() throws {
    func model(_ entities: (name: String, id: String?)...) throws -> Model {
      try Model(
        entities: entities.map { name, id in
          var entity = Entity(name)
          entity.renamingIdentifier = id
          return entity
        })
    }
    let source = Self.refusal(from: try model(("A", "X"), ("B", "X")), to: try model(("A", "X")))
    #expect(source?.code == 134190)
    #expect(
      source?.message.contains("Each source entity must have a unique renaming identifier") == true)
    let destination = Self.refusal(
      from: try model(("A", nil)), to: try model(("B", "A"), ("C", "A")))
    #expect(
      destination?.message.contains(
        "Each destination entity must have a unique renaming identifier")
        == true)
  }

  @Test("what the app's own migration drops or refuses is kept, and said by plan and explain")
  func differences() throws {
    let folder = try TemporaryFolder()
    let composite = Self.attribute("old", .composite)
    var renamed = Self.attribute("new", .composite, id: "old")
    renamed.elements = composite.elements
    let source = try Self.model([
      Self.attribute("b", id: "a"), Self.attribute("data", .binary, external: true), composite,
    ])
    let destination = try Self.model([
      Self.attribute("c", id: "b"), Self.attribute("data", .binary), renamed,
    ])
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: source)
    try writer.insert("E", attributes: ["b": .string("kept"), "old.part": .string("too")])
    try writer.finish()
    let mapping = try MappingInference.mapping(from: source, to: destination)
    let differences = MappingInference.appDifferences(mapping, from: source, to: destination)
    #expect(
      differences.map { [$0.property ?? "", "\($0.outcome)"] }
        == [["c", "lost"], ["data", "refused"], ["new.part", "lost"]])
    #expect(differences.allSatisfy { $0.sentence.contains("app's own migration will") })
    let plan = try Store(path: path).plan(to: destination, names: ("1", "2"))
    #expect(plan.losses == [] && plan.canRun)
    #expect(differences.allSatisfy { plan.notes.contains($0.sentence) })
    let explained = CompatibilityExplanation(
      hashes: source.versionHashes, source: source, model: destination)
    #expect(explained.caveats == differences.map(\.sentence))
    _ = try StoreMigration.runAndRead(plan)
    let row = try Store(path: path).rows(
      RowQuery(entity: "E", limit: 1, properties: ["c", "new.part"])
    ).rows.first
    #expect(row?.values == [.value(.string("kept")), .value(.string("too"))])
  }

  @Test("a property of another kind is another one: the old values go, and are counted")
  func kinds() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: try Self.model([Self.attribute("x")]))
    try writer.insert("E", attributes: ["x": .string("value")])
    try writer.finish()
    let destinations = [
      try Self.model([], relationships: [Relationship("x", to: "E", optional: true)]),
      try Self.model([Self.attribute("x", .composite)]),
    ]
    for destination in destinations {
      let plan = try Store(path: path).plan(to: destination, names: ("1", "2"))
      #expect(plan.losses.map(\.name) == ["E.x"] && plan.losses.map(\.values) == [1])
    }
  }

  @Test(
    "a to-one that becomes a to-many without an identifier loses its links", arguments: Way.allCases
  )
  func toOneToMany(_ way: Way) throws {
    func model(_ many: Bool, id: String?) throws -> Model {
      var card = Entity("Card")
      card.attributes = [Self.attribute("title")]
      var link = Relationship(
        many ? "labels" : "label", to: "Label", inverse: "cards", toMany: many, optional: true)
      link.renamingIdentifier = id
      card.relationships = [link]
      var label = Entity("Label")
      label.attributes = [Self.attribute("name")]
      label.relationships = [
        Relationship("cards", to: "Card", inverse: link.name, toMany: true, optional: true)
      ]
      return try Model(entities: [card, label])
    }
    for id in [nil, "label"] {
      let folder = try TemporaryFolder()
      let path = folder.path("Cards.sqlite")
      let writer = try StoreWriter(creating: path, model: try model(false, id: nil))
      let label = try writer.insert("Label")
      for _ in 0..<3 { try writer.insert("Card", toOne: ["label": label]) }
      try writer.finish()
      let plan = try way.plan(Store(path: path), to: model(true, id: id))
      if !way.isMapped {
        #expect(plan.losses.map(\.name) == (id == nil ? ["Card.label"] : []))
        #expect(plan.losses.map(\.values) == (id == nil ? [3] : []))
      }
      var options = MigrationOptions()
      options.allowedLosses = ["Card.label"]
      _ = try StoreMigration.runAndRead(plan, options: options)
      let object = try Store(path: path).object(ObjectID(entity: "Label", key: 1), related: 5)
      let links = object?.columns.firstIndex { $0.name == "cards" }.flatMap { object?.values[$0] }
      guard case .toMany(let many)? = links else { Issue.record("no cards"); continue }
      #expect(many.count == (id == nil ? 0 : 3), "\(way), \(id ?? "none")")
    }
  }
}
