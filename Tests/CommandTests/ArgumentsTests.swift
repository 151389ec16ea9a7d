import ManagedModel
import Testing

@testable import strata

@Suite("The words of a command line")
struct ArgumentsTests {
  private static let command = Command(
    "rows", .look, "", arguments: ["STORE", "ENTITY"], optionalArguments: 1,
    options: [
      .init("limit", "N", ""), .init("allow", "X", repeatable: true, ""), .init("json", ""),
      .init("format", "F", choices: ["a", "b"], ""),
    ], example: ""
  ) { _, _ in .done }

  private func parse(_ words: String...) throws -> Arguments {
    try Arguments(words, for: Self.command)
  }

  @Test("values come after a space or an equals sign, and options repeat where they may")
  func values() throws {
    let arguments = try parse("--limit", "3", "s", "--allow=a=b", "--allow", "c", "--json", "e")
    #expect(arguments.positional == ["s", "e"])
    #expect(try arguments.number("limit") == 3)
    #expect(arguments.all("allow") == ["a=b", "c"])
    #expect(arguments.flag("json"))
    #expect(!arguments.flag("format"))
  }

  @Test("everything after -- is an argument, and a lone - too")
  func endOfOptions() throws {
    #expect(try parse("-", "--", "--json").positional == ["-", "--json"])
  }

  @Test(
    "wrong words are wrong usage",
    arguments: [
      ["s", "--limt", "3"], ["s", "--limit"], ["s", "--json=1"], ["s", "--format", "c"], [],
      ["a", "b", "c"], ["s", "--limit", "1", "--limit", "2"], ["s", "-x"],
    ])
  func wrong(_ words: [String]) {
    let error = #expect(throws: CoreDataError.self) {
      try Arguments(words, for: Self.command)
    }
    #expect(error?.kind == .usage)
  }

  @Test("a number must be one")
  func numbers() throws {
    #expect(throws: CoreDataError.self) { try parse("s", "--limit", "x").number("limit") }
    #expect(throws: CoreDataError.self) { try parse("s", "--limit", "-1").number("limit") }
  }

  @Test("the nearest option and the nearest command are suggested")
  func nearest() {
    #expect(Captured("info", "x", "--jsn").err.contains("Did you mean --json?"))
    let command = Captured("migrat")
    #expect(command.status == .usage)
    #expect(command.err.contains("strata migrate"))
  }

  @Test("help of every command names its options and an example", arguments: CommandTable.commands)
  func help(_ command: Command) {
    let help = Captured(command.name, "--help")
    #expect(help.status == .done)
    for option in command.shownOptions { #expect(help.out.contains(option.usage)) }
    #expect(help.out.contains("example: strata " + command.name))
    #expect(help.out.contains("exit status: ") == !command.statuses.isEmpty)
    #expect(Captured("--help").out.contains(command.summary))
  }

  @Test("dates are told in UTC, and what is no date as its number")
  func dates() {
    #expect(CoreDataDate.text(0) == "2001-01-01T00:00:00Z")
    #expect(CoreDataDate.text(-0.5) == "2000-12-31T23:59:59.500Z")
    #expect(CoreDataDate.text(730_998_245) == "2024-03-01T15:04:05Z")
    #expect(CoreDataDate.text(.infinity) == "inf")
    #expect(CoreDataDate.text(1e300) == "1e+300")
  }
}
