import Commands
import ExportText
import Files
import Interface
import ManagedModel
import ManagedStore
import Rescue

/// `strata --plain STORE`: what the screens say as lines to be read aloud one after the other,
/// and the commands that do what the screens' keys do.
///
/// No table, no box, no cursor: each line is a sentence that can stand alone.
struct PlainInterface {
  /// Rows that are read of the largest entity.
  private static let rows = 3

  private let store: Store
  private let path: String
  private let model: String?
  /// What `--via` and `--mapping` named.
  private let plan: PlanOptions
  private let versions: [ModelVersion]
  private let console: Console

  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    console.readsAloud = true
    guard let path = arguments[InterfaceCommand.place] else {
      throw CoreDataError(
        .usage, "--plain needs a store", hint: "strata --plain STORE; strata --help lists commands")
    }
    let plan = try PlanOptions(arguments)
    let model = arguments[.model]
    let source = StoreSource(path: path, model: model, destination: arguments[.to])
    let store: Store
    do {
      store = try source.openAnyhow()
    } catch let error as CoreDataError where error.kind == .unreadable {
      return try tellRescue(path, model: model, error, console)
    }
    try store.inspect(upTo: Store.readingCheckSize)
    let plain = PlainInterface(
      store: store, path: path, model: model, plan: plan,
      versions: source.versions(of: store.model, hashes: store.metadata.versionHashes),
      console: console)
    for screen in Screen.allCases { try plain.tell(screen) }
    if console.isTerminal, isatty(STDIN_FILENO) == 1 {
      plain.converse()
    } else {
      plain.tellCommands()
    }
    return console.finish(store, told: store.warnings(naming: \.typed))
  }

  /// Of a store that does not open there is the screen Rescue alone.
  ///
  /// - Throws: `error` where it is no store to which something happened.
  private static func tellRescue(
    _ path: String, model: String?, _ error: CoreDataError, _ console: Console
  ) throws -> CommandStatus {
    guard let diagnosis = try? Diagnosis(of: path), StoreCondition(diagnosis).isOfStore else {
      throw error
    }
    console.line("The store does not open: \(error.message).")
    console.line("Screen \(Screen.rescue.rawValue) of \(Screen.allCases.count), Rescue.")
    perform("doctor", [path] + Option.model.words(model), console)
    return .unreadable
  }

  private func tell(_ screen: Screen) throws {
    console.line("Screen \(screen.rawValue) of \(Screen.allCases.count), \(screen.title).")
    switch (screen, destination) {
    case (.browse, _): try tellBrowse()
    case (.diff, let other?): perform("diff", [path, other.path])
    case (.diff, nil):
      console.line("There is no other version of the model; give one with --model MODEL.")
    case (.mapping, let other?):
      perform("plan", [path] + Option.to.words(other.path) + plan.words)
    case (.mapping, nil):
      console.line("There is nothing to plan without another version of the model.")
    case (.migrate, let other?): tellMigrate(to: other)
    case (.migrate, nil): console.line("There is nothing to migrate to.")
    case (.rescue, _): perform("doctor", [path] + Option.model.words(model))
    default: break
    }
    console.line()
  }

  private func tellBrowse() throws {
    let match =
      store.modelSource == .raw
      ? "no model, tables are shown as they are"
      : store.modelMatches ? "the model in use fits the store" : "the model in use does not fit"
    console.line("Store \(FileSystem.name(of: path)): \(match).")
    if store.wal.frames > 0 {
      console.line("\(NumberText.counted(store.wal.frames, "frame")) are in its log only.")
    }
    let misfit = StoreSource(path: path, model: model).misfit(of: store)
    let warnings = (misfit.map { [$0] } ?? []) + store.warnings(naming: \.typed)
    console.line(
      warnings.isEmpty ? "No warnings." : "\(NumberText.counted(warnings.count, "warning")).")
    for warning in warnings { console.line("Warning: \(warning)") }
    let counts = try store.counts()
    let tables = store.entityTables
    console.line(NumberText.counted(tables.count, "entity.", plural: "entities."))
    for table in tables {
      let parent = store.model.entity(named: table.entity)?.parent
      console.line(
        "\(table.entity), \(NumberText.counted(counts[table.entity] ?? 0, "object"))"
          + (parent.map { ", a kind of \($0)" } ?? "") + ".")
    }
    guard let largest = tables.map(\.entity).max(by: { (counts[$0] ?? 0) < (counts[$1] ?? 0) }),
      let total = counts[largest], total > 0
    else { return }
    let page = try store.rows(RowQuery(entity: largest, limit: Self.rows))
    console.line("The first \(page.rows.count) of \(largest):")
    for row in page.rows {
      let values = zip(row.values, page.columns).map { "\($1.name) \(CellText.table($0))" }
      console.line("\(row.id): " + values.joined(separator: "; ") + ".")
    }
  }

  /// The version that a migration would lead to.
  private var destination: ModelVersion? {
    versions.destinationIndex.flatMap { versions.indices.contains($0) ? versions[$0] : nil }
      .flatMap { $0.path.isEmpty ? nil : $0 }
  }

  private func tellMigrate(to destination: ModelVersion) {
    let words = [path] + Option.to.words(destination.path) + plan.words
    console.line("This migrates the store, verifies it and keeps the old one as a backup:")
    console.line(ShellText.command(["migrate"] + words))
    console.line("This tries the same on a copy:")
    console.line(ShellText.command(["rehearse"] + words))
  }

  /// Runs a command as the shell would; what it refuses is reported, and goes no further.
  private func perform(_ name: String, _ words: [String]) { Self.perform(name, words, console) }

  private static func perform(_ name: String, _ words: [String], _ console: Console) {
    guard let command = CommandTable.command(named: name) else { return }
    do {
      let arguments = try Arguments(words, for: command)
      guard !arguments[.help] else {
        console.write(command.help)
        return
      }
      _ = try command.run(arguments, console)
    } catch {
      let error = CoreDataError(error, or: .failed)
      console.line(error.description)
      if let hint = error.typedHint { console.line(hint) }
    }
  }

  /// The actions of the screens that have a command line, for a reader without keys.
  private func tellCommands() {
    console.line("Commands that do what the screens do:")
    for section in Keymap.sections(State(storePath: path)) {
      for binding in section.bindings {
        guard let command = binding.command else { continue }
        console.line("\(section.title), \(binding.title): \(command)")
      }
    }
  }
}

extension PlainInterface {
  private static let words = """
    1, 2, 3 or 4 reads a screen again. A command goes as in the shell, without strata and without
    the store: rows Recipe --limit 5, object Recipe/p12, info, plan --to MODEL. help COMMAND lists
    its options, commands lists what the screens can do, quit ends.
    """

  /// Takes commands, a line each, until quit or the end of input.
  private func converse() {
    console.line(Self.words.split(separator: "\n").joined(separator: " "))
    while true {
      console.write("strata: ")
      guard let line = readLine() else { return }
      let words = ShellText.words(line)
      guard let first = words.first else { continue }
      if let number = Int(first), let screen = Screen(rawValue: number) {
        do { try tell(screen) } catch { console.line("\(error)") }
        continue
      }
      switch first {
      case "quit", "q", "exit": return
      case "commands": tellCommands()
      case "help", "?":
        if words.count > 1 {
          perform(words[1], ["--help"])
        } else {
          console.line(Self.words.split(separator: "\n").joined(separator: " "))
          console.line(CommandTable.commands.map(\.name).joined(separator: ", "))
        }
      default: call(first, Array(words.dropFirst()))
      }
    }
  }

  private func call(_ name: String, _ words: [String]) {
    guard let command = CommandTable.command(named: name) else {
      let question = Nearest.question(name, in: CommandTable.commands.map(\.name))
      console.line("There is no command \(name). " + (question ?? "Type help."))
      return
    }
    let takesStore = command.arguments.first?.placeholder == Argument.store.declaration.name
    let option = Option.model.declaration
    let takesModel =
      command.options.contains { $0.name == option.name } && !words.contains(option.word)
    let model = takesModel ? model : nil
    perform(name, (takesStore ? [path] : []) + words + Option.model.words(model))
  }
}
