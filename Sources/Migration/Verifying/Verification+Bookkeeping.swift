import ManagedModel
import ManagedStore
import SQLite

/// The file itself, what is counted in it, and that nothing was forgotten.
extension Verification {
  func tableNames() throws -> [String] {
    try connection.rows("SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0")
      .compactMap { $0.first?.text }
  }

  /// No object may be forgotten: in an inferred mapping, every entity of either model has its own.
  func verifyCoverage(_ report: inout VerificationReport) {
    guard step.mapping.kind == .inferred else { return }
    let sources = Set(step.mapping.entityMappings.compactMap(\.source))
    let destinations = Set(step.mapping.entityMappings.compactMap(\.destination))
    for entity in schemas.store.model.entities where !sources.contains(entity.name) {
      report.fail(entity: entity.name, message: "no mapping took the objects")
    }
    for entity in step.destination.entities where !destinations.contains(entity.name) {
      report.fail(entity: entity.name, message: "no mapping made the entity")
    }
  }

  func verifyBookkeeping(_ report: inout VerificationReport) throws {
    let known = Set(
      try connection.rows("SELECT Z_ENT FROM main.Z_PRIMARYKEY").compactMap { $0.first?.integer })
    for (entity, number) in destination.numbers.sortedByBytes(\.key)
    where !known.contains(number) {
      report.fail(
        .primaryKey, entity: entity, message: "Z_PRIMARYKEY has no row for the entity")
    }
    let keys = PrimaryKeys(connection)
    for table in destination.tables {
      guard let number = destination.numbers[table.root], known.contains(number) else { continue }
      if try keys.given(number) ?? -1 < keys.used(in: table.name) ?? 0 {
        report.fail(
          .primaryKey, entity: table.root, message: "the last key given out (Z_MAX) is too small")
      }
    }
    guard !isForeign else { return try verifyForeignBookkeeping(&report) }
    let planned = try schemas.primaryKeys(on: connection)
    for row in planned {
      let there = try connection.rows(
        "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_ENT = ?", [row[0]])
      if there != [row] {
        report.fail(
          .primaryKey, entity: row[1].text,
          message: "its row of Z_PRIMARYKEY does not match the plan")
      }
    }
    try verifyMetadata(&report)
    report.verified.append(
      .init(what: "entities' version hashes", count: step.destination.entities.count))
  }

  /// What the metadata say to CloudKit mirroring, and of a deferred migration.
  func verifyMetadata(_ report: inout VerificationReport) throws {
    let metadata = try StoreMetadata(connection, path: "")
    // Stores of old frameworks have fewer keys, and a copy of one has no more.
    let planned =
      isForeign && schemas.isOfOneVersion
      ? schemas.store.metadata
      : schemas.store.metadata.updated(
        for: step.destination, needsZoneFetch: schemas.needsZoneFetch)
    if metadata.values != planned.values {
      let names = Set(metadata.values.keys).union(planned.values.keys).filter {
        metadata.values[$0] != planned.values[$0]
      }
      report.fail(
        .metadata, entity: nil,
        message: "the metadata do not match the plan (\(names.sorted().joined(separator: ", ")))"
      )
    }
  }
}
