import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Inferring what becomes of composite attributes")
struct CompositeInferenceTests {
  private func refusal(_ change: (inout [String: Entity]) -> Void) throws -> CoreDataError? {
    let model = try CompositeCase.model(change)
    do {
      _ = try MappingInference.mapping(from: CompositeSamples.library(), to: model)
      return nil
    } catch { return error as? CoreDataError }
  }

  private func inferred(_ change: (inout [String: Entity]) -> Void) throws -> MappingModel {
    try MappingInference.mapping(
      from: CompositeSamples.library(), to: CompositeCase.model(change))
  }

  @Test("each element has a mapping by its path, and their composite has none")
  func paths() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.elements.append(Attribute("email", .string, optional: true))
      }
    }
    let mapping = try MappingInference.mapping(from: CompositeSamples.library(), to: model)
    let item = try #require(mapping.mapping(toDestination: "Item"))
    #expect(
      item.attributes.filter { $0.name.hasPrefix("author") }.map { [$0.name, $0.source] } == [
        ["author.person", "author.person"], ["author.id", "author.id"],
        ["author.born", "author.born"], ["author.score", "author.score"], ["author.email", nil],
      ])
  }

  @Test("an element that changes its type is refused by its path")
  func type() throws {
    let error = try refusal {
      $0["Item"]?.edit("author") { $0.edit(element: "person") { $0.type = .integer32 } }
    }
    #expect(error?.code == 134190)
    #expect(error?.entity == "Item")
    #expect(error?.property == "author.person")
    #expect(error?.message.contains("from String to Integer 32") == true)
  }

  @Test("an attribute and a composite of one name are two: the new one begins empty")
  func shape() throws {
    let composite = try inferred {
      $0["Item"]?.edit("title") {
        $0.type = .composite
        $0.elements = [Attribute("text", .string)]
      }
    }
    let item = composite.mapping(toDestination: "Item")
    #expect(
      item?.attribute(named: "title.text") == AttributeMapping(name: "title.text", source: nil))
    let plain = try inferred {
      $0["Item"]?.edit("author") {
        $0.type = .string
        $0.elements = []
      }
    }
    #expect(
      plain.mapping(toDestination: "Item")?.attribute(named: "author")
        == AttributeMapping(name: "author", source: nil))
  }

  @Test("two elements that were one take its values both")
  func conflict() throws {
    let mapping = try inferred {
      $0["Item"]?.edit("author") {
        for name in ["a", "b"] {
          var element = Attribute(name, .string, optional: true)
          element.renamingIdentifier = "person"
          $0.elements.append(element)
        }
        $0.remove(element: "person")
      }
    }
    let item = mapping.mapping(toDestination: "Item")
    for name in ["author.a", "author.b"] {
      #expect(item?.attribute(named: name)?.source == "author.person")
    }
  }

  @Test("a change that is set aside leaves the rest to be counted")
  func remainder() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.edit(element: "person") { $0.type = .integer32 }
        $0.remove(element: "born")
      }
    }
    let rest = MappingInference.remainder(from: try CompositeSamples.library(), to: model)
    #expect(rest.refusals.map(\.property) == ["author.person"])
    #expect(rest.mapping != nil)
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let impacts = try StoreMigration.impacts(on: Store(path: path), to: model)
    #expect(
      impacts.contains {
        $0.property == "author.person" && $0.severity == .failure && $0.rows == 2
      })
    #expect(
      impacts.contains { $0.property == "author.born" && $0.severity == .loss && $0.rows == 1 })
  }

  @Test("a mandatory element without a default fails like an attribute")
  func mandatoryElement() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("kind") { $0.elements.append(Attribute("level", .integer16)) }
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    for way in Way.allCases {
      let plan = try way.plan(Store(path: path), to: model)
      // What a policy leaves out is known when it ran.
      if way != .policies {
        #expect(
          plan.failures.allSatisfy { $0.property == "kind.level" && $0.code == 134110 }, "\(way)")
        #expect(plan.failures.map(\.rows).reduce(0, +) == 3)
      }
      let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
      #expect(error?.property == "kind.level")
      #expect(error?.code == 134110)
    }
  }

  @Test("a mandatory composite without a value is told, and does not stop the migration")
  func mandatoryComposite() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.attributes.append(
        CompositeSamples.composite("status", [Attribute("status", .string, optional: true)]))
    }
    for way in Way.allCases {
      let result = try CompositeCase.migrate(to: model, way)
      #expect(result.plan.failures == [])
      #expect(result.after["Item/p1"]?["status.status"] == "∅")
      guard way != .policies else { continue }
      let checks = result.plan.checks.filter { $0.property == "status" }
      #expect(checks.allSatisfy { $0.isWarning && $0.code == 1570 })
      #expect(checks.map(\.rows).reduce(0, +) == 3, "\(way)")
      #expect(checks.first?.hint.contains("\"status.status\"") == true)
    }
  }

  @Test("a mandatory element is told where its optional composite has other values, and only there")
  func elementBesideOthers() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") { $0.elements.append(Attribute("rank", .integer64)) }
    }
    for way in [Way.inPlace, .copying, .mapped] {
      let result = try CompositeCase.migrate(to: model, way)
      #expect(result.plan.failures == [], "\(way)")
      let checks = result.plan.checks.filter { $0.property == "author.rank" }
      #expect(checks.allSatisfy { $0.isWarning && $0.code == 1570 })
      let written = result.before.values.count { values in
        ["person", "id", "born", "score"].contains { (values["author." + $0] ?? "∅") != "∅" }
      }
      #expect(written > 0)
      #expect(checks.map(\.rows).reduce(0, +) == written, "\(way)")
    }
  }

  @Test("a constraint on an element is checked, one on a composite is said to be unknown")
  func constraints() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    for way in Way.allCases {
      let element = try way.plan(
        Store(path: path),
        to: CompositeCase.model { $0["Item"]?.uniquenessConstraints = [["kind.kind"]] })
      if way != .policies {
        #expect(element.failures.map(\.code) == [134111], "\(way)")
        #expect(element.failures.first?.property == "kind.kind")
        #expect(element.failures.first?.rows == 2)
      }
      #expect(element.notes.contains { $0.contains("(kind.kind) of Item names the element") })
      let other = try CompositeCase.migrate(
        to: CompositeCase.model { $0["Item"]?.uniquenessConstraints = [["kind.kind", "id"]] }, way)
      #expect(other.after == other.before)
      let whole = try CompositeCase.migrate(
        to: CompositeCase.model { $0["Item"]?.uniquenessConstraints = [["kind"]] }, way)
      #expect(whole.after == whole.before)
      #expect(
        whole.plan.notes.contains { $0.contains("(kind) of Item names the composite attribute") })
    }
  }

  @Test(
    "forgotten identifiers are suggested for elements, for composites, and recipes for the rest")
  func suggestions() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    func suggestion(_ loss: String, _ change: (inout [String: Entity]) -> Void) throws -> String? {
      let plan = try Way.inPlace.plan(Store(path: path), to: CompositeCase.model(change))
      return plan.losses.first { $0.name == loss }?.suggestion
    }
    let element = try suggestion("Item.author.person") {
      $0["Item"]?.edit("author") { $0.edit(element: "person") { $0.name = "personName" } }
    }
    #expect(
      element
        == "If Item.author.personName is the former “person”, give the element the renaming identifier “person” in the model: its values are kept then."
    )
    let composite = try suggestion("Item.author.person") {
      $0["Item"]?.edit("author") { $0.name = "authors" }
      $0["Item"]?.attributes.append(Attribute("more", .integer16, optional: true))
    }
    #expect(
      composite
        == "If Item.authors is the former “author”, give it the renaming identifier “author” in the model: its values are kept then."
    )
    let plain = try suggestion("Item.author.person") {
      $0["Item"]?.edit("author") { $0.remove(element: "person") }
      $0["Item"]?.attributes.append(Attribute("authorPerson", .string, optional: true))
    }
    #expect(
      plain
        == "If Item.authorPerson is to take the values of “author.person”, say so in a recipe: \"attributes\": { \"authorPerson\": \"author.person\" }."
    )
  }
}
