import Files
import ManagedModel
import ManagedStore

/// The model that a damaged store is read with, and what else is known of its versions.
struct SalvageModels {
  /// The model; `nil` where none is given and none is in the store.
  let model: Model?
  /// The versions before it, from the first, where it came with others.
  let earlier: [Model]
  /// What a person should know of the choice, as sentences.
  private(set) var notes: [String] = []

  /// Chooses among the versions that are given: by what is left of the store's metadata, else by the model
  /// in it, else by its rows.
  ///
  /// - Throws: ``CoreDataError`` where nothing shows which version it is, and none is the current one.
  init(
    _ options: StoreSalvage.Options, _ source: SalvageSource, isCancelled: () -> Bool
  ) throws {
    if let sibling = options.sibling {
      let hashes = try source.versionHashes()
      guard hashes.isEmpty || hashes == sibling.versionHashes else {
        throw CoreDataError(
          .usage,
          "\(FileSystem.name(of: sibling.path)) is of another version of the model: its tables may differ",
          path: sibling.path, hint: "Take a store that the same version of the app made.")
      }
    }
    let chosen =
      options.choosesVersion
      ? try Self.choice(options, source, isCancelled, &notes)
      : try options.model ?? source.model() ?? options.sibling?.model
    model = chosen
    let versions = options.versions.map(\.model)
    let place =
      versions.lastIndex { $0 == chosen }
      ?? versions.lastIndex { $0.versionHashes == chosen?.versionHashes }
    earlier = place.map { Array(versions[..<$0]) } ?? []
  }

  private static func choice(
    _ options: StoreSalvage.Options, _ source: SalvageSource, _ isCancelled: () -> Bool,
    _ notes: inout [String]
  ) throws -> Model {
    let versions = options.versions.map(\.model)
    let hashes = try source.versionHashes()
    let named = versions.last {
      !hashes.isEmpty
        && ($0.versionHashes == hashes
          || !$0.configurations(matching: hashes, of: $0.versionHashes).isEmpty)
    }
    if let named { return named }
    if let cached = try source.model() {
      let known = cached.versionHashes
      if let version = versions.last(where: { $0.versionHashes == known }) { return version }
      notes.append(
        "None of the versions of the model that was given made the store: the model in the store was used."
      )
      return cached
    }
    let fit = try VersionFit(of: versions, source, isCancelled: isCancelled)
    guard let best = fit.best.last else {
      guard let current = options.model else {
        throw CoreDataError(
          .usage, "nothing in the store shows which version of the model made it",
          advice: "Name the version with \(.model), as PATH@VERSION.")
      }
      notes.append(
        "Nothing in the store shows which version of the model made it: the current one was used.")
      return current
    }
    let others = fit.best.dropLast().map { "“\(options.versions[$0].name)”" }
    notes.append(
      "The store no longer says which version of the model made it: its rows fit “\(options.versions[best].name)” best"
        + (others.isEmpty ? "." : ", and as well \(others.joined(separator: ", ")).")
        + " Look at its values before you rely on them.")
    return versions[best]
  }
}
