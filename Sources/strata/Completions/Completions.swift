/// Completions made from the table of commands.
enum Completions {
  enum Shell: String, CaseIterable { case bash, zsh, fish }

  static func script(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletions.script
    case .zsh: ZshCompletions.script
    case .fish: FishCompletions.script
    }
  }

  /// All commands by name, and the interface without one.
  static var commands: [Command] { [InterfaceCommand.command] + CommandTable.commands }

  /// Options that take a value, whatever the command: no name is a flag in another.
  static var valued: [String] {
    Set(commands.flatMap(\.shownOptions).filter { !$0.isFlag }.map(\.name)).sorted()
  }
}
