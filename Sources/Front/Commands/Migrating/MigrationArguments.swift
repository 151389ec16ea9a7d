import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import Reports

/// What the arguments of plan, migrate, rehearse and verify ask for, read once for any number of
/// stores.
struct MigrationArguments: Sendable {
  /// Without a store's own: what each is to become.
  private(set) var request: MigrationRequest
  let options: MigrationOptions
  /// The losses that are allowed, with where each was named.
  let allowances: Allowances
  /// Path of the model or bundle that `--to` named.
  let bundle: String
  /// What `--from` named.
  let from: String?
  /// The bundle's versions, where losses are allowed: read once for any number of stores.
  private let known: [Model]

  /// Whether `--to` named a bundle and none of its versions.
  private let takesCurrent: Bool

  var destination: ModelReference.Loaded { request.destination }

  /// The version to migrate to, and where it was taken from.
  var destinationText: String {
    takesCurrent
      ? "“\(destination.name)”, the current version of \(bundle)"
      : "“\(destination.name)”, \(destination.path)"
  }

  /// - Parameter destination: what stands for `--to`, where that is not given.
  init(_ arguments: Arguments, to destination: String? = nil) throws {
    guard let to = arguments[.to] ?? destination else {
      throw CoreDataError(
        .usage, "--to MODEL is missing", hint: "Name the model to migrate to with --to MODEL.")
    }
    let reference = ModelReference(to)
    bundle = reference.path
    from = arguments[.from]
    var request = MigrationRequest(to: try reference.load())
    takesCurrent =
      reference.version == nil && request.destination.path.hasSuffix("@" + request.destination.name)
    request.versions = try arguments[.via].map { try ModelVersions(readingFrom: $0) }
    request.documents = try MappingDocuments(paths: arguments[.mapping])
    request.strategy = arguments[.strategy]
    request.output = arguments[.output]
    self.request = request
    var options = MigrationOptions()
    allowances = try Allowances(arguments)
    options.allowedLosses = allowances.names
    // Other stores of the same run may be of those.
    known =
      allowances.names.isEmpty
      ? []
      : (try? ModelBundle(readingFrom: bundle))?.versions.compactMap { try? $0.model } ?? []
    options.output = request.output
    options.keepsBackup = !arguments[.noBackup]
    self.options = options
  }

  /// Has versions to go through and mappings to use, where none were given.
  mutating func addVersions(_ versions: ModelVersions?, documents: MappingDocuments?) {
    request.versions = request.versions ?? versions
    if let documents { request.documents = documents }
  }

  /// Has the mappings used where they are for a step on the way, and not missed where they are not.
  mutating func useMappingsWhereFitting() { request.documents.useWhereFitting() }

  /// Says which version made the stores.
  mutating func setSource(_ version: ModelVersions.Version, path: String) {
    request.source = .init(
      model: version.model, name: version.name, path: path, archive: version.archive)
  }

  /// The plan for one store, which is closed again.
  ///
  /// - Parameters:
  ///   - place: where the store came from, for one that was copied: models lie beside it there.
  ///   - outline: called with what is known at once.
  func plan(
    for path: String, copiedFrom place: String? = nil, outline: ((PlanOutline) -> Void)? = nil
  ) throws -> MigrationPlan {
    var request = request
    request.origin = place
    let store = try open(path, besideModelsOf: place ?? path)
    try Interruption.check()
    return try StoreMigration.plan(
      store, request, isCancelled: { Interruption.isRequested }, outline: outline)
  }

  /// A migration that cannot be planned, and what is reported of it.
  struct Refusal: Sendable {
    let plan: RefusedPlan
    let report: Report
  }

  /// All that stands in the way, where planning ended with an error.
  ///
  /// - Throws: that error, where models are not the reason.
  func refusal(of path: String, after error: CoreDataError) throws -> Refusal {
    guard error.kind == .refused,
      let plan = try RefusedPlan(
        error, of: try open(path, besideModelsOf: path), request,
        isCancelled: { Interruption.isRequested })
    else { throw error }
    return Refusal(
      plan: plan,
      report: Report(
        plan, allowing: options.allowedLosses, remedy: remedy(for: path, "carries them")))
  }

  /// What a migration would lose, can it be planned or not.
  func losses(for path: String) throws -> [Loss] {
    do {
      return try plan(for: path).losses
    } catch let error as CoreDataError {
      return try refusal(of: path, after: error).plan.losses
    }
  }

  /// How to write a recipe that does something about what is refused.
  func remedy(for path: String, _ deed: String) -> Advice {
    let words = [path, destination.path].map(ShellText.quoted)
    return request.documents.isEmpty
      ? "\(.deed("recipe"), of: words) drafts a recipe that \(deed); \(.deed("recipes")) explains recipes."
      : "\(.deed("recipes")) explains what to write."
  }

  /// The recipe that what stands in the way asks for; `nil` where nothing does that one could say.
  func skeleton(for path: String) throws -> RecipeSkeleton? {
    try RecipeSkeleton(
      for: try open(path, besideModelsOf: path), request,
      isCancelled: { Interruption.isRequested })
  }

  /// Why some of what `--allow-loss` names allows nothing, as sentences.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a name that no version at hand has.
  func unusedAllowances(of plan: MigrationPlan) throws -> [String] {
    guard !options.allowedLosses.isEmpty else { return [] }
    return try plan.unusedAllowances(
      allowances, knownTo: known + (request.versions?.versions.map(\.model) ?? []))
  }

  /// A store of before, and the mapping that leads from it to the destination, for comparing.
  func mapping(for path: String) throws -> (before: Store, mapping: MappingModel) {
    let store = try open(path, besideModelsOf: path)
    guard let mapping = try StoreMigration.path(of: store, request).wholeMapping else {
      throw CoreDataError(
        .usage, "a migration of several steps with a mapping cannot be compared as a whole",
        hint: "Compare the stores before and after each step.")
    }
    return (store, mapping)
  }

  /// A store without a model in it is read with the version that made it, where that is at hand.
  private func open(_ path: String, besideModelsOf place: String) throws -> Store {
    try Store(path: path, model: try from.map { try ModelReference($0).load().model }) { metadata in
      let hashes = metadata.versionHashes
      return request.versions?.versions(making: hashes).last?.model
        ?? ModelBundle.version(besideStore: place, making: hashes)?.model
    }
  }
}
