import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

/// `strata seed` and `strata rehearse --seeded` as programs.
@Suite("Seeding as a program", .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct SeedRunTests {
  private let folder: TemporaryFolder
  private var bundle: String { folder.path("demo/Recipes.xcdatamodeld") }

  init() throws {
    folder = try TemporaryFolder()
    let demo = Shell.run("\(Shell.strata) demo '\(folder.path("demo"))' --objects 50 --no-open")
    try #require(demo == 0)
    try FileSystem.makeDirectory(folder.path("tmp"))
  }

  private func strata(_ words: String) -> Int32 {
    Shell.run("TMPDIR='\(folder.path("tmp"))' '\(Shell.strata)' \(words)")
  }

  @Test("two processes give the same objects for the same seed", arguments: ["", "--edge-cases"])
  func deterministic(more: String) throws {
    var dumps: [String] = []
    for name in ["a", "b"] {
      let store = folder.path(name + ".sqlite")
      #expect(strata("seed '\(bundle)' '\(store)' --objects 700 --seed 12 \(more)") == 0)
      dumps.append(
        Shell.output(of: "'\(Shell.strata)' dump '\(store)'", through: folder.path("dump")))
    }
    #expect(dumps[0].utf8.count > 10_000)
    #expect(dumps[0] == dumps[1])
  }

  @Test("a rehearsal of seeded stores leaves nothing in the temporary folder")
  func clean() throws {
    #expect(strata("rehearse --seeded '\(bundle)' --objects 200") == 3)
    #expect(try FileSystem.list(folder.path("tmp")) == [])
  }

  @Test("what is interrupted ends with 130 and leaves nothing", arguments: [SIGINT, SIGTERM])
  func interrupted(signal: Int32) throws {
    let store = folder.path("Big.sqlite")
    let before = try FileSystem.list(folder.path)
    let child = try #require(
      ChildProgram([Shell.strata, "seed", bundle, store, "--objects", "900000000"]))
    let begun = Patience.wait {
      let name = try? FileSystem.list(folder.path).first { $0.hasPrefix(".strata-new-") }
      return name.flatMap { FileSystem.status(folder.path($0) + "/Big.sqlite")?.size } ?? 0
        > 100_000
    }
    #expect(begun)
    child.signal(signal)
    #expect(child.wait() == 130, "\(child.text)")
    #expect(try FileSystem.list(folder.path) == before)
  }
}
