import ManagedModel
import ManagedStore
import Migration

/// What plan, migrate and rehearse are asked for, read once for any number of stores.
struct MigrationRequest: Sendable {
  /// The model to migrate to.
  let destination: ModelReference.Loaded
  /// Path of the model or bundle that `--to` named: its versions may have made the store.
  let bundle: String
  /// What `--from` named.
  let from: String?
  /// The versions to go through.
  let via: ModelVersions?
  /// Mapping models and recipes.
  let documents: MappingDocuments
  /// How inferred steps are carried out, where that was asked for.
  let strategy: MigrationPlan.Strategy?
  let options: MigrationOptions

  init(_ arguments: Arguments) throws {
    guard let to = arguments.value("to") else {
      throw CoreDataError(
        .usage, "--to MODEL is missing", hint: "Name the model to migrate to with --to MODEL.")
    }
    let reference = ModelReference(to)
    destination = try reference.load()
    bundle = reference.path
    from = arguments.value("from")
    via = try arguments.value("via").map { try ModelVersions(readingFrom: $0) }
    documents = try MappingDocuments(paths: arguments.all("mapping"))
    strategy = try arguments.value("strategy").map { name in
      guard let strategy = MigrationPlan.Strategy(rawValue: name) else {
        throw CoreDataError(
          .usage, "there is no strategy “\(name)”", hint: "--strategy in-place or copy")
      }
      return strategy
    }
    var options = MigrationOptions()
    options.allowedLosses = Set(arguments.all("allow-loss"))
    options.output = arguments.value("output")
    options.keepsBackup = !arguments.flag("no-backup")
    self.options = options
  }

  /// The plan for one store, which is closed again.
  ///
  /// - Parameter place: where the store came from, for one that was copied: models lie beside it there.
  func plan(for path: String, copiedFrom place: String? = nil) throws -> MigrationPlan {
    let opened = try open(path, copiedFrom: place)
    try Interruption.check()
    return try plan(opened.store, source: opened.source, name: opened.name)
  }

  /// Why some of what `--allow-loss` names allows nothing, as sentences.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a name that no version at hand has.
  func unusedAllowances(of plan: MigrationPlan) throws -> [String] {
    guard !options.allowedLosses.isEmpty else { return [] }
    // Other stores of the same run may be of those.
    let others =
      (try? ModelBundle(readingFrom: bundle))?.versions.compactMap { try? $0.model } ?? []
    return try plan.unusedAllowances(
      options.allowedLosses,
      knownTo: others + (via?.versions.map(\.model) ?? []))
  }

  /// A store of before, and the mapping that leads from it to the destination, for comparing.
  func mapping(for path: String) throws -> (before: Store, mapping: MappingModel) {
    let (store, source, name) = try open(path, copiedFrom: nil)
    let way = try StoreMigration.way(
      of: store, source: source, to: destination.model, names: (name, destination.name),
      through: via, documents: documents)
    guard let mapping = way.wholeMapping else {
      throw CoreDataError(
        .usage, "a way of several steps with a mapping of its own cannot be compared as a whole",
        hint: "Compare the stores before and after each step.")
    }
    return (store, mapping)
  }

  /// The store with the version that made it, where that is at hand, and what to call it.
  private func open(
    _ path: String, copiedFrom place: String?
  ) throws -> (store: Store, source: Model?, name: String) {
    let given = try from.map { try ModelReference($0).load().model }
    let store = try Store(path: path, model: given) { metadata in
      via?.versions(making: metadata.versionHashes).last?.model
        ?? StoreOpening.version(besideStore: place ?? path, of: metadata.versionHashes)?.model
    }
    let version = version(of: store.metadata.versionHashes, beside: place ?? store.path)
    return (
      store, from == nil ? version?.model : nil,
      version?.name ?? FileSystem.name(of: place ?? store.path)
    )
  }

  /// The version that made a store, where it is at hand.
  private func version(
    of hashes: [String: VersionHash], beside path: String
  ) -> (model: Model, name: String)? {
    if let version = via?.versions(making: hashes).last { return (version.model, version.name) }
    return StoreOpening.version(inBundle: bundle, of: hashes)
      ?? StoreOpening.version(besideStore: path, of: hashes)
  }

  private func plan(_ store: Store, source: Model?, name: String) throws -> MigrationPlan {
    return try StoreMigration.plan(
      store, to: destination.model, names: (name, destination.name), source: source,
      archive: destination.archive, output: options.output, through: via, documents: documents,
      strategy: strategy, isCancelled: { Interruption.isRequested })
  }
}
