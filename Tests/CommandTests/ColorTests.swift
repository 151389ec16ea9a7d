import TestSupport
import Testing

@testable import Commands

@Suite("Colour and global options")
struct ColorTests {
  private static func plan(
    _ words: [String], environment: [String: String], terminal: Bool
  ) throws
    -> String
  {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path, "--objects", "50", "--no-open").status == .done)
    let model = folder.path("Recipes.xcdatamodeld") + "@Recipes 3"
    return Captured(
      ["plan", folder.path("Recipes.sqlite"), "--to", model] + words, terminal: terminal,
      environment: environment
    ).out
  }

  @Test(
    "a terminal gets colour, a pipe only where that is asked for, and NO_COLOR nobody",
    arguments: TestScale.some(
      5,
      of: [
        ([], ["TERM": "xterm"], true, true), ([], ["TERM": "xterm"], false, false),
        ([], ["TERM": "dumb"], true, false), ([], [:], true, false),
        ([], ["TERM": "xterm", "NO_COLOR": "1"], true, false),
        ([], ["TERM": "xterm", "NO_COLOR": ""], true, true),
        (["--color", "always"], [:], false, true), (["--color=always"], [:], false, true),
        (["--color=always"], ["NO_COLOR": "1"], false, false),
        (["--color", "never"], ["TERM": "xterm"], true, false),
      ] as [([String], [String: String], Bool, Bool)]))
  func choice(
    words: [String], environment: [String: String], terminal: Bool, isColored: Bool
  ) throws {
    let plan = try Self.plan(words, environment: environment, terminal: terminal)
    #expect(plan.contains("\u{1B}[") == isColored)
  }

  @Test("colour adds nothing but itself")
  func same() throws {
    // How much room the disk has is another number each time, and the folder has another name.
    func told(_ words: [String]) throws -> String {
      try Self.plan(words, environment: [:], terminal: false)
        .replacing(#/[0-9.]+ GB/#, with: "GB").replacing(#/strata-test\.\w+/#, with: "")
    }
    let (colored, plain) = (try told(["--color", "always"]), try told([]))
    #expect(colored.replacing(#/\u{1B}\[[0-9;]*m/#, with: "") == plain)
  }

  @Test("JSON has no colour", arguments: [["--json"], ["--json", "--color", "always"]])
  func json(words: [String]) throws {
    let plan = try Self.plan(words, environment: ["TERM": "xterm"], terminal: true)
    #expect(plan.hasPrefix("{") && !plan.contains("\u{1B}"))
  }

  @Test(
    "a line has the colour of its sign",
    arguments: [
      ("✓ exact", .success), ("  ✗ no", .error), ("! lost: 3", .warning), ("+ Rating", .added),
      ("− Draft", .removed), ("~ Recipe", .changed), ("strata: no", .error),
      ("−3 degrees", nil), ("  refused by Ann", nil), ("Recipe", nil), ("", nil),
    ] as [(String, LineRole?)])
  func signs(line: String, role: LineRole?) {
    #expect(LineColor.role(of: line).map { "\($0)" } == role?.rawValue)
  }

  enum LineRole: String { case success, error, warning, added, removed, changed }

  @Test("--json and --color may stand before the command")
  func global() throws {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path, "--objects", "50", "--no-open").status == .done)
    let store = folder.path("Recipes.sqlite")
    #expect(Captured("--json", "info", store).out == Captured("info", store, "--json").out)
    #expect(Captured("--color", "never", "--json", "info", store).out.hasPrefix("{"))
    #expect(Captured("--json", "info", folder.path("none")).out.hasPrefix(#"{"error""#))
    #expect(Captured("--json", "info", store, "--json").status == .done)
    #expect(Captured("--color", "purple", "info", store).status == .usage)
    #expect(Captured("--json", "--version").out == "strata \(ProgramVersion.number)\n")
    #expect(Captured("--json", "--help").status == .done)
  }
}
