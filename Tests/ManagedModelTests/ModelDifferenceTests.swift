import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("differences between models")
struct ModelDifferenceTests {
  private func model(_ edit: (inout Entity, inout Entity) -> Void = { _, _ in }) throws -> Model {
    var book = Entity("Book")
    book.attributes = [
      Attribute("title", .string), Attribute("pages", .integer16, optional: true),
    ]
    book.relationships = [Relationship("author", to: "Author", inverse: "books", optional: true)]
    var author = Entity("Author")
    author.attributes = [Attribute("name", .string)]
    author.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    edit(&book, &author)
    return try Model(entities: [book, author])
  }

  @Test("a model is identical to itself")
  func identical() throws {
    let difference = ModelDifference(from: try model(), to: try model())
    #expect(difference.isIdentical)
    #expect(difference.hashesAreEqual)
    #expect(difference.entities.map(\.name) == ["Author", "Book"])
  }

  @Test("each change is told once, with whether it moves the hash")
  func changes() throws {
    let new = try model { book, _ in
      book.attributes[0].type = .binary
      book.attributes[1].isOptional = false
      book.attributes[1].defaultValue = .integer(1)
      book.attributes.append(Attribute("isbn", .string, optional: true))
      book.uniquenessConstraints = [["isbn"]]
      book.relationships[0].deleteRule = .cascade
    }
    let difference = ModelDifference(from: try model(), to: new)
    #expect(difference.changed.map(\.name) == ["Book"])
    #expect(
      difference.entity(named: "Book")?.changes.map { "\($0.movesHash) \($0.description)" } == [
        "true must be unique now: isbn",
        "true attribute “title”: type String became Binary",
        "true attribute “pages” became mandatory",
        "false attribute “pages”: default none became “1”",
        "true attribute “isbn” added: String, optional",
        "false relationship “author”: delete rule Nullify became Cascade",
      ])
  }

  @Test("a renaming identifier makes one entity of two names")
  func renamed() throws {
    let new = try model { book, author in
      book.name = "Volume"
      book.renamingIdentifier = "Book"
      book.attributes[0].name = "heading"
      book.attributes[0].renamingIdentifier = "title"
      author.relationships[0].destination = "Volume"
    }
    let difference = ModelDifference(from: try model(), to: new)
    #expect(difference.added.isEmpty && difference.removed.isEmpty)
    let volume = difference.entity(named: "Volume")
    #expect(volume?.isRenamed == true)
    #expect(volume?.changes.contains { $0.kind == .renamed(from: "title") } == true)
    #expect(
      difference.entity(named: "Author")?.changes.map(\.description) == [
        "relationship “books”: destination “Book” was renamed to “Volume”"
      ])
  }

  @Test("an identifier that names nothing makes the thing new")
  func unrelated() throws {
    let new = try model { book, _ in
      book.attributes[0].renamingIdentifier = "nothing"
      // Something must move the hash: nobody asks for identifiers otherwise.
      book.versionHashModifier = "2"
    }
    let kinds = ModelDifference(from: try model(), to: new).entity(named: "Book")?.changes.map(
      \.kind)
    #expect(kinds == [.versionHashModifier(from: nil, to: "2"), .added, .removed])
  }

  @Test("properties of the older version that share an identifier are told, of the newer not")
  func conflict() throws {
    let new = try model { book, _ in
      var copy = Attribute("heading", .string, optional: true)
      copy.renamingIdentifier = "title"
      book.attributes.append(copy)
    }
    #expect(ModelDifference(from: try model(), to: new).conflicts == [])
    let back = ModelDifference(from: new, to: try model()).conflicts
    #expect(back.count == 1 && back[0].contains("“title” and “heading”"))
  }

  @Test("a child whose parent changed says so, and a property that moved up is not removed")
  func hierarchy() throws {
    var parent = Entity("Parent")
    var child = Entity("Child", parent: "Parent")
    child.attributes = [Attribute("x", .string)]
    let old = try Model(entities: [parent, child, Entity("Second", parent: "Parent")])
    parent.attributes = [Attribute("x", .string)]
    child.attributes = []
    let new = try Model(entities: [parent, child, Entity("Second", parent: "Parent")])
    let difference = ModelDifference(from: old, to: new)
    #expect(difference.entity(named: "Child")?.changes.map(\.kind) == [.movedUp(to: "Parent")])
    #expect(difference.entity(named: "Second")?.changes.map(\.kind) == [.inherited(from: "Parent")])
  }

  @Test("a store fits when its hashes are the model's, entity by entity")
  func compatibility() throws {
    let old = try model()
    let new = try model { book, _ in book.attributes[0].isOptional = true }
    #expect(Compatibility(storeHashes: old.versionHashes, model: old).isCompatible)
    let answer = Compatibility(storeHashes: old.versionHashes, model: new)
    #expect(!answer.isCompatible)
    #expect(answer.differing == ["Book"])
    #expect(answer.matching == ["Author"])
    let none = Compatibility(storeHashes: [:], model: new)
    #expect(none.missingInStore == ["Author", "Book"])
    #expect(none.likeness == 0)
  }

  @Test("identifiers that are leftovers of a copy differ in no hash: no migration is needed")
  func leftovers() throws {
    let old = try model()
    let new = try model { book, author in
      book.renamingIdentifier = "Author"
      author.attributes[0].renamingIdentifier = "books"
    }
    let difference = ModelDifference(from: old, to: new)
    #expect(difference.hashesAreEqual)
    #expect(difference.conflicts == [])
    #expect(difference.added.isEmpty && difference.removed.isEmpty)
    #expect(!difference.isIdentical)
    #expect(
      difference.changed.flatMap { $0.changes.map(\.description) } == [
        "attribute “name”: renaming identifier none became “books”",
        "renaming identifier none became “Author”",
      ])
  }

  @Test("a model whose entities and properties share identifiers is identical to itself")
  func sharedIdentifiers() throws {
    let shared = try model { book, author in
      book.renamingIdentifier = "Former"
      author.renamingIdentifier = "Former"
      for index in book.attributes.indices { book.attributes[index].renamingIdentifier = "was" }
    }
    let difference = ModelDifference(from: shared, to: shared)
    #expect(difference.isIdentical)
    #expect(difference.hashesAreEqual)
    #expect(difference.conflicts == [])
    // The same where another change moves the hash.
    let changed = try model { book, author in
      book.renamingIdentifier = "Former"
      author.renamingIdentifier = "Former"
      for index in book.attributes.indices { book.attributes[index].renamingIdentifier = "was" }
      book.versionHashModifier = "2"
    }
    let other = ModelDifference(from: shared, to: changed)
    // Core Data refuses to infer a mapping from such a version.
    #expect(other.conflicts.contains { $0.contains("renaming identifier, “Former”") })
    #expect(other.conflicts.contains { $0.contains("renaming identifier, “was”") })
    #expect(
      other.changed.flatMap { $0.changes.map(\.description) } == [
        "version hash modifier none became “2”"
      ])
  }

  @Test(
    "sharers of an identifier align by name, and the one that is left goes to the other claimant")
  func sharers() {
    let sharers = NameAlignment(
      source: [("a", "x"), ("b", "x"), ("c", "c")],
      destination: [("b", "x"), ("d", "x"), ("c", "c")])
    #expect(sharers.sources == ["b": "b", "d": "a", "c": "c"])
    #expect(sharers.sharedSources == ["x": ["a", "b"]])
    #expect(sharers.sharedDestinations == ["x": ["b", "d"]])
    // Two may come from one source: the one of the same name stands for it the other way round.
    let claimed = NameAlignment(
      source: [("a", "a"), ("b", "b")], destination: [("a", "a"), ("b", "a")])
    #expect(claimed.sources == ["a": "a", "b": "a"])
    #expect(claimed.destinations == ["a": "a"])
    #expect(claimed.byFormerName.isEmpty)
  }

  @Test("an identifier that names a former name is followed where nobody has the identifier")
  func formerNames() {
    let kept = NameAlignment(source: [("b", "a")], destination: [("c", "b")])
    #expect(kept.sources == ["c": "b"])
    #expect(kept.byFormerName == ["c"])
    let taken = NameAlignment(source: [("b", "a")], destination: [("c", "b"), ("b", "a")])
    #expect(taken.sources == ["b": "b"])
    #expect(taken.byFormerName.isEmpty)
  }

  @Test("what goes by its own name is what was called so, and nothing else")
  func ownNames() {
    let own = NameAlignment(
      source: [("a", "a"), ("b", "b"), ("gone", "gone")],
      destination: [("b", "b"), ("new", "new"), ("a", "a")])
    #expect(own.sources == ["a": "a", "b": "b"])
    #expect(own.destinations == ["a": "a", "b": "b"])
    #expect(own.sharedSources.isEmpty && own.sharedDestinations.isEmpty)
    // Two of one name share their identifier.
    let twice = NameAlignment(source: [("a", "a")], destination: [("a", "a"), ("a", "a")])
    #expect(twice.sharedDestinations == ["a": ["a", "a"]])
    #expect(NameAlignment(sameNames: ["a", "b"], ["b", "c"]).sources == ["b": "b"])
  }
}
