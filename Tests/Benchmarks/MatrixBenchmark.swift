import Files
import ManagedModel
import ModelWriting
import TestSupport

/// How long the ways between all versions of a large model take to be found, and to be rehearsed.
enum MatrixBenchmark {
  /// Versions, each of which adds, renames or drops attributes of a few entities.
  static func run(strata: String, versions: Int, entities: Int) throws {
    let folder = try TemporaryFolder()
    let bundle = folder.path("Large.xcdatamodeld")
    try FileSystem.makeDirectory(bundle)
    var random = SeededGenerator(seed: 7)
    var model = try Model(entities: (0..<entities).map { entity(at: $0, of: entities) })
    for version in 1...versions {
      let path = bundle + "/Large \(version).xcdatamodel"
      try FileSystem.makeDirectory(path)
      try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: path + "/contents")
      var changed = model.entities
      for number in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<entities, using: &random)
        change(&changed[place], to: "a\(version)_\(number)", &random)
      }
      model = try Model(entities: changed)
    }
    let matrix = Measured.best(of: 3, strata, ["plan", bundle, "--matrix"])
    guard matrix.status == 0 else { throw CoreDataError(.failed, "plan said \(matrix.status)") }
    print(
      "ways between \(versions) versions of \(entities) entities: \(milliseconds(matrix.seconds)), \(megabytes(matrix.peakBytes))"
    )
    // Losses are named first, so that every version is migrated.
    let losses = folder.path("losses.txt")
    let rehearse = ["rehearse", "--seeded", bundle, "--to", "\(bundle)@Large \(versions)"]
    _ = Measured.run(strata, rehearse + ["--write-losses", losses])
    let words = FileSystem.isFile(losses) ? ["--allow-loss-file", losses] : []
    let rehearsal = Measured.run(strata, rehearse + words)
    guard rehearsal.status == 0 else {
      throw CoreDataError(.failed, "rehearse said \(rehearsal.status)")
    }
    print(
      "rehearsal of a generated store of each: \(milliseconds(rehearsal.seconds)), \(milliseconds(rehearsal.processorSeconds)) of processor time, \(megabytes(rehearsal.peakBytes))"
    )
  }

  private static func entity(at place: Int, of count: Int) -> Entity {
    let types: [AttributeType] = [
      .string, .integer32, .date, .double, .boolean, .binary, .uuid, .decimal,
    ]
    var entity = Entity("Entity\(place)")
    entity.attributes = types.indices.map {
      Attribute("attribute\($0)", types[($0 + place) % types.count], optional: true)
    }
    entity.relationships = [
      Relationship(
        "next", to: "Entity\((place + 1) % count)", inverse: "previous", optional: true),
      Relationship(
        "previous", to: "Entity\((place + count - 1) % count)", inverse: "next", toMany: true,
        optional: true),
    ]
    return entity
  }

  private static func change(
    _ entity: inout Entity, to name: String, _ random: inout some RandomNumberGenerator
  ) {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<7: entity.attributes.append(Attribute(name, .string, optional: true))
    case 7 where !entity.attributes.isEmpty:
      entity.attributes[0].renamingIdentifier = entity.attributes[0].name
      entity.attributes[0].name = name
    default: if entity.attributes.count > 3 { entity.attributes.removeFirst() }
    }
  }
}
