import AtomicStores
import Containers
import Files
import ManagedModel
import ManagedStore
import ModelSearch

/// The one place where the stores that a command line names become files: those in containers are
/// put together as private copies, which go away when the command is done.
package enum GivenStores {
  /// Where a store is named: a word of what was given for an argument or an option.
  private struct Slot {
    let parameter: Declaration
    let index: Int
    /// Whether it stands behind an option's name.
    let isOption: Bool
  }

  /// Runs a command with files in the place of whatever names a store in a container.
  ///
  /// - Throws: ``CoreDataError``: unreadable where a container cannot be read or has no store in it;
  ///   usage where it has several and none is named; refused for a command that would change it.
  package static func run(
    _ command: Command, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    var arguments = arguments
    let passwords = BackupPasswords(file: arguments[.passwordFile], on: console)
    var inside: [(slot: Slot, container: String, inner: String?)] = []
    var whole: [(slot: Slot, path: String)] = []
    for slot in named(in: arguments, of: command) {
      let text = arguments[slot.parameter][slot.index]
      let isModel = slot.parameter.kind == .model
      switch StoreLocation(text) {
      case .file(let path):
        // Some commands read the file themselves; of several stores, each has its own answer.
        if !isModel, !slot.parameter.isRepeatable {
          try StoreFiles(path: path).refuseNotDownloaded()
        }
        if !isModel, !isLog(slot.parameter), !command.readsAtomicStores,
          let form = AtomicStoreForm(at: path)
        {
          try refuseAtomic(form, path, command, arguments)
          whole.append((slot, path))
        }
      case .folder(let folder):
        guard !isModel, command.effect == .readsStore, !slot.isOption,
          !slot.parameter.isRepeatable,
          !StoreFileName.isModelBundle(FileSystem.name(of: folder))
        else { break }
        let (store, logs, passedOver) = try Waiting.tell("looking into \(folder)", on: console) {
          draft in
          let container = try Container(folder, unlocking: passwords.unlocking(pausing: draft))
          let store = try onlyStore(of: container)
          return (store, container.distantLogs(of: [store]), container.passedOver(beside: store))
        }
        for file in passedOver.prefix(3) {
          console.note("! \(file.sentence) \(store.printable) is read.")
        }
        let file = folder + "/" + store
        if !command.readsAtomicStores, let form = AtomicStoreForm(at: file) {
          try refuseAtomic(form, file, command, arguments)
          whole.append((slot, file))
        } else if FileSystem.isFile(file) {
          note(logs, in: folder, arguments, console)
          arguments[slot.parameter][slot.index] = DistantLogs.place(of: store, in: folder)
        } else {
          // Of a backup further down, under a name of its own.
          inside.append((slot, folder, store))
        }
      case .inside(let container, let inner):
        // A log alone is no store that could be meant.
        if inner != nil || !isLog(slot.parameter) { inside.append((slot, container, inner)) }
      }
    }
    guard !inside.isEmpty || !whole.isEmpty else { return try command.run(arguments, console) }
    if let (_, container, inner) = inside.first {
      try refuseChanges(
        inner.map { container + "//" + $0 } ?? container,
        ContainerForm(at: container)?.noun ?? "it", command, arguments)
    }
    return try Interruption.removingCopies {
      var copies: [StoreCopy] = []
      var atomicCopies: [AtomicCopy] = []
      var shown: [(root: String, name: String)] = []
      for (slot, path) in whole {
        let copy = try atomicCopy(
          of: path, model: arguments[.model] ?? arguments[.from],
          for: command, console)
        arguments[slot.parameter][slot.index] = copy.path
        atomicCopies.append(copy)
        shown.append((copy.root, FileSystem.prefix(of: path)))
      }
      for (slot, path, inner) in inside {
        let copy = try self.copy(of: inner, in: path, passwords, console)
        for note in copy.notes { console.note("! " + note) }
        if !isLog(slot.parameter) { note(copy.distantLogs, in: path, arguments, console) }
        arguments[slot.parameter][slot.index] = copy.path
        copies.append(copy)
        if !isLog(slot.parameter), slot.parameter.kind != .model, !command.readsAtomicStores,
          let form = AtomicStoreForm(at: copy.path)
        {
          try refuseAtomic(form, container(path) + copy.name, command, arguments)
          let atomic = try atomicCopy(
            of: copy.path, model: arguments[.model] ?? arguments[.from],
            for: command, console)
          arguments[slot.parameter][slot.index] = atomic.path
          atomicCopies.append(atomic)
          shown.append((atomic.root, container(path) + FileSystem.prefix(of: copy.name)))
        }
        shown.append((copy.root, container(path)))
      }
      return try withExtendedLifetime((copies, atomicCopies)) {
        try ShownPaths.showing(shown) {
          do {
            let status = try command.run(arguments, console)
            // What is missing of a store is missing in what was printed of it.
            let isLossy = atomicCopies.contains { !$0.report.losses.isEmpty }
            return isLossy && status == .done ? .unreadable : status
          } catch let error as CoreDataError {
            // While it is still known what the copies are called.
            console.report(error, asJSON: arguments[.json])
            return CommandStatus(error.kind)
          }
        }
      }
    }
  }

  /// What stands before an inner path.
  private static func container(_ path: String) -> String {
    (path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path) + "//"
  }

  /// A private copy of a store, put together with a bar where that takes long.
  package static func copy(
    of inner: String?, in path: String, _ passwords: BackupPasswords, _ console: Console
  ) throws -> StoreCopy {
    let (container, inner) = try Waiting.tell("looking into \(path)", on: console) { draft in
      let container = try Container(path, unlocking: passwords.unlocking(pausing: draft))
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
        hint: container.notes.first ?? container.passedOver.first?.sentence
          ?? "Name another, or the store itself.")
    }
    let names = stores.prefix(5).map {
      ShellText.quoted(container.path + "//" + $0.name)
    }
    throw CoreDataError(
      .usage, "\(stores.counted) are in it (\(container.form.noun))", path: container.path,
      hint: "Name one: \(names.joined(separator: ", "))"
        + (stores.count > names.count
          ? " …; \(ShellText.command("stores", container.path)) lists them." : "."))
  }

  /// What of the words may be a store.
  private static func named(in arguments: Arguments, of command: Command) -> [Slot] {
    // A log in the place of the store, or a bundle of models.
    guard arguments[FindModelCommand.log] == nil, !arguments[PlanCommand.matrix] else { return [] }
    // The interface opens containers itself.
    let isInterface = command.name.isEmpty && !arguments[.plain]
    let options = command.shownOptions.filter { !$0.isRepeatable || $0.kind == .model }
    let places = isInterface ? [] : command.arguments.map { ($0, isOption: false) }
    return (places + options.map { ($0, isOption: true) }).flatMap { parameter, isOption in
      guard parameter.kind == .store || parameter.kind == .model || isLog(parameter) else {
        return [Slot]()
      }
      return arguments[parameter].indices.map {
        Slot(parameter: parameter, index: $0, isOption: isOption)
      }
    }
  }

  /// Whether a -wal is to be named, which may lie in a container as well.
  private static func isLog(_ parameter: Declaration) -> Bool {
    parameter.kind == .file && parameter.name == Option.wal.declaration.name
  }

  /// Says which logs may be missing from what is read, unless it was said which log to read.
  private static func note(
    _ logs: [DistantLog], in container: String, _ arguments: Arguments, _ console: Console
  ) {
    guard arguments[.wal] == nil, !arguments[.ignoreWAL] else { return }
    for log in logs { console.note("! " + DistantLogs.sentence(log, in: container)) }
  }

  /// A private store of the SQLite type with what is in an XML or binary one; what of it was not read as it stands is
  /// reported, but for what the command itself says of it.
  package static func atomicCopy(
    of path: String, model: String?, for command: Command? = nil, _ console: Console
  ) throws -> AtomicCopy {
    let given = try StoreOpening.model(model)
    let bar = ProgressBar(console)
    let copy: AtomicCopy
    do {
      defer { bar.clear() }
      copy = try AtomicCopy(
        of: path, model: given,
        fallback: { ModelBundle.version(besideStore: path, making: $0)?.model },
        rootName: ShellText.quoted(path) == path ? "copy" : "a copy"
      ) { done in
        try Interruption.check()
        bar.show("reading", done, of: nil, "objects")
      }
    }
    // doctor lists these as findings, and salvage has what is lost in its report.
    let isDoctor = command?.name == DoctorCommand.command.name
    let isSalvage = command?.name == SalvageCommand.command.name
    let losses = isSalvage ? [] : copy.report.losses
    for sentence in isDoctor ? [] : losses + copy.report.warnings { console.note("! " + sentence) }
    for note in copy.report.notes { console.note("· " + note) }
    return copy
  }

  /// Refuses what cannot be done with an XML or binary store, and says what can.
  private static func refuseAtomic(
    _ form: AtomicStoreForm, _ path: String, _ command: Command, _ arguments: Arguments
  ) throws {
    let conversion =
      "Convert it to an SQLite store: "
      + ShellText.command("convert", path, "--output", "NEW.sqlite")
    if let refusal = command.atomicRefusal {
      throw CoreDataError(
        .refused, "\(form.noun) \(refusal)", path: path, hint: conversion)
    }
    let needsOutput = command.effect == .changesStoreWithoutOutput
    // A repair has its own sentence: its result is of the same kind.
    guard command.effect == .changesStore || needsOutput && arguments[.output] == nil,
      !arguments[dryRun], command.name != RepairCommand.command.name
    else { return }
    throw CoreDataError(
      .refused, "\(command.name) would write into \(form.noun), which is never changed",
      path: path,
      hint: needsOutput
        ? "Name where the result goes, which is a store of the SQLite type: --output FILE. Or change a copy. \(conversion)"
        : conversion)
  }

  private static let dryRun = Option<Bool>("dry-run", "")

  /// - Parameter noun: what the place is.
  private static func refuseChanges(
    _ path: String, _ noun: String, _ command: Command, _ arguments: Arguments
  ) throws {
    // The private copy is what is tried on.
    guard !arguments[dryRun] else { return }
    let hint: String
    switch command.effect {
    case .readsStore: return
    case .changesStoreWithoutOutput:
      guard arguments[.output] == nil else { return }
      hint = "Name where the result goes: --output FILE."
    case .changesStore:
      hint = "Take the store out of it first; strata migrate --output FILE writes a new one."
    }
    throw CoreDataError(
      .refused, "\(command.name) would write into \(noun), which is never changed", path: path,
      hint: hint)
  }
}
