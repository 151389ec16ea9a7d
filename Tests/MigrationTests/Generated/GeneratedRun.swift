import Files
import ManagedStore
import ModelWriting
import SQLite
import TestSupport

@testable import Migration

/// One generated pair carried out on a real store, and compared with what the oracle says.
final class GeneratedRun {
  private let pair: GeneratedPair
  private let way: Way
  private let folder: TemporaryFolder
  private let path: String
  private let uuid = "11111111-2222-4333-8444-555555555555"
  /// What was not as it should be.
  private(set) var failures: [String] = []

  init(_ pair: GeneratedPair, way: Way) throws {
    self.pair = pair
    self.way = way
    folder = try TemporaryFolder()
    path = folder.path("Made.sqlite")
  }

  private func fail(_ what: String) { failures.append(what) }

  /// What is wrong with a pair; empty where nothing is.
  static func failures(
    of pair: GeneratedPair, way: Way
  ) throws -> [String] {
    let run = try GeneratedRun(pair, way: way)
    do {
      try run.check()
    } catch {
      run.fail("an error that was not foreseen: \(error)")
    }
    return run.failures
  }

  private func check() throws {
    try pair.objects.write(to: path, model: pair.source, uuid: uuid)
    if pair.isConfigured {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.run(
        "UPDATE Z_MODELCACHE SET Z_CONTENT = ?",
        [.blob(try ModelCache.deflate(pair.wholeSource.archived()))])
    }
    try GeneratedHistory.write(to: path)
    let store = try Store(path: path)
    if store.warnings != [] { fail("the source opens with warnings: \(store.warnings)") }
    compare(
      try StoreDump.lines(store), with: OracleText.lines(pair.objects.all, model: pair.source),
      "before the migration")
    switch pair.outcome() {
    case .nothing:
      let plan = try self.plan()
      if !plan.isNothingToDo { fail("equal hashes, and yet something to do") }
    case .refused(let refusals): try checkRefusal(refusals)
    case .planned(let checks, let losses, let objects):
      let plan = try self.plan()
      if way == .policies {
        // What code leaves out nobody can tell beforehand.
        guard checks.isEmpty else { return }
      } else {
        compare(plan.checks, with: checks)
        compare(plan.losses, with: losses)
      }
      if !plan.losses.isEmpty {
        try expectRefusal(plan, MigrationOptions(), of: plan.losses[0].name)
      }
      if plan.strategy != (way == .inPlace ? .inPlace : .copy) {
        fail("the plan's strategy is \(plan.strategy.rawValue)")
      }
      let options = self.options(allowing: plan.losses)
      if let failure = plan.failures.first {
        try expectRefusal(plan, options, of: Self.name(failure.entity, failure.property))
      } else {
        try checkRun(plan, options, objects)
      }
    }
  }

  private static func name(_ entity: String?, _ property: String?) -> String {
    [entity, property].compactMap { $0 }.joined(separator: ".")
  }

  /// Everything that a run is told, and so the place where it is told its strategy.
  private func options(allowing losses: [Loss]) -> MigrationOptions {
    var options = MigrationOptions()
    options.allowedLosses = Set(losses.map(\.name))
    if pair.seed % 2 == 0 { options.output = folder.path("Result.sqlite") }
    return options
  }

  private func plan() throws -> MigrationPlan {
    try way.plan(Store(path: path), to: pair.wholeDestination)
  }

  private func checkRefusal(_ refusals: [OracleRefusal]) throws {
    let before = try folder.contents()
    do {
      _ = try plan()
      fail("a mapping was inferred in spite of \(refusals)")
    } catch let error as CoreDataError {
      let place = OracleRefusal.Place(error.entity ?? "", error.property)
      let isLink = refusals.contains {
        $0.cause == .otherDestination && $0.places.contains(place)
      }
      // Core Data does not refuse it: it would link other objects.
      if error.code != 134190 && !isLink || error.kind != .refused
        || !refusals.contains(where: { $0.places.contains(place) })
      {
        fail("refused with “\(error)”, not for one of \(refusals)")
      }
    }
    if try folder.contents() != before { fail("a refused plan changed files") }
  }

  private func expectRefusal(
    _ plan: MigrationPlan, _ options: MigrationOptions, of name: String
  ) throws {
    let before = try folder.contents()
    do {
      _ = try StoreMigration.runAndRead(plan, options: options)
      fail("the run went on in spite of \(name)")
    } catch let error as CoreDataError {
      if error.kind != .refused || Self.name(error.entity, error.property) != name {
        fail("the run should be refused for \(name), and was by “\(error)”")
      }
    }
    if try folder.contents() != before { fail("a refused run changed files") }
  }

  private func checkRun(
    _ plan: MigrationPlan, _ options: MigrationOptions, _ objects: [GeneratedObject]
  ) throws {
    let before = try FileSystem.read(path)
    let external = try externalFiles(of: path)
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let untouched = options.output == nil ? receipt.backupPath : path
    if try untouched.map({ try FileSystem.read($0) }) != before {
      fail("the source, or its backup, is not what it was")
    }
    let result = options.output ?? path
    let left = Set(
      try FileSystem.list(folder.path).map { folder.path($0) }.filter(FileSystem.isFile))
    if left != Set([path, result, receipt.backupPath].compactMap { $0 }) {
      fail("files are left lying about: \(left.sorted())")
    }
    if try externalFiles(of: result) != external {
      fail("external data files are not what they were")
    }
    let store = try Store(path: result)
    compare(
      try StoreDump.lines(store), with: OracleText.lines(objects, model: pair.destination),
      "after the migration")
    if store.warnings != [] { fail("the result opens with warnings: \(store.warnings)") }
    if try store.rowsOfUnknownEntities() != [] { fail("the result has rows of no entity") }
    if !store.modelMatches || store.metadata.versionHashes != pair.destination.versionHashes {
      fail("the result's hashes are not the destination's")
    }
    if store.metadata.uuid != uuid || receipt.uuid != uuid { fail("the store's UUID changed") }
    if try store.connection.value("PRAGMA integrity_check") != .text("ok") {
      fail("the result fails the integrity check")
    }
    try checkSavedCounts(store)
    if try store.oneSidedLinks() != [] { fail("sides of one-to-ones disagree") }
    if store.configuration != (pair.isConfigured ? GeneratedPair.configuration : nil)
      || store.database.contains("ZELSEWHERE")
    {
      fail("the store's configuration is \(store.configuration ?? "none")")
    }
  }

  private func externalFiles(of path: String) throws -> [String: [UInt8]] {
    let folder = StoreFiles(path: path).externalDataFolder
    guard FileSystem.isDirectory(folder) else { return [:] }
    var files: [String: [UInt8]] = [:]
    for name in try FileSystem.list(folder) {
      files[name] = try FileSystem.read(folder + "/" + name)
    }
    return files
  }

  /// Z_OPT counts saves: a migration is none.
  private func checkSavedCounts(_ store: Store) throws {
    for table in store.entityTables where table.isWholeTable {
      let count = try store.connection.value(
        "SELECT count(*) FROM \(quoted(table.table)) WHERE Z_OPT IS NOT 1")
      if count != .integer(0) { fail("Z_OPT changed in \(table.table)") }
    }
  }

  private func compare(_ actual: [String], with expected: [String], _ when: String) {
    // As bytes: Swift takes two spellings of one letter for the same.
    let (actual, expected) = (actual.map { Array($0.utf8) }, expected.map { Array($0.utf8) })
    guard actual != expected else { return }
    let first = zip(actual, expected).first { $0 != $1 }
    func text(_ bytes: [UInt8]?) -> String {
      bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    fail(
      """
      \(when): \(actual.count) objects, \(expected.count) expected; the first difference:
        is     \(text(first?.0 ?? actual.last))
        should \(text(first?.1 ?? expected.last))
      """)
  }

  private func compare(_ actual: [DataCheck], with expected: Set<MigrationOracle.Check>) {
    // Of objects of an abstract entity a mapping model makes nothing that could be asked further.
    if way == .mapped, expected.contains(where: { $0.property == nil }) {
      if actual.allSatisfy(\.isWarning) { fail("objects of an abstract entity may be migrated") }
      return
    }
    // With a mapping model every object is validated, and the code is that of a save.
    func code(_ code: Int) -> Int { way == .mapped && [1570, 1580].contains(code) ? 134110 : code }
    let actual = Set(
      actual.map {
        MigrationOracle.Check(
          code: code($0.code.rawValue), entity: $0.entity, property: $0.property, rows: $0.rows)
      })
    let expected = Set(
      expected.map {
        MigrationOracle.Check(
          code: code($0.code), entity: $0.entity, property: $0.property, rows: $0.rows)
      })
    guard actual != expected else { return }
    func text(_ checks: Set<MigrationOracle.Check>) -> String {
      checks.map { "\($0.code) \(Self.name($0.entity, $0.property)) in \($0.rows)" }.sorted()
        .joined(separator: "; ")
    }
    fail(
      "checks: not foreseen: \(text(actual.subtracting(expected))); missing: \(text(expected.subtracting(actual)))"
    )
  }

  private func compare(_ actual: [Loss], with expected: MigrationOracle.Losses) {
    let wrong = expected.differences(from: actual)
    if !wrong.isEmpty { fail("losses: " + wrong.joined(separator: "; ")) }
  }
}

extension MigrationOracle.Losses {
  /// What is told otherwise than it is.
  func differences(from told: [Loss]) -> [String] {
    var left = Dictionary(told.map { ($0.name, $0.values) }, uniquingKeysWith: +)
    var wrong: [String] = []
    for (name, count) in exact.sorted(by: { $0.key < $1.key }) {
      let told = left.removeValue(forKey: name) ?? 0
      if told != count { wrong.append("\(name): \(told) told, \(count) lost") }
    }
    for links in links {
      let told = links.names.reduce(0) { $0 + (left.removeValue(forKey: $1) ?? 0) }
      if told < links.least || told > links.most {
        wrong.append(
          "links \(links.names.sorted().joined(separator: " / ")): \(told) told, \(links.least)…\(links.most) lost"
        )
      }
    }
    for (name, count) in left.sorted(by: { $0.key < $1.key }) {
      wrong.append("\(name): \(count) told, none lost")
    }
    return wrong
  }
}
