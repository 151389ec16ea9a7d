import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("What cannot be read or applied is told")
struct NeverSilentTests {
  /// The recipe box of `strata demo`, and the path of its models.
  private static func demo(
    _ folder: TemporaryFolder, objects: Int = 2000
  ) throws -> (store: String, models: String) {
    let made = Captured("demo", folder.path("demo"), "--objects", "\(objects)", "--no-open")
    try #require(made.status == .done)
    let place = folder.path("demo")
    return (place + "/Recipes.sqlite", place + "/Recipes.xcdatamodeld")
  }

  /// Leaves the last rows of the recipe box in its -wal, spoils that, and closes it again.
  private static func spoilLog(of path: String, _ spoil: (inout [UInt8]) -> Void) throws {
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
    try FileSystem.copyOver(live, to: path)
    try connection.execute("UPDATE ZTAG SET Z_OPT = 7")
    var log = try FileSystem.read(live + "-wal")
    spoil(&log)
    try FileSystem.write(log, to: path + "-wal")
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) }
  }

  private static func files(_ path: String) throws -> [[UInt8]] {
    try ["", "-wal"].map { FileSystem.isFile(path + $0) ? try FileSystem.read(path + $0) : [] }
  }

  @Test("a -wal that is not applied makes dump, info, rows, plan and migrate say so, and not 0")
  func log() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    try Self.spoilLog(of: path) { for index in 0..<32 { $0[index] = 0 } }
    let before = try Self.files(path)
    let runs = [
      ["info", path], ["dump", path], ["rows", path, "Tag"], ["search", path, "soup"],
      ["object", path, "Tag/p1"], ["frequencies", path, "Recipe", "title"],
      ["info", path, "--json"],
    ]
    for words in runs {
      let run = Captured(words)
      #expect(run.status == .unreadable, "\(words)")
      #expect((run.out + run.err).contains("its header is damaged"), "\(words)")
      #expect((run.out + run.err).contains(" of the -wal "), "\(words)")
      // Everything that can be read comes all the same.
      #expect(!run.out.isEmpty, "\(words)")
    }
    let plan = Captured("plan", path, "--to", models)
    #expect(plan.status == .refused)
    #expect(!plan.out.contains("✓ can migrate"))
    #expect(plan.out.contains("--allow-loss wal"))
    let migration = Captured("migrate", path, "--to", models)
    #expect(migration.status == .refused)
    #expect(migration.err.contains("--allow-loss wal"))
    #expect(try Self.files(path) == before)
  }

  /// Leaves half of a save in the recipe box, and its -journal under another name.
  private static func interruptSave(of path: String, journal: String) throws {
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    // Neither number takes room in a row: pages stay where they are.
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_size = 2; \
      UPDATE ZAMOUNT SET Z_OPT = 1; BEGIN; UPDATE ZAMOUNT SET Z_OPT = 0
      """)
    try FileSystem.copyOver(live, to: path)
    try FileSystem.copyOver(live + "-journal", to: journal)
    try connection.execute("ROLLBACK")
    connection.close()
    FileSystem.remove(live)
  }

  @Test("a -journal under another name is told by all that read the store, and refused by plan")
  func journal() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let name = "Recipes (1).sqlite-journal"
    try Self.interruptSave(of: path, journal: folder.path("demo/" + name))
    let before = try FileSystem.read(path)
    for words in [["info", path], ["dump", path], ["rows", path, "Tag"]] {
      let run = Captured(words)
      #expect(run.status == .unreadable && (run.out + run.err).contains(name), "\(words)")
    }
    #expect(Captured("doctor", path).out.hasPrefix("✗ The file \(name)"))
    for words in [["plan", path], ["migrate", path]] {
      let run = Captured(words + ["--to", models])
      #expect(run.status == .refused)
      #expect((run.out + run.err).contains("--allow-loss journal"), "\(run.out) \(run.err)")
    }
    #expect(try FileSystem.read(path) == before)
    let output = folder.path("Out.sqlite")
    let allowed = Captured(
      "migrate", path, "--to", models, "--allow-loss", "journal", "--output", output)
    #expect(allowed.status == .done, "\(allowed.out) \(allowed.err)")
    // Under its own name it is rolled back in what is read.
    try FileSystem.rename(folder.path("demo/" + name), to: path + "-journal")
    let dump = Captured("dump", path)
    #expect(dump.status == .done)
    let doctor = Captured("doctor", path)
    #expect(doctor.status == .no && doctor.out.hasPrefix("! A save was interrupted"))
    #expect(try FileSystem.read(path) == before)
  }

  /// The version that made the store, and the next one.
  private static let versions = ["@Recipes", "@Recipes 2"]

  @Test(
    "plan, rehearse, migrate and a batch agree on a log that is not applied",
    arguments: TestScale.some(1, of: versions))
  func agreement(version: String) throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let sound = folder.path("Sound.sqlite")
    try FileSystem.copyOver(path, to: sound)
    let to = models + version
    let spoils: [(name: String, spoil: (String) throws -> Void)] = [
      ("spoilt", { _ in try Self.spoilLog(of: path) { for index in 0..<32 { $0[index] = 0 } } }),
      (
        "renamed",
        { path in
          try Self.spoilLog(of: path) { _ in }
          try FileSystem.rename(path + "-wal", to: folder.path("demo/Recipes (1).sqlite-wal"))
        }
      ),
    ]
    for (name, spoil) in spoils {
      for file in [path + "-wal", folder.path("demo/Recipes (1).sqlite-wal")] {
        FileSystem.remove(file)
      }
      try spoil(path)
      for words in [
        ["plan", path], ["rehearse", path], ["migrate", path],
        ["migrate", path, "--output", folder.path("none")],
      ] {
        let run = Captured(words + ["--to", to])
        #expect(run.status == .refused, "\(name): \(words) \(run.out) \(run.err)")
        let told = ["frames of the -wal", "not applied"].contains {
          (run.out + run.err).contains($0)
        }
        #expect(told, "\(name): \(words) \(run.out) \(run.err)")
      }
      let batch = Captured("migrate", path, sound, "--to", models + "@Recipes")
      #expect(batch.status == .refused)
      #expect((batch.out + batch.err).contains("not applied"), "\(batch.out) \(batch.err)")
      #expect(
        Captured("migrate", path, sound, "--to", models + "@Recipes", "--allow-loss", "wal").status
          == .done)
      for words in [["explain", path, to], ["find-model", path, models]] {
        let run = Captured(words)
        #expect(run.status == .unreadable, "\(name): \(words)")
        #expect(run.err.contains("not applied"), "\(name): \(words)")
      }
    }
  }

  @Test("a -wal that is no file is refused by all")
  func odd() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder, objects: 100)
    try FileSystem.makeDirectory(path + "-wal")
    for words in [
      ["info", path], ["plan", path, "--to", models], ["rehearse", path, "--to", models],
    ] {
      let run = Captured(words)
      #expect(run.status == .unreadable, "\(words)")
      #expect((run.out + run.err).contains("not a file"), "\(words)")
    }
  }

  @Test("where there is nothing to do, plan says what a copy would be refused for")
  func counters() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder, objects: 100)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")
    connection.close()
    let output = folder.path("Out.sqlite")
    for words in [["plan", path], ["rehearse", path], ["migrate", path, "--output", output]] {
      let run = Captured(words + ["--to", models + "@Recipes"])
      #expect(run.status == .refused, "\(words)")
      #expect((run.out + run.err).contains("Z_PRIMARYKEY has no row"), "\(words)")
    }
  }

  @Test("a model that did not make the store is told by all that read with it")
  func otherModel() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder, objects: 100)
    for words in [
      ["rows", path, "Tag"], ["object", path, "Tag/p1"], ["dump", path], ["info", path],
    ] {
      let run = Captured(words + ["--model", models + "@Recipes 2"])
      #expect((run.out + run.err).contains("not those of the store (134100)"), "\(words)")
      #expect(run.status == .done)
    }
  }

  @Test("a row of no entity that is listed can be shown")
  func unknown() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder, objects: 100)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZTAG SET Z_ENT = 999 WHERE Z_PK = 2")
    connection.close()
    #expect(Captured("object", path, "Tag/p2").status == .done)
  }

  @Test("objects that no fetch finds are counted by what prints the others")
  func unfetched() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder, objects: 100)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZINGREDIENT SET Z_ENT = 999 WHERE Z_PK <= 2")
    connection.close()
    for words in [
      ["dump", path], ["rows", path, "Ingredient"], ["search", path, "a"], ["info", path],
    ] {
      let run = Captured(words)
      #expect(run.status == .unreadable, "\(words)")
      #expect(
        (run.out + run.err).contains("2 rows of the table ZINGREDIENT have the entity ID 999"),
        "\(words)")
    }
  }

  @Test("--allow-loss wal migrates without its frames, and keeps them under another name")
  func allowed() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    var log: [UInt8] = []
    try Self.spoilLog(of: path) {
      for index in 0..<32 { $0[index] = 0 }
      log = $0
    }
    #expect(Captured("migrate", path, "--to", models, "--allow-loss", "wal").status == .done)
    #expect(try FileSystem.read(path + "-wal.unapplied") == log)
    #expect(Captured("info", path).status == .done)
  }

  @Test("a page that cannot be read costs its objects: the rest is printed, and the status is 4")
  func page() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let sound = Captured("dump", path).lines
    let root = try Connection(path: path, mode: .immutable)
      .value("SELECT rootpage FROM sqlite_master WHERE name = 'ZAMOUNT'")?.integer
    var file = try DamagedFile(path)
    let leaves = file.leaves(root: Int(try #require(root)))
    file.zero(page: leaves[leaves.count / 2])
    try file.write()
    let dump = Captured("dump", path)
    #expect(dump.status == .unreadable)
    let lost = sound.count - dump.lines.count
    #expect(lost > 10 && lost < 400)
    #expect(dump.err.contains("\(lost) objects of Amount lost, p"))
    for words in [["info", path], ["rows", path, "Amount", "--limit", "all"]] {
      let run = Captured(words)
      #expect(run.status == .unreadable)
      #expect((run.out + run.err).contains("\(lost) objects of Amount lost, p"), "\(words)")
    }
    let plan = Captured("plan", path, "--to", models)
    #expect(plan.status == .refused)
    #expect(plan.out.contains("✗ Amount: objects that cannot be read (p"))
    let before = try Self.files(path)
    #expect(Captured("migrate", path, "--to", models).status == .refused)
    #expect(Captured("migrate", path, "--to", models, "--strategy", "copy").status == .refused)
    #expect(try Self.files(path) == before)
  }

  @Test("a sound store has no gap for any command")
  func sound() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    for words in [["info", path], ["dump", path], ["rows", path, "Tag"]] {
      let run = Captured(words)
      #expect(run.status == .done)
      #expect(run.err.isEmpty, "\(words): \(run.err)")
    }
    #expect(Captured("plan", path, "--to", models).status == .done)
  }

  // MARK: Damages of the shared tool

  private static let tool = Fixtures.root + "/../tools/damage.py"
  private static let hasTool =
    Fixtures.isAvailable && access(tool, R_OK) == 0 && Tool.python3.isAvailable

  private static func damage(
    _ name: String, _ base: String, in folder: TemporaryFolder
  ) throws -> String {
    let place = folder.path(name)
    let program = try OtherProgram(Tool.python3.path, [tool, "make", name, base, place])
    for _ in 0..<30 {
      if FileSystem.isFile(place + "/damage.json") { break }
      try? program.wait { FileSystem.isFile(place + "/damage.json") }
    }
    // The facts are written last.
    try #require(FileSystem.isFile(place + "/damage.json"))
    return place + "/store.sqlite"
  }

  @Test(
    "every damage of a -wal is told by dump, info, plan and rows, with the number of frames",
    .enabled(if: hasTool, "python3 or the damage tool is absent"),
    arguments: TestScale.some(
      3,
      of: [
        ("wal-cut", "3 frames"), ("wal-bit", "257 frames"), ("wal-salt", "428 frames"),
        ("wal-header", "428 frames"), ("wal-renamed", "428 frames"), ("empty-main", "428 frames"),
        ("wal-stale", "428 frames"),
      ]))
  func logs(name: String, frames: String) throws {
    let folder = try TemporaryFolder()
    let base = Fixtures.path("wibosco/CoreDataMigration_Example_WAL.sqlite")
    let models = Fixtures.path("wibosco/CoreDataMigration_Example.xcdatamodeld")
    let path = try Self.damage(name, base, in: folder)
    let runs = [
      ["dump", path], ["info", path], ["rows", path, "Post"], ["plan", path, "--to", models],
    ]
    for words in runs {
      let run = Captured(words)
      #expect(run.status == .unreadable || run.status == .refused, "\(words)")
      #expect((run.out + run.err).contains(frames), "\(words)")
    }
  }

  @Test(
    "of every damage of a file everything readable is printed, and what is not is named",
    .enabled(if: hasTool, "python3 or the damage tool is absent"),
    arguments: TestScale.some(
      2,
      of: [
        ("zero-leaf", 162, "162 objects of Amount lost, p1105–p1266"),
        ("leaf-header", 0, "162 objects of Amount are on pages that no b-tree"),
        ("index-zero", 0, nil), ("index-wrong", 0, "the index is wrong, as another index"),
        ("pk-rows-missing", 0, nil), ("freelist-bad", 0, nil), ("zero-ptrmap", 0, nil),
      ] as [(String, Int, String?)]))
  func pages(name: String, lost: Int, gap: String?) throws {
    let folder = try TemporaryFolder()
    let (store, models) = try Self.demo(folder, objects: 5000)
    let path = try Self.damage(name, store, in: folder)
    let dump = Captured("dump", path)
    #expect(dump.lines.count == 5000 - lost)
    #expect(dump.err.hasPrefix("! "))
    #expect(dump.status == (gap != nil ? .unreadable : .done))
    if let gap { #expect(dump.err.contains(gap), "\(dump.err)") }
    let plan = Captured("plan", path, "--to", models)
    #expect(plan.status == .refused)
    #expect(!plan.out.contains("✓"))
    #expect(Captured("migrate", path, "--to", models).status == .refused)
  }
}
