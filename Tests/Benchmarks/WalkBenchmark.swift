import ManagedModel
import ManagedStore

/// How long Core Data's walk over a model takes, which runs whenever a store is opened.
enum WalkBenchmark {
  static func run(entities: Int) throws {
    for (what, model) in [
      ("entities of their own", try model(entities) { _ in nil }),
      ("in hierarchies of twelve", try model(entities) { $0 % 12 == 0 ? nil : $0 - $0 % 12 }),
      ("in chains of six", try model(entities) { $0 % 6 == 0 ? nil : $0 - 1 }),
    ] {
      let numbers = StoreSchema.freshNumbers(of: model)
      var best = Duration.seconds(1000)
      for _ in 0..<10 {
        let clock = ContinuousClock()
        best = min(best, clock.measure { _ = ModelWalk(model, numbers: numbers) })
      }
      print("\(entities) \(what), 30 properties each: \(best)")
    }
  }

  /// A model of which each entity has 24 attributes and six relationships, two of them many-to-many.
  private static func model(_ count: Int, parent: (Int) -> Int?) throws -> Model {
    try Model(
      entities: (0..<count).map { number in
        var entity = Entity("Entity\(number)", parent: parent(number).map { "Entity\($0)" })
        entity.attributes = (0..<24).map {
          Attribute("attribute\(number)Of\($0)", $0 % 2 == 0 ? .string : .integer64)
        }
        let next = (number + 1) % count
        let last = (number + count - 1) % count
        entity.relationships = [
          Relationship(
            "tags\(number)", to: "Entity\(next)", inverse: "tagged\(next)", toMany: true),
          Relationship(
            "tagged\(number)", to: "Entity\(last)", inverse: "tags\(last)", toMany: true),
          Relationship(
            "parts\(number)", to: "Entity\(next)", inverse: "whole\(next)", toMany: true,
            ordered: true),
          Relationship("whole\(number)", to: "Entity\(last)", inverse: "parts\(last)"),
          Relationship("notes\(number)", to: "Entity\(next)", toMany: true),
          Relationship("owner\(number)", to: "Entity\(next)"),
        ]
        return entity
      })
  }
}
