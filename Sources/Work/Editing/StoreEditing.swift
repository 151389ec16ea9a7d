import Comparison
import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Changes objects of a store as a migration changes a store: on a copy, checked by the model's rules, compared, and
/// put in place by one rename, with a backup that a rollback restores.
package enum StoreEditing {
  /// What a person may ask for.
  package struct Options {
    /// Where the result is to be; `nil` for the store's own place.
    package var output: String?
    /// Whether all of it is done on a private copy that is thrown away.
    package var isRehearsal = false
    /// Asked before objects are deleted that the app will delete on all devices; a no refuses the edit.
    package var confirmsDeletions: (EditReceipt.Mirrored) -> Bool = { _ in false }
    /// ``EditReceipt/objectsNumber`` of the rehearsal that a person saw; the edit is refused where it is another by
    /// now. `nil` where none was seen.
    package var rehearsed: Int?
    /// Asked last; a no throws the result away.
    package var confirmation: ((EditReceipt) -> Bool)?

    /// In the store's place, without a question.
    package init() {}
  }

  /// Edits a store.
  ///
  /// - Parameters:
  ///   - store: the store, opened with the model that made it.
  ///   - report: called with each object that differs, before anything is put in place.
  /// - Throws: ``CoreDataError``: of kind usage for objects and properties that are not there, refused where a rule of
  ///   the model is broken or the store is damaged, failed, or cancelled. The store is as it was then.
  package static func run(
    _ store: Store, _ edit: StoreEdit, options: Options = Options(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in },
    report: (ObjectChange) throws -> Void = { _ in }
  ) throws -> EditReceipt {
    try run(
      store, edit, options: options, isCancelled: isCancelled, progress: progress, report: report
    ) { _ in }
  }

  /// - Parameter before: called before each step of the cut-over, for tests that let it fail there.
  static func run(
    _ store: Store, _ edit: StoreEdit, options: Options,
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in },
    report: (ObjectChange) throws -> Void,
    before: @escaping (StoreReplacement.CutoverStep) throws -> Void
  ) throws -> EditReceipt {
    let meter = ProgressMeter(isCancelled: isCancelled, report: progress)
    let run = EditRun(given: store, edit: edit, options: options, meter: meter)
    do {
      return try Connection.stoppingAll(when: isCancelled) {
        try run.refuse()
        return try options.isRehearsal
          ? run.rehearse(report) : run.replace(report, before: before)
      }
    } catch let error as SQLiteError {
      throw error.isInterrupted
        ? ProgressMeter.cancelled.at(path: store.path)
        : CoreDataError(sqlite: error, path: store.path, kind: .failed)
    } catch let error as CoreDataError {
      throw error.at(path: store.path)
    }
  }
}

/// One edit from the first look to the receipt.
private struct EditRun {
  let given: Store
  let edit: StoreEdit
  let options: StoreEditing.Options
  let meter: ProgressMeter
  let files = EditedFiles()

  /// Thrown where the store is as was asked already: the copy goes.
  private struct Nothing: AbandonedWork {}

  /// Room beside the store: a copy, and what its journal and the list take.
  private var bytesNeeded: Int {
    let size = StoreFiles(path: FileSystem.canonical(given.path)).size
    return size + size / 4
  }

  func refuse() throws {
    guard !edit.isEmpty else {
      throw CoreDataError(.usage, "nothing to change was given", path: given.path)
    }
    try given.stopping(when: { [meter] in meter.shouldStop }) { try given.inspect() }
    try given.refuseDamage(
      "kept",
      "Repair or salvage it first: \(.deed("diagnosis"), of: [ShellText.quoted(given.path)]) lists the repairs."
    )
    try StoreMigration.refuseUnreadLogs(of: given)
    try given.requireModel(for: "the rules for its objects")
    try given.refuseMissingTables(.refused, evenIfUnused: true)
    if let misnamed = given.drift.misnamed.sentences.first {
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleSchema, misnamed, path: given.path,
        advice: "See \(.deed("diagnosis"), of: [ShellText.quoted(given.path)]).")
    }
  }

  private func receipt() -> EditReceipt {
    var receipt = EditReceipt(storePath: given.path)
    receipt.bytesNeeded = bytesNeeded
    let place = FileSystem.parent(of: options.output ?? FileSystem.canonical(given.path)) ?? "."
    receipt.bytesFree = FileSystem.freeSpace(at: place)
    return receipt
  }

  /// All of it on a private copy.
  func rehearse(_ report: (ObjectChange) throws -> Void) throws -> EditReceipt {
    var receipt = receipt()
    let folder = try PrivateFolder(.disk)
    try withExtendedLifetime(folder) {
      do {
        _ = try make(
          from: FileSystem.canonical(given.path), into: folder.path + "/edited", &receipt, report)
      } catch is Nothing {}
    }
    receipt.seconds = meter.elapsed
    // The list is of use to a person who may yet close the program that has the store open.
    try StoreReplacement(.edit, of: given.path).refuseHindered()
    return receipt
  }

  /// On a copy beside the store, which takes its place.
  func replace(
    _ report: (ObjectChange) throws -> Void,
    before: @escaping (StoreReplacement.CutoverStep) throws -> Void
  ) throws -> EditReceipt {
    var receipt = receipt()
    var replacement = StoreReplacement(.edit, of: given.path)
    replacement.output = options.output
    replacement.before = before
    try replacement.refuseOutput()
    try replacement.refuseSpace(needed: receipt.bytesNeeded, free: receipt.bytesFree)
    let outcome: StoreReplacement.Outcome<Void>
    do {
      outcome = try replacement.run(meter: meter) { work in
        guard let path = work.temporaries.first else {
          throw CoreDataError(.failed, "there is no place for a copy", path: given.path)
        }
        receipt.notes += work.recovered
        let file = try make(from: work.storePath, into: path, &receipt, report)
        return .init(file: file, result: (), added: files.added)
      } confirm: { _, sum in
        receipt.verificationSeconds += sum.seconds
        try confirm(&receipt)
      }
    } catch is Nothing {
      receipt.seconds = meter.elapsed
      return receipt
    }
    receipt.resultPath = options.output ?? given.path
    receipt.backupPath = outcome.backupPath
    receipt.checksums = (outcome.sum.sha256, outcome.backupSHA256)
    receipt.notes += outcome.notes
    receipt.bytes = FileSystem.status(outcome.target)?.size ?? 0
    receipt.seconds = meter.elapsed
    return receipt
  }

  private func confirm(_ receipt: inout EditReceipt) throws {
    if let confirmation = options.confirmation {
      receipt.seconds = meter.elapsed
      let sofar = receipt
      guard meter.pausing({ confirmation(sofar) }) else {
        throw CoreDataError(
          .cancelled, code: .migrationCancelled, "the changes were discarded", path: given.path,
          hint: "The store is unchanged.")
      }
    }
    try meter.checkCancelled()
  }

  /// - Parameters:
  ///   - storePath: the store itself, which is only read.
  ///   - path: becomes the edited copy.
  private func make(
    from storePath: String, into path: String, _ receipt: inout EditReceipt,
    _ report: (ObjectChange) throws -> Void
  ) throws -> NewFile {
    let own = StoreFiles(path: storePath)
    let model = given.modelSource == .store ? nil : given.wholeModel
    let source = try Store(path: storePath, files: own, model: model)
    try EditExpectations(store: source, edit: edit).check()
    try meter.begin(
      step: 1, of: 1,
      parts: [
        .init(
          kind: .copy, title: "copy store", unit: .bytes,
          total: FileSystem.status(own.path)?.size ?? 0),
        .init(kind: .edit, title: "edit", unit: .items, total: 1),
        .init(kind: .verify, title: "verify", unit: .rows, total: 1),
        .init(kind: .replace, title: "put in place", unit: .items, total: 1),
      ])
    let file = try FileSystem.createEmpty(path)
    try meter.begin(.copy)
    try source.connection.clone(source.files, readAs: source.access, to: file, meter)
    let list = try ChangeList(of: source.connection)
    try meter.begin(.edit)
    try apply(source, path, list, &receipt)
    guard !list.isEmpty else { throw Nothing() }
    try meter.begin(.verify)
    let start = meter.elapsed
    let after = try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: own), model: model)
    let verification = try EditVerification(
      before: source, after: after, edit: edit, list: list, files: files.added, meter: meter
    ).run(report)
    receipt.verified += verification.verified
    receipt.notes += verification.notes
    receipt.uuid = after.metadata.uuid
    receipt.verificationSeconds = meter.elapsed - start
    return file
  }

  /// Edits the copy.
  private func apply(
    _ source: Store, _ path: String, _ list: ChangeList, _ receipt: inout EditReceipt
  ) throws {
    let connection = try EditWork.open(path, beside: source, meter)
    try list.attach(to: connection)
    let trace = try RowTrace(source, on: connection)
    try trace.follow()
    let work = EditWork(
      source: source, edit: edit, connection: connection, files: files, meter: meter)
    let history = ChangeHistory(source, on: connection, check: meter.checkCancelled)
    try connection.transaction {
      let constraints = try EditedConstraints(of: edit, source, on: connection)
      do { try work.run() } catch let error as SQLiteError where error.isConstraint {
        throw CoreDataError(
          .refused, code: .validationUniqueness,
          "two objects would be equal under a uniqueness constraint: \(error.message)",
          hint: "The app could not save that. The store is unchanged.")
      }
      try trace.stop()
      try trace.tell()
      let rules = EditRules(store: source, connection: connection)
      try rules.check()
      receipt.notes += try rules.oddDates()
      try constraints.finish()
      let computed = try work.verifyComputed()
      if computed > 0 {
        receipt.verified.append(
          .init(what: "values of expressions, computed again", count: computed))
      }
      try list.count(on: connection)
      tell(list, of: source, &receipt)
      if list.moved > 0 {
        receipt.notes.append(
          "\(NumberText.grouped(list.moved)) of the changed objects only \(list.moved == 1 ? "has" : "have") another place in an ordered relationship: \(list.moved == 1 ? "its order key was" : "their order keys were") written"
        )
      }
      let number = try EditExpectations.number(of: list, in: source, on: connection)
      receipt.objectsNumber = number
      guard options.rehearsed == nil || options.rehearsed == number else {
        throw CoreDataError(
          .refused,
          "another program saved objects that are to be changed or deleted since the edit was checked",
          hint: "Check again to see what it would do now. The store is unchanged.")
      }
      guard !list.isEmpty else { return }
      try history.raiseVersions()
      receipt.transaction = try history.write()
      if source.isMirrored { try askAboutDeletions(&receipt) }
    }
    if let problem = try IntegrityCheck.problems(askingSQLite: connection, most: 1).first {
      throw CoreDataError(
        .failed, code: .migration, "verification failed: the edited store is damaged: \(problem)",
        hint: "The store is unchanged.")
    }
    receipt.verified.append(.init(what: VerificationReport.integrity, count: 1))
    try connection.execute("DETACH DATABASE listed; DETACH DATABASE src")
    if source.isLogged { try connection.closeAsLogged() } else { connection.close() }
  }

  private func tell(_ list: ChangeList, of source: Store, _ receipt: inout EditReceipt) {
    let numbers = Set(list.changed.keys).union(list.deleted.keys)
    receipt.entities = numbers.map { number in
      EditReceipt.EntityCount(
        entity: source.entityNames[number] ?? "Z_ENT \(number)",
        changed: list.changed[number] ?? 0, deleted: list.deleted[number] ?? 0)
    }.sorted { $0.entity < $1.entity }
  }

  private func askAboutDeletions(_ receipt: inout EditReceipt) throws {
    let isSeen = receipt.transaction != nil
    let mirrored = EditReceipt.Mirrored(
      changes: isSeen ? receipt.changed : 0, deletions: isSeen ? receipt.deleted : 0)
    receipt.mirrored = mirrored
    // Without history the app does not notice: there is nothing to confirm.
    guard mirrored.deletions > 0, !options.isRehearsal, options.output == nil else { return }
    let isConfirmed = meter.pausing { options.confirmsDeletions(mirrored) }
    guard isConfirmed else {
      throw CoreDataError(
        .refused,
        "the app would delete \(NumberText.counted(mirrored.deletions, "object")) on all devices, which was not confirmed",
        advice:
          "See them in a dry run first, and confirm with \(.confirmedDeletions, of: ["\(mirrored.deletions)"]). The store is unchanged."
      )
    }
  }
}
