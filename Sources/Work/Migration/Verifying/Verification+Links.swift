import ManagedModel
import ManagedStore
import SQLite

extension Verification {
  /// The same SELECT that fills a join table, against what is in it, in both directions.
  func verifyJoins(_ known: KnownRows?, _ report: inout VerificationReport) throws {
    var compared = 0
    for join in destination.joins {
      report.links["\(join.entity).\(join.relationship)"] = try count("main.\(quoted(join.name))")
    }
    for join in contents.joins {
      try meter.checkCancelled()
      let there = try count("main.\(quoted(join.table))")
      compared += there
      guard known?.isWhole(join) != true, try !isEqual(join, count: there) else { continue }
      try compareLinks(
        expected: join.select, actual: "SELECT \(join.names) FROM main.\(quoted(join.table))",
        entity: join.entity, relationship: join.relationship, &report)
    }
    // In an inferred mapping, a join table that nothing fills has nothing in it.
    if step.mapping.kind == .inferred, policyMappings.isEmpty {
      let filled = Set(contents.joins.map(\.table))
      let linked = Set(contents.links.map(\.relationship))
      for join in destination.joins
      where !filled.contains(join.name)
        && linked.isDisjoint(with: [join.relationship, join.inverse])
      {
        let extra = try count("main.\(quoted(join.name))")
        guard extra > 0 else { continue }
        report.fail(
          entity: join.entity, property: join.relationship,
          message: "links appeared in a new relationship", count: extra)
      }
    }
    report.verified.append(.init(what: "links compared with the source", count: compared))
  }

  /// Whether each planned row is in the table, and no other: found by its primary key, which costs
  /// no sorting.
  private func isEqual(_ join: JoinProgram, count there: Int) throws -> Bool {
    let same = join.columns.map { "a.\(quoted($0)) IS e.\(quoted($0))" }
    let row = try connection.rows(
      """
      SELECT count(*), count(a.rowid) FROM (SELECT \(join.names) FROM (\(join.select))) e
      LEFT JOIN main.\(quoted(join.table)) a ON \(same.joined(separator: " AND "))
      """
    ).first
    return row?.first?.integer == Int64(there) && row?.last?.integer == Int64(there)
  }

  /// How many links are expected, and how many of them are not there: each is looked up, which costs no
  /// sorting.
  private func looked(for expected: String, among actual: String) throws -> (all: Int, missing: Int)
  {
    let row = try connection.rows(
      """
      SELECT count(*), count(CASE WHEN NOT EXISTS (SELECT 1 FROM (\(actual)) a
      WHERE a.owner = e.owner AND a.destination = e.destination) THEN 1 END) FROM (\(expected)) e
      """
    ).first
    return (Int(row?.first?.integer ?? 0), Int(row?.last?.integer ?? 0))
  }

  func compareLinks(
    expected: String, actual: String, entity: String, relationship: String,
    isMissingOnly: Bool = false, _ report: inout VerificationReport
  ) throws {
    let (all, there) = ("SELECT * FROM (\(expected))", "SELECT * FROM (\(actual))")
    let missing = try count("(\(all) EXCEPT \(there))")
    let extra = isMissingOnly ? 0 : try count("(\(there) EXCEPT \(all))")
    guard missing > 0 || extra > 0 else { return }
    report.fail(
      entity: entity, property: relationship,
      message: "\(missing) links are missing and \(extra) were not planned", count: missing + extra)
  }

  /// Links that were set when all objects were there.
  func verifyLinks(_ report: inout VerificationReport) throws {
    let writer = LinkWriter(schema: destination, connection: connection)
    var compared = 0
    let oneToOnes = step.destination.oneToOnes
    let all = Dictionary(grouping: contents.links) { "\($0.entity)\n\($0.relationship)" }
    for (_, links) in all.sorted(by: { $0.key < $1.key }) {
      try meter.checkCancelled()
      guard let one = links.first, let actual = writer.links(of: one.relationship, in: one.entity),
        let relationship = step.destination.relationship(named: one.relationship, of: one.entity),
        !oneToOnes.contains(where: { $0.contains(one.relationship, of: one.entity) })
      else { continue }
      var expected = links.map { "SELECT owner, destination FROM (\($0.select))" }
        .joined(separator: " UNION ")
      // Where a side is to-one, one of several claims wins.
      if !relationship.isToMany {
        expected = "SELECT owner, min(destination) AS destination FROM (\(expected)) GROUP BY owner"
      }
      let storage = destination.storage(of: one.relationship, in: one.entity)
      let hasToOneInverse = destination.inverse(of: relationship)?.1.isToMany == false
      if relationship.isToMany ? storage?.isInDestinationRow == true : hasToOneInverse {
        expected = "SELECT min(owner) AS owner, destination FROM (\(expected)) GROUP BY destination"
      }
      // A link is kept in the row of the object that it references, if there is one.
      if relationship.isToMany, storage?.isInDestinationRow == true,
        let other = destination.table(of: relationship.destination)
      {
        expected = """
          SELECT * FROM (\(expected)) e
          WHERE EXISTS (SELECT 1 FROM main.\(quoted(other.name)) d WHERE d.Z_PK = e.destination)
          """
      }
      if !policyMappings.isEmpty, let own = destination.table(of: one.entity),
        let other = destination.table(of: relationship.destination)
      {
        expected = """
          SELECT * FROM (\(expected)) e WHERE NOT \(isTouched("e.owner", in: own.name))
          AND NOT \(isTouched("e.destination", in: other.name))
          """
      }
      let (all, missing) = try looked(for: expected, among: actual)
      compared += all
      if missing > 0 {
        try compareLinks(
          expected: expected, actual: actual, entity: one.entity, relationship: one.relationship,
          isMissingOnly: true, &report)
      }
    }
    if compared > 0 {
      report.verified.append(.init(what: "links set by the mapping", count: compared))
    }
  }
}

extension Verification {
  /// Both sides of every one-to-one: loose ones are the pairs that their links come to, and no pair
  /// disagrees that did not in the source.
  func verifyOneToOnes(_ report: inout VerificationReport) throws {
    let writer = LinkWriter(schema: schemas.destination, connection: connection)
    let loose = schemas.loose.filter { !isOfPolicies($0) }
    let planned = try PlannedPairs(
      loose, links: PlannedPairs.ordered(contents.links, by: step.mapping), connection: connection)
    var compared = 0
    for plan in planned.plans {
      try meter.checkCancelled()
      for side in plan.pair.sides {
        guard let actual = writer.links(of: side.name, in: side.entity) else { continue }
        try compareLinks(
          expected: plan.pairs(of: side), actual: actual, entity: side.entity,
          relationship: side.name, &report)
        compared += try count("temp.\(plan.table)")
      }
    }
    if compared > 0 {
      report.verified.append(.init(what: "sides of one-to-ones set", count: compared))
    }
    for pair in step.destination.oneToOnes {
      try meter.checkCancelled()
      for side in pair.sides { try verifyAgreement(side, of: pair, &report) }
    }
  }

  private func isOfPolicies(_ pair: OneToOne) -> Bool {
    step.mapping.entityMappings.contains { entityMapping in
      policyMappings.contains(entityMapping.name)
        && entityMapping.destination.map { to in
          pair.sides.contains { step.destination.isKind(to, of: $0.entity) }
        } == true
    }
  }

  private func verifyAgreement(
    _ side: OneToOne.Side, of pair: OneToOne, _ report: inout VerificationReport
  ) throws {
    let schema = schemas.destination
    guard let own = schema.entityTable(of: side.entity),
      let wrong = schema.disagreement(side.relationship, of: side.entity, schemaName: "main.")
    else { return }
    let numbers = own.numbers.list
    let rows = "main.\(quoted(own.table)) t WHERE t.Z_ENT IN (\(numbers)) AND (\(wrong))"
    let found = try count(rows)
    guard found > 0 else { return }
    let before = schemas.loose.contains(pair) ? 0 : try formerDisagreement(side)
    let first = try connection.rows("SELECT t.Z_PK FROM \(rows) ORDER BY 1 LIMIT 5").compactMap {
      $0.first?.integer.map { ObjectID(entity: side.entity, key: $0) }
    }
    guard found > before else {
      report.notes.append(
        "\(found) of \(side.entity).\(side.name) (first: \(first.map(\.description).joined(separator: ", "))) reference an object that does not reference them back, as before."
      )
      return
    }
    report.fail(
      entity: side.entity, property: side.name,
      message: "the two sides of a one-to-one do not match", count: found - before, first: first)
  }

  /// Objects whose partner does not lead back in the source.
  private func formerDisagreement(_ side: OneToOne.Side) throws -> Int {
    let data = SourceData(store: schemas.store)
    return try step.mapping.entityMappings.reduce(0) { sum, entityMapping in
      guard let from = entityMapping.source, entityMapping.makes(side.entity, in: step.destination),
        let former = entityMapping.relationship(named: side.name)?.source,
        let oneSided = data.isOneSided(former, of: from)
      else { return sum }
      return try sum + data.count(from, where: [oneSided])
    }
  }
}
