import Commands
import Interface
import ManagedModel
import Migration
import ModelSearch

/// Every subcommand; usage, help, the manual, completions and the README's table come from this list.
enum CommandTable {
  static let commands: [Command] = [
    InfoCommand.command, StoresCommand.command, RowsCommand.command, ObjectCommand.command,
    SearchCommand.command, FrequenciesCommand.command, HistoryCommand.command, DumpCommand.command,
    CloudKitCommand.command,
    ExportCommand.command, AnonymizeCommand.command,
    ModelCommand.command, HashCommand.command, KeysCommand.command, CompareCommand.command,
    WatchCommand.command, DiffCommand.command, MappingCommand.command, ExplainCommand.command,
    FindModelCommand.command,
    LintCommand.command,
    PlanCommand.command, MigrateCommand.command, RehearseCommand.command, VerifyCommand.command,
    ConvertCommand.command, MergeCommand.command, RollbackCommand.command, ResetCommand.command,
    DoctorCommand.command, RepairCommand.command, EditCommand.command,
    SalvageCommand.command, UndeleteCommand.command, DemoCommand.command, SeedCommand.command,
    HelpCommand.command, CompletionsCommand.command, ManCommand.command,
  ]

  static func command(named name: String) -> Command? {
    // A path is none, and need not wait until all of them are made.
    guard !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") })
    else { return nil }
    return commands.first { $0.name == name }
  }
}

/// `strata STORE`: no subcommand, but the interface.
enum InterfaceCommand {
  static let place = Argument(optional: "STORE", .store)
  private static let other = Argument(optional: "MODEL", .model)
  private static let theme = Option(
    "theme", "NAME", "use this theme: a name, or a theme file",
    suggesting: { ThemeLibrary.builtInNames })
  private static let fresh = Option(
    "fresh", "start without the last session")
  static let command = Command(
    "", .look, "Opens the terminal interface on a store, or on a folder to pick one from.",
    arguments: [place, other],
    options: [Option.model, theme, Option.to, Option.via, Option.mapping, fresh, Option.plain],
    details: """
      Of two stores the second is opened, with what changed since the first: its rows are marked, and C lists them. M in
      that list makes one store of both.
      A model in the place of the store opens the comparison of two versions, without a store: strata
      Recipes.xcdatamodeld compares its current version with the one before, strata OLD.momd NEW.momd both.
      """,
    example: "strata Recipes.sqlite", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    var request = Runtime.Request()
    request.path = arguments[place]
    request.other = arguments[other]
    if arguments[.plain] {
      if let command = request.command {
        throw CoreDataError(
          .usage, "--plain reads one store", hint: "Use a command such as: \(command)")
      }
      return try PlainInterface.run(arguments, console)
    }
    request.model = arguments[.model]
    request.theme = arguments[theme]
    request.destination = arguments[.to]
    request.plan = try PlanOptions(arguments)
    request.isFresh = arguments[fresh]
    request.passwordFile = arguments[.passwordFile]
    return try Runtime.open(request, console: console)
  }
}

extension PlanOptions {
  /// What `--via` and `--mapping` name for the interface, known to be there, as what `--to` does.
  ///
  /// - Throws: ``CoreDataError`` for what cannot be read: better reported in the shell than on the screen.
  init(_ arguments: Arguments) throws {
    self.init(via: arguments[.via], documents: arguments[.mapping])
    if let to = arguments[.to] { _ = try ModelReference(to).load() }
    if let via { _ = try ModelVersions(readingFrom: via) }
    _ = try MappingDocuments(paths: documents)
  }

  /// As words of a command.
  var words: [String] {
    Option.via.words(via) + Option.mapping.words(documents)
  }
}
