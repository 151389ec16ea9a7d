import ManagedStore
import ModelSearch
import ModelWriting
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder with an app's store and the versions of its model, as Xcode keeps them.
final class AppPlace {
  let bundle: String
  let store: String
  private let folder: TemporaryFolder

  /// The name is called otherwise, gone, or two.
  private static let versions: KeyValuePairs = [
    "App": [("name", String?.none)], "App 3": [("fullName", "name"), ("age", nil)],
    "App 4": [("age", nil)], "App 5": [("given", nil), ("family", nil)],
  ]

  init() throws {
    folder = try TemporaryFolder()
    bundle = folder.path("App.xcdatamodeld")
    store = folder.path("App.sqlite")
    mkdir(bundle, 0o755)
    for (name, attributes) in Self.versions {
      let version = "\(bundle)/\(name).xcdatamodel"
      mkdir(version, 0o755)
      try Self.write(Self.model(attributes).xcdatamodelContents(), to: version + "/contents")
    }
    let writer = try StoreWriter(
      creating: store, model: ModelReference("\(bundle)@App").load().model)
    for name in ["Ada King", "Grace Hopper", "Mel"] {
      try writer.insert("Person", attributes: ["name": .string(name)])
    }
    try writer.finish()
  }

  /// The values of an attribute in the store as it is, sorted.
  func names(of entity: String, by attribute: String) throws -> [String] {
    let page = try Store(path: store).rows(RowQuery(entity: entity, properties: [attribute]))
    return page.rows.compactMap { $0.string(attribute) }.sorted()
  }

  private static func model(_ attributes: [(name: String, former: String?)]) throws -> Model {
    var person = Entity("Person")
    person.attributes = attributes.map { name, former in
      var attribute = Attribute(name, name == "age" ? .integer16 : .string, optional: true)
      attribute.renamingIdentifier = former
      return attribute
    }
    return try Model(entities: [person])
  }

  private static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else {
      throw CoreDataError(.failed, "it cannot be written", path: path)
    }
    fputs(text, file)
    fclose(file)
  }
}
