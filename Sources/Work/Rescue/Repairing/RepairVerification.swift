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
      hint: "The store is unchanged. Please report this: the repair did not do what it planned.")
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
    result.verified.append(.init(what: VerificationReport.integrity, count: 1))
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

/// Compares two stores object by object: whatever differs must be in the list of changes.
struct RepairComparison {
  let before: Store
  let after: Store
  let log: RepairLog
  let meter: ProgressMeter

  /// Differences that are reported at most.
  private static let most = 5

  private struct Found {
    var objects = 0
    var differences: [String] = []
  }

  /// - Returns: how many objects were compared, and what differs without being in the list.
  func run() throws -> (objects: Int, differences: [String]) {
    var found = Found()
    let names = Set(before.entityTables.map(\.entity) + after.entityTables.map(\.entity)).sorted()
    for name in names where found.differences.count < Self.most {
      try compare(name, &found)
    }
    return (found.objects, found.differences)
  }

  private func cursor(_ store: Store, _ entity: String) throws -> ObjectCursor? {
    guard let table = store.table(of: entity), store.database.contains(table.table) else {
      return nil
    }
    // Files are the same ones for both.
    return try ObjectCursor(store, entity: entity, fileLimit: 16)
  }

  /// One pass over the objects of an entity in both, by key.
  private func compare(_ entity: String, _ found: inout Found) throws {
    let (old, new) = (try cursor(before, entity), try cursor(after, entity))
    var (one, other) = (try old?.next(), try new?.next())
    while one != nil || other != nil, found.differences.count < Self.most {
      try meter.advance(by: 1)
      found.objects += 1
      let (left, right) = (one?.key ?? .max, other?.key ?? .max)
      if let object = one, let now = other, left == right {
        if let old, let new { try compare(object, old, now, new, entity, &found) }
      } else if try !log.tellsOfObject(entity, min(left, right)) {
        let id = ObjectID(entity: entity, key: min(left, right))
        found.differences.append(
          "\(id) was \(left < right ? "removed" : "added"), and no change records it")
      }
      if one != nil, left <= right { one = try old?.next() }
      if other != nil, right <= left { other = try new?.next() }
    }
  }

  private func compare(
    _ object: ObjectCursor.Object, _ old: ObjectCursor, _ now: ObjectCursor.Object,
    _ new: ObjectCursor, _ entity: String, _ found: inout Found
  ) throws {
    let id = ObjectID(entity: entity, key: object.key)
    func differ(_ property: String) {
      found.differences.append("\(id).\(property) changed, and no change records it")
    }
    let isSame = old.table.attributes.map(\.column) == new.table.attributes.map(\.column)
    guard isSame, object.relationships.count == now.relationships.count else {
      found.differences.append("\(entity) has other properties")
      return
    }
    for (index, entry) in old.table.attributes.enumerated()
    where !object.attributes[index].isSame(as: now.attributes[index]) {
      let name = entry.attribute.name
      if try log.tells(of: entity, object.key, name) { continue }
      guard entry.attribute.isDerived else {
        differ(name)
        continue
      }
      try log.add(
        RepairChange(
          kind: "derived", entity: entity, key: object.key, property: name,
          old: object.attributes[index].plainText, new: now.attributes[index].plainText))
    }
    for (index, entry) in old.table.relationships.enumerated()
    where object.relationships[index] != now.relationships[index] {
      let name = entry.relationship.name
      guard try !log.tells(of: entity, object.key, name),
        try !isTold(
          object.relationships[index], now.relationships[index], entry.relationship)
      else { continue }
      differ(name)
    }
  }

  /// Whether the change is reported at the other end: every object that came or went there.
  private func isTold(
    _ old: ObjectCursor.RelatedObjects, _ new: ObjectCursor.RelatedObjects,
    _ relationship: Relationship
  ) throws -> Bool {
    let (was, now) = (Set(old.objects), Set(new.objects))
    let moved = was.symmetricDifference(now)
    guard !moved.isEmpty else { return false }
    return try moved.allSatisfy { id in
      if try log.tellsOfObject(id.entity, id.key) { return true }
      guard let inverse = relationship.inverse else { return false }
      return try log.tells(of: id.entity, id.key, inverse)
    }
  }
}

extension PropertyValue {
  /// A value that was computed, as text.
  fileprivate var plainText: String? {
    guard case .value(let value) = self, value != .null else { return nil }
    return value.line
  }

  /// Whether both are one value; a number that is none is equal to itself here.
  fileprivate func isSame(as other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.value(.double(let one)), .value(.double(let two))),
      (.value(.date(let one)), .value(.date(let two))):
      one == two || one.isNaN && two.isNaN
    default: self == other
    }
  }
}
