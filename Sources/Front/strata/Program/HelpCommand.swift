import Commands
import Interface
import JSON
import ManagedModel
import Terminal

/// `strata help`: the commands, the help of one of them, or an article.
enum HelpCommand {
  private static let topic = Argument(optional: "TOPIC", suggesting: { names })
  static let command = Command(
    "help", .shell,
    "prints the help of a command, or an article: "
      + Topic.all.map(\.name).joined(separator: ", "),
    arguments: [topic], details: help, example: "strata help predicates", run: run)

  private static var help: String {
    let width = Topic.all.map(\.name.count).max() ?? 0
    let topics = Topic.all.map { "  " + $0.name.padded(to: width + 2) + $0.summary }
    return """
      TOPIC is a command, as in strata help rows, or one of these articles:

      \(topics.joined(separator: "\n"))

      Without TOPIC it lists the commands and the topics.
      """
  }

  /// Everything that help can be asked for.
  static var names: [String] { CommandTable.commands.map(\.name) + Topic.all.map(\.name) }

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    try write(arguments[topic], to: console)
  }

  /// - Throws: ``CoreDataError`` of kind usage for what is neither a command nor a topic.
  static func write(_ name: String?, to console: Console) throws -> CommandStatus {
    guard let name else {
      console.help(CommandLineTool.usage)
      return .done
    }
    if let command = CommandTable.command(named: name) {
      console.help(command.help)
    } else if let topic = Topic.topic(named: name) {
      for line in ArticleText.lines(of: topic.article, width: console.width) {
        console.line(line.text, as: line.isHeading ? .title : nil)
      }
    } else {
      throw CoreDataError(
        .usage, "there is no command and no topic “\(name)”",
        hint: Nearest.question(name, in: names) { "“strata help \($0)”" }
          ?? "Topics are " + Topic.all.map(\.name).joined(separator: ", ") + "; see strata help.")
    }
    return .done
  }
}

/// `strata keys`: the list that input, footer, help and palette use, with a person's own keys.
enum KeysCommand {
  static let command = Command(
    "keys", .look, "lists the keys of the interface", options: [Option.json], details: help,
    example: "strata keys --json", run: run)

  private static let help = """
    The configuration assigns other keys by section and action, in
    $XDG_CONFIG_HOME/strata/config.json (JSON5, so comments are allowed):

      {
        theme: "midnight",          // or themeDark and themeLight
        mouse: true,
        restoreSessions: true,      // false: no session is saved
        frameRate: 30,
        refresh: "live",            // rows follow what other programs save, and are marked;
                                    // mark: rows stay and are marked; ask: only ^R reads again
        keys: { Browse: { sort: "S", back: ["backspace", "^o"] }, Everywhere: { redo: null } },
      }

    A key is S, ^s, enter, tab, space, f2 or alt-x; null leaves an action to the palette. The keys
    that move the cursor cannot be changed. Mistakes are listed with their line, here and under ?.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let configuration = Configuration.ofUser()
    let sections = Keymap.allSections(.withKeys(configuration.keys))
    if arguments[.json] {
      console.json { json in
        json.objects(
          "keys", sections.flatMap { section in section.bindings.map { (section.title, $0) } }
        ) { entry in
          [
            "section": entry.0, "name": entry.1.action.name, "keys": entry.1.keys.map(\.name),
            "title": entry.1.title, "command": entry.1.command,
          ]
        }
        json.field("problems", configuration.problems)
      }
      return .done
    }
    for section in sections {
      console.line(section.title)
      let rows = section.bindings.map { ["  " + $0.action.name, $0.label, $0.title] }
      console.write(TextTable.text([.left, .left, .left], rows))
    }
    for problem in configuration.problems { console.note(problem) }
    return .done
  }
}
