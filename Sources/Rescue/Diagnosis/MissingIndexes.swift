import ManagedModel
import ManagedStore

/// An index of a SwiftData model that the store does not have.
///
/// `#Index` does not enter the version hash: an app that adds one to a version which shipped opens its
/// stores as they are, and nothing ever makes the index.
struct MissingIndex {
  let entity: String
  let properties: [String]
  let statement: SchemaStatement

  /// All of them, of the model that a store is read with.
  static func all(of store: Store) -> [MissingIndex] {
    guard store.modelSource != .raw else { return [] }
    let missing = Dictionary(
      store.schema.indexStatements().filter {
        store.database.indexes[$0.name] == nil && store.database.contains($0.table)
      }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    guard !missing.isEmpty else { return [] }
    return store.model.entities.flatMap { entity in
      entity.fetchIndexes.filter { $0.name.hasPrefix("SwiftDataIndexOnBinary") }.compactMap {
        index in
        missing["Z_\(entity.name)_\(index.name)"].map {
          MissingIndex(
            entity: entity.name, properties: index.elements.compactMap(\.property), statement: $0)
        }
      }
    }
  }
}

/// Indexes that are in the model and were never made.
struct MissingIndexCheck {
  let place: StorePlace
  let store: Store

  func findings() -> [Finding] {
    MissingIndex.all(of: store).map { index in
      let names = index.properties.joined(separator: ", ")
      return Finding(
        .indexMissing,
        "The model has an index of \(index.entity) on \(names), and the store does not.",
        entity: index.entity, property: index.properties.joined(separator: ","), count: 1,
        first: [index.statement.name], in: place)
    }
  }
}
