import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch

/// Opens a store as a person names it, with the models that lie beside it as a fallback.
package enum StoreOpening {
  /// - Parameter model: what `--model` or `--from` named.
  package static func open(_ path: String, model: String? = nil) throws -> Store {
    // Copies that an earlier run could not remove hold somebody's data.
    PrivateFolder.removeAbandoned()
    return try opened(path, model: model)
  }

  /// The same, with those copies left to the caller.
  package static func opened(_ path: String, model: String? = nil) throws -> Store {
    let given = try self.model(model)
    do {
      return try Store(path: path, model: given) { self.model(beside: path, $0) }
    } catch var error as CoreDataError {
      // What an interrupted run left is the likelier reason.
      let told =
        StoreMigration.leftovers(of: path) + StoreMigration.leftoversOfApp(besideStore: path)
      if !told.isEmpty {
        error.hint = told.joined(separator: " ")
      } else if error.kind == .unreadable, FileSystem.status(path)?.size == 0,
        error.advice == StoreFiles.adviceWhereEmpty(path)
      {
        error.advice = StoreBackup.adviceWhereEmpty(path)
      }
      throw error
    }
  }

  /// The same for a command that prints what the store holds, all of it in one state.
  ///
  /// - Parameter checksAll: whether a large file is checked, too, since all of it is read: else what is printed
  ///   says nothing of the rest.
  static func reading(_ path: String, model: String? = nil, checksAll: Bool = false) throws -> Store
  {
    let store = try open(path, model: model)
    try store.holdState()
    try store.inspect(upTo: checksAll ? .max : Store.readingCheckSize)
    return store
  }

  /// The model that `--model` or `--from` named.
  static func model(_ name: String?) throws -> Model? {
    try name.map { try ModelReference($0).load().model }
  }

  /// A model that lies beside a store without one.
  static func model(beside path: String, _ metadata: StoreMetadata) -> Model? {
    ModelBundle.version(besideStore: path, making: metadata.versionHashes)?.model
  }
}

extension Console {
  /// Reports what beside a store is not downloaded, of a command that reads it page by page: what is in it was
  /// not looked through.
  func finish(lookedThrough path: String, _ status: CommandStatus) -> CommandStatus {
    let missing = CloudPlaceholder.companions(ofStore: FileSystem.canonical(path))
    for placeholder in missing {
      note("! " + placeholder.sentence)
      note(CloudPlaceholder.advice(placeholder.file))
    }
    return missing.isEmpty || status != .done ? status : .no
  }

  /// Reports what of a store is lost or may be, and what that makes of a command's status.
  ///
  /// - Parameter told: sentences that were printed already.
  package func finish(
    _ store: Store, told: [String] = [], _ status: CommandStatus = .done
  ) -> CommandStatus {
    let gaps = store.gaps
    // Values may stand under the names of others.
    if let mismatch = store.modelMismatch, !told.contains(mismatch) { note("! " + mismatch) }
    if store.modelSource == .file { warn(store.wholeModel.warnings) }
    for gap in gaps where !told.contains(gap) { note("! " + gap) }
    if store.isChanged {
      note(
        "! Another program wrote to the store while it was read: the output may mix two states. Close that program, and run the command again."
      )
      return .unreadable
    }
    let unfetched = store.unfetchedRows
    for sentence in unfetched where !told.contains(sentence) {
      note("! \(sentence) No fetch finds them, and they are not printed.")
    }
    let doubts = store.doubts
    for sentence in doubts { note("! " + sentence) }
    guard gaps.isEmpty, unfetched.isEmpty, doubts.isEmpty else {
      let advice: Advice =
        "\(.deed("diagnosis"), of: [ShellText.quoted(store.path)]) shows what is wrong, and what helps."
      note(advice.typed)
      return .unreadable
    }
    return status
  }
}

/// What a command says before it rolls back or finishes an interrupted run.
package enum RecoveryNotice {
  /// Writes a line to standard error for each thing that the command is about to do, before it does it.
  ///
  /// - Parameter places: where the command puts its results: the stores' own paths, or an output's.
  static func write(for places: [String], to console: Console) {
    // A folder of a thousand stores is listed once.
    var isClean: [String: Bool] = [:]
    for place in places {
      let folder = FileSystem.canonical(FileSystem.parent(of: FileSystem.place(of: place)) ?? ".")
      let isCleanFolder =
        isClean[folder]
        ?? ((try? FileSystem.list(folder) { $0.hasPrefix(".strata-") })?.isEmpty == true)
      isClean[folder] = isCleanFolder
      guard !isCleanFolder else { continue }
      for sentence in StoreMigration.pendingRecovery(at: place) { console.note("! " + sentence) }
    }
  }

  /// Restores a store whose file an interrupted run has moved aside, and says so: no command can work on it before.
  ///
  /// - Parameter path: a store that the command is going to change.
  static func restore(_ path: String, on console: Console) {
    guard FileIdentity(of: FileSystem.place(of: path)) == nil,
      !StoreMigration.pendingRecovery(at: path).isEmpty
    else { return }
    write(for: [path], to: console)
    for sentence in StoreMigration.cleanUp(after: path) { console.note("! " + sentence) }
  }

  /// An error that no file is at a path, with what an interrupted run left there as its reason.
  package static func explaining(_ error: CoreDataError) -> CoreDataError {
    guard error.kind == .unreadable, let path = error.path,
      FileIdentity(of: FileSystem.place(of: path)) == nil
    else { return error }
    let told = StoreMigration.leftovers(of: path)
    guard !told.isEmpty else { return error }
    var error = error
    let open = "strata \(ShellText.quoted(path)) offers to do that alone."
    error.hint = (told + [open]).joined(separator: " ")
    return error
  }

  /// The same of a command that makes a new store or model, which first removes what interrupted runs left in
  /// the folder.
  package static func write(forOutput path: String, to console: Console) {
    let names = PendingOutput.abandoned(beside: FileSystem.place(of: path))
    guard !names.isEmpty else { return }
    console.note(
      "! An earlier run was interrupted: removing what it left (\(names.joined(separator: ", ").printable)) first."
    )
  }
}
