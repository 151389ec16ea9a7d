import ManagedModel
import Testing

@testable import Commands
@testable import strata

@Suite("The words of a command line")
struct ArgumentsTests {
  private enum Format: String, CaseIterable { case a, b }
  private static let entity = Argument(optional: "ENTITY", .entity)
  private static let limit = Option<Int?>(number: "limit", "")
  private static let most = Option<UInt64?>(number: "most", atLeast: 2, takesAll: true, "")
  private static let allow = Option(repeating: "allow", "X", .text, "")
  private static let format = Option("format", "F", among: Format.allCases, "")
  private static let command = Command(
    "rows", .look, "", arguments: [Argument.store, entity],
    options: [limit, most, allow, Option.json, format], example: ""
  ) { _, _ in .done }

  private func parse(_ words: String...) throws -> Arguments {
    try Arguments(words, for: Self.command)
  }

  @Test("values come after a space or an equals sign, and options repeat where they may")
  func values() throws {
    let arguments = try parse("--limit", "3", "s", "--allow=a=b", "--allow", "c", "--json", "e")
    #expect(arguments[.store] == "s" && arguments[Self.entity] == "e")
    #expect(arguments[Self.limit] == 3)
    #expect(arguments[Self.allow] == ["a=b", "c"])
    #expect(arguments[.json] && !arguments[.help])
    #expect(arguments[Self.format] == nil)
    #expect(try parse("s", "--format=b")[Self.format] == .b)
  }

  @Test("arguments stand in their places, the last in any number where it says so")
  func places() throws {
    let list = Argument(list: "PATH", .file)
    let command = Command(
      "find", .look, "", arguments: [Argument.store, list], example: "", run: { _, _ in .done })
    #expect(command.synopsis == "strata find STORE [PATH…] [--password-file FILE]")
    let arguments = try Arguments(["a", "b", "c"], for: command)
    #expect(arguments[.store] == "a" && arguments[list] == ["b", "c"])
    #expect(try Arguments(["a"], for: command)[list].isEmpty)
    #expect(try parse("s", "")[Self.entity] == nil)
  }

  @Test("everything after -- is an argument, and a lone - too")
  func endOfOptions() throws {
    let arguments = try parse("-", "--", "--json")
    #expect(arguments[.store] == "-" && arguments[Self.entity] == "--json")
  }

  @Test(
    "wrong words are wrong usage",
    arguments: [
      ["s", "--limt", "3"], ["s", "--limit"], ["s", "--json=1"], ["s", "--format", "c"], [],
      ["a", "b", "c"], ["s", "--limit", "1", "--limit", "2"], ["s", "-x"],
      ["s", "--limit", "x"], ["s", "--limit", "-1"], ["s", "--limit", "all"], ["s", "--most", "1"],
    ])
  func wrong(_ words: [String]) {
    let error = #expect(throws: CoreDataError.self) {
      try Arguments(words, for: Self.command)
    }
    #expect(error?.kind == .usage)
  }

  @Test("numbers are read as their type, and all is the greatest")
  func numbers() throws {
    #expect(try parse("s", "--limit", "0")[Self.limit] == 0)
    #expect(try parse("s", "--most", "18446744073709551615")[Self.most] == .max)
    #expect(try parse("s", "--most", "all")[Self.most] == .max)
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
