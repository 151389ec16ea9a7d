/// `strata man`: the manual.
enum ManCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    console.write(ManualPage.text)
    return .done
  }
}
