import JSON
import ManagedModel
import ManagedStore
import ModelSearch
import Seeding

/// `strata seed`: a new store of a model version, filled deterministically and believably.
package enum SeedCommand {
  static let objects = Option<Int?>(
    number: "objects", atLeast: 1,
    "how many objects in all (default \(SeedOptions.defaultObjects); with --like, as many as in that store)"
  )
  static let seed = Option<UInt64?>(
    number: "seed", as: "S", "a number: the same number gives the same store (default 1)")
  static let edgeCases = Option(
    "edge-cases",
    "add what breaks migrations: missing values, emoji, extremes, huge texts, deep hierarchies")
  private static let like = Option(
    "like", "STORE", .store,
    "take counts, lengths, ranges and shares from this store, but no values")
  private static let model = Argument("MODEL", .model)
  private static let output = Argument("NEW-STORE", .file)
  package static let command = Command(
    "seed", .tryOut, "generates a store of any model version", arguments: [model, output],
    options: [objects, seed, like, edgeCases, Option.json], details: help,
    example: "strata seed Recipes.xcdatamodeld@'Recipes 2' New.sqlite --objects 100000",
    statuses: "3 if a file is there already, 5 if it failed, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static let help = """
    Values follow the names and types of properties, their defaults and rules (bounds, lengths, regular
    expressions, predicates). Links follow the relationships with their counts and inverses. Unique values
    are unique. Constraints that the generator cannot satisfy are reported as notes. The same model, number,
    seed and options give the same store everywhere.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let model = try ModelReference(arguments[Self.model]).load()
    console.warn(model.model.warnings)
    let (options, like) = try Self.options(arguments, model: model.model)
    RecoveryNotice.write(forOutput: arguments[output], to: console)
    let bar = ProgressBar(console)
    let report: SeedReport
    do {
      defer { bar.clear() }
      report = try StoreSeed.write(
        to: arguments[output], model: model.model, options: options,
        isCancelled: { Interruption.isRequested },
        progress: { bar.show("seeding", $0, of: $1, "objects") })
    }
    arguments[.json]
      ? console.json { $0.seed(report, of: model.name, options) }
      : print(report, of: model.name, options, to: console)
    return like.map { console.finish($0) } ?? .done
  }

  /// What the options ask for, and the store that `--like` names: what of it cannot be read was not counted.
  static func options(
    _ arguments: Arguments, model: Model?
  ) throws -> (options: SeedOptions, like: Store?) {
    var options = SeedOptions()
    var like: Store?
    options.objects = arguments[objects]
    if let objects = options.objects, objects > SeedOptions.mostObjects {
      throw CoreDataError(
        .usage, "--objects takes at most \(SeedOptions.mostObjects), not \(objects)")
    }
    if let seed = arguments[seed] { options.seed = seed }
    options.hasEdgeCases = arguments[edgeCases]
    if let path = arguments[Self.like] {
      let store = try Store(path: path) { metadata in
        model.flatMap { metadata.versionHashes == $0.versionHashes ? $0 : nil }
      }
      guard store.modelSource != .raw else {
        throw CoreDataError(
          .unreadable, code: .migrationMissingSourceModel,
          "the store has no model in it (Z_MODELCACHE is missing or empty)", path: path,
          hint: "Name a store with its model in it, or one of just the model that is seeded.")
      }
      try store.inspect(upTo: Store.readingCheckSize)
      like = store
      options.likeness = try StoreLikeness(
        measuring: store, isCancelled: { Interruption.isRequested })
    }
    return (options, like)
  }

  private static func print(
    _ report: SeedReport, of model: String, _ options: SeedOptions, to console: Console
  ) {
    var rows = [["entity", "objects"]]
    rows += report.entities.map { [$0.name.printable, NumberText.grouped($0.objects)] }
    console.table([.left, .right], rows)
    if report.externalFiles > 0 {
      console.line("files of external data: \(report.externalFiles)")
    }
    for line in report.edgeCases { console.line("edge case: " + line.printable) }
    for note in report.notes { console.line("note: " + note.printable) }
    console.line(
      "✓ seeded: \(report.path.printable), \(NumberText.grouped(report.objects)) objects of model “\(model.printable)”, seed \(options.seed)"
    )
  }
}

extension JSONWriter {
  fileprivate mutating func seed(_ report: SeedReport, of model: String, _ options: SeedOptions) {
    object("seeded") { json in
      json.fields([
        "store": report.path, "uuid": report.uuid, "model": model, "objects": report.objects,
        "seed": String(options.seed), "externalFiles": report.externalFiles,
        "edgeCases": report.edgeCases, "notes": report.notes,
      ])
      json.numbers("entities", report.entities.map { ($0.name, $0.objects) })
    }
  }
}
