import Files
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Exports, with the program", .enabled(if: !Shell.strata.isEmpty, "not built"))
struct ExportRunTests {
  private let demo = InterfaceDemo(objects: 20_000)
  private var place: String { demo.folder + "/place" }
  private var out: String { place + "/Out" }

  private func names() -> [String] { (try? FileSystem.list(place)) ?? [] }

  @Test(
    "a run that is killed leaves nothing under a final name, and the next one removes what it left")
  func killed() throws {
    try FileSystem.makeDirectory(place)
    let whole = demo.folder + "/Whole"
    #expect(Shell.run("'\(Shell.strata)' export '\(demo.store)' --output '\(whole)'") == 0)
    let sums = Shell.output(
      of: "cd '\(whole)' && find . -type f | sort | xargs -d '\\n' cksum",
      through: demo.folder + "/sums")
    var wasKilled = false
    for _ in 0..<6 where !wasKilled {
      let program = try #require(
        ChildProgram([Shell.strata, "export", demo.store, "--output", out]))
      // Killed in the middle of the files, as soon as there are some.
      Patience.wait {
        names().contains { name in
          ((try? FileSystem.list("\(place)/\(name)/Out/files"))?.count ?? 0) > 20
        }
      }
      program.signal(SIGKILL)
      wasKilled = program.wait() == 128 + SIGKILL
      if !wasKilled { FileSystem.removeTree(out) }
    }
    try #require(wasKilled, "the export was always done before it was killed")
    #expect(FileSystem.status(out) == nil)
    let left = names()
    #expect(left.count == 1 && left.allSatisfy { $0.hasPrefix(".strata-") }, "\(left)")
    #expect(Shell.run("'\(Shell.strata)' export '\(demo.store)' --output '\(out)'") == 0)
    #expect(names() == ["Out"])
    #expect(
      Shell.output(
        of: "cd '\(out)' && find . -type f | sort | xargs -d '\\n' cksum",
        through: demo.folder + "/sums-again") == sums)
  }

  @Test("a signal ends it with status 130, and nothing is left", arguments: [SIGINT, SIGTERM])
  func interrupted(_ number: Int32) throws {
    try FileSystem.makeDirectory(place)
    let program = try #require(
      ChildProgram([Shell.strata, "export", demo.store, "--output", out]))
    Patience.wait { !names().isEmpty }
    program.signal(number)
    let status = program.wait()
    // A fast machine may have been done.
    #expect(status == 130 || status == 0 && names() == ["Out"])
    #expect(status == 0 || names() == [], "\(names())")
  }

  @Test(
    "a picture is written from its line and from its view, private, and never over a file",
    .enabled(if: Shell.hasTmux, "tmux is not installed"))
  func value() throws {
    let found = Shell.output(
      of:
        "'\(Shell.strata)' rows '\(demo.store)' Recipe --where 'photo != nil' --limit 1 --format csv --columns key | tail -1 | cut -d, -f2",
      through: demo.folder + "/found")
    let key = try #require(Int(found.filter { !$0.isWhitespace }))
    try FileSystem.makeDirectory(place)
    let terminal = TmuxTerminal(
      width: 80, height: 24, folder: demo.folder,
      "cd '\(place)' && NO_COLOR=1 '\(FileSystem.canonical(Shell.strata))' --fresh '\(demo.store)'")
    // The palette finds objects once the store is open.
    #expect(terminal.screen(showing: "▸1 Browse", "row 1 of").contains("Browse"))
    terminal.send(":", "Recipe/p\(key)", "Enter")
    // The palette shows the words, too: the object is there with its properties.
    let object = terminal.screen(showing: "Recipe/p\(key)", "createdAt", "▏ ")
    #expect(object.contains("createdAt"), "\(object)")
    terminal.send("Tab", "/", "photo", "Enter")
    #expect(terminal.screen(showing: "w write to a file").contains("w write to a file"))
    terminal.send("w")
    let popup = terminal.screen(showing: "Recipe-p\(key)-photo.")
    #expect(popup.contains("Recipe-p\(key)-photo."), "\(popup)")
    terminal.send("Enter")
    #expect(terminal.screen(showing: "is in Recipe-p\(key)").contains("is in Recipe-p\(key)"))
    // The same from the view of the value.
    terminal.send("v")
    #expect(terminal.screen(showing: "n next").contains("w write to a file"))
    terminal.send("w")
    _ = terminal.screen(showing: "Write the value to")
    terminal.send("Enter")
    #expect(terminal.screen(showing: "a file has that name").contains("a file has that name"))
    // Keys that come at once with Escape would be one with it.
    terminal.send("Escape")
    _ = terminal.screen(showing: "n next", without: ["a file has that name"])
    terminal.send("Escape")
    _ = terminal.screen(showing: "▸1 Browse", without: ["n next"])
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT").contains("EXIT"))
    terminal.close()
    let name = try #require(names().first)
    #expect(names().count == 1 && name.hasPrefix("Recipe-p\(key)-photo."))
    var info = stat()
    #expect(stat(place + "/" + name, &info) == 0 && info.st_mode & 0o777 == 0o600)
    let other = demo.folder + "/other"
    #expect(
      Shell.run(
        "'\(Shell.strata)' object '\(demo.store)' Recipe/p\(key) --property photo --output '\(other)'"
      )
        == 0)
    #expect(try FileSystem.read(other) == FileSystem.read(place + "/" + name))
  }
}
