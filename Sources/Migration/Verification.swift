import ManagedModel
import ManagedStore
import SQLite

/// Compares a migrated clone with its source, before it may take the source's place.
struct Verification {
  let step: MigrationPlan.Step
  let schemas: StepSchemas
  let connection: Connection
  let meter: ProgressMeter
  let path: String

  private var source: Store { schemas.store }
  private var destination: StoreSchema { schemas.destination }

  struct Result {
    var entities: [MigrationReceipt.EntityCount] = []
    var edges: [String: Int] = [:]
    var verified: [MigrationReceipt.Verified] = []
  }

  /// - Throws: ``CoreDataError`` of kind failed that names the first difference.
  func run() throws -> Result {
    try meter.begin(.verify)
    var result = Result()
    try verifyIntegrity()
    result.verified.append(.init(what: "database integrity", count: 1))
    // No object may be forgotten: every entity of either model has its mapping.
    let sources = Set(step.mapping.entityMappings.compactMap(\.source))
    let destinations = Set(step.mapping.entityMappings.compactMap(\.destination))
    for entity in source.model.entities where !sources.contains(entity.name) {
      throw failure("no mapping took the objects", entity: entity.name)
    }
    for entity in step.destination.entities where !destinations.contains(entity.name) {
      throw failure("no mapping made the entity", entity: entity.name)
    }
    var values = 0
    for entityMapping in step.mapping.entityMappings {
      try verifyRows(of: entityMapping, values: &values, into: &result)
    }
    result.verified.append(.init(what: "values compared with the source", count: values))
    try verifyLinks(into: &result)
    try verifyBookkeeping()
    result.verified.append(
      .init(what: "entities' version hashes", count: step.destination.entities.count))
    return result
  }

  private func verifyIntegrity() throws {
    let problems = try connection.rows("PRAGMA main.integrity_check(5)").compactMap {
      $0.first?.text
    }
    guard problems == ["ok"] else {
      throw failure("the migrated file is damaged: \(problems.joined(separator: "; "))")
    }
  }

  private func verifyRows(
    of entityMapping: EntityMapping, values: inout Int, into result: inout Result
  ) throws {
    guard let to = entityMapping.destination, let table = destination.table(of: to),
      let number = destination.numbers[to]
    else {
      if let from = entityMapping.source {
        result.entities.append(
          .init(entity: from, before: step.rows[entityMapping.name] ?? 0, after: 0))
      }
      return
    }
    let here = "main." + quoted(table.name)
    let after = Int(
      try connection.value("SELECT count(*) FROM \(here) WHERE Z_ENT = \(number)")?.integer ?? 0)
    guard let from = entityMapping.source, let sourceTable = source.table(of: from),
      source.database.contains(sourceTable.table)
    else {
      guard after == 0 else {
        throw failure("objects appeared in a new entity", entity: to)
      }
      result.entities.append(.init(entity: to, before: 0, after: 0))
      return
    }
    let there = "src." + quoted(sourceTable.table)
    let before = Int(
      try connection.value("SELECT count(*) FROM \(there) WHERE Z_ENT = \(sourceTable.number)")?
        .integer ?? 0)
    guard before == after else {
      throw failure("\(before) objects became \(after)", entity: to)
    }
    result.entities.append(.init(entity: to, before: before, after: after))
    var names = ["Z_OPT"]
    var differences = ["d.Z_OPT IS NOT s.Z_OPT"]
    var edgeColumns: [(name: String, column: String)] = []
    for column in table.columns {
      let derived = schemas.derivedFilling(for: column, in: entityMapping, row: "d")
      if derived?.isExact == false { continue }
      let sql = derived?.sql ?? schemas.expression(for: column.content, in: entityMapping)
      // New positions in an order are made by the migration, and have nothing to equal.
      switch column.content {
      case .toOneOrder, .ownerOrder:
        guard let sql else { continue }
        // Objects that had no position were given one.
        names.append(column.name)
        differences.append("(d.\(quoted(column.name)) IS NOT \(sql) AND \(sql) IS NOT NULL)")
        continue
      case .toOne(let entity, let name) where step.destination.isKind(to, of: entity):
        edgeColumns.append((name, column.name))
      default: break
      }
      names.append(column.name)
      differences.append("d.\(quoted(column.name)) IS NOT \(sql ?? "NULL")")
    }
    // One pass by key: a missing row shows as a difference of Z_OPT and of the count.
    let counts = differences.map { "sum(\($0))" }.joined(separator: ", ")
    let statement = try connection.prepare(
      """
      SELECT count(*), \(counts) FROM \(there) s JOIN \(here) d ON d.Z_PK = s.Z_PK
      WHERE s.Z_ENT = \(sourceTable.number) AND d.Z_ENT = \(number) AND s.Z_PK BETWEEN ? AND ?
      """)
    var compared = 0
    try KeyRanges(connection, table: there).forEach { low, high in
      try statement.bind([.integer(low), .integer(high)])
      guard try statement.step() else { return }
      let rows = Int(statement.integer(at: 0))
      for (index, name) in names.enumerated() where statement.integer(at: index + 1) != 0 {
        throw failure(
          "\(statement.integer(at: index + 1)) values in the column \(name) differ from what was planned",
          entity: to)
      }
      statement.reset()
      compared += rows
      try meter.advance(by: rows)
    }
    guard compared == before else {
      throw failure("only \(compared) of \(before) objects kept their keys", entity: to)
    }
    values += compared * names.count
    for (name, column) in edgeColumns {
      let count = try connection.value(
        "SELECT count(\(quoted(column))) FROM \(here) WHERE Z_ENT = \(number)")
      result.edges["\(to).\(name)"] = Int(count?.integer ?? 0)
    }
  }

  private func verifyLinks(into result: inout Result) throws {
    var compared = 0
    for join in destination.joins {
      try meter.checkCancelled()
      let count = Int(
        try connection.value("SELECT count(*) FROM main.\(quoted(join.name))")?.integer ?? 0)
      result.edges["\(join.entity).\(join.relationship)"] = count
      let former = StepSchemas.sourceJoin(of: join, store: source, mapping: step.mapping)
      guard let planned = schemas.links(of: join, former: former) else {
        guard count == 0 else {
          throw failure(
            "links appeared in a new relationship", entity: join.entity, property: join.relationship
          )
        }
        continue
      }
      // The same SELECT that fills the table, against what is in it, in both directions.
      let actual = "SELECT \(planned.columns) FROM main.\(quoted(join.name))"
      let missing = try connection.value(
        "SELECT count(*) FROM (SELECT * FROM (\(planned.select)) EXCEPT \(actual))")
      let extra = try connection.value(
        "SELECT count(*) FROM (\(actual) EXCEPT SELECT * FROM (\(planned.select)))")
      guard missing?.integer == 0, extra?.integer == 0 else {
        throw failure(
          "\(missing?.integer ?? 0) links are missing and \(extra?.integer ?? 0) were not planned",
          entity: join.entity, property: join.relationship)
      }
      compared += count
    }
    result.verified.append(.init(what: "links compared with the source", count: compared))
  }

  private func verifyBookkeeping() throws {
    for table in destination.tables {
      guard let number = destination.numbers[table.root] else { continue }
      let maximum = try connection.value(
        "SELECT Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_ENT = \(number)")?.integer
      let used = try connection.value("SELECT max(Z_PK) FROM main.\(quoted(table.name))")?.integer
      guard let maximum, maximum >= used ?? 0 else {
        throw failure("the last key given out (Z_MAX) is too small", entity: table.root)
      }
    }
  }

  private func failure(
    _ message: String, entity: String? = nil, property: String? = nil
  )
    -> CoreDataError
  {
    CoreDataError(
      .failed, code: 134110, "verification failed: \(message)", path: path, entity: entity,
      property: property,
      hint: "The store is as it was. Please report this: the migration did not do what it planned.")
  }
}
