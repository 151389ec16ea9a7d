import TestSupport
import Testing

@Suite(
  "Ordered relationships and composites changed in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct EditedShapeRunTests {
  private func output(_ folder: String, _ command: String) -> String {
    Shell.output(of: "'\(Shell.strata)' \(command)", through: folder + "/output")
  }

  /// The steps of Recipe/p3, in their order.
  private func steps(_ demo: InterfaceDemo) -> [String] {
    let text = output(demo.folder, "object '\(demo.store)' Recipe/p3")
    let line = text.split(separator: "\n").first { $0.hasPrefix("  steps ") } ?? ""
    return line.split { !$0.isLetter && !$0.isNumber && $0 != "/" }.map(String.init)
      .filter { $0.hasPrefix("Step/p") }
  }

  /// Selects the line of a property in the inspector, the only one that the search for it leaves.
  private func goTo(_ property: String, _ terminal: TmuxTerminal) {
    terminal.send("Tab")
    _ = terminal.screen(showing: "find a property")
    terminal.send("/", property, "Enter")
    _ = terminal.screen(showing: "▌ \(property)")
  }

  @Test(
    "a step moves behind the next one, is written, and rolled back",
    arguments: [(120, 36), (80, 24)])
  func order(width: Int, height: Int) throws {
    let demo = InterfaceDemo(objects: 500)
    let before = output(demo.folder, "dump '\(demo.store)'")
    let old = steps(demo)
    try #require(old.count > 1)
    let terminal = demo.open(width: width, height: height)
    _ = terminal.screen(showing: "Amount", "Entities")
    terminal.send("'*'", "Recipe/p3", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Recipe/p3 ─")
    goTo("steps", terminal)
    terminal.send("E")
    _ = terminal.screen(showing: "Recipe/p3 steps: ⇉ Step, in this order", "1  \(old[0])")
    terminal.send("'>'")
    _ = terminal.screen(showing: "~ 2  \(old[0])", "was 1", "reordered")
    terminal.send("Enter")
    _ = terminal.screen(showing: "* 1 change", "reordered")
    terminal.send("W")
    _ = terminal.screen(showing: "Write 1 change to Recipes.sqlite?", "On disk", "reordered")
    terminal.send("y")
    _ = terminal.screen(showing: "SHA-256 of the backup")
    let wanted = [old[1], old[0]] + old.dropFirst(2)
    #expect(steps(demo) == wanted)
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
    _ = output(demo.folder, "rollback '\(demo.store)'")
    #expect(output(demo.folder, "dump '\(demo.store)'") == before)
  }

  @Test("elements of a composite attribute are changed, and a whole one gets no value")
  func composite() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: store)
    let terminal = TmuxTerminal(
      width: 80, height: 24, folder: folder.path, "'\(Shell.strata)' '\(store)'")
    _ = terminal.screen(showing: "Item", "Entities")
    terminal.send("'*'", "Item/p1", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Item/p1 ─")
    goTo("author", terminal)
    terminal.send("E")
    _ = terminal.screen(showing: "author ─", "each element has a value of its own", "born")
    terminal.send("Enter")
    _ = terminal.screen(showing: "author.born: Date", "typing replaces it")
    terminal.send("2024-02-29", "Enter")
    _ = terminal.screen(showing: "* 2001-01-01", "→ 2024-02-29")
    terminal.send("Escape")
    _ = terminal.screen(showing: "* 1 change", without: ["each element"])
    terminal.send("W")
    _ = terminal.screen(showing: "Write 1 change", "On disk", "author.born")
    terminal.send("y")
    _ = terminal.screen(showing: "SHA-256 of the backup")
    terminal.send("Enter")
    #expect(output(folder.path, "object '\(store)' Item/p1").contains("2024-02-29"))
    _ = terminal.screen(showing: "Item/p1 ─", without: ["SHA-256"])
    goTo("author", terminal)
    terminal.send("E")
    _ = terminal.screen(showing: "each element has a value of its own", "2024-02-29")
    terminal.send("x")
    _ = terminal.screen(showing: "* 4 changes")
    terminal.send("W")
    _ = terminal.screen(showing: "Write 4 changes", "On disk")
    terminal.send("y")
    _ = terminal.screen(showing: "SHA-256 of the backup")
    let json = output(folder.path, "object '\(store)' Item/p1 --json")
    #expect(!json.contains("Ann") && json.contains("Soup"), "\(json)")
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
  }
}
