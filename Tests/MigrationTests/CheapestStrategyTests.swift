import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Which strategy is the cheapest")
struct CheapestStrategyTests {
  /// Entities of two attributes, the second of which is left out of some.
  private func model(without cut: Set<String> = []) throws -> Model {
    let entities = ["A", "B", "C"].map { name in
      "<entity name=\"\(name)\"><attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
        + (cut.contains(name)
          ? "" : "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\"/>")
        + "</entity>"
    }
    return try Model(contents: Array("<model>\(entities.joined())</model>".utf8))
  }

  @Test(
    "copying, where more than four fifths of the rows are written again, in whichever tables they are",
    arguments: [
      (["A"], [81, 10, 9], MigrationPlan.Strategy.copy),
      (["A"], [80, 10, 10], .inPlace),
      (["A"], [5, 90, 5], .inPlace),
      (["A", "C"], [40, 19, 41], .copy),
      (["A", "C"], [40, 20, 40], .inPlace),
      (["A", "B", "C"], [1, 1, 1], .copy),
      (["A"], [1, 0, 0], .copy),
      (["A"], [0, 0, 0], .inPlace),
      ([], [1, 2, 3], .inPlace),
    ])
  func strategy(cut: [String], rows: [Int], expected: MigrationPlan.Strategy) throws {
    let folder = try TemporaryFolder()
    let source = try model()
    let destination = try model(without: Set(cut))
    try StoreWriter(creating: folder.path("a.sqlite"), model: source).finish()
    let mapping = try MappingInference.mapping(from: source, to: destination)
    let schemas = StepSchemas(
      store: try Store(path: folder.path("a.sqlite")), mapping: mapping, destination: destination)
    let names = ["A", "B", "C"].map { mapping.mapping(toDestination: $0)?.name ?? $0 }
    let counts = Dictionary(uniqueKeysWithValues: zip(names, rows))
    #expect(schemas.cheapestStrategy(rows: counts) == expected)
  }
}
