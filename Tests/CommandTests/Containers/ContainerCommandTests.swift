import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Stores in containers")
struct ContainerCommandTests {
  private struct Listing: Decodable {
    struct Store: Decodable {
      var path: String
      var name: String
      var app: String?
      var bytes: Int
      var walBytes: Int?
      var externalFiles: Int
      var entities: [String]
      var problem: String?
    }
    var kind: String
    var stores: [Store]
    var notes: [String]
  }

  @Test(
    "one is listed, browsed and dumped as the plain store is, and what it is in stays as it was",
    arguments: TestScale.some(3, of: SampleContainers.Form.allCases))
  func equal(_ form: SampleContainers.Form) throws {
    let samples = try SampleContainers()
    let (path, inner) = try samples.make(form)
    let before = try Tree(path)

    let listed = Captured("stores", path, "--json")
    #expect(listed.status == .done, "\(listed.err)")
    let listing = try listed.decoded(Listing.self)
    let store = try #require(listing.stores.first)
    #expect(listing.stores.count == 1)
    #expect(store.name == inner)
    #expect(store.path == path + "//" + inner)
    #expect(store.walBytes ?? 0 > 0)
    #expect(store.externalFiles == samples.files.count - 2)
    #expect(store.externalFiles > 0)
    #expect(store.entities.contains("Recipe"))
    #expect(store.problem == nil)
    if form == .backup || form == .appData { #expect(store.app == "com.example.recipes") }
    #expect(Captured("stores", path).out.contains(inner))

    let plain = Captured("dump", samples.store, "--blobs")
    #expect(plain.out.contains(SampleContainers.title))
    for name in [path, path + "//" + inner] {
      let dump = Captured("dump", name, "--blobs")
      #expect(dump.status == .done, "\(dump.err)")
      #expect(dump.out == plain.out)
    }
    let rows = Captured("rows", path, "Recipe", "--limit", "2", "--format", "csv")
    #expect(
      rows.out == Captured("rows", samples.store, "Recipe", "--limit", "2", "--format", "csv").out)
    let info = Captured("info", path + "//" + inner, "--json")
    #expect(!info.out.contains("strata-copy"))
    #expect(info.out.contains(inner))
    #expect(try Tree(path) == before)
  }

  @Test("what helps one that is damaged is written elsewhere, and a plan says that it has to be")
  func elsewhere() throws {
    let folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 50)
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = DELETE; UPDATE ZSTEP SET ZRECIPE = 9999")
    connection.close()
    var zip = ZipWriter()
    try zip.add("App.sqlite", FileSystem.read(demo.store))
    let path = folder.path("sent.zip")
    try FileSystem.write(zip.bytes, to: path)

    let doctor = Captured("doctor", path + "//App.sqlite")
    let command =
      "strata repair \(path)//App.sqlite --fix to-one-dangling --output App-repaired.sqlite"
    #expect(doctor.lines.contains { $0.trimmed == command }, "\(doctor.out) \(doctor.err)")
    let plan = Captured(
      "plan", path + "//App.sqlite", "--to", folder.path("demo/Recipes.xcdatamodeld") + "@Recipes 2"
    )
    #expect(plan.status == .done && plan.out.contains("migrate needs --output FILE"), "\(plan.out)")
    let plain = Captured(
      "plan", demo.store, "--to", folder.path("demo/Recipes.xcdatamodeld") + "@Recipes 2")
    #expect(!plain.out.contains("--output"))

    try zip.add("Cut.sqlite", Array(FileSystem.read(demo.store).dropLast(40_000)))
    try FileSystem.write(zip.bytes, to: path)
    let cut = Captured("doctor", path + "//Cut.sqlite")
    #expect(
      cut.out.contains("strata salvage \(path)//Cut.sqlite --output Cut-salvaged.sqlite"),
      "\(cut.out)")
  }

  @Test(
    "every repair that is printed of a store in an archive can be run, and none decides unasked")
  func printedRepairs() throws {
    let folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 1_000)
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; UPDATE ZSTEP SET ZRECIPE = 9999;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'
      """)
    connection.close()
    var zip = ZipWriter()
    // Its files of external data are left behind.
    try zip.add("App.sqlite", FileSystem.read(demo.store))
    let path = folder.path("sent.zip")
    try FileSystem.write(zip.bytes, to: path)
    let store = path + "//App.sqlite"
    let commands = Set(
      Captured("doctor", store).lines.map(\.trimmed).filter { $0.hasPrefix("strata repair ") })
    #expect(commands.count == 2, "\(commands)")
    var outputs: Set<String> = []
    for command in commands.sorted() {
      var words = command.split(separator: " ").dropFirst().map(String.init)
      let output = folder.path(words.removeLast())
      #expect(outputs.insert(output).inserted)
      let run = Captured(words + [output])
      #expect(run.status == .done, "\(command) \(run.err)")
      let kinds = words.indices.filter { words[$0] == "--fix" }.map { words[$0 + 1] }
      #expect(kinds.starts(with: ["primary-key", "to-one-dangling"]), "\(kinds)")
      let isAsked = output.hasSuffix("App-repaired-external-missing.sqlite")
      #expect(kinds.contains("external-missing") == isAsked)
      let left = Captured("doctor", output).out
      #expect(!left.contains("primary-key") && !left.contains("to-one-dangling"))
    }
  }

  @Test(
    "one is migrated to a file, and never in its place",
    arguments: TestScale.some(2, of: SampleContainers.Form.allCases.filter { $0 != .folder }))
  func migrated(_ form: SampleContainers.Form) throws {
    let samples = try SampleContainers()
    let (path, inner) = try samples.make(form)
    let before = try Tree(path)
    let plain = samples.folder.path("from plain.sqlite")
    #expect(
      Captured("migrate", samples.store, "--to", samples.model, "--output", plain).status == .done)
    let result = samples.folder.path("from container.sqlite")
    let receipt = samples.folder.path("receipt.json")
    // Not its file by name, which the second reader of every migrated store would open.
    let migrated = Captured(
      "migrate", form == .appData ? path : path + "//" + inner, "--to", samples.model, "--output",
      result, "--receipt",
      receipt)
    #expect(migrated.status == .done, "\(migrated.err)")
    #expect(Captured("dump", result).out == Captured("dump", plain).out)
    let told = try String(decoding: FileSystem.read(receipt), as: UTF8.self)
    #expect(told.contains(inner) && !told.contains("strata-copy"))

    for words in [
      ["migrate", path, "--to", samples.model], ["rollback", path + "//" + inner],
      ["reset", path, "--model", samples.model],
    ] {
      let refused = Captured(words)
      #expect(refused.status == .refused, "\(words) \(refused.err)")
      #expect(refused.err.contains("--output"))
    }
    #expect(try Tree(path) == before)
  }

  @Test(
    "one is salvaged to a file, as the plain store is",
    arguments: TestScale.some(
      1, of: [SampleContainers.Form.appData, .backup, .packedZip, .packedTar]))
  func salvaged(_ form: SampleContainers.Form) throws {
    let samples = try SampleContainers()
    let (path, _) = try samples.make(form)
    let before = try Tree(path)
    let result = samples.folder.path("Saved.sqlite")
    let saved = Captured("salvage", path, "--output", result)
    #expect(saved.status == .done, "\(saved.err)")
    #expect(Captured("dump", result).out == Captured("dump", samples.store).out)
    #expect(try Tree(path) == before)
  }

  @Test("of several one has to be named: by its path, or by an end that no other has")
  func several() throws {
    let samples = try SampleContainers()
    let bytes = samples.files[0].bytes
    var zip = ZipWriter()
    for name in ["a/One.sqlite", "b/Two.sqlite", "c/Two.sqlite"] { try zip.add(name, bytes) }
    let path = samples.folder.path("three.zip")
    try FileSystem.write(zip.bytes, to: path)
    let refused = Captured("rows", path, "Recipe")
    #expect(refused.status == .usage)
    #expect(refused.err.contains("3 stores"))
    #expect(refused.err.contains(path + "//b/Two.sqlite"))
    #expect(Captured("rows", path + "//b/Two.sqlite", "Recipe").status == .done)
    #expect(Captured("rows", path + "//One.sqlite", "Recipe").status == .done)
    let open = Captured("rows", path + "//Two.sqlite", "Recipe")
    #expect(open.status == .unreadable)
    #expect(open.err.contains("matches 2 paths in it"))
    #expect(Captured("rows", path + "//None.sqlite", "Recipe").status == .unreadable)
  }

  @Test("a container without a store says so, with status 1")
  func none() throws {
    let folder = try TemporaryFolder()
    var zip = ZipWriter()
    try zip.add("notes.txt", Array("text".utf8))
    try FileSystem.write(zip.bytes, to: folder.path("notes.zip"))
    #expect(Captured("stores", folder.path("notes.zip")).status == .no)
    #expect(Captured("stores", folder.path("notes.zip"), "--json").out.contains("\"stores\":[]"))
    #expect(Captured("stores", folder.path).status == .no)
    #expect(Captured("dump", folder.path("notes.zip")).status == .unreadable)
    #expect(Captured("stores", folder.path("absent.zip")).status == .unreadable)
    var nested = ZipWriter()
    try nested.add("mail/notes.zip", zip.bytes)
    try FileSystem.write(nested.bytes, to: folder.path("nested.zip"))
    #expect(Captured("stores", folder.path("nested.zip")).status == .no)
    #expect(Captured("dump", folder.path("nested.zip")).status == .unreadable)
    // In a folder it is named, and can be given itself.
    #expect(Captured("stores", folder.path).err.contains("“nested.zip” in it is an archive"))
  }

  @Test("models in a container are named as its stores are")
  func models() throws {
    let samples = try SampleContainers()
    var zip = ZipWriter()
    for file in samples.files { try zip.add("x/" + file.name, file.bytes) }
    for file in try Tree(samples.model).files {
      try zip.add("x/Recipes.xcdatamodeld/" + file.name, file.bytes)
    }
    let path = samples.folder.path("both.zip")
    try FileSystem.write(zip.bytes, to: path)
    let model = path + "//x/Recipes.xcdatamodeld@Recipes 2"
    #expect(
      Captured("hash", model, "--json").out
        == Captured("hash", samples.model + "@Recipes 2", "--json").out)
    #expect(Captured("plan", path, "--to", model).status == .done)
  }

  @Test("names that a terminal would obey reach neither it nor a pipe")
  func hostileNames() throws {
    let samples = try SampleContainers()
    let inner = "in\u{1B}[31mner/Re\u{7}cipes.sqlite"
    var zip = ZipWriter()
    try zip.add(inner, samples.files[0].bytes)
    let path = samples.folder.path("Ba\u{1B}]0;x\u{7}ck\"up.zip")
    try FileSystem.write(zip.bytes, to: path)
    for words in [
      ["stores", path], ["stores", path, "--json"], ["info", path], ["info", path, "--json"],
      ["rows", path, "Nothing"], ["rows", path, "Nothing", "--json"],
      ["migrate", path, "--to", samples.model],
    ] {
      let result = Captured(words)
      #expect(!(result.out + result.err).utf8.contains(0x1B), "\(words)")
      #expect(!(result.out + result.err).utf8.contains(0x07), "\(words)")
    }
    struct Info: Decodable { var path: String }
    #expect(try Captured("info", path, "--json").decoded(Info.self).path == path + "//" + inner)
    #expect(Captured("dump", path + "//" + inner).status == .done)
  }

  @Test("a damaged store is listed by its name, one that is empty but for its -wal by that")
  func damaged() throws {
    let samples = try SampleContainers()
    let log = samples.files[1].bytes
    var tar = TarWriter()
    tar.add("a/Zeroed.sqlite", [UInt8](repeating: 0, count: 8192))
    tar.add("a/Zeroed.sqlite-wal", log)
    tar.add("b/Text.db", Array("no store at all, but a text".utf8))
    tar.add("c/Half.sqlite", Array(samples.files[0].bytes.prefix(3000)))
    let path = samples.folder.path("damaged.tar")
    try FileSystem.write(tar.bytes, to: path)
    let listing = try Captured("stores", path, "--json").decoded(Listing.self)
    #expect(listing.stores.map(\.name) == ["a/Zeroed.sqlite", "c/Half.sqlite"])
    #expect(listing.stores[0].problem != nil)
    #expect(Captured("stores", path).out.contains("! a/Zeroed.sqlite"))
  }

  @Test("a -wal under another name comes along, and is told of as beside the plain store")
  func strayLog() throws {
    let samples = try SampleContainers()
    var zip = ZipWriter()
    try zip.add("a/Recipes.sqlite", samples.files[0].bytes)
    try zip.add("a/Recipes (1).sqlite-wal", samples.files[1].bytes)
    try zip.add("a/wal of Recipes.txt", Array("no log, but a text about one".utf8))
    let path = samples.folder.path("renamed.zip")
    try FileSystem.write(zip.bytes, to: path)
    let dump = Captured("dump", path)
    #expect(dump.status == .unreadable)
    #expect(dump.err.contains("Recipes (1).sqlite-wal"), "\(dump.err)")
  }

  @Test("a plain folder with one store is read in place; one with several lists them")
  func folders() throws {
    let samples = try SampleContainers()
    let (path, inner) = try samples.make(.folder)
    let info = Captured("info", path, "--json")
    #expect(info.out.contains(path + "/" + inner))
    _ = try samples.make(.backup)
    // The folder of all samples now: with a backup further down among the rest.
    let refused = Captured("info", samples.folder.path)
    #expect(refused.status == .usage)
    let backup =
      samples.folder.path + "//Backup/AppDomain-com.example.recipes/Documents/Recipes.sqlite"
    #expect(
      refused.err.contains(backup)
        || Captured("stores", samples.folder.path).out.contains("Backup/AppDomain-"))
    #expect(Captured("dump", backup).out == Captured("dump", samples.store).out)
  }
}
