import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("the forms of a model")
struct ModelFormTests {
  @Test("an archive reads back equal")
  func archive() throws {
    let model = try SampleModels.rich()
    let copy = try Model(archive: model.archived())
    #expect(copy.versionHashes == model.versionHashes)
    #expect(copy.warnings == [])
    for entity in model.entities { #expect(copy.entity(named: entity.name) == entity) }
    #expect(copy == model)
  }

  @Test("XML reads back equal")
  func xml() throws {
    let model = try SampleModels.rich()
    let copy = try Model(contents: Array(model.xcdatamodelContents().utf8))
    for entity in model.entities { #expect(copy.entity(named: entity.name) == entity) }
    #expect(copy == model)
  }

  @Test("an inherited property listed again is not the child's own")
  func inherited() throws {
    let model = try SampleModels.rich()
    let copy = try Model(archive: model.archived())
    #expect(copy.entity(named: "Photo")?.attribute(named: "title") == nil)
    #expect(copy.attribute(named: "title", of: "Photo") != nil)
  }

  @Test("what is not known in XML is a warning with its line")
  func warnings() throws {
    let text = """
      <model userDefinedModelVersionIdentifier="">
        <entity name="A" flavour="sweet"><attribute name="x" attributeType="Sound"/>
          <sprinkles><more/></sprinkles></entity>
      </model>
      """
    let model = try Model(contents: Array(text.utf8))
    #expect(
      model.warnings == [
        "line 2: the attribute flavour of <entity> is not known",
        "line 2: “Sound” is not a known attribute type",
        "line 3: the element <sprinkles> in <entity> is not known",
      ])
    #expect(model.entity(named: "A")?.attributes.map(\.name) == ["x"])
  }

  @Test(
    "malformed XML names the line",
    arguments: [
      ("<model>\n<entity>\n</entity></model>", "line 2: expected <entity name=\"…\">"),
      ("<modell/>", "line 1: expected <model>, found <modell>"),
      ("<model>\n<entity name=\"A\">\n", "line 3: the XML is malformed: no element found"),
      (
        "<!DOCTYPE m [\n<!ENTITY a \"b\">]><model/>", "line 2: entity declarations are not accepted"
      ),
      (
        "<model><entity name=\"A\"><relationship name=\"r\"/></entity></model>",
        "line 1: expected <relationship destinationEntity=\"…\">"
      ),
    ])
  func malformedXML(text: String, message: String) {
    do {
      _ = try Model(contents: Array(text.utf8))
      Issue.record("read \(text)")
    } catch {
      #expect(error.message == message)
      #expect(error.kind == .unreadable)
    }
  }

  @Test("damaged archives and documents end in a model or an error", arguments: [4, 5] as [UInt64])
  func mutations(seed: UInt64) throws {
    let model = try SampleModels.rich()
    let archive = model.archived()
    let xml = Array(model.xcdatamodelContents().utf8)
    var generator = SeededGenerator(seed: seed)
    for length in stride(from: 0, to: archive.count, by: 97) {
      _ = try? Model(archive: Array(archive.prefix(length)))
    }
    for length in stride(from: 0, to: xml.count, by: 29) {
      #expect(throws: CoreDataError.self) { try Model(contents: Array(xml.prefix(length))) }
    }
    for _ in 0..<TestScale.count(150, ofAll: 1_000) {
      if let read = try? Model(archive: generator.mutated(archive)) {
        _ = read.versionHashes
        _ = read.archived()
      }
      if let read = try? Model(contents: generator.mutated(xml)) { _ = read.text() }
    }
  }

  @Test("references turned about end in a model or an error", arguments: [6] as [UInt64])
  func turnedReferences(seed: UInt64) throws {
    let list = try PropertyList.read(SampleModels.rich().archived())
    var generator = SeededGenerator(seed: seed)
    func turned(_ value: PropertyListValue) -> PropertyListValue {
      switch value {
      case .uid where Int.random(in: 0..<60, using: &generator) == 0:
        .uid(Int.random(in: 0..<400, using: &generator))
      case .array(let values): .array(values.map(turned))
      case .dictionary(let values): .dictionary(values.mapValues(turned))
      default: value
      }
    }
    for _ in 0..<TestScale.count(100, ofAll: 400) {
      let archive = try KeyedArchive(propertyList: turned(list))
      _ = try? Model(keyedArchive: archive)
      #expect(archive.tree(maximumNodes: 300).lines().count <= 2_000)
    }
  }

  @Test("JSON, Mermaid and text hold every property and no control character")
  func outputs() throws {
    var entity = Entity("Odd\u{1B}[31m \"name\"")
    entity.attributes = [Attribute("x\u{7}", .string)]
    let model = try Model(entities: [entity, Entity("Plain", parent: entity.name)])
    for text in [model.json, model.mermaid(), model.text()] {
      #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
      #expect(text.contains("Plain"))
    }
    let rich = try SampleModels.rich()
    #expect(rich.mermaid().contains("  Asset <|-- Photo\n"))
    #expect(rich.mermaid().contains("  Asset \"*\" -- \"*\" Tag : tags / assets\n"))
    #expect(rich.text().contains("Photo : Asset\n"))
    #expect(rich.json == (try SampleModels.rich().json))
  }
}
