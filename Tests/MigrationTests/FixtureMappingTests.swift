import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Real mapping models", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureMappingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var file: String
    var bundle: String
    var from: String
    var to: String
    var testDescription: String { file }
  }

  static let cases: [Case] = {
    let moody = (2...5).map {
      Case(
        file: "moody/Moody \($0)-Moody \($0 + 1).xcmappingmodel",
        bundle: "moody/Moody.xcdatamodeld",
        from: "Moody \($0)", to: "Moody \($0 + 1)")
    }
    let wibosco = [1, 2].map {
      Case(
        file: "wibosco/Migration\($0)to\($0 + 1).xcmappingmodel",
        bundle: "wibosco/CoreDataMigration_Example.xcdatamodeld",
        from: "CoreDataMigration_Example" + ($0 == 1 ? "" : " \($0)"),
        to: "CoreDataMigration_Example \($0 + 1)")
    }
    let books = [("Model1", "Model2", ""), ("Model2", "Model3", ""), ("Model2", "Model3", "_User")]
      .map {
        Case(
          file: "bookmigration/\($0.0)_to_\($0.1)\($0.2).xcmappingmodel",
          bundle: "bookmigration/Model.xcdatamodeld", from: $0.0, to: $0.1)
      }
    let plus = ["Fixtures/V2toV3.cdm", "MappingModels/V2toV3.xcmappingmodel"].map {
      Case(
        file: "coredataplus/SampleModel/\($0)",
        bundle: "coredataplus/SampleModel/SampleModel.xcdatamodeld", from: "SampleModel2",
        to: "SampleModel3")
    }
    return moody + wibosco + books + plus
  }()

  @Test("it fits the two versions it was made for and no others", arguments: cases)
  func fits(_ fixture: Case) throws {
    let document = try MappingModelDocument(path: Fixtures.path(fixture.file))
    let bundle = try Self.bundle(fixture)
    for from in bundle.versions {
      for to in bundle.versions where from.name != to.name {
        let misfit = document.misfit(from: try from.model, to: try to.model)
        let isPair = from.name == fixture.from && to.name == fixture.to
        #expect((misfit == nil) == isPair, "\(from.name) → \(to.name): \(misfit ?? "fits")")
        #expect((try document.mapping(from: from.model, to: to.model) != nil) == isPair)
      }
    }
  }

  @Test("Xcode's copies of the models have the hashes of the models", arguments: cases)
  func snapshots(_ fixture: Case) throws {
    let document = try MappingModelDocument(path: Fixtures.path(fixture.file))
    guard case .models(let source, let destination) = document.source.origin else {
      #expect(fixture.file.hasSuffix(".cdm"))
      return
    }
    let bundle = try Self.bundle(fixture)
    #expect(source.isComplete && destination.isComplete)
    #expect(
      try source.model.versionHashes == bundle.version(named: fixture.from).model.versionHashes)
    #expect(
      try destination.model.versionHashes == bundle.version(named: fixture.to).model.versionHashes)
  }

  @Test("the compiled mapping model and its source say the same")
  func bothFormats() throws {
    let pair = Self.cases.suffix(2)
    let mappings = try pair.map { try Self.mapping($0) }
    #expect(mappings.first == mappings.last)
    let mapping = try #require(mappings.first)
    #expect(mapping.kind == .mapping)
    #expect(
      mapping.entityMappings.map { "\($0.name) \($0.kind.name)" } == [
        "CarToCar custom", "LuxuryCarToLuxuryCar custom", "PersonToPerson transform",
        "SportCarToSportCar custom", "Maker add",
      ])
    let car = try #require(mapping.mapping(named: "CarToCar"))
    #expect(car.policy == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    #expect(car.condition == nil)
    #expect(
      car.attributes == [
        AttributeMapping(name: "markedForDeletionAsOf", source: "markedForDeletionAsOf"),
        AttributeMapping(name: "model", source: "model"),
        AttributeMapping(name: "numberPlate", source: "numberPlate"),
      ])
    #expect(
      car.relationships == [
        RelationshipMapping(name: "createdBy", source: nil),
        RelationshipMapping(name: "owner", source: "owner", through: "PersonToPerson"),
        RelationshipMapping(name: "previousOwners", source: "owner", through: "PersonToPerson"),
      ])
    // Cars are taken by three mappings: whichever took each.
    #expect(
      mapping.mapping(named: "PersonToPerson")?.relationships == [
        RelationshipMapping(name: "cars", source: "cars"),
        RelationshipMapping(name: "previousCars", source: "cars"),
      ])
    let names = try pair.map { try MappingModelDocument(path: Fixtures.path($0.file)).policies }
    #expect(
      names == [["REPLACE_AT_RUNTIME.V2to3MakerPolicy"], ["REPLACE_AT_RUNTIME.V2to3MakerPolicy"]])
  }

  @Test("a key path with a union in it leads along the relationships")
  func unions() throws {
    let mapping = try Self.mapping(Self.cases[0])
    #expect(
      mapping.entityMappings.map(\.name) == [
        "MoodToMood", "CountryToCountry", "ContinentToContinent",
      ])
    #expect(mapping.entityMappings.map(\.kind) == [.transform, .copy, .transform])
    #expect(
      mapping.mapping(named: "ContinentToContinent")?.relationships.last
        == RelationshipMapping(name: "moods", source: "countries.moods", through: "MoodToMood"))
    #expect(
      mapping.mapping(named: "MoodToMood")?.relationships.first
        == RelationshipMapping(
          name: "continent", source: "country.continent", through: "ContinentToContinent"))
  }

  @Test("renamed, new and computed properties, policies and user info are as the files have them")
  func facts() throws {
    let mappings = try Self.cases.map { try Self.mapping($0) }
    let isoContinent = mappings[2].mapping(named: "CountryToCountry")?.attributes
      .first { $0.name == "isoContinent" }
    #expect(
      isoContinent?.expression?.form
        == .expression(.keyPath("continent.numericISO3166Code", of: .variable("source"))))
    #expect(isoContinent?.source == nil)
    #expect(
      mappings[3].entityMappings.map(\.name) == ["Continent", "CountryToCountry", "MoodToMood"])
    #expect(
      mappings[3].mapping(named: "Continent")?.attributes == [
        AttributeMapping(name: "numericISO3166Code", source: nil, defaultValue: .integer(0))
      ])
    #expect(
      mappings[3].mapping(named: "CountryToCountry")?.policy
        == "Migrations.Country5ToCountry6Policy")
    #expect(
      mappings[4].entityMappings.first?.attributes.map { "\($0.name) ← \($0.source ?? "-")" }
        == ["date ← date", "hexColor ← color", "postID ← postID"])
    #expect(mappings[5].entityMappings.map(\.kind) == [.add, .custom])
    #expect(
      mappings[6].mapping(named: "BookToBook")?.userInfo == ["modelVersion": .string("2")])
    #expect(mappings[6].mapping(named: "BookToBook")?.policy == "MHWBookToBookPolicy")
    #expect(mappings[7].entityMappings.map(\.name) == ["File", "BookToBook", "AuthorToAuthor"])
    // Book and Author are left over in the file; nothing refers to them.
    #expect(mappings[8].entityMappings.map(\.name) == ["UserToUser"])
  }

  @Test("every expression in them is SQL that runs on the store it is for")
  func expressions() throws {
    let stores = [
      "moody/Moody 4.moody": Self.cases[2], "moody/Moody 2.moody": Self.cases[0],
      "wibosco/CoreDataMigration_Example_1.sqlite": Self.cases[4],
      "coredataplus/SampleModel/Fixtures/SampleModel_V2.sqlite": Self.cases[9],
    ]
    var compiled: [String] = []
    for (path, fixture) in stores {
      let folder = try TemporaryFolder()
      let model = try Self.bundle(fixture).version(named: fixture.from).model
      let copy = try folder.copy(fixture: path)
      let store = try Store(path: copy, model: model)
      let source = try AttachedStore(store)
      for mapping in try Self.mapping(fixture).entityMappings {
        guard let entity = mapping.source else { continue }
        let scope = ExpressionScope(store: store, entity: entity)
        for attribute in mapping.attributes {
          guard case .expression(let expression)? = attribute.expression?.form else { continue }
          let sql = try scope.compile(expression)
          let values = try source.values(sql.sql, of: entity)
          #expect(!values.isEmpty)
          compiled.append("\(attribute.name): \(sql.properties.sorted()) \(Set(values).count > 1)")
        }
      }
    }
    #expect(compiled == ["isoContinent: [\"continent\"] true"])
  }

  private static func bundle(_ fixture: Case) throws -> ModelBundle {
    try ModelBundle(name: fixture.bundle, files: Fixtures.contents(of: fixture.bundle))
  }

  private static func mapping(_ fixture: Case) throws -> MappingModel {
    let bundle = try bundle(fixture)
    return try #require(
      try MappingModelDocument(path: Fixtures.path(fixture.file)).mapping(
        from: bundle.version(named: fixture.from).model,
        to: bundle.version(named: fixture.to).model))
  }
}
