import Files
import ManagedStore
import Migration
import ModelSearch
import ModelWriting
import SQLite
import TestSupport

/// How fast a large store is migrated, beside the same work typed into the sqlite3 shell.
enum MigrationBenchmark {
  /// - Parameters:
  ///   - strata: the release binary.
  ///   - objects: of the demo store; 2,700,000 make about 500 MB.
  static func run(strata: String, objects: Int) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "\(objects)", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let path = folder.path("demo/Recipes.sqlite")
    let bundle = folder.path("demo/Recipes.xcdatamodeld")
    print("\(objects) objects, \(megabytes(FileSystem.status(path)?.size ?? 0))")
    let second = try ModelReference(bundle + "@Recipes 2").load().model

    let split = try splitModel(bundle)
    let recipePath = folder.path("split.json5")
    try FileSystem.write(Array(splitRecipe.utf8), to: recipePath)
    let splitPath = folder.path("split.xcdatamodel")
    try FileSystem.makeDirectory(splitPath)
    try FileSystem.write(Array(split.xcdatamodelContents().utf8), to: splitPath + "/contents")
    let to = ["--to", bundle + "@Recipes 2"]
    let whole = WholeCommands(strata: strata, store: path, folder: folder)
    // What is typed is read off a result; and a child's peak begins with what its parent holds.
    let typedPath = try whole.result(of: to + ["--strategy", "copy"])
    let typing = try HandWritten(source: path, result: typedPath, folder: folder)
    try whole.compare(
      [
        .init(what: "in place", arguments: to + ["--strategy", "in-place"], isTyped: false),
        .init(what: "copying", arguments: to + ["--strategy", "copy"], isTyped: true),
        .init(
          what: "recipe", arguments: ["--to", splitPath, "--mapping", recipePath], isTyped: true),
      ], typed: typing)
    try whole.comparePlan(to)
    let backup = Measured.best(
      of: 3, "sqlite3", ["file:\(path)?immutable=1", ".backup '\(folder.path("backup"))'"])
    FileSystem.remove(folder.path("backup"))
    let inPlace = try best(of: 3, path, folder) { store in
      try store.plan(to: second, names: ("1", "2"), strategy: .inPlace)
    }
    report("in place, against .backup", inPlace, backup.seconds)

    let copying = try best(of: 3, path, folder) { store in
      try store.plan(to: second, names: ("1", "2"), strategy: .copy)
    }
    let typed = try seconds(of: 3) { _ = try typing.run() }
    report("copying, against INSERT … SELECT and CREATE INDEX", copying, typed)

    let recipe = try best(of: 3, path, folder) { store in
      var documents = MappingDocuments()
      documents.add(try Recipe(text: splitRecipe, path: "split.json5"))
      return try store.plan(to: split, names: ("1", "split"), documents: documents)
    }
    report("recipe with split and where, against the same", recipe, typed)

    try PolicyBenchmark.report(path, second, objects: objects, folder)
    print("peak memory of this process, policies included: \(Fuzzing.peakMemory >> 20) MB")
  }

  struct Run {
    var seconds: Double
    var verification: Double
    var result: String
  }

  static func best(
    of count: Int, _ path: String, _ folder: TemporaryFolder,
    _ plan: (Store) throws -> MigrationPlan
  ) throws -> Run {
    var best = Run(seconds: .infinity, verification: .infinity, result: "")
    for _ in 0..<count {
      let output = folder.path("result.sqlite")
      FileSystem.remove(output)
      var options = MigrationOptions()
      options.output = output
      let plan = try plan(Store(path: path))
      options.allowedLosses = Set(plan.losses.map(\.name))
      let receipt = try StoreMigration.run(plan, options: options)
      let seconds = receipt.seconds - receipt.verificationSeconds
      if seconds < best.seconds { best.seconds = seconds }
      best.verification = min(best.verification, receipt.verificationSeconds)
      best.result = output
      // The second reader holds a store in memory.
      if receipt.bytes < 64 << 20 { try SecondReader.expectAgreement(at: output) }
    }
    return best
  }

  private static func report(_ what: String, _ run: Run, _ other: Double) {
    print(
      """
      \(what): \(milliseconds(run.seconds)), \(ratio(run.seconds, other)) the \(milliseconds(other)); \
      verification \(milliseconds(run.verification)), \(ratio(run.verification, run.seconds)) the migration
      """)
  }

  /// The demo's first version with a person's name in two.
  private static func splitModel(_ bundle: String) throws -> Model {
    let first = try ModelReference(bundle + "@Recipes").load().model
    return try Model(
      entities: first.entities.map { entity in
        guard entity.name == "Person" else { return entity }
        var copy = entity
        copy.attributes.removeAll { $0.name == "name" }
        copy.attributes += [
          Attribute("firstName", .string, optional: true),
          Attribute("lastName", .string, optional: true),
        ]
        return copy
      }, versionIdentifiers: ["split"])
  }

  private static let splitRecipe = """
    {
      from: "1", to: "split",
      entityMappings: [
        { source: "Person", destination: "Person",
          attributes: { firstName: "split_part(name, ' ', 1)", lastName: "rest_after(name, ' ')" } },
        { source: "Amount", destination: "Amount", where: "quantity > 0" },
      ],
    }
    """
}
