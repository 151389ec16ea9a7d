import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Classics: entities that become one, and values that become objects")
struct MergingTests {
  static func animals() throws -> (Model, Model) {
    (
      try Classics.model(
        "1",
        """
        Owner
          name String
          cats ->>> Cat.owner
          dogs ->> Dog.owner
          best -> Dog
        Cat
          name String
          owner -> Owner.cats
          mate -> Cat.mate
        Dog
          name String
          owner -> Owner.dogs
          enemies ->> Cat
          toys ->> Toy.dogs
        Toy
          label String
          dogs ->> Dog.toys
        """),
      try Classics.model(
        "2",
        """
        Owner
          name String
          cats ->>> Pet.owner
          best -> Pet
        Pet
          kind String
          name String
          owner -> Owner.cats
          mate -> Pet.mate
          enemies ->> Pet
          toys ->> Toy.dogs
        Toy
          label String
          dogs ->> Pet.toys
        """)
    )
  }

  static func zoo(in folder: TemporaryFolder) throws -> String {
    try Classics.store(animals().0, in: folder) { writer in
      let ann = ObjectID(entity: "Owner", key: 1)
      let toy = try writer.insert("Toy", attributes: ["label": .string("ball")])
      let cats = try [1, 2].map { key in
        try writer.insert(
          "Cat", attributes: ["name": .string("cat \(key)")],
          toOne: ["owner": ann, "mate": ObjectID(entity: "Cat", key: Int64(3 - key))],
          positions: ["owner": 5 - key])
      }
      for key in 1...2 {
        try writer.insert(
          "Dog", attributes: ["name": .string("dog \(key)")], toOne: ["owner": ann],
          toMany: key == 2 ? ["toys": [toy], "enemies": cats] : [:])
      }
      try writer.insert(
        "Owner", attributes: ["name": .string("Ann")],
        toOne: ["best": ObjectID(entity: "Dog", key: 2)])
    }
  }

  static let merged = [
    "Owner/p1 name=Ann best→Pet/p4 cats→[Pet/p2 Pet/p1 Pet/p3 Pet/p4]",
    "Pet/p1 kind=cat name=cat 1 enemies→[] mate→Pet/p2 owner→Owner/p1 toys→[]",
    "Pet/p2 kind=cat name=cat 2 enemies→[] mate→Pet/p1 owner→Owner/p1 toys→[]",
    "Pet/p3 kind=dog name=dog 1 enemies→[] mate→∅ owner→Owner/p1 toys→[]",
    "Pet/p4 kind=dog name=dog 2 enemies→[Pet/p1 Pet/p2] mate→∅ owner→Owner/p1 toys→[Toy/p1]",
    "Toy/p1 label=ball dogs→[Pet/p4]",
  ]

  @Test("two entities become one: links follow, and keys that change are told")
  func merging() throws {
    let folder = try TemporaryFolder()
    let path = try Self.zoo(in: folder)
    let plan = try Classics.plan(
      path, to: Self.animals().1,
      """
      { source: 'Cat', destination: 'Pet', attributes: { kind: "'cat'" } },
      { source: 'Dog', destination: 'Pet', attributes: { kind: "'dog'" } }
      """)
    #expect(plan.losses.map { "\($0.name) \($0.values)" } == [])
    #expect(
      plan.notes.filter { $0.contains("new keys") } == [
        "Objects of Dog get new keys as Pet: what refers to them by key outside the store (object URIs, history, CloudKit) no longer finds them."
      ])
    _ = try StoreMigration.runAndRead(plan)
    #expect(try StoreDump.lines(at: path).sorted() == Self.merged.sorted())
  }

  @Test(
    "objects that join an entity come after its own, which keep their keys, whoever is named first")
  func joining() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (
      try Classics.model("1", "Draft\n  name String\nRecipe\n  name String"),
      try Classics.model("2", "Recipe\n  name String")
    )
    let path = try Classics.store(old, in: folder) { writer in
      try writer.insert("Draft", attributes: ["name": .string("draft")])
      for name in ["soup", "stew"] {
        try writer.insert("Recipe", attributes: ["name": .string(name)])
      }
    }
    let plan = try Classics.plan(
      path, to: new,
      """
      { source: 'Draft', destination: 'Recipe' },
      { source: 'Recipe', destination: 'Recipe' }
      """)
    #expect(
      plan.notes.filter { $0.contains("new keys") }.map { $0.prefix(35) } == [
        "Objects of Draft get new keys as Re"
      ])
    _ = try StoreMigration.runAndRead(plan)
    #expect(
      try StoreDump.lines(at: path).sorted() == [
        "Recipe/p1 name=soup", "Recipe/p2 name=stew", "Recipe/p3 name=draft",
      ])
  }

  final class Kind: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let pet = try manager.makeInstance(of: source, in: mapping)
      try pet.set(.string(mapping.source == "Cat" ? "cat" : "dog"), for: "kind")
    }
  }

  @Test("the same by policies, both or one of them", arguments: ["Cat", "Dog", "Cat and Dog"])
  func byPolicy(which: String) throws {
    let folder = try TemporaryFolder()
    let mappings = ["Cat", "Dog"].map { name in
      which.contains(name)
        ? "{ source: '\(name)', destination: 'Pet', policy: 'P' }"
        : "{ source: '\(name)', destination: 'Pet', attributes: { kind: \"'\(name.lowercased())'\" } }"
    }
    let lines = try Classics.migrate(
      Self.zoo(in: folder), to: Self.animals().1, mappings.joined(separator: ", "),
      policies: ["P": Kind.self])
    #expect(lines.sorted() == Self.merged.sorted())
  }

  @Test("one object for each different value, with links through it of every kind")
  func distinct() throws {
    let (old, new) = (
      try Classics.model(
        "1",
        """
        Car
          maker String
          dealers ->> Dealer.cars
          garage -> Garage.cars
        Dealer
          cars ->> Car.dealers
        Garage
          cars ->>> Car.garage
        """),
      try Classics.model(
        "2",
        """
        Car
          maker -> Maker.cars
          dealers ->> Dealer.cars
          garage -> Garage.cars
        Dealer
          cars ->> Car.dealers
          makers ->> Maker.dealers
        Garage
          cars ->>> Car.garage
          makers ->> Maker
        Maker
          name String
          cars ->> Car.maker
          dealers ->> Dealer.makers
        """)
    )
    let folder = try TemporaryFolder()
    let path = try Classics.store(old, in: folder) { writer in
      let dealers = [1, 2].map { ObjectID(entity: "Dealer", key: $0) }
      let garage = ObjectID(entity: "Garage", key: 1)
      for (index, maker) in ["Saab", "Volvo", nil, "Saab"].enumerated() {
        try writer.insert(
          "Car", attributes: maker.map { ["maker": .string($0)] } ?? [:],
          toOne: index == 1 ? [:] : ["garage": garage], positions: ["garage": 9 - index],
          toMany: ["dealers": index == 0 ? dealers : [dealers[1]]])
      }
      for _ in 1...2 { try writer.insert("Dealer") }
      try writer.insert("Garage")
    }
    let lines = try Classics.migrate(
      path, to: new,
      """
      { source: 'Car', destination: 'Maker', distinct: 'maker', attributes: { name: 'maker' },
        relationships: { cars: null, dealers: 'dealers' } },
      { source: 'Car', destination: 'Car', relationships: { maker: { from: 'self', through: 'CarToMaker' } } },
      { source: 'Dealer', destination: 'Dealer', relationships: { makers: null } },
      { source: 'Garage', destination: 'Garage', relationships: { makers: { from: 'cars', through: 'CarToMaker' } } }
      """)
    #expect(
      lines.sorted() == [
        "Car/p1 dealers→[Dealer/p1 Dealer/p2] garage→Garage/p1 maker→Maker/p1",
        "Car/p2 dealers→[Dealer/p2] garage→∅ maker→Maker/p2",
        "Car/p3 dealers→[Dealer/p2] garage→Garage/p1 maker→∅",
        "Car/p4 dealers→[Dealer/p2] garage→Garage/p1 maker→Maker/p1",
        "Dealer/p1 cars→[Car/p1] makers→[Maker/p1]",
        "Dealer/p2 cars→[Car/p1 Car/p2 Car/p3 Car/p4] makers→[Maker/p1 Maker/p2]",
        "Garage/p1 cars→[Car/p4 Car/p3 Car/p1] makers→[Maker/p1]",
        "Maker/p1 name=Saab cars→[Car/p1 Car/p4] dealers→[Dealer/p1 Dealer/p2]",
        "Maker/p2 name=Volvo cars→[Car/p2] dealers→[Dealer/p2]",
      ])
  }

  @Test("trees three deep: ordered, many to many, one to one, and without inverse")
  func trees() throws {
    let (old, new) = (
      try Classics.model("1", "Book\n  toc String\n  title String"),
      try Classics.model(
        "2",
        """
        Book
          title String
          parts ->>> Part.book
          cover -> Cover.book
          extra -> Extra
        Cover
          label String
          book -> Book.cover
        Extra
          label String
          notes ->> Note
        Note
          text String
        Part
          name String
          book -> Book.parts
          topics ->>> Topic.parts
        Topic
          label String
          parts ->> Part.topics
          sub ->> Topic
        """)
    )
    let folder = try TemporaryFolder()
    let path = try Classics.store(old, in: folder) { writer in
      for (title, toc) in [("A", #"[["x","y"],["z"]]"#), ("B", "[]"), ("C", "no json")] {
        try writer.insert("Book", attributes: ["title": .string(title), "toc": .string(toc)])
      }
    }
    let lines = try Classics.migrate(
      path, to: new,
      """
      { source: 'Book', destination: 'Book', create: [
        { destination: 'Part', relationship: 'parts', each: 'toc', attributes: { name: "title || position" },
          create: [ { destination: 'Topic', relationship: 'topics', each: 'item', attributes: { label: 'item' },
            create: [ { destination: 'Topic', relationship: 'sub', attributes: { label: "'under ' || item" } } ] } ] },
        { destination: 'Cover', relationship: 'cover', attributes: { label: 'title' } },
        { destination: 'Extra', relationship: 'extra', attributes: { label: "'more'" },
          create: [ { destination: 'Note', relationship: 'notes', attributes: { text: 'title' } } ] } ] }
      """)
    #expect(
      lines.filter { !$0.hasPrefix("Topic") } == [
        "Book/p1 title=A cover→Cover/p1 extra→Extra/p1 parts→[Part/p1 Part/p2]",
        "Book/p2 title=B cover→Cover/p2 extra→Extra/p2 parts→[]",
        "Book/p3 title=C cover→Cover/p3 extra→Extra/p3 parts→[]",
        "Cover/p1 label=A book→Book/p1", "Cover/p2 label=B book→Book/p2",
        "Cover/p3 label=C book→Book/p3",
        "Extra/p1 label=more notes→[Note/p1]", "Extra/p2 label=more notes→[Note/p2]",
        "Extra/p3 label=more notes→[Note/p3]",
        "Note/p1 text=A", "Note/p2 text=B", "Note/p3 text=C",
        "Part/p1 name=A0 book→Book/p1 topics→[Topic/p1 Topic/p2]",
        "Part/p2 name=A1 book→Book/p1 topics→[Topic/p3]",
      ])
    #expect(
      lines.filter { $0.hasPrefix("Topic") } == [
        "Topic/p1 label=x parts→[Part/p1] sub→[Topic/p4]",
        "Topic/p2 label=y parts→[Part/p1] sub→[Topic/p5]",
        "Topic/p3 label=z parts→[Part/p2] sub→[Topic/p6]",
        "Topic/p4 label=under x parts→[] sub→[]", "Topic/p5 label=under y parts→[] sub→[]",
        "Topic/p6 label=under z parts→[] sub→[]",
      ])
  }
}
