import Files
import TestSupport
import Testing

@Suite("Stores in containers, with the program", .enabled(if: !Shell.strata.isEmpty, "not built"))
struct ContainerRunTests {
  private let demo = InterfaceDemo(objects: 3000)

  /// A ZIP with the demo's store under each of some names.
  private func zip(_ names: String...) throws -> String {
    var zip = ZipWriter()
    for name in names { try zip.add(name, FileSystem.read(demo.store)) }
    let path = demo.folder + "/stores.zip"
    try FileSystem.write(zip.bytes, to: path)
    try FileSystem.makeDirectory(temporary)
    return path
  }

  private var temporary: String { demo.folder + "/temporary" }
  private var copies: [String] { (try? FileSystem.list(temporary)) ?? [] }

  @Test("a signal ends it, and no private copy stays", arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(_ number: Int32) throws {
    let program = try #require(
      ChildProgram(
        [Shell.strata, "dump", try zip("App.sqlite")], environment: ["TMPDIR": temporary]))
    program.read { $0.has("\"entity\"") }
    // Nobody reads on, so that it waits with all that it has.
    #expect(copies.contains { $0.hasPrefix("strata-copy") }, "\(copies)")
    program.signal(number)
    #expect(program.wait() == 128 + number)
    #expect(copies == [])
  }

  @Test("a reader that goes away ends it, and no private copy stays")
  func closedPipe() throws {
    let path = try zip("App.sqlite")
    Shell.run("TMPDIR='\(temporary)' '\(Shell.strata)' dump '\(path)' | head -1")
    #expect(copies == [])
    #expect(Shell.run("TMPDIR='\(temporary)' '\(Shell.strata)' info '\(path)'") == 0)
    #expect(copies == [])
  }

  @Test(
    "the interface lists what is in an archive, shows the chosen one, and leaves nothing",
    .enabled(if: Shell.hasTmux, "tmux is not installed"))
  func interface() throws {
    let path = try zip("one/First.sqlite", "two/Second.sqlite")
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "TMPDIR='\(temporary)' '\(Shell.strata)' '\(path)'")
    let picker = terminal.screen(
      showing: "one/First.sqlite", "two/Second.sqlite", "Core Data", "which store?")
    #expect(picker.contains("which store?"), "\(picker)")
    terminal.send("j", "Enter")
    let browse = terminal.screen(showing: "Second.sqlite", "▸1 Browse", "Recipe")
    #expect(browse.contains("Second.sqlite"), "\(browse)")
    #expect(copies.contains { $0.hasPrefix("strata-copy") })
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(copies == [])
    terminal.close()
  }
}
