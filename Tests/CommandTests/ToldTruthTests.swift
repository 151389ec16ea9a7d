import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

/// Two commands, or two lines of one, that are asked about one store.
@Suite("What commands say of one store agrees")
struct ToldTruthTests {
  private static func demo(
    _ folder: TemporaryFolder, objects: Int = 1000
  ) throws -> (store: String, models: String) {
    let made = Captured("demo", folder.path("demo"), "--objects", "\(objects)", "--no-open")
    try #require(made.status == .done)
    return (folder.path("demo/Recipes.sqlite"), folder.path("demo/Recipes.xcdatamodeld"))
  }

  /// Text without its line breaks.
  private static func flat(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Cuts a store off, so that it is read page by page.
  private static func cut(_ path: String) throws {
    try FileSystem.write(FileSystem.read(path).dropLast(8 * 4096), to: path)
  }

  @Test("a damaged store is verified against a whole one, and against another damaged one")
  func damagedBefore() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder)
    let (one, two) = (folder.path("one.sqlite"), folder.path("two.sqlite"))
    for copy in [one, two] {
      try FileSystem.copyOver(path, to: copy)
      try Self.cut(copy)
    }
    for (before, after) in [(one, path), (one, two)] {
      let run = Captured("verify", before, after)
      #expect(run.status == .unreadable, "\(run.out) \(run.err)")
      #expect(!run.err.contains("locked"), "\(run.err)")
    }
  }

  @Test(
    "without a model no file of external data is called orphaned, and a salvage says what opens it")
  func withoutModel() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    // Away from the store, which is read with a model that lies beside it.
    let other = try TemporaryFolder()
    let away = other.path("Recipes.xcdatamodeld")
    try FileSystem.rename(models, to: away)
    let own = path
    let raw = Captured("info", own)
    #expect(!raw.out.contains(" orphaned,") && !raw.out.contains("7 orphaned"), "\(raw.out)")
    #expect(raw.out.contains("orphaned unknown"), "\(raw.out)")
    #expect(Captured("info", own, "--json").out.contains("\"orphaned\":null"))
    #expect(Captured("info", own, "--model", away + "@Recipes").out.contains(" 0 orphaned"))
    let salvage = Captured("salvage", own, "--output", folder.path("Saved.sqlite"))
    #expect(salvage.status == .done)
    #expect(!salvage.out.contains("will not open it"), "\(salvage.out)")
    #expect(salvage.out.contains("it opens with the app's own model"), "\(salvage.out)")
  }

  @Test(
    "a file that only the backup references is not unreferenced, and a repair that moves none did nothing"
  )
  func backupsFile() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder)
    let photo = try Connection(path: path, mode: .readWrite)
    let key = try photo.value(
      "SELECT Z_PK FROM ZRECIPE WHERE substr(ZPHOTO, 1, 1) = x'02' ORDER BY Z_PK LIMIT 1")
    photo.close()
    let recipe = "Recipe/p\(try #require(key?.integer))"
    #expect(Captured("edit", path, recipe, "photo=null").status == .done)
    #expect(Captured("info", path).out.contains(" 1 orphaned"))
    let doctor = Captured("doctor", path)
    #expect(!doctor.out.contains("external-orphaned"), "\(doctor.out)")
    let repair = Captured("repair", path, "--fix", "external-orphaned")
    #expect(
      repair.out.contains("nothing to repair") && !repair.out.contains("0 B"), "\(repair.out)")
    // One that no store references is moved, and the store is as large as it is.
    try FileSystem.write([1], to: folder.path("demo/.Recipes_SUPPORT/_EXTERNAL_DATA/STRAY"))
    #expect(
      Self.flat(Captured("doctor", path).out).contains("1 file of external data is unreferenced"))
    let moved = Captured("repair", path, "--fix", "external-orphaned")
    #expect(moved.out.contains("unreferenced files are now in") && !moved.out.contains(", 0 B"))
  }

  @Test("what a rehearsal says of a store names the store's folder")
  func emptyStore() throws {
    let folder = try TemporaryFolder()
    let (_, models) = try Self.demo(folder, objects: 100)
    let empty = folder.path("demo/empty.sqlite")
    try FileSystem.write([], to: empty)
    let run = Captured("rehearse", empty, "--to", models)
    #expect(run.status == .unreadable)
    #expect(!(run.out + run.err).contains("strata-copy"), "\(run.out) \(run.err)")
  }

  @Test(
    "a name that Core Data does not find is an error of all who are asked if the store opens",
    arguments: [
      "ALTER TABLE ZAMOUNT RENAME COLUMN Z3_INGREDIENT TO Z103_INGREDIENT",
      "ALTER TABLE Z_8TAGS RENAME TO Z_99TAGS",
    ])
  func misnamed(sql: String) throws {
    let folder = try TemporaryFolder()
    let (whole, models) = try Self.demo(folder)
    // Files of external data are found by the name before the last dot; the second reader, which reads what is
    // called `.sqlite`, knows no name but Core Data's.
    let path = folder.path("demo/Recipes.odd")
    try FileSystem.copyOver(whole, to: path)
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(sql)
    connection.close()
    #expect(Self.flat(Captured("doctor", path).out).contains("Core Data does not open the store"))
    for model in ["@Recipes", "@Recipes 2"] {
      let explanation = Captured("explain", path, models + model)
      #expect(explanation.status == .no)
      #expect(Self.flat(explanation.out).contains("Core Data looks for"), "\(explanation.out)")
    }
    for words in [["--dry-run"], []] {
      let edit = Captured(["edit", path, "Recipe/p1", "title=x"] + words)
      #expect(
        edit.status == .refused && Self.flat(edit.err).contains("Core Data looks for"),
        "\(edit.err)")
    }
    let comparison = Captured("compare", whole, path)
    #expect(comparison.status == .done && comparison.out.contains("all objects are equal"))
    #expect(Captured("verify", whole, path).status == .no)
    // A migration reads the store as it is, and its result has the right names.
    #expect(
      Self.flat(Captured("plan", path, "--to", models).out).contains(
        "A migration or a repair renames"))
    let output = folder.path("New.sqlite")
    #expect(Captured("migrate", path, "--to", models, "--output", output).status == .done)
    #expect(Captured("doctor", output).status == .done)
    let other = folder.path("Other.sqlite")
    #expect(Captured("migrate", whole, "--to", models, "--output", other).status == .done)
    #expect(Captured("compare", output, other).status == .done)
    #expect(Captured("repair", path).status == .done)
    #expect(Captured("verify", whole, path).status == .done)
  }

  @Test("a recipe and the list of losses are written by one command")
  func recipeAndLosses() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let (recipe, losses) = (folder.path("r.json5"), folder.path("l.txt"))
    let plan = Captured(
      "plan", path, "--to", models + "@Recipes 3", "--write-recipe", recipe, "--write-losses",
      losses)
    #expect(plan.status == .done, "\(plan.err)")
    #expect(FileSystem.isFile(recipe) && FileSystem.isFile(losses), "\(plan.out) \(plan.err)")
    let alone = folder.path("alone.txt")
    let refused = Captured(
      "plan", path, "--to", models + "@Recipes 3", "--write-losses", alone)
    #expect(refused.status == .refused)
    #expect(try FileSystem.read(losses) == FileSystem.read(alone))
  }
}
