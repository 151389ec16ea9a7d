import Files
import ManagedModel
import ManagedStore
import TestSupport

@testable import Mapping
@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A migration that every failure is tried on, one for each way in which a step is carried out.
enum SafetyCase: String, CaseIterable, Sendable {
  case inPlace, copying, mapped, chain, recipe, policy

  /// Goes object by object, doing what the mapping says.
  final class Passing: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      _ = try manager.makeInstance(of: source, in: mapping)
    }
  }

  static let second = MigrationSafetyTests.added

  private static let recipeText = """
    { "from": "2", "to": "3", "entityMappings": [
      { "source": "Author", "destination": "Author",
        "attributes": { "nickname": "coalesce(nickname, upper(name))" } } ] }
    """

  /// The way planned for a store of the library's first version.
  func plan(
    _ path: String, output: String? = nil, isCancelled: @escaping () -> Bool = { false }
  ) throws -> MigrationPlan {
    let store = try Store(path: path)
    let first = try Library.model(replacing: [])
    let next = try Library.model(replacing: Self.second)
    let inferred = try MappingInference.mapping(from: first, to: next)
    func step(
      _ from: String, _ to: String, _ source: Model, _ mapping: MappingModel
    )
      -> MigrationStep
    {
      MigrationStep(
        from: from, to: to, source: source, destination: next, mapping: mapping)
    }
    switch self {
    case .inPlace:
      return try store.plan(
        steps: [step("1", "2", first, inferred)], output: output, strategy: .inPlace,
        isCancelled: isCancelled)
    case .copying:
      return try store.plan(
        steps: [step("1", "2", first, inferred)], output: output, strategy: .copy,
        isCancelled: isCancelled)
    case .mapped:
      var mapping = inferred
      mapping.kind = .mapping
      return try store.plan(
        steps: [step("1", "2", first, mapping)], output: output, isCancelled: isCancelled)
    case .recipe:
      let mapping = try Self.recipe(from: first, to: next)
      return try store.plan(
        steps: [step("1", "2", first, mapping)], output: output, isCancelled: isCancelled)
    case .chain:
      let mapping = try Self.recipe(from: next, to: next)
      return try store.plan(
        steps: [step("1", "2", first, inferred), step("2", "3", next, mapping)], output: output,
        strategy: .inPlace, isCancelled: isCancelled)
    case .policy:
      var policies = PolicyBindings()
      for mapping in inferred.entityMappings where mapping.source != nil {
        policies[mapping.name] = Passing.self
      }
      return try store.plan(
        steps: [step("1", "2", first, inferred)], output: output, policies: policies,
        strategy: .copy, isCancelled: isCancelled)
    }
  }

  private static func recipe(from source: Model, to destination: Model) throws -> MappingModel {
    let recipe = try Recipe(text: recipeText, path: "library.json5")
    guard
      let mapping = try recipe.mapping(from: source, to: destination, names: ("2", "3"))
    else { throw CoreDataError(.usage, "the recipe is for another pair") }
    return mapping
  }
}

/// Where a run is: the step, and what is being done.
struct Phase: Hashable, CustomStringConvertible {
  var step: Int
  var part: Int
  var kind: MigrationProgress.Part.Kind

  init?(_ progress: MigrationProgress) {
    guard progress.parts.indices.contains(progress.current) else { return nil }
    (step, part) = (progress.step, progress.current)
    kind = progress.parts[progress.current].kind
  }

  var description: String { "step \(step), \(kind.rawValue) (part \(part))" }

  /// The phases that a run goes through, each once, in order; the place is used up.
  static func all(of way: SafetyCase, in place: SafetyPlace) throws -> [Phase] {
    var seen: [Phase] = []
    try withExtendedLifetime(place) {
      _ = try StoreMigration.runAndRead(way.plan(place.path), isCancelled: { false }) { progress in
        if let phase = Phase(progress), !seen.contains(phase) { seen.append(phase) }
      }
    }
    return seen
  }
}

/// A store of the library in a folder of its own, and everything that lies beside it.
struct SafetyPlace {
  let folder: TemporaryFolder
  let path: String
  let before: [String: [UInt8]]

  init(books: Int = 40) throws {
    folder = try TemporaryFolder()
    path = try Library.store(in: folder, books: books)
    before = try Self.files(in: folder.path)
  }

  /// Every file below a folder with its bytes.
  static func files(in folder: String, under name: String = "") throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for entry in try FileSystem.list(folder + "/" + name) {
      let relative = name.isEmpty ? entry : name + "/" + entry
      if let target = FileSystem.target(ofLink: folder + "/" + relative) {
        result[relative] = Array(target.utf8)
      } else if FileSystem.isDirectory(folder + "/" + relative) {
        result.merge(try files(in: folder, under: relative)) { one, _ in one }
      } else {
        result[relative] = try FileSystem.read(folder + "/" + relative)
      }
    }
    return result
  }

  /// Names of files that are new, gone or of other bytes.
  func changes() throws -> [String] {
    let now = try Self.files(in: folder.path)
    return Set(now.keys).union(before.keys).filter { now[$0] != before[$0] }.sorted()
  }
}

extension SafetyPlace {
  /// Puts a copy of the store in its own place, as a migration's result would be.
  func cutOver(_ change: (inout Cutover) -> Void = { _ in }) throws {
    let journal = try MigrationJournal(storePath: path)
    defer { journal.finish() }
    let work = try FileSystem.copy(path, to: journal.workPath)
    var cutover = Cutover(
      storePath: path, result: try VerifiedFile(work),
      fingerprint: StoreFingerprint(of: path), logs: .merged,
      backupPath: folder.path("Library.backup-1"), attributesPath: path)
    change(&cutover)
    _ = try cutover.run(journal)
  }

  /// What a run of the store leaves that was killed.
  func leave(_ records: [JournalRecord], _ files: [String] = []) throws {
    let names = StoreNames(path)
    let journal = names.path(names.journal)
    try FileSystem.write(JournalRecord.encode(records), to: journal)
    chmod(journal, 0o600)
    for file in files { try FileSystem.write([1, 2, 3], to: names.path(file)) }
  }
}

/// The error of a run; `nil` where it went through.
func failure(
  of plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
  isCancelled: @escaping () -> Bool = { false },
  progress: @escaping (MigrationProgress) -> Void = { _ in }
) -> CoreDataError? {
  do {
    _ = try StoreMigration.runAndRead(
      plan, options: options, isCancelled: isCancelled, progress: progress)
    return nil
  } catch let error as CoreDataError {
    return error
  } catch {
    return CoreDataError(.usage, "not an error for people: \(error)")
  }
}
