import ManagedModel
import Migration
import ModelWriting

/// A version of the model that the store can be compared with or migrated to.
package struct ModelVersion: Sendable, Equatable {
  /// What the file or the revision is called.
  package var name: String
  /// What `--to` takes; empty for the store's own model where no file has it.
  package var path: String
  /// Whether the store is of this version.
  package var isStores: Bool
  /// Whether it was asked for as the one to migrate to.
  package var isWanted = false
  /// Whether the bundle marks it as the current one.
  package var isCurrent: Bool
  /// The model, or why it cannot be read.
  package var result: Result<Model, CoreDataError>

  /// A version that was read, or could not be.
  package init(
    name: String, path: String, isStores: Bool = false, isCurrent: Bool = false,
    result: Result<Model, CoreDataError>
  ) {
    (self.name, self.path, self.result) = (name, path, result)
    (self.isStores, self.isCurrent) = (isStores, isCurrent)
  }

  /// The model, where it could be read.
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

  /// The names of the versions of one bundle on the path from the store's to another; `nil` where
  /// none is between.
  func chain(to index: Int) -> [String]? {
    guard let bundle = element(index)?.bundlePath, let from = storesIndex,
      self[from].bundlePath == bundle
    else { return nil }
    let range = Swift.min(from, index)...Swift.max(from, index)
    let names = range.filter { self[$0].bundlePath == bundle }.map { self[$0].name }
    guard names.count > 2 else { return nil }
    return from < index ? names : names.reversed()
  }

  /// What a version is compared with first: never itself, where there is another.
  func partner(of index: Int, likely: [Int?]) -> Int {
    let others =
      (likely + [firstIndex(where: \.isCurrent), destinationIndex, storesIndex])
      .compactMap { $0 } + indices
    // A store whose model lies in a file too is there twice.
    return others.first {
      indices.contains($0) && $0 != index && self[$0].model != nil
        && !(self[$0].isStores && self[index].isStores)
    } ?? index
  }

  /// The two versions to compare first: the store's and its destination, or the two newest; without a store the two
  /// that were asked for, or the one and the version before it.
  var comparedIndices: (from: Int, to: Int)? {
    guard let stores = storesIndex else {
      let wanted = indices.filter { self[$0].isWanted }
      guard let to = wanted.last else { return nil }
      let others =
        wanted.dropLast() + indices.prefix(upTo: to).reversed() + indices.suffix(from: to)
      return others.first { $0 != to && self[$0].model != nil }.map { ($0, to) }
    }
    if let destination = destinationIndex { return (stores, destination) }
    return indices.last { $0 != stores && self[$0].model != nil }.map {
      (Swift.min($0, stores), Swift.max($0, stores))
    }
  }
}

extension ModelVersion {
  /// Whether it is of no file of Xcode's: of Swift source, or a store's.
  var isSource: Bool { !path.isEmpty && ![".xcdatamodel", ".mom"].contains(where: path.contains) }

  /// The bundle that the version is in, as `--via` takes it.
  var bundlePath: String? {
    for end in [".xcdatamodeld@", ".momd@"] {
      let start = path.indices.last { path[$0...].hasPrefix(end) }
      if let start { return String(path[..<path.index(start, offsetBy: end.count - 1)]) }
    }
    return path.lastIndex(of: "@").map { String(path[..<$0]) }
  }
}

/// Two versions of a model compared, with what Core Data's inference makes of them.
package struct Comparison: Sendable, Equatable {
  var difference: ModelDifference
  /// Each change that keeps a mapping from being inferred; empty where one can be.
  var refusals: [CoreDataError]
  /// What the app's own migration refuses or loses, and strata carries out.
  var appDifferences: [AppMigrationDifference]

  /// Compares; for a large model it takes a while.
  package init(from source: Model, to destination: Model) {
    difference = ModelDifference(from: source, to: destination)
    let remainder = MappingInference.remainder(from: source, to: destination)
    refusals = remainder.refusals
    appDifferences =
      remainder.mapping.map {
        MappingInference.appDifferences($0, from: source, to: remainder.destination)
      } ?? []
  }
}
