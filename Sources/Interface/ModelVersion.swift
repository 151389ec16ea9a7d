import ManagedModel

/// A version of the model that the store can be compared with or migrated to.
package struct ModelVersion: Sendable, Equatable {
  package var name: String
  /// What `--to` takes; empty for the store's own model where no file has it.
  package var path: String
  /// Whether the store is of this version.
  package var isStores: Bool
  /// Whether it was asked for as the one to migrate to.
  package var isWanted = false
  /// Whether the bundle marks it as the current one.
  package var isCurrent: Bool
  package var result: Result<Model, CoreDataError>
  /// The keyed archive it was read from, where it came as one.
  package var archive: [UInt8]?

  package init(
    name: String, path: String, isStores: Bool = false, isCurrent: Bool = false,
    result: Result<Model, CoreDataError>, archive: [UInt8]? = nil
  ) {
    self.name = name
    self.path = path
    self.isStores = isStores
    self.isCurrent = isCurrent
    self.result = result
    self.archive = archive
  }

  package var model: Model? { try? result.get() }
}

extension [ModelVersion] {
  /// The version of the store.
  var storesIndex: Int? { firstIndex { $0.isStores } }

  /// Where the store would go next: the bundle's current version, or the one after its own; `nil`
  /// when it is of the newest.
  package var destinationIndex: Int? {
    if let wanted = firstIndex(where: \.isWanted) { return wanted }
    if let current = firstIndex(where: \.isCurrent) {
      if self[current].isStores { return nil }
      if self[current].model != nil { return current }
    }
    // A store whose model lies in a file too is there twice.
    guard let stores = lastIndex(where: \.isStores) else {
      return indices.last { self[$0].model != nil }
    }
    return indices.first { $0 > stores && self[$0].model != nil }
  }

  /// The two versions to compare first: the store's and its destination, or the two newest.
  var comparedIndices: (from: Int, to: Int)? {
    guard let stores = storesIndex else { return nil }
    if let destination = destinationIndex { return (stores, destination) }
    return indices.last { $0 != stores && self[$0].model != nil }.map {
      (Swift.min($0, stores), Swift.max($0, stores))
    }
  }
}
