import Containers
import Files
import Interface
import ManagedModel
import ManagedStore

/// The one place where the stores that a command line names become files: those in containers are
/// put together as private copies, which go away when the command is done.
enum GivenStores {
  /// Where a store is named: an argument by its place, or an option.
  private enum Slot {
    case argument(Int)
    case option(String)
  }

  /// Runs a command with files in the place of whatever names a store in a container.
  ///
  /// - Throws: ``CoreDataError``: unreadable where a container cannot be read or has no store in it;
  ///   usage where it has several and none is named; refused for a command that would change it.
  static func run(
    _ command: Command, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    var arguments = arguments
    var inside: [(slot: Slot, container: String, inner: String?)] = []
    for (slot, text, isModel) in named(in: arguments, of: command) {
      switch StorePlace(text) {
      case .file(let path):
        // Some commands read the file themselves; of several stores, each has its own answer.
        if !isModel, !isOneOfSeveral(slot, command) {
          try StoreFiles(path: path).refuseNotDownloaded()
        }
      case .folder(let folder):
        guard !isModel, command.effect == .readsStore, case .argument = slot,
          !isOneOfSeveral(slot, command),
          !StoreFileName.isModelBundle(FileSystem.name(of: folder))
        else { break }
        let store = try Waiting.tell("looking into \(folder)", on: console) {
          try onlyStore(of: Container(folder))
        }
        if FileSystem.isFile(folder + "/" + store) {
          replace(slot, with: joined(folder, store), in: &arguments)
        } else {
          // Of a backup further down, under a name of its own.
          inside.append((slot, folder, store))
        }
      case .inside(let container, let inner): inside.append((slot, container, inner))
      }
    }
    guard !inside.isEmpty else { return try command.run(arguments, console) }
    try refuseChanges(inside[0].container, inside[0].inner, command, arguments)
    return try Interruption.removingCopies {
      var copies: [StoreCopy] = []
      var shown: [(root: String, container: String)] = []
      for (slot, path, inner) in inside {
        let copy = try self.copy(of: inner, in: path, console)
        replace(slot, with: copy.path, in: &arguments)
        copies.append(copy)
        shown.append(
          (copy.root, path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path))
      }
      return try withExtendedLifetime(copies) {
        try ShownPaths.showing(shown) {
          do { return try command.run(arguments, console) } catch let error as CoreDataError {
            // While it is still known what the copies are called.
            CommandLineTool.report(error, asJSON: arguments.flag("json"), console)
            return CommandLineTool.status(of: error.kind)
          }
        }
      }
    }
  }

  /// A private copy of a store, put together with a bar where that takes long.
  static func copy(
    of inner: String?, in path: String, _ console: Console
  ) throws -> StoreCopy {
    let (container, inner) = try Waiting.tell("looking into \(path)", on: console) {
      let container = try Container(path)
      return (container, try inner ?? onlyStore(of: container))
    }
    let bar = ProgressBar(console)
    defer { bar.clear() }
    return try StoreCopy(
      of: inner, in: container,
      // What needs quoting in a shell needs it here too: the path stands for the container's.
      rootName: ShellText.quoted(path) == path ? "copy" : "a copy"
    ) { done in
      bar.show(ProgressBar.Work(title: "unpacking", done: NumberText.bytes(done)))
    }
  }

  /// The store of a container that has one.
  private static func onlyStore(of container: Container) throws -> String {
    let stores = try container.stores()
    if stores.count == 1, let store = stores.first { return store.name }
    guard !stores.isEmpty else {
      throw CoreDataError(
        .unreadable, "no Core Data store is in it (\(container.form.noun))", path: container.path,
        hint: container.notes.first ?? "Name another, or the store itself.")
    }
    let names = stores.prefix(5).map {
      ShellText.quoted((container.path + "//" + $0.name).printable)
    }
    throw CoreDataError(
      .usage, "\(stores.count) stores are in it (\(container.form.noun))", path: container.path,
      hint: "Name one: \(names.joined(separator: ", "))"
        + (stores.count > names.count
          ? " …; strata stores \(ShellText.quoted(container.path.printable)) lists them." : "."))
  }

  /// What of the words may be a store.
  private static func named(
    in arguments: Arguments, of command: Command
  ) -> [(slot: Slot, text: String, isModel: Bool)] {
    // A log in the place of the store, or a bundle of models.
    guard arguments.value("log") == nil, !arguments.flag("matrix") else { return [] }
    let isInterface = command.name.isEmpty && !arguments.flag("plain")
    var result: [(Slot, String, Bool)] = []
    for (index, text) in arguments.positional.enumerated() {
      guard
        let name = index < command.arguments.count
          ? command.arguments[index] : command.arguments.last
      else { continue }
      switch name {
      case "STORE", "BEFORE", "AFTER", "STORE…":
        if !isInterface { result.append((.argument(index), text, false)) }
      case "MODEL", "A", "B": result.append((.argument(index), text, true))
      default: break
      }
    }
    for option in command.shownOptions
    where ["MODEL", "STORE"].contains(option.value) && !option.isRepeatable {
      if let text = arguments.value(option.name) {
        result.append((.option(option.name), text, option.value == "MODEL"))
      }
    }
    return result
  }

  /// Whether a command takes any number of stores in a place.
  private static func isOneOfSeveral(_ slot: Slot, _ command: Command) -> Bool {
    guard case .argument(let index) = slot else { return false }
    let name = index < command.arguments.count ? command.arguments[index] : command.arguments.last
    return name?.hasSuffix("…") == true
  }

  private static func replace(_ slot: Slot, with path: String, in arguments: inout Arguments) {
    switch slot {
    case .argument(let index): arguments.replace(index, with: path)
    case .option(let name): arguments.replace(name, with: path)
    }
  }

  private static func refuseChanges(
    _ container: String, _ inner: String?, _ command: Command, _ arguments: Arguments
  ) throws {
    let hint: String
    switch command.effect {
    case .readsStore: return
    case .changesStoreWithoutOutput:
      guard arguments.value("output") == nil else { return }
      hint = "Name where the result goes: --output FILE."
    case .changesStore:
      hint = "Take the store out of it first; strata migrate --output FILE writes a new one."
    }
    throw CoreDataError(
      .refused,
      "\(command.name) would write into \(ContainerForm(at: container)?.noun ?? "it"), which is never changed",
      path: inner.map { container + "//" + $0 } ?? container, hint: hint)
  }

  private static func joined(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}
