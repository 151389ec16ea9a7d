import SQLite
import TestSupport
import Testing

/// What a store that is mirrored to iCloud asks before its app deletes on all devices, in a terminal.
@Suite(
  "A mirrored store in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct MirroredRunTests {
  private static func demo() throws -> InterfaceDemo {
    let demo = InterfaceDemo(objects: 500)
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute(HistoryTables.mirror + HistoryTables.statements())
    connection.close()
    return demo
  }

  private func output(_ demo: InterfaceDemo, _ command: String) -> String {
    Shell.output(of: "'\(Shell.strata)' \(command)", through: demo.folder + "/output")
  }

  /// The number behind a word of the screen.
  private static func number(_ text: String, after word: String) -> Int? {
    text.firstRange(of: word).flatMap { Int(text[$0.upperBound...].prefix(while: \.isNumber)) }
  }

  @Test("deletions on the command line are confirmed by their number, and any other answer refuses")
  func command() throws {
    let demo = try Self.demo()
    let (before, sum) = (output(demo, "dump '\(demo.store)'"), demo.sum)
    for answer in ["y", ""] {
      let terminal = TmuxTerminal(
        width: 80, height: 24, folder: demo.folder,
        "'\(Shell.strata)' edit '\(demo.store)' --delete Recipe/p3")
      _ = terminal.screen(showing: "to all devices", "Type ")
      if !answer.isEmpty { terminal.send(answer) }
      terminal.send("Enter")
      _ = terminal.screen(showing: "See them in a dry run first", "EXIT 3")
      #expect(demo.sum == sum)
      terminal.close()
    }
    let terminal = TmuxTerminal(
      width: 80, height: 24, folder: demo.folder,
      "'\(Shell.strata)' edit '\(demo.store)' --delete Recipe/p3")
    let asked = terminal.screen(showing: "to all devices", "Type ")
    let count = try #require(Self.number(asked, after: "Type "))
    #expect(count > 1)
    terminal.send(String(count), "Enter")
    _ = terminal.screen(showing: "EXIT 0")
    #expect(!output(demo, "dump '\(demo.store)'").contains("\"Recipe/p3\""))
    _ = output(demo, "rollback '\(demo.store)'")
    #expect(output(demo, "dump '\(demo.store)'") == before)
  }

  @Test(
    "so are those of the interface, and a change without one is only said", arguments: [80, 120])
  func interface(width: Int) throws {
    let demo = try Self.demo()
    let sum = demo.sum
    let terminal = demo.open(width: width, height: width == 80 ? 24 : 36)
    _ = terminal.screen(showing: "Amount", "Entities")
    terminal.send("'*'", "Recipe/p3", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Recipe/p3 ─")
    terminal.send("X")
    _ = terminal.screen(showing: "Recipe/p3 is to be deleted")
    terminal.send("W")
    let asked = terminal.screen(showing: "deletions to all", "write…")
    let words = asked.split { $0.isWhitespace }
    let place = try #require(words.firstIndex(of: "deletions"))
    let count = try #require(Int(words[words.index(before: place)]))
    terminal.send("y")
    _ = terminal.screen(showing: "devices", "\(count)")
    terminal.send("1", "Enter")
    #expect(demo.sum == sum)
    terminal.send("BSpace", String(count), "Enter")
    _ = terminal.screen(showing: "SHA-256 of the backup")
    #expect(demo.sum != sum)
    #expect(!output(demo, "dump '\(demo.store)'").contains("\"Recipe/p3\""))
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
  }

  @Test(
    "a merge says what the mirror will upload before it writes, in the interface and in a terminal")
  func merge() throws {
    let demo = try Self.demo()
    let other = demo.folder + "/Other.sqlite"
    Shell.run("cp '\(demo.store)' '\(other)'")
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Draft'; DELETE FROM ZDRAFT WHERE Z_PK = 1"
    )
    connection.close()
    let result = demo.folder + "/One.sqlite"
    let terminal = TmuxTerminal(
      width: 80, height: 24, folder: demo.folder,
      "'\(Shell.strata)' merge '\(other)' '\(demo.store)' --output '\(result)' --match key")
    let said = terminal.screen(showing: "EXIT 0")
    #expect(said.contains("mirrored to iCloud"), "\(said)")
    #expect(said.contains("will upload"), "\(said)")
    terminal.close()
    let screen = demo.open(width: 80, height: 24)
    _ = screen.screen(showing: "Amount", "Entities")
    screen.send("C")
    _ = screen.screen(showing: "What changed")
    screen.send("Tab")
    _ = screen.screen(showing: "another file…")
    screen.send("G", "Enter")
    _ = screen.screen(showing: "file ›")
    screen.send("'\(other)'", "Enter")
    _ = screen.screen(showing: "Draft  1 deleted")
    screen.send("M")
    _ = screen.screen(showing: "Merge two stores", "paired by")
    screen.send("j", "j", "Enter")
    let preview = screen.screen(
      showing: "can be merged; nothing was written", "the app will upload")
    #expect(preview.contains("Merge two stores"))
    screen.send("Escape")
    _ = screen.screen(showing: "What changed")
    screen.send("Escape")
    _ = screen.screen(showing: "Entities", without: ["What changed"])
    screen.send("q")
    _ = screen.screen(showing: "EXIT 0")
  }
}
