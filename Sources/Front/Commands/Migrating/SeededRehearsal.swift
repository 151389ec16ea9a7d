import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import Seeding
import Synchronization

/// `strata rehearse --seeded PATH`: a store of every version of a model, made for this and migrated to
/// the current one.
enum SeededRehearsal {
  static let bundle = Option(
    "seeded", "PATH", .file,
    "generate a store of every version of this bundle or Swift source, and migrate those")
  static let options: [any Parameter] = [
    bundle, SeedCommand.objects.help("with --seeded: objects of each store (default 1000)"),
    SeedCommand.seed.help("with --seeded: a number; the same number gives the same stores"),
    SeedCommand.edgeCases.help("with --seeded: add what breaks migrations, as strata seed does"),
  ]

  static let help = """
    --seeded PATH generates a store of every version of PATH, a bundle or Swift source, in a private
    folder. Each is migrated to the current version (or to --to), directly or through the versions
    between, with the mapping models beside the bundle (or with --mapping) where they are for a step
    on the way, verified, checked against --expect, and removed. In --expect, the names in "stores"
    are then the names of the versions.
    """

  static func run(
    _ bundle: String, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    let versions = try ModelVersions(readingFrom: bundle)
    var notes: [String] = []
    let destination = try arguments[.to] ?? current(of: bundle, versions, &notes)
    let beside = arguments[.mapping].isEmpty ? mappings(beside: bundle, &notes) : nil
    var request = try MigrationArguments(arguments, to: destination)
    request.addVersions(versions, documents: beside)
    request.useMappingsWhereFitting()
    let options = try SeedCommand.options(arguments, model: nil).options
    let expectations = try Expectations.given(in: arguments)
    try expectations?.requireStores(named: versions.versions.map(\.name))
    let named = versions.versions.map { (label: "\(bundle)@\($0.name)", version: $0) }
    let unreadable = versions.unreadable.map { (label: $0.path ?? bundle, error: $0) }
    let batch = StoreBatch(
      title: .rehearsed, isJSON: arguments[.json],
      format: try CheckReport.format(arguments),
      receiptFile: try ReceiptFile(arguments, stores: []),
      lossOutput: try LossOutput(arguments, stores: []), isSeeded: true, destination: request,
      console: console,
      shown: { String($0.dropFirst($0.hasPrefix(bundle + "@") ? bundle.count + 1 : 0)) })
    for note in notes { console.note("note: " + note.printable) }
    let found = Dictionary(named.map { ($0.label, $0.version) }) { first, _ in first }
    let errors = Dictionary(unreadable.map { ($0.label, $0.error) }) { first, _ in first }
    let requested = request
    let isMapped = Atomic<Bool>(false)
    let status = try batch.run(
      named.map(\.label) + unreadable.map(\.label).filter { found[$0] == nil },
      jobs: BatchWork.jobs(arguments)
    ) { label, report in
      guard let version = found[label] else {
        return .failure(errors[label] ?? CoreDataError(.unreadable, "no such version", path: label))
      }
      var rehearsal = Rehearsal(path: label, request: requested, expectations: expectations)
      rehearsal.planned = { plan in
        if plan.steps.contains(where: { [.mapping, .recipe].contains($0.mapping.kind) }) {
          isMapped.store(true, ordering: .relaxed)
        }
      }
      return .rehearsal(
        try rehearsal.run(
          seeding: version, options, isOptional: beside != nil, report))
    }
    if !arguments[.mapping].isEmpty, !isMapped.load(ordering: .relaxed) {
      console.note("note: no mapping of --mapping is for a step from any of these versions")
    }
    return status
  }

  /// The version that a bundle calls its current one; the last, where it does not say.
  private static func current(
    of bundle: String, _ versions: ModelVersions, _ notes: inout [String]
  ) throws -> String {
    do {
      _ = try ModelReference(bundle).load()
      return bundle
    } catch let error as CoreDataError where error.kind == .usage {
      guard let last = versions.versions.last, let path = last.path else { throw error }
      notes.append(
        "\(bundle) does not say which of its versions is current: “\(last.name)”, the last, is taken; --to names another."
      )
      return path
    }
  }

  /// The mapping models that lie beside a bundle.
  private static func mappings(beside bundle: String, _ notes: inout [String]) -> MappingDocuments?
  {
    let path = bundle.count > 1 && bundle.hasSuffix("/") ? String(bundle.dropLast()) : bundle
    let folder = FileSystem.parent(of: path) ?? "."
    var documents = MappingDocuments()
    for name in (try? FileSystem.list(folder)) ?? []
    where name.hasSuffix(".cdm") || name.hasSuffix(".xcmappingmodel") {
      do {
        documents.add(try MappingModelDocument(path: folder + "/" + name))
      } catch {
        notes.append("\(name) beside the models was left out: \(error.clause)")
      }
    }
    return documents.isEmpty ? nil : documents
  }
}

extension Rehearsal {
  /// Makes a store of a version in a private folder and migrates it there.
  ///
  /// - Parameter isOptional: whether the mappings were found and not given, so that they need not be for
  ///   this version.
  func run(
    seeding version: ModelVersions.Version, _ options: SeedOptions, isOptional: Bool,
    _ report: @escaping (MigrationProgress) -> Void
  ) throws -> Result {
    let folder = try PrivateFolder()
    return try withExtendedLifetime(folder) {
      let store = folder.path + "/Seeded.sqlite"
      do {
        let seeded = try StoreSeed.write(
          to: store, model: version.model, options: options,
          isCancelled: { Interruption.isRequested })
        var copy = self
        copy.request.setSource(version, path: path)
        copy.name = version.name
        var result: Result
        do {
          result = try copy.migrate(store, report)
        } catch let error as CoreDataError
          where isOptional && error.code == .migrationMissingMappingModel
        {
          copy.request.addVersions(nil, documents: MappingDocuments())
          result = try copy.migrate(store, report)
        }
        result.seeded = seeded.objects
        result.seedNotes = seeded.notes
        return result
      } catch let error as CoreDataError {
        throw error.at(path: path, insteadOf: store)
      }
    }
  }
}
