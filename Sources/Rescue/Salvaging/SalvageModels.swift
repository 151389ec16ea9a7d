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

  /// Chooses among the versions that are given, by what is left of the store's metadata, else of the
  /// model in it.
  ///
  /// - Throws: ``CoreDataError`` where nothing tells which version it is, and none is the current one.
  init(_ options: StoreSalvage.Options, _ source: SalvageSource) throws {
    var chosen = options.model
    if options.choosesVersion {
      let hashes = try source.versionHashes()
      let cached = try source.model()
      let named = options.versions.last {
        !hashes.isEmpty
          && ($0.versionHashes == hashes
            || !$0.configurations(matching: hashes, of: $0.versionHashes).isEmpty)
      }
      let known = cached?.versionHashes
      chosen = named ?? options.versions.last { $0.versionHashes == known } ?? cached
      if chosen == nil {
        guard let current = options.model else {
          throw CoreDataError(
            .usage, "nothing in the store tells which version of the model made it",
            advice: "Name the version with \(.model), as PATH@VERSION.")
        }
        chosen = current
        notes.append(
          hashes.isEmpty
            ? "Nothing in the store tells which version of the model made it: the current one was taken."
            : "None of the model's versions made the store: the current one was taken."
        )
      }
    } else if chosen == nil {
      chosen = try source.model()
    }
    model = chosen
    let place =
      options.versions.lastIndex { $0 == chosen }
      ?? options.versions.lastIndex { $0.versionHashes == chosen?.versionHashes }
    earlier = place.map { Array(options.versions[..<$0]) } ?? []
  }
}
