import Lint

/// Completions made from the table of commands.
enum Completions {
  enum Shell: String, CaseIterable { case bash, zsh, fish }

  /// What may stand for a placeholder such as `STORE`.
  enum Kind: Equatable {
    case files, folders, entities
    case words([String])
    /// Nothing that could be known beforehand.
    case free
  }

  static func script(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletions.script
    case .zsh: ZshCompletions.script
    case .fish: FishCompletions.script
    }
  }

  /// - Returns: `nil` for a placeholder that nobody has thought of: the tests find it.
  static func kind(of placeholder: String) -> Kind? {
    switch placeholder {
    case "STORE", "STORE…", "MODEL", "A", "B", "PATH", "PATH…", "FILE", "BEFORE", "AFTER",
      "MODELS", "OLD", "NEW-STORE":
      .files
    case "DIR": .folders
    case "ENTITY": .entities
    case "SHELL": .words(Shell.allCases.map(\.rawValue))
    case "TOPIC": .words(HelpCommand.names)
    case "RULE": .words(LintRule.all.map(\.id))
    case "NAME": .words(ThemeLibrary.builtInNames)
    case "REF", "PREDICATE", "PROPERTY", "KEY[:desc]", "N", "S", "A,B,C", "TEXT", "AUTHOR",
      "ENTITY[.PROPERTY]", "ENTITY.RELATIONSHIP", "REVISION", "RULE=LEVEL":
      .free
    default: nil
    }
  }

  static func kind(of option: Command.Option) -> Kind? {
    guard let value = option.value else { return .free }
    return option.choices.isEmpty ? kind(of: value) : .words(option.choices)
  }

  /// All commands by name, and the interface without one.
  static var commands: [Command] { [CommandTable.interface] + CommandTable.commands }

  /// Options that take a value, whatever the command: no name is a flag in another.
  static var valued: [String] {
    Set(commands.flatMap(\.shownOptions).filter { $0.value != nil }.map(\.name)).sorted()
  }
}
