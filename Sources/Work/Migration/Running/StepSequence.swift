import Files
import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// The steps of a plan, each from the file before into a temporary one.
struct StepSequence {
  let plan: MigrationPlan
  let meter: ProgressMeter
  /// What an earlier run left and this one removed, as sentences.
  var recovered: [String] = []
  /// Runs after each step, before it is verified.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  /// Where the sequence ended, and what was found there.
  struct Result {
    var path: String
    /// The file, as it was made; `nil` for the store itself.
    var file: NewFile?
    var report: VerificationReport
    var metadata: StoreMetadata
    var verificationSeconds: Double
    var notes: [String]
    var externalData = ExternalDataReport()
    /// The sum of the file, where it was begun.
    var sum: EarlySum?
  }

  /// - Parameters:
  ///   - storePath: the store itself, which is only read.
  ///   - temporaries: two paths that are free.
  func run(from storePath: String, through temporaries: [String]) throws -> Result {
    if plan.isNothingToDo, let path = temporaries.first {
      var copy = try FaithfulCopy(plan: plan, meter: meter).run(from: storePath, into: path)
      copy.notes = recovered + copy.notes
      return copy
    }
    let files = StoreFiles(path: storePath)
    let steps = plan.steps.filter { $0.mapping.kind != .none }
    guard let first = steps.first, temporaries.count == 2 else {
      throw CoreDataError(
        .failed, code: .migrationMissingMappingModel, "the plan has no step", path: plan.storePath)
    }
    var source = try Store(path: storePath, files: files, model: first.source)
    guard source.modelMatches else {
      throw CoreDataError(
        .refused, code: .migrationMissingSourceModel,
        "the store no longer has the model that it was planned for",
        path: plan.storePath, hint: "Plan again.")
    }
    var result = Result(
      path: storePath, report: VerificationReport(), metadata: source.metadata,
      verificationSeconds: 0, notes: recovered)
    let isLong = steps.count > 1 || first.handlers != nil
    var counts = isLong ? FirstCounts(try source.counts()) : nil
    // Whether a stage's code ran: the plan knows nothing of the data from then on.
    var isEdited = false
    for (index, planned) in steps.enumerated() {
      var step = planned
      if index > 0 { step.rows = try Self.rows(of: step.mapping, in: source) }
      try meter.begin(step: index + 1, of: steps.count, parts: Self.parts(of: step, plan))
      if let handler = step.handlers?.willMigrate {
        let edit = StageEdit(
          store: source, files: files, version: step.from, phase: .willMigrate, meter: meter)
        (source, result.path) = try edit.run(
          handler, copyingTo: result.path == storePath ? temporaries[1] : nil, as: step.source)
        step.rows = try Self.rows(of: step.mapping, in: source)
        isEdited = true
      }
      if isEdited { try StageEdit.requireFit(source, for: step) }
      let path = temporaries[index % 2]
      let isLast = index == steps.count - 1
      MigrationJournal.removeTemporary(path)
      var done = try StepRun(
        step: step, source: source, archive: isLast ? plan.destinationArchive : nil,
        policies: plan.policies, meter: meter, isToStay: isLast && step.handlers?.didMigrate == nil,
        beforeVerification: beforeVerification
      ).run(into: path)
      result.verificationSeconds += done.verificationSeconds
      counts?.follow(step.mapping, to: step.destination, into: &done.report)
      if isEdited {
        for index in done.report.entities.indices { done.report.entities[index].changed = nil }
      }
      result.report = merged(result.report, done.report)
      // Opens as any store does: the model cache inflates, and its hashes are the destination's.
      var made = try Store(
        path: path, files: StoreFiles(path: path, externalDataOf: files),
        model: isLast ? nil : steps[index + 1].source)
      try made.requireIdentity(
        of: source, hashes: step.destination.versionHashes, what: "result", plan.storePath)
      if result.path != storePath { MigrationJournal.removeTemporary(result.path) }
      if let handler = step.handlers?.didMigrate {
        let edit = StageEdit(
          store: made, files: files, version: step.to, phase: .didMigrate, meter: meter)
        (made, _) = try edit.run(
          handler, copyingTo: nil, as: isLast ? nil : steps[index + 1].source)
        try StageEdit.count(made, in: &result.report)
        isEdited = true
      }
      source = made
      result.path = path
      result.file = done.file
      result.sum = done.sum
      result.metadata = made.metadata
      if isLast { result.externalData = try made.externalData() }
    }
    return result
  }

  /// Objects that each mapping takes of a store.
  static func rows(of mapping: MappingModel, in store: Store) throws -> [String: Int] {
    let counts = try store.counts()
    return mapping.entityMappings.reduce(into: [:]) { rows, entityMapping in
      rows[entityMapping.name] = entityMapping.source.flatMap { counts[$0] } ?? 0
    }
  }

  /// What was compared adds up over the steps; objects are those of the first and the last.
  private func merged(
    _ sofar: VerificationReport, _ next: VerificationReport
  ) -> VerificationReport {
    guard !sofar.verified.isEmpty else { return next }
    var all = next
    for entry in sofar.verified {
      if let index = all.verified.firstIndex(where: { $0.what == entry.what }) {
        all.verified[index].count += entry.count
      } else {
        all.verified.append(entry)
      }
    }
    return all
  }

  static func parts(of step: MigrationStep, _ plan: MigrationPlan) -> [MigrationProgress.Part] {
    let rows = step.mapping.entityMappings.filter { $0.source != nil && $0.destination != nil }
    var parts: [MigrationProgress.Part] = []
    if step.handlers?.willMigrate != nil { parts.append(StageEdit.Phase.willMigrate.part) }
    func add(
      _ kind: MigrationProgress.Part.Kind, _ title: String, _ unit: MigrationProgress.Part.Unit,
      _ total: Int
    ) { parts.append(.init(kind: kind, title: title, unit: unit, total: total)) }
    if step.strategy == .inPlace { add(.copy, "copy store", .bytes, plan.storeBytes) }
    for row in rows { add(.entity, row.title, .rows, step.rows[row.name] ?? 0) }
    add(.relationships, "relationships", .items, 1)
    let indexes = StoreSchema(model: step.destination).indexStatements()
    add(.indexes, "indexes", .items, indexes.count)
    add(.verify, "verify", .rows, rows.reduce(0) { $0 + (step.rows[$1.name] ?? 0) })
    if step.handlers?.didMigrate != nil { parts.append(StageEdit.Phase.didMigrate.part) }
    add(.replace, "put in place", .items, 1)
    return parts
  }

  /// Whether an error can come of a store that changes while it is read; a full disk or a request
  /// to stop cannot.
  static func isOfSource(_ error: any Error) -> Bool {
    if let error = error as? SQLiteError { return !error.isInterrupted && !error.isFull }
    let error = CoreDataError(error, or: .failed)
    return error.kind != .cancelled && (error.code != nil || error.kind == .unreadable)
  }

  static func translated(_ error: any Error, path: String) -> CoreDataError {
    guard let error = error as? SQLiteError else {
      var error = CoreDataError(error, or: .failed)
      if error.kind == .cancelled { error.hint = error.hint ?? ProgressMeter.cancelled.hint }
      return error.at(path: path)
    }
    if error.isInterrupted { return ProgressMeter.cancelled.at(path: path) }
    if error.isConstraint {
      return CoreDataError(
        .failed, code: .migrationConstraintViolation, "constraint violation: \(error.message)",
        path: path, hint: "The store is unchanged.")
    }
    return CoreDataError(sqlite: error, path: path, kind: .failed)
  }
}

extension CoreDataError {
  /// Any failure of work at a store: SQLite's with the store's path, others as they are.
  init(_ error: any Error, at path: String) {
    self =
      (error as? SQLiteError).map { CoreDataError(sqlite: $0, path: path, kind: .failed) }
      ?? CoreDataError(error, or: .failed)
  }
}

/// One step from a store into a temporary file, carried out and verified.
struct StepRun {
  let step: MigrationStep
  let source: Store
  /// The destination model's own archive, where it came as one.
  let archive: [UInt8]?
  let policies: PolicyBindings
  let meter: ProgressMeter
  /// Whether the result is to stay: it is brought to the disk while it is verified.
  var isToStay = false
  /// Runs between making and verifying; tests break the result here.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  struct Result {
    var file: NewFile
    var report: VerificationReport
    var verificationSeconds: Double
    /// The sum of a result that is to stay.
    var sum: EarlySum?
  }

  func run(into path: String) throws -> Result {
    // Its owner's only until it is put in place: then those may read it who may read the store.
    let file = try FileSystem.createEmpty(path)
    let made = try StepMaking(
      step, from: source, into: file, archive: archive, policies: policies, meter: meter
    ) { [meter] in $0.onProgress { meter.shouldStop } }
    try made.run()
    let (connection, schemas) = (made.connection, made.completion.schemas)
    let start = meter.elapsed
    try beforeVerification(connection)
    try connection.markAsLogged()
    let sync = isToStay ? EarlySync(of: path) : nil
    let sum = isToStay ? EarlySum(of: path) : nil
    var isVerified = false
    defer { if !isVerified { sum?.stop() } }
    var facts: ReadFacts?
    let verification = Verification(
      step: step, schemas: schemas, contents: made.contents, connection: connection, meter: meter,
      madeByPolicies: made.policies?.made ?? [:], policyMappings: step.policyMappings(policies),
      filePath: path, sourcePath: source.wholeFile
    )
    let reason = "the migration did not do what it planned"
    let report: VerificationReport
    if made.policies == nil {
      report = try verification.run()
    } else {
      report = try verification.run(asking: schemas.destination.questions, &facts)
      // Where the file is not what it should be, its rows cannot be asked.
      if facts == nil { try report.requireEqual(or: reason) }
      try Validation(step: step, schemas: schemas, connection: connection, facts: facts).run()
    }
    try report.requireEqual(or: reason)
    try connection.execute("DETACH DATABASE src")
    // The disk shows an error only once.
    try sync?.wait()
    try connection.closeAsLogged()
    try file.requireName()
    isVerified = true
    return Result(
      file: file, report: report, verificationSeconds: meter.elapsed - start, sum: sum)
  }

  /// A copy of the file itself where nothing can be in a log; else one that SQLite makes.
  static func clone(_ source: Store, to file: NewFile, _ meter: ProgressMeter) throws {
    try meter.begin(.copy)
    try source.connection.clone(source.files, readAs: source.access, to: file, meter)
  }
}

extension MigrationStep {
  /// Mappings (by name) that a Swift policy carries out.
  func policyMappings(_ policies: PolicyBindings) -> Set<String> {
    Set(mapping.entityMappings.filter { policies.type(for: $0) != nil }.map(\.name))
  }

  /// Whether all of it can be done as lightweight migration does it.
  func isInferredOnly(_ policies: PolicyBindings) -> Bool {
    mapping.kind == .inferred && policyMappings(policies).isEmpty
  }
}

/// Objects before the first of several steps, followed by entity through all of them: a receipt shows
/// what the person had.
struct FirstCounts {
  private var before: [String: Int]
  /// Objects that a step so far has changed, by the entity they are of now.
  private var changed: [String: Int] = [:]
  private var gone: [MigrationReceipt.EntityCount] = []

  /// - Parameter counts: objects of each entity before anything ran.
  init(_ counts: [String: Int]) { before = counts }

  /// Puts the first counts into a step's report, where each object of a source entity went one way.
  mutating func follow(
    _ mapping: MappingModel, to destination: Model, into report: inout VerificationReport
  ) {
    var next: [String: Int] = [:]
    var nextChanged: [String: Int] = [:]
    var lost: [MigrationReceipt.EntityCount] = []
    for index in report.entities.indices {
      let entity = report.entities[index].entity
      let isThere = destination.entity(named: entity) != nil
      let sources =
        isThere
        ? mapping.entityMappings.filter { $0.destination == entity }.compactMap(\.source) : [entity]
      let isPlain = sources.allSatisfy { source in
        mapping.entityMappings.count { $0.source == source } == 1
      }
      if isPlain {
        report.entities[index].before = sources.reduce(0) { $0 + (before[$1] ?? 0) }
      }
      if isThere {
        let copied = mapping.entityMappings.filter { $0.destination == entity && $0.kind == .copy }
          .compactMap(\.source)
        // One that is copied stays what an earlier step made of it.
        let all =
          (report.entities[index].changed ?? 0) + copied.reduce(0) { $0 + (changed[$1] ?? 0) }
        report.entities[index].changed = min(all, report.entities[index].after)
        nextChanged[entity] = report.entities[index].changed
        next[entity] = report.entities[index].before
      } else {
        lost.append(report.entities[index])
      }
    }
    report.entities += gone
    gone += lost
    before = next
    changed = nextChanged
  }
}
