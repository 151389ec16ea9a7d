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
    // First of all: a child's peak begins with what its parent holds.
    for (name, words) in [("in place", "in-place"), ("copying", "copy")] {
      let run = Measured.run(
        strata,
        [
          "migrate", path, "--to", bundle + "@Recipes 2", "--strategy", words, "--output",
          folder.path("memory-\(words)"),
        ])
      print(
        "\(name): \(milliseconds(run.seconds)) as a process, \(megabytes(run.peakBytes)) at most")
    }
    let recipePath = folder.path("split.json5")
    try FileSystem.write(Array(splitRecipe.utf8), to: recipePath)
    let splitPath = folder.path("split.xcdatamodel")
    try FileSystem.makeDirectory(splitPath)
    try FileSystem.write(Array(split.xcdatamodelContents().utf8), to: splitPath + "/contents")
    let run = Measured.run(
      strata,
      [
        "migrate", path, "--to", splitPath, "--mapping", recipePath, "--output",
        folder.path("memory-recipe"),
      ])
    print("recipe: \(milliseconds(run.seconds)) as a process, \(megabytes(run.peakBytes)) at most")
    let backup = Measured.best(
      of: 3, "sqlite3", ["file:\(path)?immutable=1", ".backup '\(folder.path("backup"))'"])
    let inPlace = try best(of: 3, path, folder) { store in
      try store.plan(to: second, names: ("1", "2"), strategy: .inPlace)
    }
    report("in place, against .backup", inPlace, backup.seconds)

    let copying = try best(of: 3, path, folder) { store in
      try store.plan(to: second, names: ("1", "2"), strategy: .copy)
    }
    let typed = try HandWritten(source: path, result: copying.result, folder: folder).seconds()
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

/// The result of a copying migration, made again by SQL typed into the sqlite3 shell.
private struct HandWritten {
  let source: String
  let result: String
  let folder: TemporaryFolder

  func seconds() throws -> Double {
    let script = folder.path("typed.sql")
    try FileSystem.write(Array(try sql().utf8), to: script)
    let out = folder.path("typed.sqlite")
    var best = Double.infinity
    for _ in 0..<3 {
      FileSystem.remove(out)
      let run = Measured.run("sqlite3", [out, ".read '\(script)'"])
      guard run.status == 0 else { throw CoreDataError(.failed, "the typed SQL failed") }
      best = min(best, run.seconds)
    }
    return best
  }

  private func sql() throws -> String {
    let (before, after) = (try Store(path: source), try Store(path: result))
    let (old, new) = (
      try DatabaseTables(before.connection), try DatabaseTables(after.connection)
    )
    let numbers = Dictionary(
      before.entityTables.map { ($0.entity, $0.entityID) }
    ) { first, _ in first }
    let cases = after.entityTables.compactMap { table in
      numbers[table.entity].map { "WHEN \($0) THEN \(table.entityID)" }
    }.joined(separator: " ")
    var text = """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;
      ATTACH 'file:\(source)?immutable=1' AS src; BEGIN;

      """
    for (name, columns) in new.tables.sorted(by: { $0.key < $1.key }) {
      guard let create = new.sql[name], !name.hasPrefix("sqlite_") else { continue }
      text += create + ";\n"
      let former = old.contains(name) ? name : renamed(name, old)
      guard let former else { continue }
      let there = (old.tables[former] ?? []).map(\.name)
      let isJoin = name != former || !there.contains("Z_PK")
      let pairs = columns.enumerated().compactMap { index, column -> (String, String)? in
        if isJoin { return index < there.count ? (column.name, quoted(there[index])) : nil }
        if column.name == "Z_ENT" { return (column.name, "CASE Z_ENT \(cases) END") }
        if column.name == "ZSERVINGS" { return (column.name, "ZSERVES") }
        if column.name == "ZISVEGAN" { return (column.name, "0") }
        return there.contains(column.name) ? (column.name, quoted(column.name)) : nil
      }
      text += """
        INSERT INTO \(name) (\(pairs.map { quoted($0.0) }.joined(separator: ", ")))
        SELECT \(pairs.map(\.1).joined(separator: ", ")) FROM src.\(quoted(former));

        """
    }
    for name in new.indexes.keys.sorted() { if let sql = new.sql[name] { text += sql + ";\n" } }
    return text + "COMMIT;\n"
  }

  /// The source's join table that became one of another number.
  private func renamed(_ name: String, _ old: DatabaseTables) -> String? {
    guard name.hasPrefix("Z_") else { return nil }
    let base = name.dropFirst(2).drop { $0.isNumber }
    return old.tables.keys.first { other in
      other.hasPrefix("Z_") && other.dropFirst(2).drop { $0.isNumber } == base
    }
  }
}
