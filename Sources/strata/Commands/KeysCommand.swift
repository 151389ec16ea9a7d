import Interface
import JSON
import RowText

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
