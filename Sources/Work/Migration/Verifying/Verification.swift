import ManagedModel
import ManagedStore
import SQLite

/// Compares a migrated store with its source, value by value and link by link.
///
/// The result is `main` on the connection, the source is attached as `src`.
struct Verification {
  let step: MigrationStep
  let schemas: StepSchemas
  let contents: MigratedContents
  let connection: Connection
  let meter: ProgressMeter
  /// Objects that policies made, by entity; their values are the policies' own.
  var madeByPolicies: [String: Int] = [:]
  var policyMappings: Set<String> = []
  /// Path of the result's file where nobody writes to it any more: its integrity is then checked
  /// beside the comparison.
  var filePath: String?
  /// Path of the source where all of it is in its main file: what was not written to is compared as
  /// pages then.
  var sourcePath: String?
  /// Whether the result may have been written by others: indexes, save counts and the names of
  /// files are theirs then.
  var isForeign = false
  /// Whether what Core Data writes by itself must be as it was in such a result, too.
  var comparesBookkeeping = true

  var destination: StoreSchema { schemas.destination }

  /// - Throws: ``CoreDataError`` when it is cancelled, or a file cannot be read.
  func run() throws -> VerificationReport {
    var facts: ReadFacts?
    return try run(asking: destination.counts, &facts)
  }

  /// The same, with what the check of the file found out by the way, where it found nothing wrong.
  func run(
    asking questions: [String: ReadFacts.Question], _ facts: inout ReadFacts?
  ) throws -> VerificationReport {
    try meter.begin(.verify)
    var report = VerificationReport()
    // What is in the file is compared, not what is remembered of it.
    if filePath != nil { try connection.execute("PRAGMA shrink_memory") }
    let tables = try connection.tableNames().sorted()
    let compared = try filePath == nil ? nil : rowQuestions(tables)
    // A store that others write to is checked through the connection that reads it.
    let integrity = filePath.map { path in
      IntegrityCheck(
        of: path, tables: tables, asking: questions, comparing: compared?.comparison)
    }
    defer { integrity?.stop() }
    if integrity == nil {
      report.tell(integrity: try IntegrityCheck.problems(askingSQLite: connection, most: 5))
    }
    var structure = try StructureVerification(schemas, connection: connection, isForeign: isForeign)
    structure.run(into: &report)
    // Contents are looked for by the names that the structure must have.
    guard isForeign || report.isEqual else { return report }
    verifyCoverage(&report)
    // These are asked of SQLite while the other thread reads rows.
    var links = VerificationReport()
    try verifyLinks(&links)
    try verifyOneToOnes(&links)
    var told = 0
    let problems = try integrity?.problems(helpedBy: connection) { rows in
      // Who cancels is reported by what is interrupted.
      if meter.shouldStop { integrity?.stop() }
      try? meter.advance(by: rows - told)
      told = rows
    }
    facts = problems == [] ? integrity?.facts : nil
    let known = compared.map { questions in
      KnownRows(
        connection: connection, questions: questions,
        answers: problems == [] ? integrity?.answers ?? [:] : [:])
    }
    let expected = try verifyObjects(known, &report)
    try verifyOtherTables(known, &report)
    try verifyHistory(&report)
    try verifyJoins(known, &report)
    report.add(links)
    try verifyBookkeeping(&report)
    try verifyCounts(expected, knowing: facts, &report)
    if let problems { report.tell(integrity: problems) }
    return report
  }

  /// Compares what stands beside the objects, and nothing of them.
  func runBookkeeping() throws -> VerificationReport {
    var report = VerificationReport()
    var structure = try StructureVerification(schemas, connection: connection, isForeign: isForeign)
    structure.run(into: &report)
    try verifyOtherTables(nil, &report)
    try verifyHistory(&report)
    try verifyBookkeeping(&report)
    return report
  }

  /// What is compared while the file is checked; `nil` where the source may be in a log, and where policies
  /// made objects that no mapping describes.
  private func rowQuestions(_ tables: [String]) throws -> RowQuestions? {
    guard policyMappings.isEmpty, let sourcePath else { return nil }
    return try RowQuestions(
      tables, holding: contents, from: sourcePath, on: connection, comparing: isStoredAsPlanned)
  }

  /// Compares all objects; answers how many there should be of each entity.
  private func verifyObjects(
    _ known: KnownRows?, _ report: inout VerificationReport
  ) throws -> [String: Int] {
    var values = 0
    var pages = 0
    var expected: [String: Int] = madeByPolicies
    for (place, row) in contents.rows.enumerated() {
      let count = try compare(row, at: place, known, values: &values, pages: &pages, &report)
      expected[row.entity, default: 0] += count
    }
    report.verified.append(.init(what: "values compared with the source", count: values))
    if pages > 0 {
      report.verified.append(
        .init(what: "values in pages that are the source’s, byte for byte", count: pages))
    }
    return expected
  }

  /// Counts objects and links, once the file is known to be whole.
  private func verifyCounts(
    _ expected: [String: Int], knowing facts: ReadFacts?, _ report: inout VerificationReport
  ) throws {
    var before: [String: Int] = [:]
    var changed: [String: Int] = [:]
    for entityMapping in step.mapping.entityMappings {
      if let to = entityMapping.destination {
        let rows = step.rows[entityMapping.name] ?? 0
        before[to, default: 0] += rows
        if entityMapping.kind != .copy { changed[to, default: 0] += rows }
      }
    }
    for entity in step.destination.entities {
      guard let table = destination.entityTable(of: entity.name) else { continue }
      let after = try report.countObjects(table, connection, knowing: facts)
      let wanted = expected[entity.name] ?? 0
      if after != wanted {
        report.fail(
          entity: entity.name,
          message: "there are \(after) objects where there should be \(wanted)",
          count: abs(after - wanted))
      }
      report.entities.append(
        .init(
          entity: entity.name, before: before[entity.name] ?? 0, after: after,
          changed: min(changed[entity.name] ?? 0, after)))
    }
    for entityMapping in step.mapping.entityMappings where entityMapping.destination == nil {
      guard let from = entityMapping.source else { continue }
      report.entities.append(
        .init(entity: from, before: step.rows[entityMapping.name] ?? 0, after: 0, changed: 0))
    }
  }

  /// One pass by key over what should be there; answers how many objects that is.
  private func compare(
    _ row: RowProgram, at place: Int, _ known: KnownRows?, values: inout Int, pages: inout Int,
    _ report: inout VerificationReport
  ) throws -> Int {
    let planned = comparisons(of: row)
    let kept = try known?.columns(of: row) ?? []
    var compared = planned.filter { !kept.contains($0.name) }
    if !kept.isEmpty, compared.map(\.name) == ["Z_ENT"], let count = try entityCount(of: row) {
      pages += count * planned.count
      try meter.advance(by: count)
      return count
    }
    var isCounted = false
    if let told = known?.compared(at: place), try isConfirmed(row, planned, rows: told.rows) {
      isCounted = true
      compared.removeAll { told.columns.contains($0.name) }
      values += told.rows * (planned.count - compared.count)
      if compared.isEmpty { return told.rows }
    }
    let here = "main." + quoted(row.table)
    let sums = compared.map { "sum(\($0.difference))" }
    let statement = try connection.prepare(
      """
      SELECT \((["count(*)", "count(d.Z_PK)"] + sums).joined(separator: ", "))
      FROM (\(row.select)) e LEFT JOIN \(here) d ON d.Z_PK = e.Z_PK
      """)
    var (all, found) = (0, 0)
    var wrong = [Int](repeating: 0, count: compared.count)
    try KeyRanges(connection: connection, table: row.ranges.table, key: row.ranges.column).forEach {
      low, high in
      try statement.bind([.integer(low), .integer(high)])
      guard try statement.step() else { return }
      let rows = Int(statement.integer(at: 0))
      all += rows
      found += Int(statement.integer(at: 1))
      for index in wrong.indices { wrong[index] += Int(statement.integer(at: index + 2)) }
      statement.reset()
      try meter.advance(by: isCounted ? 0 : rows)
    }
    values += found * compared.count
    pages += found * kept.count
    if all != found {
      report.fail(
        entity: row.entity, message: "\(all - found) of \(all) objects are missing",
        count: all - found, first: try first(row, "d.Z_PK IS NULL"))
    }
    for (index, column) in compared.enumerated() where wrong[index] - (all - found) > 0 {
      let objects = try first(row, "d.Z_PK IS NOT NULL AND \(column.difference)")
      guard !objects.isEmpty else { continue }
      report.fail(
        entity: row.entity, property: destination.property(of: column.name, in: row),
        message: "mismatched values in the column \(column.name)",
        count: wrong[index], first: objects)
    }
    return all
  }

  /// Whether SQLite, too, finds the last rows as planned that were read and compared without it.
  private func isConfirmed(
    _ row: RowProgram, _ planned: [(name: String, difference: String)], rows: Int
  ) throws -> Bool {
    let sums = planned.map { "sum(\($0.difference))" }
    let last = try connection.value("SELECT max(\(row.ranges.column)) FROM \(row.ranges.table)")
    guard let high = last?.integer, high > Int64.min + Self.confirmed else { return rows == 0 }
    let found = try connection.rows(
      """
      SELECT \((["count(*) - count(d.Z_PK)"] + sums).joined(separator: ", "))
      FROM (\(row.select)) e LEFT JOIN main.\(quoted(row.table)) d ON d.Z_PK = e.Z_PK
      """, [.integer(high - Self.confirmed), .integer(high)]
    ).first
    return found?.allSatisfy { ($0.integer ?? 0) == 0 } ?? false
  }

  /// Keys among which SQLite compares rows once more.
  private static let confirmed: Int64 = 2000

  /// The rows that stand in the result as in the source, where all of them are of the entity already;
  /// `nil` where one is not.
  private func entityCount(of row: RowProgram) throws -> Int? {
    guard let entity = row.value(of: "Z_ENT")?.sql,
      let counts = try connection.rows(
        "SELECT count(*), count(CASE WHEN s.Z_ENT IS NOT \(entity) THEN 1 END) FROM \(row.from)\(row.conditions.filter)"
      ).first, counts.last?.integer == 0
    else { return nil }
    return counts.first?.integer.map { Int($0) }
  }

  private func first(_ row: RowProgram, _ condition: String) throws -> [ObjectID] {
    try connection.rows(
      """
      SELECT e.Z_PK FROM (\(row.selectAll)) e LEFT JOIN main.\(quoted(row.table)) d
      ON d.Z_PK = e.Z_PK WHERE \(condition) ORDER BY e.Z_PK LIMIT 5
      """
    ).compactMap { $0.first?.integer.map { ObjectID(entity: row.entity, key: $0) } }
  }

  func count(_ from: String) throws -> Int { try connection.number("SELECT count(*) FROM \(from)") }
}

extension Verification {
  /// Columns with what is true of a row that is not as planned.
  func comparisons(of row: RowProgram) -> [(name: String, difference: String)] {
    var compared = row.columns.dropFirst().filter {
      $0.value.sql != nil && !$0.value.isLater && !(isForeign && $0.name == "Z_OPT")
    }.map { column in
      let (actual, wanted) = ("d." + quoted(column.name), "e." + quoted(column.name))
      if isForeign, mayBeInFile(column.name, of: row) {
        return (
          column.name,
          """
          (\(actual) IS NOT \(wanted) OR \(MarkedBytes.isFile(actual)))
          AND strata_result(\(actual)) IS NOT strata_digest(\(wanted))
          """
        )
      }
      // Objects that had no position in an order were given one.
      if case .position = column.value {
        return (column.name, "\(actual) IS NOT \(wanted) AND \(wanted) IS NOT NULL")
      }
      guard isReal(column.name, of: row) else {
        return (column.name, "\(actual) IS NOT \(wanted)")
      }
      // A column of real numbers keeps a whole number, and one that text shows, with no more digits than
      // these have. CASE asks the second where the first says so only, as AND does not.
      return (
        column.name,
        """
        CASE WHEN \(actual) IS NOT \(wanted)
        THEN \(actual) IS NOT CAST(\(wanted) AS REAL) OR typeof(\(wanted)) NOT IN ('integer', 'text')
        OR \(wanted) GLOB '*[^-+.0-9eE ]*' ELSE 0 END
        """
      )
    }
    compared += row.columns.compactMap { column in
      guard case .derived(let derived, _) = column.value, derived.isExact else { return nil }
      return (column.name, "d.\(quoted(column.name)) IS NOT \(derived.sql)")
    }
    // Core Data fills a new attribute's column with its default in all rows of the table, those of
    // other entities too, which nobody sees.
    compared += row.columns.filter { $0.value == .empty || !isForeign && $0.value == .foreign }
      .map { ($0.name, "d.\(quoted($0.name)) IS NOT NULL") }
    guard !policyMappings.isEmpty else { return compared }
    return compared.map {
      ($0.0, "CASE WHEN \($0.1) THEN NOT \(isTouched("d.Z_PK", in: row.table)) ELSE 0 END")
    }
  }

  /// Whether a column holds what was planned where it is stored as planned: not so where the bytes are in
  /// files that both stores have of their own, and of no interest where another program may have written.
  func isStoredAsPlanned(_ column: String, of row: RowProgram) -> Bool {
    guard isForeign else { return true }
    return column != "Z_OPT" && !mayBeInFile(column, of: row)
      && row.value(of: column) != .foreign
  }

  /// SQL that is true of objects that a policy linked or changed by hand, which no mapping shows.
  func isTouched(_ key: String, in table: String) -> String {
    """
    EXISTS (SELECT 1 FROM temp.\(PolicyRun.touched) x WHERE x.place = \(AttributeValue.string(table).literal)
    AND x.key = \(key))
    """
  }

  private func mayBeInFile(_ column: String, of row: RowProgram) -> Bool {
    attribute(of: column, in: row)?.allowsExternalBinaryDataStorage ?? false
  }

  private func isReal(_ column: String, of row: RowProgram) -> Bool {
    let type = attribute(of: column, in: row)?.type
    return type == .double || type == .float
  }

  private func attribute(of column: String, in row: RowProgram) -> Attribute? {
    destination.property(of: column, in: row).flatMap {
      step.destination.storedAttribute(named: $0, of: row.entity)
    }
  }
}
