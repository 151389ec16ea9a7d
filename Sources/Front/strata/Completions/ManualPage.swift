import Commands

/// The manual page, in man's macros, made from the table of commands.
enum ManualPage {
  static var text: String {
    var page = ""
    page +=
      ".TH STRATA 1 \(ProgramVersion.date) \"strata \(ProgramVersion.number)\" \"User Commands\"\n"
    page += ".SH NAME\nstrata \\- inspects, migrates and repairs Core Data stores\n"
    page += ".SH SYNOPSIS\n" + synopsis(InterfaceCommand.command)
    page += ".br\n.B strata\n.I COMMAND\n\\&...\n"
    page += ".SH DESCRIPTION\n" + paragraphs(description)
    page += ".SH THE INTERFACE\n" + body(of: InterfaceCommand.command)
    page += ".SH OPTIONS OF EVERY COMMAND\n" + list(Command.common)
    page += ".SH COMMANDS\n"
    for command in CommandTable.commands {
      page += ".SS " + escaped("\(command.name): \(command.summary)") + "\n"
      page += synopsis(command) + body(of: command)
    }
    page += ".SH ENVIRONMENT\n" + list(environment)
    page += ".SH FILES\n" + list(files)
    page +=
      ".SH EXIT STATUS\n" + list(CommandStatus.allCases.map { (String($0.rawValue), $0.meaning) })
    page += ".SH EXAMPLES\n"
    for command in [InterfaceCommand.command] + CommandTable.commands {
      page +=
        (command.name.isEmpty ? "" : ".PP\n") + escaped(sentence(command.summary))
        + "\n.PP\n.RS 4\n.nf\n"
        + escaped(command.example) + "\n.fi\n.RE\n"
    }
    return page
  }

  private static let description = [
    "strata reads the SQLite stores of Apple's Core Data, of every age, and the models that belong to them, without any Apple framework. It computes the version hashes that Core Data computes and infers the mapping that Core Data would infer; it shows in advance what would be lost and which rows would break a rule. A migration runs on a clone, is verified, and replaces the store by one rename; the old store is kept.",
    "Reading a store leaves no trace: no byte of it, of its -wal or of its folder changes.",
    "STORE is a store, or one in a folder, an .xcappdata, an iOS backup, a .zip or a .tar.gz, as PATH//inner/path. MODEL is a .xcdatamodeld or .momd (its current version), a .xcdatamodel or .mom, Swift source with SwiftData's @Model classes (a file, a folder, a package), PATH@VERSION for one version of a bundle or one VersionedSchema, or a store. REF is Entity/p12, or the object's URI.",
    "Results go to standard output, messages to standard error. The options --json and --color may also stand before the command. Everything after -- is an argument.",
  ]

  private static let environment = [
    (
      "NO_COLOR",
      "When it is set and not empty, nothing is coloured, and the interface takes the theme mono."
    ),
    ("COLORFGBG", "Whether the background is light or dark; without it the terminal is asked."),
    ("TERM", "What the terminal can do. A dumb one gets neither colour nor progress."),
    ("TMPDIR", "Where private copies and the steps of a migration are kept while they are needed."),
    (
      "XDG_CONFIG_HOME",
      "The folder of strata/config.json and strata/themes; ~/.config without it."
    ),
    ("XDG_STATE_HOME", "Where strata keeps what it remembers, ~/.local/state without it."),
  ]

  private static let files = [
    ("$XDG_CONFIG_HOME/strata/themes/NAME.json", "Your own themes; see strata --theme."),
    ("$XDG_CONFIG_HOME/strata/config.json", "Settings, among them theme, and keys; JSON5."),
    ("$XDG_STATE_HOME/strata/theme", "The theme that was kept last in the interface."),
    (
      "STORE.backup-N, STORE.unrepaired-N, STORE.undone-N, STORE-backup-N.sqlite, STORE-undone-N.sqlite",
      "What a migration, repair, reset or rollback left beside the store; strata rollback --list shows them."
    ),
    (
      ".strata-journal-STORE, .strata-migrating-STORE-*",
      "Present during a run. If a run was killed, the next migrate, repair, reset or rollback of the store recovers from it."
    ),
    (
      ".strata-new-NAME-*",
      "Present while a new store, model or report is being written. If a run was killed, the next one that writes into the folder removes it."
    ),
  ]

  private static func synopsis(_ command: Command) -> String {
    let name = ["strata", command.name].filter { !$0.isEmpty }.joined(separator: " ")
    var text = ".B " + escaped(name) + "\n"
    for argument in command.arguments {
      let name = escaped(argument.name)
      text += argument.isRequired ? ".I \(name)\n" : ".RI [ \(name) ]\n"
    }
    return text + (command.shownOptions.isEmpty ? "" : ".RI [ options ]\n")
  }

  private static func body(of command: Command) -> String {
    var text = list(command.ownOptions)
    if !command.details.isEmpty { text += ".PP\n.nf\n" + escaped(command.details) + "\n.fi\n" }
    if !command.statuses.isEmpty {
      text += ".PP\n" + escaped("Exit status: \(command.statuses).") + "\n"
    }
    return text
  }

  private static func list(_ options: [Declaration]) -> String {
    var text = ""
    for option in options {
      text += ".TP\n.B " + escaped("--" + option.name)
      text += option.isFlag ? "" : " \\fI" + escaped(option.placeholder) + "\\fR"
      text += "\n" + escaped(sentence(option.help))
      if !option.choices.isEmpty {
        text += "\nOne of " + escaped(option.choices.joined(separator: ", ")) + "."
      }
      if option.isRepeatable { text += "\nIt may be given several times." }
      text += "\n"
    }
    return text
  }

  private static func list(_ items: [(String, String)]) -> String {
    items.map { ".TP\n.B \(escaped($0.0))\n\(escaped($0.1))\n" }.joined()
  }

  private static func paragraphs(_ texts: [String]) -> String {
    texts.map(escaped).joined(separator: "\n.PP\n") + "\n"
  }

  private static func sentence(_ text: String) -> String {
    let first = text.prefix(1).uppercased() + text.dropFirst()
    return first.hasSuffix(".") ? first : first + "."
  }

  /// Text as roff takes it: a minus is one, and no line begins a request.
  private static func escaped(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var result = line.first.map { ".'".contains($0) } == true ? "\\&" : ""
      for character in line {
        switch character {
        case "\\": result += "\\e"
        case "-": result += "\\-"
        case "'": result += "\\(aq"
        case "\"": result += "\\(dq"
        case "~": result += "\\(ti"
        case "^": result += "\\(ha"
        case "`": result += "\\(ga"
        case "…": result += "..."
        default: result.append(character)
        }
      }
      return result
    }.joined(separator: "\n")
  }
}

/// `strata man`: the manual.
enum ManCommand {
  static let command = Command(
    "man", .shell, "prints the manual as a man page",
    details: "It is roff: read it with man, or install it as strata.1.",
    example: "strata man > /usr/local/share/man/man1/strata.1", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    console.write(ManualPage.text)
    return .done
  }
}
