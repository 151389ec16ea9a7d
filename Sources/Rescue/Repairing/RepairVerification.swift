import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// A second look at a store that was mended: SQLite's check, doctor, and every object as it was but
/// for what is in the list of changes. It knows nothing of how they were made.
struct RepairVerification {
  let plan: RepairPlan
  let source: Store
  let options: RepairOptions
  let log: RepairLog
  let meter: ProgressMeter

  struct Result {
    var left: [Finding] = []
    var verified: [MigrationReceipt.Verified] = []
    var uuid = ""
    var notes: [String] = []
  }

  func run(_ path: String) throws -> Result {
    var result = Result()
    let files = StoreFiles(path: path, externalDataOf: source.files)
    try integrity(of: path, &result)
    // Where the store has a model now, that is the one that it is read with.
    let isOfFile = source.modelSource == .file && !plan.kinds.contains(.modelCache)
    let model = isOfFile ? source.wholeModel : nil
    let store = try Store(
      path: path, files: files, model: model, isLenient: !source.flaws.isEmpty)
    if plan.kinds.contains(.metadata) || source.flaws.metadata == nil {
      guard store.flaws.metadata == nil else { throw failed("its metadata cannot be read") }
    }
    if source.flaws.metadata == nil, store.metadata.uuid != source.metadata.uuid {
      throw failed("its identity changed")
    }
    result.uuid = store.metadata.uuid
    try diagnose(path, files, model, &result)
    try compare(store, &result)
    return result
  }

  private func failed(_ what: String) -> CoreDataError {
    CoreDataError(
      .failed, code: .migration, "verification failed: \(what)", path: source.path,
      hint: "The store is as it was. Please report this: the repair did not do what it planned.")
  }

  /// SQLite finds nothing any more that was to be mended.
  private func integrity(of path: String, _ result: inout Result) throws {
    let connection = try Connection(path: path, mode: .immutable)
    connection.onProgress { [meter] in meter.shouldStop }
    let before = Set((source.damage?.problems ?? []).compactMap(PageLayer.kind))
    let mended = plan.kinds.intersection([.indexWrong, .freelist, .pointerMap])
    for line in try IntegrityCheck.problems(connection) {
      guard let kind = PageLayer.kind(of: line), before.subtracting(mended).contains(kind) else {
        throw failed("SQLite finds of the repaired file: \(line)")
      }
    }
    result.verified.append(.init(what: "database integrity", count: 1))
  }

  /// What doctor says of it now: nothing new but what a repair brings to light.
  private func diagnose(
    _ path: String, _ files: StoreFiles, _ model: Model?, _ result: inout Result
  ) throws {
    let now = try Diagnosis(
      of: path, files: files, model: model, modelName: options.modelName,
      isCancelled: { [meter] in meter.shouldStop })
    for finding in now.findings where finding.isLeft {
      let before = plan.before.findings.filter {
        ($0.kind, $0.entity, $0.property) == (finding.kind, finding.entity, finding.property)
      }
      let count = before.compactMap(\.count).reduce(0, +)
      let isWorse = before.isEmpty || (finding.count ?? 0) > count && count > 0
      if isWorse, !mayCome(finding) {
        throw failed(
          "doctor finds of the repaired store: \(finding.sentence.asClause) [\(finding.kind.rawValue)]"
        )
      }
      result.left.append(finding)
    }
    result.verified.append(
      .init(what: "kinds of fault looked for", count: FindingKind.allCases.count))
  }

  /// Whether a repair can bring such a fault to light: a value that is missing since what stood there led
  /// nowhere, or what is wrong with objects that nobody looked at while their entity was not known.
  private func mayCome(_ finding: Finding) -> Bool {
    finding.kind == .mandatory || finding.kind == .validation
      || plan.kinds.contains(.entityUnknown) && finding.kind.isOfObjects
  }

  /// Object by object.
  private func compare(_ store: Store, _ result: inout Result) throws {
    let comparison = RepairComparison(before: source, after: store, log: log, meter: meter)
    let (objects, differences) = try comparison.run()
    if let first = differences.first { throw failed(first) }
    result.verified.append(.init(what: "objects compared with the store", count: objects))
    result.verified.append(
      .init(what: "rows of other tables counted", count: try otherRows(store)))
  }

  /// Tables of which no model speaks have as many rows as before, less those that are in the list.
  private func otherRows(_ store: Store) throws -> Int {
    let own = Set(source.entityTables.map(\.table) + store.entityTables.map(\.table))
      .union(source.schema.joins.map(\.name)).union(store.schema.joins.map(\.name))
      .union(StoreSchema.bookkeepingStatements.map(\.name))
    var removed: [String: Int] = [:]
    try log.forEach(of: FindingKind.history.rawValue) { change in
      if change.entity == "ACHANGE" { removed["ACHANGE", default: 0] += 1 }
    }
    var rows = 0
    for (table, columns) in source.database.tables.sorted(by: { $0.key < $1.key })
    where !own.contains(table) && !columns.isEmpty && !table.hasPrefix("sqlite_") {
      try meter.checkCancelled()
      let count = "SELECT count(*) FROM \(quoted(table)) NOT INDEXED"
      guard let before = try? source.connection.value(count)?.integer else { continue }
      let after = try store.connection.value(count)?.integer ?? 0
      // An R-tree follows the objects that went.
      let isTree = source.database.sql[table]?.hasPrefix("CREATE VIRTUAL") == true
      guard isTree || after == before - Int64(removed[table] ?? 0) || isShadow(table) else {
        throw failed("the table \(table) has \(after) rows, and had \(before)")
      }
      rows += Int(after)
    }
    return rows
  }

  /// Whether a table is one that a virtual table keeps its own in.
  private func isShadow(_ table: String) -> Bool {
    source.database.sql.contains { name, sql in
      sql.hasPrefix("CREATE VIRTUAL") && table.hasPrefix(name + "_")
    }
  }
}
