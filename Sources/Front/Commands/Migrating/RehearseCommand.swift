import Files
import JSON
import ManagedModel
import ManagedStore
import Migration
import Reports

/// `strata rehearse`: the whole migration on private copies, for every store an app ever shipped.
package enum RehearseCommand {
  private static let stores = Argument(list: "STORE", .store)
  package static let command = Command(
    "rehearse", .migrate, "migrates and verifies copies, and discards them", arguments: [stores],
    options: [
      Option.to, Option.from, Option.via, Option.mapping, Option.strategy, Expectations.option,
      Option.allowLoss, Option.allowLossFile, LossOutput.option, Option.jobs, Option.receipt,
    ] + SeededRehearsal.options + [CheckReport.option, Option.jsonProgress],
    details: Expectations.help + "\n\n" + SeededRehearsal.help,
    example: "strata rehearse Shipped/ --to Recipes.xcdatamodeld --expect expected.json5",
    statuses:
      "1 if an expectation does not hold, 3 if a store would be refused, 5 if a migration failed, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let given = arguments[stores]
    if let bundle = arguments[SeededRehearsal.bundle] {
      guard given.isEmpty, arguments[.from] == nil else {
        throw CoreDataError(
          .usage, "--seeded generates its own stores, so STORE and --from cannot be used with it",
          hint: "strata rehearse --seeded PATH [--to MODEL] [--mapping FILE]…")
      }
      return try SeededRehearsal.run(bundle, arguments, console)
    }
    for name in SeededRehearsal.options.map(\.declaration) where !arguments[name].isEmpty {
      throw CoreDataError(
        .usage, "--\(name.name) is for generated stores: it needs --seeded",
        hint: "strata rehearse --seeded PATH")
    }
    let request = try MigrationArguments(arguments)
    let jobs = BatchWork.jobs(arguments)
    let expectations = try Expectations.given(in: arguments)
    let stores = try StoreList(given)
    for link in stores.links {
      console.note("! \(link) is a symbolic link and was skipped: name it to use it.")
    }
    try expectations?.requireStores(named: stores.paths.map(FileSystem.name(of:)))
    let batch = StoreBatch(
      title: .rehearsed, isJSON: arguments[.json],
      format: try CheckReport.format(arguments),
      receiptFile: try ReceiptFile(arguments, stores: stores.paths),
      lossOutput: try LossOutput(arguments, stores: stores.paths), isOne: stores.isOne,
      destination: request, console: console)
    return try batch.run(stores.paths, jobs: jobs) { path, report in
      do {
        return .rehearsal(
          try Rehearsal(path: path, request: request, expectations: expectations).run(report))
      } catch let error as CoreDataError {
        return .refusal(try request.refusal(of: path, after: error.at(path: path)))
      }
    }
  }
}

/// One store's migration on a copy.
package struct Rehearsal {
  let path: String
  var request: MigrationArguments
  let expectations: Expectations?
  /// What expectations call the store; `nil`: by its file.
  var name: String?
  /// Called with what is planned, before it is carried out.
  var planned: (MigrationPlan) -> Void = { _ in }

  struct Result: Sendable {
    /// `nil` where the store is of the model already.
    var receipt: MigrationReceipt?
    /// Objects of a store that was made for this; `nil` for one that was there.
    var seeded: Int?
    /// Expectations that were looked at.
    var checked = 0
    /// Those that did not come true, as sentences.
    var failures: [String] = []
    /// What is wrong with a store of the model already, as sentences.
    var faults: [String] = []
    /// What else there is to know, as sentences.
    var notes: [String] = []
    /// What the model asks for and a made store could not have, as sentences.
    var seedNotes: [String] = []
  }

  /// - Throws: ``CoreDataError`` as a migration does; failed where the store changed meanwhile.
  func run(_ report: @escaping (MigrationProgress) -> Void) throws -> Result {
    let before = StoreFingerprint(of: FileSystem.canonical(path))
    let folder = try PrivateFolder()
    let copy = try Self.copy(path, to: folder.path)
    try requireUnchanged(since: before)
    do {
      let result = try withExtendedLifetime(folder) { try migrate(copy, report) }
      try requireUnchanged(since: before)
      return result
    } catch let error as CoreDataError {
      // What the store itself says names its own folder, which is there afterwards.
      if error.kind == .unreadable { _ = try Store(path: path) }
      throw error.at(path: path, insteadOf: copy)
    }
  }

  /// Migrates a store that nobody else knows.
  func migrate(
    _ copy: String, _ report: @escaping (MigrationProgress) -> Void
  ) throws -> Result {
    var plan = try request.plan(for: copy, copiedFrom: path)
    var notes: [String] = []
    let files = StoreFiles(path: copy)
    // The app's store is rolled back when the app opens it, and before it is migrated.
    if try files.hasHotJournal() {
      try files.rollBack()
      plan = try request.plan(for: copy, copiedFrom: path)
      notes.append(
        "The store's last change was cut off: its -journal was rolled back in the copy, as the app rolls it back."
      )
    }
    planned(plan)
    let unused = try request.unusedAllowances(of: plan)
    var options = request.options
    options.keepsBackup = false
    options.output = nil
    var result = Result()
    result.notes = notes + unused
    if plan.isNothingToDo {
      result.faults = plan.faults(allowing: options.allowedLosses)
    } else {
      var receipt = try StoreMigration.run(
        plan, options: options, progress: report, isCancelled: { Interruption.isRequested })
      (receipt.storePath, receipt.resultPath) = (path, path)
      result.receipt = receipt
    }
    if let expectations {
      // A result whose store had no model cache before has one now.
      let store = try Store(path: copy, model: plan.isNothingToDo ? request.destination.model : nil)
      (result.checked, result.failures) = try expectations.check(
        store, named: name ?? FileSystem.name(of: path))
    }
    return result
  }

  /// All files of the store: a -wal holds rows, a -journal the way back, the hidden folder blobs.
  ///
  /// - Throws: `CancellationError` where its task is cancelled.
  package static func copy(_ path: String, to folder: String) throws -> String {
    func copy(_ source: String, _ target: String) throws {
      try Task.checkCancellation()
      try FileSystem.copy(source, to: target) { _ in try Task.checkCancellation() }
    }
    let source = StoreFiles(path: FileSystem.canonical(path))
    guard FileSystem.isFile(source.path) else {
      // Opening it says what is there instead.
      _ = try Store(path: path)
      throw CoreDataError(.unreadable, "not a file", path: path)
    }
    let target = StoreFiles(path: folder + "/" + FileSystem.name(of: source.path))
    try copy(source.path, target.path)
    for suffix in StoreSuffix.content {
      let from = source.path + suffix
      guard let status = FileSystem.status(from) else { continue }
      guard status.kind == .file else {
        throw CoreDataError(
          .unreadable, code: .persistentStoreOpen, "not a file: \(FileSystem.name(of: from))",
          path: path,
          hint: "Migrating would be refused as well. Take another copy of the store.")
      }
      try copy(from, target.path + suffix)
    }
    // What looks like its log under another name is reported for the copy as well.
    for stray in StrayLog.all(beside: source.path) {
      try copy(source.folder + "/" + stray.name, folder + "/" + stray.name)
    }
    // So is one that is not downloaded.
    for placeholder in CloudPlaceholder.companions(ofStore: source.path) {
      try copy(source.folder + "/" + placeholder.name, folder + "/" + placeholder.name)
    }
    try SupportTree.copy(
      of: source, to: target.supportFolder, isToStay: false,
      check: { try Task.checkCancellation() })
    return target.path
  }

  private func requireUnchanged(since before: StoreFingerprint) throws {
    guard StoreFingerprint(of: FileSystem.canonical(path)) == before else {
      throw CoreDataError(
        .failed, "the store was changed by another program meanwhile", path: path,
        hint: "Close that program and rehearse again.")
    }
  }
}

extension Rehearsal.Result {
  func print(_ path: String, to console: Console) {
    if seeded != nil { return printSeeded(path, to: console) }
    if let receipt {
      console.report(Report(receipt, .rehearsed))
    } else {
      console.line("nothing to do: \(path) already has that model")
    }
    printRemarks(to: console)
    console.line("the store is unchanged")
    console.line()
  }

  /// Of a store that nobody has, only what is wrong or lost; the table shows the rest, and what is to be known
  /// of all versions stands below it.
  private func printSeeded(_ path: String, to console: Console) {
    let losses = (receipt?.losses ?? []).map {
      "\($0.name), \(NumberText.grouped($0.values)) \($0.noun)"
    }
    if !losses.isEmpty {
      console.line("\(path): lost, as accepted: \(losses.joined(separator: "; "))")
    }
    guard checked > 0 || !(faults + failures).isEmpty else { return }
    console.line("\(path):")
    printChecks(to: console)
    console.line()
  }

  private func printRemarks(to console: Console) {
    for note in notes { console.line("note: \(note)") }
    printChecks(to: console)
  }

  private func printChecks(to console: Console) {
    for fault in faults { console.note("! " + fault) }
    for failure in failures { console.line("✗ \(failure)") }
    if checked > 0 { console.line("expectations: \(checked - failures.count) of \(checked) hold") }
  }

  func write(to json: inout JSONWriter) {
    if let receipt {
      json.receipt(receipt)
    } else {
      json.null("receipt")
    }
    json.object("expectations", ["checked": checked, "failed": failures])
    json.fields(["faults": faults, "notes": notes])
    if let seeded {
      json.object("seeded", ["objects": seeded, "notes": seedNotes])
    } else {
      json.field("sourceUnchanged", true)
    }
  }
}
