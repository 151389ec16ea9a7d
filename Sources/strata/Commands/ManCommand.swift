/// `strata man`: the manual.
enum ManCommand {
  static let command = Command(
    "man", .shell, "prints the manual as a man page",
    details: "It is roff: read it with man, or install it as strata.1.",
    example: "strata man > /usr/local/share/man/man1/strata.1", run: run)

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    console.write(ManualPage.text)
    return .done
  }
}
