import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import TestSupport

/// How many objects a second Swift policies carry.
enum PolicyBenchmark {
  /// - Parameters:
  ///   - strata: the release binary.
  ///   - objects: of the demo store.
  static func run(strata: String, objects: Int) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "\(objects)", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let second = try ModelReference(folder.path("demo/Recipes.xcdatamodeld@Recipes 2")).load()
    try report(folder.path("demo/Recipes.sqlite"), second.model, objects: objects, folder)
  }

  /// Migrates a demo store with a policy on every entity, by what a policy does.
  static func report(
    _ path: String, _ second: Model, objects: Int, _ folder: TemporaryFolder
  ) throws {
    let kinds: [(String, EntityMigrationPolicy.Type)] = [
      ("Swift policy on every object", CarryingPolicy.self),
      ("Swift policy that reads and sets a value of every object", SettingPolicy.self),
    ]
    for (name, type) in kinds {
      let policy = try MigrationBenchmark.best(of: 2, path, folder) { store in
        var policies = PolicyBindings()
        for entity in second.entities {
          policies["IEM_Copy_\(entity.name)"] = type
          policies["IEM_Transform_\(entity.name)"] = type
        }
        return try store.plan(to: second, names: ("1", "2"), policies: policies)
      }
      print(
        "\(name): \(milliseconds(policy.seconds)), \(Int(Double(objects) / policy.seconds)) objects a second"
      )
    }
  }
}

/// Does by itself what the default does, for every object.
private final class CarryingPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.makeInstance(of: source, in: mapping)
  }
}

/// Reads the first attribute of every object, and sets it in what becomes of the object.
private final class SettingPolicy: EntityMigrationPolicy {
  private var attribute: String?

  override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
    attribute = mapping.destination.flatMap { entity in
      manager.destinationModel.attributes(of: entity).first { attribute in
        !attribute.isTransient && !attribute.isDerived && attribute.type != .composite
          && mapping.source.flatMap {
            manager.sourceModel.attribute(named: attribute.name, of: $0)
          }?.type == attribute.type
      }?.name
    }
  }

  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.makeInstance(of: source, in: mapping)
    if let attribute { try object.set(source.value(attribute), for: attribute) }
  }
}
