import ManagedModel
import ManagedStore
import SQLite

/// Checks one-to-ones of a merged store against both stores: none of the older store is lost in silence, and none is
/// there that neither store has.
struct PartnerVerification {
  let map: ObjectMap
  let told: MergeTelling

  /// One end of a one-to-one, and the other.
  private struct End {
    let entity: MergedEntity
    let reference: MergedEntity.Reference
    let partner: MergedEntity
    let back: MergedEntity.Reference
  }

  func run() throws {
    for entity in map.entities where entity.isIncluded {
      for reference in entity.references {
        for partner in map.entities where partner.new.table == reference.newTarget {
          guard let name = reference.partner,
            let back = partner.references.first(where: { $0.name == name }),
            map.stores.new.model.isKind(partner.name, of: reference.destination)
          else { continue }
          let end = End(entity: entity, reference: reference, partner: partner, back: back)
          try requireKept(end)
          try requireKnown(end)
        }
      }
    }
  }

  /// The older store's objects of an end with their partners there, as rows `m`, `o`, `d` and `q`, and the result's as
  /// `r`.
  private func links(_ end: End) -> String {
    let (source, target) = (quoted(end.entity.old.table), quoted(end.partner.old.table))
    let (column, back) = (quoted(end.reference.old), quoted(end.back.old))
    return """
      temp.merge_key m CROSS JOIN src.\(source) o ON o.Z_PK = m.a
      CROSS JOIN src.\(target) d ON d.Z_PK = o.\(column) AND d.\(back) = o.Z_PK
      CROSS JOIN temp.merge_key q ON q.t = \(map.number(end.partner.old.table)) AND q.a = d.Z_PK
      CROSS JOIN main.\(quoted(end.entity.new.table)) r ON r.Z_PK = m.r
      WHERE m.t = \(map.number(end.entity.old.table)) AND m.e = \(end.entity.place)
      AND q.e = \(end.partner.place)
      """
  }

  /// A link of the older store with an object that only it has is in the result, unless it was decided against, or
  /// for another one.
  private func requireKept(_ end: End) throws {
    let (column, back) = (quoted(end.reference.new), quoted(end.back.new))
    let statement = try map.connection.prepare(
      """
      SELECT m.a, q.a, r.\(column), (SELECT t.\(back) FROM main.\(quoted(end.partner.new.table)) t WHERE t.Z_PK = q.r)
      FROM \(links(end)) AND (m.kind > 0 OR q.kind > 0) AND r.\(column) IS NOT q.r
      """)
    let (from, to) = (end.entity.old.table, end.partner.old.table)
    func isDecided(_ a: Int64?, _ b: Int64?) -> Bool {
      guard let a, let b else { return false }
      return told.isDecided(edge: [from + " \(a)", to + " \(b)"])
    }
    while try statement.step() {
      let row = statement.row()
      guard row.count == 4, let a = row[0].integer, let b = row[1].integer else { continue }
      let others = (
        try row[3].integer.flatMap { try map.former(of: $0, in: from)?.a },
        try row[2].integer.flatMap { try map.former(of: $0, in: to)?.a }
      )
      if isDecided(a, b) || isDecided(others.0, b) || isDecided(a, others.1) { continue }
      throw failure("lost the partner that the older store has for \(end.entity.name)/p\(a)", end)
    }
  }

  /// A partner in the result is the newer store's, or the older store's from either end.
  private func requireKnown(_ end: End) throws {
    let (table, column) = (quoted(end.entity.new.table), quoted(end.reference.new))
    let own = end.entity.new.ownRows("r").map { " AND " + $0 } ?? ""
    let (from, to) = (map.number(end.entity.old.table), map.number(end.partner.old.table))
    let count = try map.count(
      """
      (SELECT 1 FROM main.\(table) r JOIN main.\(quoted(end.partner.new.table)) t ON t.Z_PK = r.\(column)
      WHERE t.Z_ENT = \(end.partner.new.entityID)\(own)
      AND NOT EXISTS (SELECT 1 FROM now.\(table) n WHERE n.Z_PK = r.Z_PK AND n.\(column) = r.\(column))
      AND NOT EXISTS (SELECT 1 FROM temp.merge_key m JOIN temp.merge_key q ON q.t = \(to) AND q.r = r.\(column)
      LEFT JOIN src.\(quoted(end.entity.old.table)) o ON o.Z_PK = m.a
      LEFT JOIN src.\(quoted(end.partner.old.table)) d ON d.Z_PK = q.a
      WHERE m.t = \(from) AND m.r = r.Z_PK
      AND (o.\(quoted(end.reference.old)) = q.a OR d.\(quoted(end.back.old)) = m.a)))
      """)
    guard count == 0 else {
      throw failure("has a partner that neither store has (\(count))", end)
    }
  }

  private func failure(_ what: String, _ end: End) -> CoreDataError {
    CoreDataError(
      .failed, "verification failed: a one-to-one \(what)", entity: end.entity.name,
      property: end.reference.name,
      hint: "The result was removed. Both stores are unchanged.")
  }
}
