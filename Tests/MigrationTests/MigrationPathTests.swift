import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Finding the way through versions")
struct MigrationPathTests {
  /// A model of one entity with these attributes, each `name`, or `name<former` where it was renamed.
  static func model(
    _ attributes: String..., entity: String = "A", type: String = "String"
  ) throws
    -> Model
  {
    let lines = attributes.map { text in
      let parts = text.split(separator: "<").map(String.init)
      let former = parts.count > 1 ? " elementID=\"\(parts[1])\"" : ""
      return
        "<attribute name=\"\(parts[0])\" optional=\"YES\" attributeType=\"\(type)\"\(former)/>"
    }
    return try Library.model(
      "<model><entity name=\"\(entity)\">\(lines.joined())</entity></model>")
  }

  static func versions(_ models: Model...) -> ModelVersions {
    ModelVersions(
      models.enumerated().map { ModelVersions.Version(name: "V \($0 + 1)", model: $1) })
  }

  static func path(
    _ versions: ModelVersions, _ from: Int, _ to: Int,
    custom: @escaping CustomMapping = { _, _, _ in nil }
  ) throws -> [String] {
    let (source, destination) = (versions.versions[from - 1], versions.versions[to - 1])
    let path = try MigrationPath.find(
      from: source.model, to: destination.model, names: (source.name, destination.name),
      through: versions, custom: custom)
    return path.steps.map { "\($0.from) → \($0.to) \($0.mapping.kind.rawValue)" }
  }

  @Test("versions are in natural order")
  func order() throws {
    let model = try Self.model("a")
    let names = ["Model 10", "m2.21.1", "Model", "m2.7", "Model 2", "m2.7.0", "Model 02x"]
    let versions = ModelVersions(names.map { .init(name: $0, model: model) })
    #expect(
      versions.versions.map(\.name) == [
        "Model", "Model 02x", "Model 2", "Model 10", "m2.7", "m2.7.0", "m2.21.1",
      ])
  }

  @Test("what is said of versions one by one leaves out no pair that a document is for")
  func ends() throws {
    let (a, b, c) = (try Self.model("a"), try Self.model("b"), try Self.model("c"))
    var documents = MappingDocuments()
    documents.add(try Recipe(text: "{ from: 'V 1', to: 'V 2' }", path: "1"))
    documents.add(
      try Recipe(
        text: "{ from: '\(b.versionHashesDigest)', to: '\(c.versionHashesDigest)' }", path: "2"))
    let models = ["V 1": a, "V 2": b, "V 3": c]
    let ends = DocumentEnds(of: documents, among: models.mapValues { ($0, $0.versionHashes) })
    for (from, source) in models {
      for (to, destination) in models {
        let isFor = documents.recipes.contains {
          $0.leads(from: source, called: from) && $0.leads(to: destination, called: to)
        }
        #expect(ends.canLead(from: from, to: to) == isFor, "\(from) \(to)")
      }
    }
    #expect(ends.canLead(from: "V 1", to: "V 2") && ends.canLead(from: "V 2", to: "V 3"))
    #expect(!ends.canLead(from: "V 1", to: "V 3"))
  }

  @Test("the way is straight where nothing is lost, and none where hashes are equal")
  func direct() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", "b"), try Self.model("a", "b", "c"))
    #expect(try Self.path(versions, 1, 3) == ["V 1 → V 3 inferred"])
    #expect(try Self.path(versions, 3, 1) == ["V 3 → V 1 inferred"])
    #expect(try Self.path(versions, 2, 2) == ["V 2 → V 2 none"])
  }

  @Test("a property renamed twice is carried through the version between")
  func renamedTwice() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("b<a"), try Self.model("c<b"))
    #expect(try Self.path(versions, 1, 3) == ["V 1 → V 2 inferred", "V 2 → V 3 inferred"])
    // The identifier that names the first name reaches over both.
    let far = Self.versions(
      try Self.model("a"), try Self.model("b<a"), try Self.model("c<a"))
    #expect(try Self.path(far, 1, 3) == ["V 1 → V 3 inferred"])
  }

  @Test("no more steps than needed: renamings far apart cost two")
  func fewest() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", "x"), try Self.model("b<a", "x"),
      try Self.model("b<a", "x", "y"), try Self.model("c<b", "x", "y"),
      try Self.model("c<b", "x", "y", "z"))
    let path = try Self.path(versions, 1, 6)
    #expect(path.count == 2)
    #expect(
      path.first?.hasPrefix("V 1 → V ") == true && path.last?.hasSuffix("V 6 inferred") == true)
    let steps = try MigrationPath.find(
      from: versions.versions[0].model, to: versions.versions[5].model, names: ("V 1", "V 6"),
      through: versions
    ).steps
    let whole = try #require(MappingModel.composed(steps[0].mapping, steps[1].mapping))
    #expect(whole.mapping(toDestination: "A")?.attributes.first?.source == "a")
  }

  @Test("an entity renamed twice is carried, and one renamed back goes straight")
  func renamedEntity() throws {
    func named(_ name: String, _ former: String?) throws -> Model {
      try Library.model(
        "<model><entity name=\"\(name)\"\(former.map { " elementID=\"\($0)\"" } ?? "")><attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/></entity></model>"
      )
    }
    let versions = Self.versions(
      try named("A", nil), try named("B", "A"), try named("C", "B"), try named("A", "C"))
    #expect(try Self.path(versions, 1, 3) == ["V 1 → V 2 inferred", "V 2 → V 3 inferred"])
    #expect(try Self.path(versions, 1, 4) == ["V 1 → V 4 none"])
  }

  @Test("a version that came back is no short cut, since going back knows no former names")
  func cameBack() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("b<a"), try Self.model("c<b"), try Self.model("d<c"),
      try Self.model("a<d"))
    #expect(
      try Self.path(versions, 1, 4) == [
        "V 1 → V 2 inferred", "V 2 → V 3 inferred", "V 3 → V 4 inferred",
      ])
    let matrix = try MigrationMatrix(of: versions)
    #expect(
      matrix[0, 3]
        == .chain(via: ["V 2", "V 3"], kinds: [.inferred, .inferred, .inferred]))
    #expect(matrix[0, 4] == MigrationMatrix.Path.none)
    // Where nothing leads on from the first place, the second is begun at.
    let cut = Self.versions(
      try Self.model("a"), try Self.model("a", type: "Double"), try Self.model("a"))
    let custom: CustomMapping = { _, _, names in
      names == ("V 3", "V 2") ? MappingModel(kind: .recipe, entityMappings: []) : nil
    }
    #expect(try MigrationMatrix(of: cut, custom: custom)[0, 1] == .direct(.recipe))
    #expect(try Self.path(cut, 1, 2, custom: custom) == ["V 1 → V 2 recipe"])
  }

  @Test("a written mapping is taken, and never jumped over")
  func custom() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", "b"), try Self.model("a", "b", "c"),
      try Self.model("a", "b", "c", "d"))
    let written = MappingModel(kind: .recipe, entityMappings: [])
    #expect(
      try Self.path(versions, 1, 4) { _, _, names in
        names == ("V 2", "V 3") ? written : nil
      } == ["V 1 → V 2 inferred", "V 2 → V 3 recipe", "V 3 → V 4 inferred"])
    // Straight to the end beats all.
    #expect(
      try Self.path(versions, 1, 4) { _, _, names in
        names == ("V 2", "V 3") || names == ("V 1", "V 4") ? written : nil
      } == ["V 1 → V 4 recipe"])
    // A written mapping for the other direction is in nobody's way.
    #expect(
      try Self.path(versions, 1, 4) { _, _, names in names == ("V 3", "V 2") ? written : nil }
        == ["V 1 → V 4 inferred"])
  }

  @Test("a written mapping leads round a step that cannot be inferred")
  func roundabout() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", type: "Double"),
      try Self.model("a", "b", type: "Double"))
    let written = MappingModel(kind: .mapping, entityMappings: [])
    #expect(
      try Self.path(versions, 1, 2) { _, _, names in names == ("V 1", "V 3") ? written : nil }
        == ["V 1 → V 3 mapping", "V 3 → V 2 inferred"])
  }

  @Test("the gap is named: versions, entity, property and reason (134140)")
  func gap() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", "b"), try Self.model("a", type: "Double"),
      try Self.model("a", "z", type: "Double"))
    do {
      _ = try Self.path(versions, 1, 4)
      Issue.record("a way was found")
    } catch let error as CoreDataError {
      #expect(error.code == 134140 && error.kind == .refused)
      #expect(error.message.contains("it ends between “V 2” and “V 3”"), "\(error)")
      #expect(error.message.contains("from String to Double"), "\(error)")
      #expect(error.entity == "A" && error.property == "a")
      #expect(error.hint?.contains("from “V 2” to “V 3” with MigrationRequest.documents") == true)
    }
  }

  @Test("a version in between that no inferred step reaches does not stop a jump over it")
  func impossibleBetween() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("a", type: "Double"), try Self.model("a", "b"))
    #expect(try Self.path(versions, 1, 3) == ["V 1 → V 3 inferred"])
    // But what a way round it carries must be carried.
    let renamed = Self.versions(
      try Self.model("a"), try Self.model("b<a"), try Self.model("b", type: "Double"),
      try Self.model("b", "c"))
    #expect(try Self.path(renamed, 1, 4) == ["V 1 → V 2 inferred", "V 2 → V 4 inferred"])
  }

  @Test("a store of none of the versions is told the nearest (134130)")
  func unknown() throws {
    let versions = Self.versions(try Self.model("a"), try Self.model("a", "b"))
    let other = try Library.model(
      "<model><entity name=\"A\"><attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/></entity><entity name=\"B\"/></model>"
    )
    do {
      _ = try MigrationPath.find(
        from: other, to: versions.versions[1].model, names: ("S", "V 2"), through: versions)
      Issue.record("a way was found")
    } catch let error as CoreDataError {
      #expect(error.code == 134130)
      #expect(error.hint?.contains("“V 1”: 1 of 2 entities fit") == true, "\(error)")
    }
    // Unless a mapping is written for the two.
    let path = try MigrationPath.find(
      from: other, to: versions.versions[1].model, names: ("S", "V 2"), through: versions
    ) { _, _, _ in MappingModel(kind: .recipe, entityMappings: []) }
    #expect(path.steps.map(\.mapping.kind) == [.recipe])
  }

  @Test("a destination that is none of the versions comes after the last")
  func foreignDestination() throws {
    let versions = Self.versions(try Self.model("a"), try Self.model("b<a"))
    let path = try MigrationPath.find(
      from: versions.versions[0].model, to: Self.model("c<b"), names: ("V 1", "New"),
      through: versions)
    #expect(path.steps.map(\.to) == ["V 2", "New"])
  }

  @Test("versions with equal hashes are one; the last one's renaming identifiers count")
  func equalHashes() throws {
    let versions = Self.versions(
      try Self.model("a"), try Self.model("b"), try Self.model("b<a"), try Self.model("b<a", "c"))
    let path = try MigrationPath.find(
      from: versions.versions[0].model, to: versions.versions[2].model, names: ("V 1", "V 3"),
      through: versions)
    #expect(path.steps.count == 1)
    #expect(path.steps[0].mapping.mapping(toDestination: "A")?.attributes[0].source == "a")
    let matrix = try MigrationMatrix(of: versions)
    #expect(matrix[1, 2] == MigrationMatrix.Path.none)
    #expect(matrix[0, 1] == .direct(.inferred) && matrix[0, 1] == matrix[0, 2])
  }

  @Test("what custom throws comes through")
  func customFailure() throws {
    let versions = Self.versions(try Self.model("a"), try Self.model("a", "b"))
    #expect(throws: CoreDataError.self) {
      try Self.path(versions, 1, 2) { _, _, _ in throw CoreDataError(.unreadable, "broken") }
    }
  }

  @Test(
    "thirty versions of forty entities, each with a renaming of its own, are gone through in order")
  func many() throws {
    var entities = (0..<40).map { index in
      var entity = Entity("Entity\(index)")
      entity.attributes = (0..<12).map { Attribute("attribute\($0)", .string, optional: true) }
      return entity
    }
    var versions: [ModelVersions.Version] = []
    for number in 1...30 {
      var renamed = entities[number % 40].attributes[number % 12]
      renamed.renamingIdentifier = renamed.name
      renamed.name = "renamed\(number)"
      entities[number % 40].attributes[number % 12] = renamed
      // The identifier is given for one version only.
      versions.append(.init(name: "V\(number)", model: try Model(entities: entities)))
      entities[number % 40].attributes[number % 12].renamingIdentifier = nil
    }
    let all = ModelVersions(versions)
    let path = try MigrationPath.find(
      from: all.versions[0].model, to: all.versions[29].model, names: ("V1", "V30"), through: all)
    #expect(path.steps.count == 29)
    let carried = try #require(path.wholeMapping).entityMappings.flatMap(\.attributes)
    #expect(carried.count == 480 && carried.allSatisfy { $0.source != nil })
  }
}
