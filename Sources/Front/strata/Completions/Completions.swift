import Commands
import Files
import ManagedModel

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

  /// Options that take a value, whatever the command. A name that is a flag in another command is left out.
  static var valued: [String] {
    let options = commands.flatMap(\.shownOptions)
    return Set(options.filter { !$0.isFlag }.map(\.name))
      .subtracting(options.filter(\.isFlag).map(\.name)).sorted()
  }
}

/// `strata completions`: what a shell needs to complete the words of a command line.
enum CompletionsCommand {
  private static let shell = Argument(
    optional: "SHELL", suggesting: { Completions.Shell.allCases.map(\.rawValue) })
  private static let entities = Option(
    "entities", "STORE", .store, "the names of a store's entities, for completions", isHidden: true)
  static let command = Command(
    "completions", .shell, "prints completions for bash, zsh or fish", arguments: [shell],
    options: [entities], details: help, example: "strata completions zsh > ~/.zfunc/_strata",
    run: run)

  private static let help = """
    SHELL is bash, zsh or fish. Commands, options, their values, files, and the entities of the store on
    the command line are completed.

      bash   source <(strata completions bash)               in ~/.bashrc
      zsh    strata completions zsh > ~/.zfunc/_strata       ~/.zfunc is in $fpath
      fish   strata completions fish > ~/.config/fish/completions/strata.fish
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    if let store = arguments[entities] {
      for name in entities(of: store) { console.line(name) }
      return .done
    }
    let name = arguments[shell]
    guard let shell = name.flatMap(Completions.Shell.init) else {
      throw CoreDataError(
        .usage, name.map { "there are no completions for “\($0)”" } ?? "SHELL is missing",
        hint: "strata completions bash, zsh or fish")
    }
    console.write(Completions.script(for: shell))
    return .done
  }

  /// Nothing where the store cannot be read, or only by copying much: a person is typing.
  private static func entities(of path: String) -> [String] {
    let log = FileSystem.status(path + "-wal")?.size ?? 0
    let size = FileSystem.status(path)?.size ?? 0
    guard log == 0 || size < 32 << 20, let store = try? StoreOpening.open(path) else { return [] }
    return store.entityTables.map(\.entity)
  }
}
