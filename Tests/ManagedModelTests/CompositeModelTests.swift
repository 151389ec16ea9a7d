import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("models with composite attributes")
struct CompositeModelTests {
  private func nested() throws -> Model {
    var entity = Entity("Place")
    entity.attributes = [
      CompositeSamples.composite(
        "home", optional: true,
        [
          CompositeSamples.composite(
            "position", [Attribute("latitude", .double), Attribute("longitude", .double)]),
          Attribute("street", .string, optional: true),
        ])
    ]
    return try Model(entities: [entity])
  }

  @Test("a model of composites archived and read again is the same")
  func archive() throws {
    var withDefault = try CompositeSamples.library().entities
    let item = try #require(withDefault.firstIndex { $0.name == "Item" })
    let kind = try #require(withDefault[item].attributes.firstIndex { $0.name == "kind" })
    withDefault[item].attributes[kind].elements[0].defaultValue = .string("book")
    for model in [
      try CompositeSamples.cocktails(), try CompositeSamples.library(), try nested(),
      try Model(entities: withDefault),
    ] {
      let copy = try Model(archive: model.archived())
      #expect(copy.versionHashes == model.versionHashes)
      #expect(copy.warnings.isEmpty)
      for entity in model.entities {
        let attributes = copy.attributes(of: entity.name).sorted { $0.name < $1.name }
        #expect(attributes == model.attributes(of: entity.name).sorted { $0.name < $1.name })
      }
    }
  }

  @Test("the archive has the framework's class and key")
  func keys() throws {
    let text = String(decoding: try CompositeSamples.library().archived(), as: UTF8.self)
    #expect(text.contains("NSCompositeAttributeDescription"))
    #expect(text.contains("NSCompositeElements"))
  }

  @Test("a model of composites written as XML and read again has its hashes")
  func xml() throws {
    for model in [
      try CompositeSamples.cocktails(), try CompositeSamples.library(), try nested(),
    ] {
      let copy = try Model(contents: Array(model.xcdatamodelContents().utf8))
      #expect(copy.versionHashes == model.versionHashes)
      #expect(copy.warnings.isEmpty)
      #expect(copy.xcdatamodelContents() == model.xcdatamodelContents())
    }
  }

  @Test("attributes of one name and composition share a definition, others of that name do not")
  func definitions() throws {
    let text = try CompositeSamples.cocktails().xcdatamodelContents()
    #expect(text.components(of: "<composite name=") == 6)
    #expect(text.contains(#"name="drinkColor" attributeType="Composite" elementName="DrinkColor""#))
    var one = Entity("A")
    one.attributes = [CompositeSamples.composite("size", [Attribute("x", .double)])]
    var two = Entity("B")
    two.attributes = [CompositeSamples.composite("size", [Attribute("x", .double)])]
    var three = Entity("C")
    three.attributes = [CompositeSamples.composite("size", [Attribute("y", .double)])]
    let model = try Model(entities: [one, two, three])
    let xml = model.xcdatamodelContents()
    #expect(xml.components(of: "<composite name=") == 2)
    #expect(xml.contains(#"<composite name="CSize">"#))
    #expect(try Model(contents: Array(xml.utf8)).versionHashes == model.versionHashes)
  }

  @Test("definitions are found however an attribute refers to them, before or behind it")
  func spellings() throws {
    for key in ["compositeName", "elementName"] {
      for tag in ["composite", "compositeAttribute"] {
        let definition =
          #"<\#(tag) name="Name"><attribute name="first" attributeType="String"/></\#(tag)>"#
        let entity =
          #"<entity name="A"><attribute name="name" attributeType="Composite" \#(key)="Name"/></entity>"#
        for parts in [definition + entity, entity + definition] {
          let model = try Model(contents: Array("<model>\(parts)</model>".utf8))
          #expect(model.storedAttributes(of: "A").map(\.name) == ["name.first"])
          #expect(model.warnings.isEmpty)
        }
      }
    }
  }

  @Test("a composite attribute without a definition is told")
  func undefined() throws {
    let model = try Model(
      contents: Array(
        #"""
        <model><entity name="A">
        <attribute name="a" attributeType="Composite"/>
        <attribute name="b" attributeType="Composite" compositeName="None"/>
        </entity></model>
        """#.utf8))
    #expect(model.warnings.count == 2)
    #expect(model.warnings.contains { $0.contains("“A.a” does not say which definition") })
    #expect(model.warnings.contains { $0.contains("“A.b” is a “None”") })
  }

  @Test("a definition that holds itself ends")
  func circle() throws {
    let model = try Model(
      contents: Array(
        #"""
        <model><entity name="A"><attribute name="a" attributeType="Composite" elementName="X"/></entity>
        <composite name="X"><attribute name="x" attributeType="Composite" elementName="X"/></composite>
        </model>
        """#.utf8))
    #expect(model.warnings.contains { $0.contains("defined by itself") })
    #expect(model.storedAttributes(of: "A").isEmpty)
  }

  @Test("two elements of one name are no model")
  func twice() {
    var entity = Entity("A")
    entity.attributes = [
      CompositeSamples.composite("a", [Attribute("x", .string), Attribute("x", .date)])
    ]
    #expect(throws: CoreDataError.self) { try Model(entities: [entity]) }
  }

  @Test("text, JSON and a diagram list the elements")
  func listings() throws {
    let model = try CompositeSamples.library()
    let lines = model.text().split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix("  author ") && $0.contains("Composite, optional") })
    #expect(lines.contains { $0.hasPrefix("    person ") && $0.contains("String, optional") })
    #expect(model.json.contains("\"elements\""))
    #expect(model.mermaid().contains("    +String? author.person\n"))
    #expect(!model.mermaid().contains("Composite"))
  }

  @Test("each change of an element is told once, by its path, with whether it moves the hash")
  func difference() throws {
    let before = try CompositeSamples.library()
    var entities = before.entities
    let item = try #require(entities.firstIndex { $0.name == "Item" })
    let author = try #require(entities[item].attributes.firstIndex { $0.name == "author" })
    // Person becomes name by its identifier, id another type, born goes, mail comes.
    var person = Attribute("name", .string, optional: true)
    person.renamingIdentifier = "person"
    entities[item].attributes[author].elements = [
      person, Attribute("id", .integer32, optional: true),
      Attribute("score", .decimal, optional: true), Attribute("mail", .string, optional: true),
    ]
    entities[item].attributes[author].isOptional = false
    let difference = ModelDifference(from: before, to: try Model(entities: entities))
    let changes = difference.entity(named: "Item")?.changes ?? []
    #expect(
      changes.map { "\($0.movesHash) \($0.property ?? "") \($0.description)" } == [
        "false author attribute “author” became mandatory",
        "true author.name element “author.name” renamed from “author.person”",
        "false author.name element “author.name”: renaming identifier none became “person”",
        "true author.id element “author.id”: type Integer 64 became Integer 32",
        "true author.mail element “author.mail” added: String, optional",
        "true author.born element “author.born” removed",
      ])
    #expect(difference.hashesAreEqual == false)
  }

  @Test("a composite attribute's new name moves a hash only through the order of names")
  func renamed() throws {
    func model(_ name: String, former: String? = nil) throws -> Model {
      var entity = Entity("A")
      var composite = CompositeSamples.composite(name, [Attribute("x", .string)])
      composite.renamingIdentifier = former
      entity.attributes = [composite, Attribute("m", .string)]
      return try Model(entities: [entity])
    }
    func moved(_ name: String) throws -> [Bool] {
      let difference = ModelDifference(from: try model("a"), to: try model(name, former: "a"))
      return (difference.entity(named: "A")?.changes ?? []).filter {
        if case .renamed = $0.kind { true } else { false }
      }.map(\.movesHash)
    }
    #expect(try moved("b") == [false])
    #expect(try moved("z") == [true])
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
