import ManagedModel
import ManagedStore
import SQLite

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
