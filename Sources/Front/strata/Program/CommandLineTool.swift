import Commands
import Files
import JSON
import ManagedModel
import SQLite

/// The program as a function: words in, a status out, text through the console.
enum CommandLineTool {
  static func run(_ words: [String], console: Console) -> CommandStatus {
    let words = inOrder(words)
    console.color(ColorChoice(words))
    do {
      return try dispatch(words, console)
    } catch {
      let error =
        (error as? SQLiteError)?.isInterrupted == true
        ? .cancelled()
        : RecoveryNotice.explaining(CoreDataError(error, or: .failed))
      console.report(
        error, asJSON: words.prefix { $0 != "--" }.contains(Option.json.declaration.word))
      return CommandStatus(error.kind)
    }
  }

  /// The words with `--json` and `--color` behind the command, where they stand before it.
  private static func inOrder(_ words: [String]) -> [String] {
    let (json, color) = (Option.json.declaration.word, Option.color.declaration.word)
    var (options, rest) = ([String](), words[...])
    while let word = rest.first {
      let count =
        word == color && rest.count > 1 ? 2 : word == json || word.hasPrefix(color + "=") ? 1 : 0
      guard count > 0 else { break }
      options += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    guard !options.isEmpty, let name = rest.first,
      CommandTable.command(named: name) != nil
        || ["--help", "-h", "--version"].contains(name)
    else { return words }
    return [name] + options + rest.dropFirst()
  }

  private static func dispatch(_ words: [String], _ console: Console) throws -> CommandStatus {
    guard let first = words.first else {
      if console.isTerminal { return try run(InterfaceCommand.command, [], console) }
      console.help(usage)
      return .usage
    }
    switch first {
    case "--help", "-h":
      return try HelpCommand.write(words.dropFirst().first { !$0.hasPrefix("-") }, to: console)
    case "--version":
      console.line("strata \(ProgramVersion.number)")
      return .done
    default: break
    }
    if let command = CommandTable.command(named: first) {
      return try run(command, Array(words.dropFirst()), console)
    }
    // A bare word that is no file is a mistyped command; anything like a path is a store.
    if !first.hasPrefix("-"), !first.contains("/"), !first.contains("."),
      FileSystem.status(first) == nil
    {
      let question = Nearest.question(first, in: CommandTable.commands.map(\.name)) {
        "“strata \($0)”"
      }
      throw CoreDataError(
        .usage, "there is no command “\(first)”, and no such file",
        hint: question ?? "See strata --help.")
    }
    return try run(InterfaceCommand.command, words, console)
  }

  private static func run(
    _ command: Command, _ words: [String], _ console: Console
  ) throws -> CommandStatus {
    let arguments = try Arguments(words, for: command)
    if arguments[.help] {
      console.help(command.help)
      return .done
    }
    return try Interruption.removingCopiesToTheEnd {
      try GivenStores.run(command, arguments, console)
    }
  }

  static var usage: String {
    let width =
      CommandTable.commands.map { $0.name.count + $0.arguments.map(\.name).joined().count }.max()
      ?? 0
    var text = """
      strata inspects, migrates and repairs Core Data stores.

      usage: strata [STORE]              opens a store; without STORE, lists stores to choose from
             strata STORE_A STORE_B      opens B, and shows what changed since A; can also merge them
             strata MODEL_A [MODEL_B]    compares two versions of a model
             strata COMMAND …

      strata STORE --help lists the options of the first three.


      """
    for group in Command.Group.allCases {
      var label = group.rawValue
      for command in CommandTable.commands where command.group == group {
        let name = ([command.name] + command.arguments.map(\.name)).joined(separator: " ")
        text += label.padded(to: 9) + name.padded(to: width + 4) + command.summary
        text += "\n"
        label = ""
      }
    }
    return text + """

      STORE is a store, or one in a folder, .xcappdata, iOS backup, .zip or .tar.gz: PATH//inner/path.
      MODEL is a .xcdatamodeld, .momd, .xcdatamodel or .mom, Swift source with @Model classes (a file or
      folder), PATH@VERSION, or a store.
      strata COMMAND --help shows the options with an example; strata man prints the manual; strata
      --version the version. --json and --color WHEN may stand before the command.
      strata help TOPIC prints an article: \(Topic.all.map(\.name).joined(separator: ", ")).

      """
  }
}

extension Console {
  /// The streams of this process.
  static var process: Console {
    Console(
      isTerminal: Output.isTerminal, isErrorTerminal: Output.isErrorTerminal,
      width: Output.width ?? 120, canAsk: TerminalPassword.canAsk,
      errorWidth: { Output.errorWidth ?? 80 },
      environment: Output.environment, isCommand: { CommandTable.command(named: $0) != nil },
      out: { Output.write($0) }, err: { Output.error($0) })
  }
}
