import Demo
import Files
import Interface
import ManagedModel
import SQLite
import Seeding
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

@Suite("A -wal that belongs to another store")
struct ForeignLogTests {
  /// A store with a -wal, in which other rows were changed and more were added.
  private static func store(_ objects: Int, growing: Bool) throws -> DamagedDemo {
    let demo = try DamagedDemo(objects: objects)
    let copy = demo.path + ".open"
    try FileSystem.copyOver(demo.path, to: copy)
    do {
      let connection = try Connection(path: copy, mode: .create)
      try connection.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL")
      try StoreFunctions.define(on: connection)
      try connection.execute("UPDATE ZSTEP SET Z_OPT = Z_OPT + 1 WHERE Z_PK % 2 = 1")
      if growing {
        // The first page counts the pages: it is in the log.
        try connection.execute(
          """
          INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) WITH RECURSIVE n(i) AS \
          (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT 5000 + i, \
          (SELECT Z_ENT FROM ZTAG LIMIT 1), 1, 'of the log ' || i || hex(randomblob(40)) FROM n; \
          UPDATE Z_PRIMARYKEY SET Z_MAX = 5400 WHERE Z_NAME = 'Tag'
          """)
      }
      try FileSystem.write(FileSystem.read(copy), to: demo.path)
      try FileSystem.write(FileSystem.read(copy + "-wal"), to: demo.path + "-wal")
    }
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
    return demo
  }

  @Test("keys that the store never gave out make a -wal doubtful, and nothing else does")
  func keysBeyondCounters() throws {
    func look(_ statements: String...) throws -> (findings: [Finding], report: SalvageReport) {
      let demo = try DamagedDemo(objects: 300, isLogged: true, logging: statements)
      let report = try StoreSalvage.run(
        path: demo.path, output: demo.folder.path("Saved.sqlite"))
      return (try Diagnosis(of: demo.path).findings.filter { $0.kind == .walForeign }, report)
    }
    // No page is added: the first one, which counts them, is not in the log.
    let insert =
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 900, Z_ENT, 1, 'new' FROM ZTAG LIMIT 1"
    let doubtful = try look(insert)
    #expect(doubtful.findings.map(\.severity) == [.warning])
    #expect(doubtful.report.isPartial && doubtful.report.isLossy)
    #expect(doubtful.report.notes.contains { $0.hasSuffix(SalvageSource.keysBeyondCounters) })
    // The rows of its frames, and of no other page.
    func guessed(_ table: String) -> Int? {
      doubtful.report.tables.first { $0.name == table }?.guessed
    }
    #expect(guessed("ZTAG") ?? 0 > 0 && guessed("ZINGREDIENT") == 0)
    let own = try look(
      insert, "UPDATE Z_PRIMARYKEY SET Z_MAX = 900 WHERE Z_NAME = 'Tag'")
    #expect(own.findings.isEmpty && !own.report.isPartial, "\(own.report.notes)")
  }

  @Test(
    "it is named, and nothing of it comes into the store",
    arguments: TestScale.pairs([(600, 900), (900, 600), (600, 650)], [false, true]))
  func exchanged(sizes: (own: Int, other: Int), growing: Bool) throws {
    let own = try Self.store(sizes.own, growing: growing)
    let other = try Self.store(sizes.other, growing: growing)
    let main = try StoreDump.lines(at: own.path)
    FileSystem.remove(own.path + "-wal")
    let alone = try StoreDump.lines(at: own.path)
    #expect(growing == (main != alone))
    try FileSystem.write(FileSystem.read(other.path + "-wal"), to: own.path + "-wal")
    let before = try own.bytes()

    let store = try Store(path: own.path)
    #expect(store.wal.frames == 0 && store.wal.unapplied?.reason == .foreign)
    #expect(try StoreDump.lines(store) == alone)
    #expect(store.gaps.contains { $0.contains("belongs to another store") }, "\(store.gaps)")

    let found = try Diagnosis(of: own.path).findings
    let finding = try #require(found.first)
    #expect(finding.kind == .walForeign && finding.severity == .error)
    #expect(finding.command?.typed.contains("--ignore-wal") == true)

    let output = own.folder.path("Saved.sqlite")
    let refusal = #expect(throws: CoreDataError.self) {
      _ = try StoreSalvage.run(path: own.path, output: output)
    }
    #expect(refusal?.kind == .usage && refusal?.advice?.names(.ignoresLog) == true)
    #expect(!FileSystem.isFile(output))
    var options = StoreSalvage.Options()
    options.log = .none
    let report = try StoreSalvage.run(path: own.path, output: output, options: options)
    #expect(!report.isLossy && report.lacksOwnLog)
    #expect(
      report.notes.contains { $0.contains("was left out, because it does not belong") },
      "\(report.notes)")
    #expect(!report.notes.contains { $0.contains("requested") }, "nobody has to request it")
    #expect(try StoreDump.lines(at: output) == alone)
    #expect(try own.bytes().filter { !$0.key.contains("Saved") } == before)
  }

  @Test("a -wal of its own that is left out is no whole salvage, also under another name")
  func leftOut() throws {
    for name in ["-wal", " (1).sqlite-wal"] {
      let own = try Self.store(600, growing: true)
      let log = try FileSystem.read(own.path + "-wal")
      let folder = try #require(FileSystem.parent(of: own.path))
      FileSystem.remove(own.path + "-wal")
      let alone = try StoreDump.lines(at: own.path)
      let stem = FileSystem.name(of: own.path).split(separator: ".").first.map(String.init)
      let path = name == "-wal" ? own.path + name : "\(folder)/\(try #require(stem))\(name)"
      try FileSystem.write(log, to: path)
      var options = StoreSalvage.Options()
      options.log = .none
      let output = own.folder.path("Saved.sqlite")
      let report = try StoreSalvage.run(path: own.path, output: output, options: options)
      #expect(try StoreDump.lines(at: output) == alone)
      #expect(report.isLossy && report.isPartial && !report.lacksOwnLog, "\(name)")
      #expect(
        report.notes.contains {
          $0.contains(") was left out: ")
            && $0.hasSuffix("what was saved only there is not in what was read.")
        }, "\(report.notes)")
    }
  }

  /// A seeded store whose main file went on in its own way, and then a -wal.
  private static func seeded(
    _ objects: Int, seed: UInt64, growing: Bool, in folder: TemporaryFolder
  ) throws -> String {
    let path = folder.path("Seed \(objects) \(seed).sqlite")
    _ = try StoreSeed.write(
      to: path, model: #require(DemoModels.versions().first).model,
      options: SeedOptions(objects: objects, seed: seed))
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; UPDATE ZSTEP SET Z_OPT = 5;
      DELETE FROM ZSTEP WHERE Z_PK % \(5 + seed) = 1; PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0; UPDATE ZSTEP SET Z_OPT = 6 WHERE Z_PK % 2 = 1
      """)
    if growing {
      try connection.execute(
        """
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) WITH RECURSIVE n(i) AS \
        (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT 5000 + i, \
        (SELECT Z_ENT FROM ZTAG LIMIT 1), 1, 'of the log ' || i || hex(randomblob(40)) FROM n; \
        UPDATE Z_PRIMARYKEY SET Z_MAX = 5400 WHERE Z_NAME = 'Tag'
        """)
    }
    let (main, log) = (try FileSystem.read(path), try FileSystem.read(path + "-wal"))
    connection.close()
    FileSystem.remove(path + "-shm")
    try FileSystem.write(main, to: path)
    try FileSystem.write(log, to: path + "-wal")
    return path
  }

  @Test(
    "seeds of one model do not take each other's, with page 1 in them and without",
    arguments: [false, true])
  func exchangedSeeds(growing: Bool) throws {
    let folder = try TemporaryFolder()
    let one = try Self.seeded(600, seed: 1, growing: growing, in: folder)
    let two = try Self.seeded(600, seed: 2, growing: growing, in: folder)
    let logs = (try FileSystem.read(one + "-wal"), try FileSystem.read(two + "-wal"))
    for path in [one, two] {
      let log = try WriteAheadLog(besideStore: path)
      #expect(log.frames > 0 && log.unapplied?.reason != .foreign)
      let frames = try DatabaseImage(path: path, log: path + "-wal").log
      #expect((frames?.newest[1] != nil) == growing)
    }
    for (path, other) in [(one, logs.1), (two, logs.0)] {
      FileSystem.remove(path + "-wal")
      let alone = try StoreDump.lines(at: path)
      try FileSystem.write(other, to: path + "-wal")
      let store = try Store(path: path)
      #expect(store.wal.frames == 0 && store.wal.unapplied?.reason == .foreign)
      #expect(try StoreDump.lines(store) == alone)
      #expect(try Diagnosis(of: path).findings.first?.kind == .walForeign)
      #expect(throws: CoreDataError.self) {
        _ = try StoreSalvage.run(path: path, output: folder.path("Saved.sqlite"))
      }
    }
  }

  @Test("where its pages fit, an index without the rows of its table tells that it is another's")
  func small() throws {
    let demo = try DamagedDemo(objects: 600)
    func files(_ sql: String) throws -> (main: [UInt8], log: [UInt8]) {
      let copy = demo.path + ".open"
      try FileSystem.copyOver(demo.path, to: copy)
      let connection = try Connection(path: copy, mode: .create)
      try StoreFunctions.define(on: connection)
      // Of the log only the page of the table, not that of its index.
      try connection.execute(
        """
        PRAGMA journal_mode = DELETE; \(sql); PRAGMA journal_mode = WAL;
        PRAGMA wal_autocheckpoint = 0; UPDATE ZTAG SET Z_OPT = Z_OPT + 1
        """)
      let files = (try FileSystem.read(copy), try FileSystem.read(copy + "-wal"))
      connection.close()
      for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
      return files
    }
    let own = try files("SELECT 1")
    let keys = try files("UPDATE ZTAG SET Z_PK = 7000 WHERE Z_PK = 1")
    let values = try files("UPDATE ZTAG SET ZNAME = 'of the other' WHERE Z_PK = 1")
    try FileSystem.write(own.main, to: demo.path)
    try FileSystem.write(own.log, to: demo.path + "-wal")
    let log = try WriteAheadLog(besideStore: demo.path)
    #expect(log.frames > 0 && log.unapplied?.reason != .foreign)
    for other in [keys, values] {
      try FileSystem.write(other.log, to: demo.path + "-wal")
      let log = try WriteAheadLog(besideStore: demo.path)
      #expect(log.frames == 0 && log.unapplied?.reason == .foreign)
      let finding = try Diagnosis(of: demo.path).findings.first
      #expect(finding?.kind == .walForeign)
      #expect(finding?.sentence.contains("matches its table without it") == true)
      #expect(finding?.command?.typed.contains("--ignore-wal") == true)
    }
  }

  @Test("the -wal that belongs to the store can be named, wherever it is")
  func named() throws {
    let own = try Self.store(600, growing: true)
    let other = try Self.store(900, growing: true)
    let whole = try StoreDump.lines(at: own.path)
    let kept = own.folder.path("kept.log")
    try FileSystem.rename(own.path + "-wal", to: kept)
    try FileSystem.write(FileSystem.read(other.path + "-wal"), to: own.path + "-wal")
    var options = StoreSalvage.Options()
    options.log = .file(kept)
    let output = own.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: own.path, output: output, options: options)
    #expect(!report.isLossy && report.logPath == kept)
    #expect(try StoreDump.lines(at: output) == whole)
  }

  /// What a store's own log may look like.
  enum Own: String, CaseIterable {
    case changed, grown, vacuumed, shrunk, migrated, checkpointedInPart, emptyMain
  }

  /// Migrates in place as Core Data does: columns are added, a table is made anew, metadata and model are the next
  /// version's.
  private static func migrate(_ connection: Connection, in folder: TemporaryFolder) throws {
    let next = folder.path("Next.sqlite")
    var entities = try #require(DemoModels.versions().first).model.entities
    for index in entities.indices where ["Tag", "Step"].contains(entities[index].name) {
      entities[index].attributes.append(Attribute("more", .string, optional: true))
    }
    let model = try Model(entities: entities, versionIdentifiers: ["more"])
    try StoreCreation.create(at: next, model: model, uuid: "5AD0BC53-7A4C-4A41-8B8D-6D2F5D8C7E10")
    let present = try DatabaseTables(connection)
    try connection.execute("ATTACH '\(next)' AS next; BEGIN")
    for table in StoreSchema(model: model).tables where present.contains(table.name) {
      for column in table.columns where !present.columns(of: table.name).contains(column.name) {
        try connection.execute(
          "ALTER TABLE \(quoted(table.name)) ADD \(quoted(column.name)) \(column.type)")
      }
    }
    let made = try #require(
      connection.value("SELECT sql FROM sqlite_master WHERE name = 'ZSTEP'")?.text)
    let columns = present.columns(of: "ZSTEP").map(quoted).sorted().joined(separator: ", ")
    try connection.execute(
      """
      \(made.replacing("ZSTEP", with: "T_ZSTEP", maxReplacements: 1));
      INSERT INTO T_ZSTEP (\(columns)) SELECT \(columns) FROM ZSTEP; DROP TABLE ZSTEP;
      ALTER TABLE T_ZSTEP RENAME TO ZSTEP;
      UPDATE Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM next.Z_METADATA);
      UPDATE Z_MODELCACHE SET Z_CONTENT = (SELECT Z_CONTENT FROM next.Z_MODELCACHE);
      COMMIT; DETACH next
      """)
  }

  @Test("no -wal of its own is called another's", arguments: TestScale.some(3, of: Own.allCases))
  func own(case own: Own) throws {
    let demo =
      own == .emptyMain ? try DamagedDemo.everythingLogged() : try DamagedDemo(objects: 900)
    if own == .emptyMain {
      try demo.change { $0.removeAll() }
    } else {
      let copy = demo.path + ".open"
      try FileSystem.copyOver(demo.path, to: copy)
      let connection = try Connection(path: copy, mode: .create)
      try connection.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL")
      try StoreFunctions.define(on: connection)
      switch own {
      case .changed: try connection.execute("UPDATE ZSTEP SET Z_OPT = Z_OPT + 1")
      case .grown:
        try connection.execute(
          "UPDATE ZSTEP SET Z_OPT = Z_OPT + 1; CREATE TABLE more (x); INSERT INTO more SELECT zeroblob(90000)"
        )
      case .vacuumed: try connection.execute("DELETE FROM ZSTEP WHERE Z_PK % 2 = 0; VACUUM")
      case .shrunk:
        try connection.execute("DELETE FROM ZSTEP; PRAGMA incremental_vacuum(10000)")
      case .migrated: try Self.migrate(connection, in: demo.folder)
      case .checkpointedInPart:
        // A reader of the first change keeps the second from being checkpointed.
        try connection.execute("UPDATE ZSTEP SET Z_OPT = Z_OPT + 1")
        let reader = try Connection(path: copy, mode: .readOnly)
        try reader.execute("BEGIN")
        _ = try reader.value("SELECT count(*) FROM ZSTEP")
        try connection.execute(
          "DELETE FROM ZSTEP WHERE Z_PK % 3 = 0; PRAGMA wal_checkpoint(PASSIVE)")
        try FileSystem.write(FileSystem.read(copy), to: demo.path)
        try FileSystem.write(FileSystem.read(copy + "-wal"), to: demo.path + "-wal")
      case .emptyMain: break
      }
      if own != .checkpointedInPart {
        try FileSystem.write(FileSystem.read(copy), to: demo.path)
        try FileSystem.write(FileSystem.read(copy + "-wal"), to: demo.path + "-wal")
      }
      connection.close()
      for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
    }
    let log = try WriteAheadLog(besideStore: demo.path)
    #expect(log.frames > 0)
    #expect(log.unapplied?.reason != .foreign, "\(log.unapplied?.sentence ?? "")")
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    #expect(try StoreDump.lines(at: output) == StoreDump.lines(at: demo.path))
  }

  @Test("no -wal of Apple's stores is called another's", .enabled(if: Fixtures.isAvailable))
  func fixtures() throws {
    var count = 0
    for path in Fixtures.paths(endingWith: "-wal") {
      let store = String(path.dropLast(4))
      let full = Fixtures.path(store)
      guard FileSystem.isFile(full) else { continue }
      let log = try WriteAheadLog(besideStore: full)
      #expect(log.unapplied?.reason != .foreign, "\(store): \(log.unapplied?.sentence ?? "")")
      count += 1
    }
    #expect(count > 0)
  }
}
