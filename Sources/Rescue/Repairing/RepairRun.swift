import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// One repair: a copy of the store, every fault mended in it, and a second look at the result.
struct RepairRun {
  let plan: RepairPlan
  let options: RepairOptions
  let meter: ProgressMeter
  let log: RepairLog

  /// Thrown where there is nothing after all that can be mended: the copy goes.
  struct Nothing: Error {
    let notes: [String]
  }

  /// What was made and found right.
  struct Done {
    var verification: RepairVerification.Result
    var verificationSeconds: Double
    /// What was changed, by kind.
    var kinds: [RepairReceipt.Kind]
    var notes: [String]
  }

  /// - Parameters:
  ///   - storePath: the store itself, which is only read.
  ///   - temporaries: two paths that are free.
  func make(
    from storePath: String, through temporaries: [String]
  ) throws -> (file: NewFile, done: Done) {
    do {
      return try made(from: storePath, through: temporaries)
    } catch let error as SQLiteError where error.isDamage {
      let place = StorePlace(path: plan.before.path, model: options.modelName)
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "not repaired: SQLite cannot write the data into a sound file (\(error.message))",
        path: plan.before.path,
        advice: Remedy.salvage.command(for: .pageUnreadable, place).map { "What helps: \($0)" })
    }
  }

  private func made(
    from storePath: String, through temporaries: [String]
  ) throws -> (file: NewFile, done: Done) {
    let files = StoreFiles(path: storePath)
    let source = try Diagnosis.open(plan.before.path, files, model: model)
    return try source.stopping(when: { [meter] in meter.shouldStop }) {
      try source.inspect()
      let objects = try source.modelSource == .raw ? 0 : source.counts().values.reduce(0, +)
      let total = FileSystem.status(files.path)?.size ?? 0
      try meter.begin(
        step: 1, of: 1,
        parts: [
          .init(kind: .copy, title: "copy store", unit: .bytes, total: total),
          .init(kind: .edit, title: "mend", unit: .items, total: plan.kinds.count),
          .init(kind: .verify, title: "verify", unit: .rows, total: objects),
          .init(kind: .replace, title: "put in place", unit: .items, total: 1),
        ])
      var made = try RepairCopy(
        source: source, kinds: plan.kinds, meter: meter, temporaries: temporaries
      ).run()
      try mend(&made, source)
      guard try !log.isEmpty() else {
        throw Nothing(notes: made.notes)
      }
      try meter.begin(.verify)
      let start = meter.elapsed
      let verification = try RepairVerification(
        plan: plan, source: source, options: options, log: log, meter: meter
      ).run(made.path)
      return (
        made.file,
        Done(
          verification: verification, verificationSeconds: meter.elapsed - start,
          kinds: try log.kinds(), notes: made.notes + verification.notes)
      )
    }
  }

  /// The model that was given, unless the store has one of its own that is right.
  private var model: Model? {
    plan.before.modelSource == .file ? options.model : nil
  }

  private func mend(_ made: inout RepairCopy.Made, _ source: Store) throws {
    try meter.begin(.edit)
    let connection = made.connection
    var names = source.modelSource == .raw ? [:] : source.entityNames
    if source.modelSource != .raw {
      for (name, number) in source.schema.numbers { names[number] = name }
    }
    try log.attach(to: connection, names)
    let work = RepairWork(
      source: source, connection: connection, options: options, kinds: plan.kinds, meter: meter)
    for index in made.indexes {
      try work.note(
        RepairChange(
          kind: FindingKind.indexWrong.rawValue, entity: index.table, property: index.name,
          old: "did not match its table", new: "rebuilt"))
    }
    for kind in [FindingKind.freelist, .pointerMap] where plan.kinds.contains(kind) {
      try work.note(RepairChange(kind: kind.rawValue, new: "the file was rewritten"))
    }
    if plan.kinds.contains(.externalOrphaned) {
      let orphans = try OrphanedFiles(of: source, at: source.files.path)
      for change in orphans.changes { try work.note(change) }
    }
    let triggers = try TriggerMending(work)
    let steps: [() throws -> Void] = [
      TableMending(work: work).run, BookkeepingMending(work: work).run, HistoryMending(work).run,
      EntityMending(work).run, { try UniquenessMending(work)?.run() },
      LinkMending(work).run, OneToOneMending(work).run, OrderMending(work).run,
      ExternalMending(work).run, JoinNameMending(work).run,
      MissingIndexMending(work: work).run,
    ]
    for step in steps {
      try connection.transaction { try step() }
      try meter.checkCancelled()
    }
    for index in made.later { try remake(index, &made) }
    try triggers.finish()
    try connection.execute("DETACH DATABASE log")
    if source.isLogged { try connection.closeAsLogged() } else { connection.close() }
  }

  /// An index that asks objects to differ.
  private func remake(
    _ index: (name: String, sql: String), _ made: inout RepairCopy.Made
  ) throws {
    do {
      try made.connection.create(.index, index.sql)
    } catch let error as SQLiteError where error.isConstraint {
      made.notes.append(
        "The index \(index.name) was not created: objects break its uniqueness constraint. A repair of uniqueness keeps one of them."
      )
    }
  }
}
