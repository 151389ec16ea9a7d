import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport

/// A demo store with all that is asked of one migration of it: what it is killed in.
final class KillScene {
  enum Kind: String, CaseIterable, Sendable { case inPlace, copying, recipe, chain, repair }

  let kind: Kind
  let folder: TemporaryFolder
  /// Whether some rows are in the -wal only.
  let hasLog: Bool
  /// The store's folder as it is before.
  let base: String
  let before: [String]
  private(set) var after: [String] = []
  /// Seconds that an uninterrupted run takes.
  private(set) var duration = 0.0
  /// The phases it goes through: the kind of each, and what is printed when it begins.
  private(set) var phases: [String: [String]] = [:]

  init(_ kind: Kind, hasLog: Bool = false, objects: Int = 1500) throws {
    self.kind = kind
    self.hasLog = hasLog
    folder = try TemporaryFolder()
    base = folder.path("base")
    let made = ChildProgram([
      Shell.strata, "demo", folder.path("made"), "--objects", String(objects), "--no-open",
    ])
    guard made?.wait() == 0 else { throw FixtureError.missing("the demo") }
    try FileSystem.makeDirectory(base)
    let connection = try Connection(path: folder.path("made/Recipes.sqlite"), mode: .readWrite)
    if hasLog {
      try connection.execute(
        "UPDATE ZDRAFT SET ZTITLE = 'in the log ' || Z_PK; UPDATE ZSTEP SET Z_OPT = 5")
    }
    if kind == .repair { try connection.execute(RepairFaults.sql) }
    try Self.copy(folder.path("made"), to: base)
    FileSystem.remove(base + "/Recipes.sqlite-shm")
    connection.close()
    try DemoVersions.prepare(folder.path("made/Recipes.xcdatamodeld"), recipesIn: folder.path)
    before = try StoreDump.lines(at: base + "/Recipes.sqlite")
    let place = try fresh()
    let began = Fuzzing.now()
    let child = try start(in: place)
    guard child.wait() == 0 else { throw FixtureError.missing("a migration: \(child.text)") }
    duration = Fuzzing.now() - began
    for line in child.lines {
      guard let now = line.progress else { continue }
      phases[now.kind, default: []].append(
        "\"step\":\(now.step),\"steps\":\(now.steps),\"current\":\(now.current),")
    }
    after = try StoreDump.lines(at: place + "/Recipes.sqlite")
    try SecondReader.expectAgreement(at: place + "/Recipes.sqlite")
    FileSystem.removeTree(place)
  }

  /// The name of what was there before, once the new store is in place.
  var backup: String { kind == .repair ? "Recipes.unrepaired-1" : "Recipes.backup-1" }

  /// The backups that are there.
  func backups(in place: String) throws -> [String] {
    try FileSystem.list(place).filter { $0.hasPrefix(backup.dropLast(2)) }
  }

  private var options: [String] {
    let models = folder.path("made/Recipes.xcdatamodeld")
    return switch kind {
    case .repair: []
    case .inPlace: ["--to", models + "@Recipes 2", "--strategy", "in-place"]
    case .copying: ["--to", models + "@Recipes 2", "--strategy", "copy"]
    case .recipe: ["--to", models + "@Recipes 2", "--mapping", folder.path("one.json5")]
    case .chain:
      ["--to", models + "@Recipes 5", "--via", models, "--mapping", folder.path("two.json5")]
    }
  }

  /// Goes on until a phase of that kind begins, or the run is over.
  func wait(
    for kind: String, of child: ChildProgram, using generator: inout SeededGenerator
  ) {
    guard let sign = phases[kind]?.randomElement(using: &generator) else { return }
    child.read { $0.has(sign) || $0.has("\"receipt\"") }
  }

  /// Kinds of phase, in a fixed order.
  var kinds: [String] { phases.keys.sorted() }

  /// A copy of the store in a folder of its own.
  func fresh() throws -> String {
    let place = folder.path("place")
    FileSystem.removeTree(place)
    try Self.copy(base, to: place)
    return place
  }

  /// The migration in that folder.
  func start(
    in place: String, store: String = "Recipes.sqlite", program: String = Shell.strata,
    extra: [String] = [], prefix: [String] = [], environment: [String: String] = [:]
  ) throws -> ChildProgram {
    var variables = ["XDG_STATE_HOME": folder.path("state")]
    variables.merge(environment) { $1 }
    guard
      let child = ChildProgram(
        prefix + [program, kind == .repair ? "repair" : "migrate", place + "/" + store, "--json"]
          + options + extra,
        environment: variables)
    else { throw FixtureError.missing(Shell.strata) }
    return child
  }

  static func copy(_ from: String, to: String) throws {
    try FileSystem.makeDirectory(to)
    for name in try FileSystem.list(from) where !name.hasSuffix(".xcdatamodeld") {
      let (source, target) = (from + "/" + name, to + "/" + name)
      if FileSystem.isDirectory(source) {
        try copy(source, to: target)
      } else {
        try FileSystem.copyOver(source, to: target)
      }
    }
  }
}
