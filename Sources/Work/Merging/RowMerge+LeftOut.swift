import ManagedStore
import SQLite

/// Takes objects of the older store out of the result again, and what came in with them.
extension RowMerge {
  /// Takes an object of the older store out of the result again, with those that cannot be without it.
  func leaveOut(
    _ entity: MergedEntity, _ a: Int64, _ reason: MergeReport.Reason
  ) throws {
    // A list, as one may need the next, and so on through the whole store.
    var left = [(entity: entity, a: a, reason: reason)]
    while let next = left.popLast() {
      try told.check()
      guard let r = try map.key(of: next.a, in: next.entity.old.table) else { continue }
      try takeOut(next.entity, next.a, r, next.reason)
      left += try release(r, of: next.entity)
    }
  }

  private func takeOut(
    _ entity: MergedEntity, _ a: Int64, _ r: Int64, _ reason: MergeReport.Reason
  ) throws {
    try told.leaveOut(entity, a, reason)
    let number = map.number(entity.old.table)
    try connection.run(
      "INSERT OR IGNORE INTO temp.merge_out VALUES (?, ?, ?, ?)",
      [
        .integer(Int64(number)), .integer(a), .integer(Int64(entity.place)),
        .text(reason.rawValue),
      ])
    try connection.run("DELETE FROM main.\(quoted(entity.new.table)) WHERE Z_PK = ?", [.integer(r)])
    try connection.run(
      "DELETE FROM temp.merge_key WHERE t = ? AND a = ?", [.integer(Int64(number)), .integer(a)])
  }

  /// Takes the references to an object that is out: a paired object gets the newer store's back, a new one has none.
  ///
  /// - Returns: the new ones that cannot be without it.
  private func release(
    _ r: Int64, of entity: MergedEntity
  ) throws -> [(entity: MergedEntity, a: Int64, reason: MergeReport.Reason)] {
    var dependents: [(entity: MergedEntity, a: Int64, reason: MergeReport.Reason)] = []
    for other in map.entities {
      for reference in other.references where reference.newTarget == entity.new.table {
        let own = [other.new.ownRows(), "\(quoted(reference.new)) = ?"].compactMap { $0 }
        let statement = try connection.cached(
          """
          SELECT Z_PK FROM main.\(quoted(other.new.table)) WHERE \(own.joined(separator: " AND "))
          """)
        try statement.bind([.integer(r)])
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(at: 0)) }
        statement.reset()
        for key in keys {
          let former = try map.former(of: key, in: other.old.table)
          if let former, former.kind != .paired, reference.isMandatory {
            dependents.append((former.entity, former.a, .dependent))
            continue
          }
          told.report.lostLinks += 1
          if former == nil || former?.kind == .paired, try restore(reference, of: other, key) {
            told.keepNew(reference.name, of: other, r: key)
            continue
          }
          let columns = [reference.new, reference.newEntity, reference.newPosition]
            .compactMap { $0 }.map { "\(quoted($0)) = NULL" }
          try connection.run(
            """
            UPDATE main.\(quoted(other.new.table)) SET \(columns.joined(separator: ", "))
            WHERE Z_PK = ?
            """, [.integer(key)])
        }
      }
    }
    return dependents
  }

  /// Gives an object of the newer store back what that references.
  ///
  /// - Returns: false where another object has come to it: a partner can have one, and so can a unique value.
  private func restore(
    _ reference: MergedEntity.Reference, of entity: MergedEntity, _ r: Int64
  ) throws -> Bool {
    let table = quoted(entity.new.table)
    let columns = [reference.new, reference.newEntity, reference.newPosition].compactMap { $0 }
    let partner = try connection.value(
      "SELECT \(quoted(reference.new)) FROM now.\(table) WHERE Z_PK = ?", [.integer(r)])?.integer
    let back = try partner.flatMap { try self.back(of: reference, in: $0) }
    if reference.partner != nil, let partner, let back {
      let column = quoted(back.reference.new)
      let isFree = try map.count(
        """
        main.\(quoted(back.entity.new.table)) WHERE Z_PK = \(partner)
        AND (\(column) IS NULL OR \(column) = \(r))
        """)
      guard isFree > 0 else { return false }
    }
    let names = columns.map { quoted($0) }.joined(separator: ", ")
    try connection.run(
      """
      UPDATE OR IGNORE main.\(table) SET (\(names)) =
      (SELECT \(names) FROM now.\(table) n WHERE n.Z_PK = ?) WHERE Z_PK = ?
      """, [.integer(r), .integer(r)])
    guard connection.changes > 0 else { return false }
    if let position = reference.newPosition {
      try connection.run(
        "DELETE FROM temp.merge_placed WHERE c = ? AND r = ?",
        [.text(entity.new.table + "." + position), .integer(r)])
    }
    if reference.partner != nil, let partner, let back {
      let places = [back.reference.new, back.reference.newEntity].compactMap { $0 }
        .map { quoted($0) }.joined(separator: ", ")
      let place = quoted(back.entity.new.table)
      try connection.run(
        """
        UPDATE OR IGNORE main.\(place) SET (\(places)) =
        (SELECT \(places) FROM now.\(place) n WHERE n.Z_PK = ?) WHERE Z_PK = ?
        """, [.integer(partner), .integer(partner)])
    }
    return true
  }

  /// The other end of a one-to-one at an object of the newer store.
  private func back(
    of reference: MergedEntity.Reference, in partner: Int64
  ) throws -> (entity: MergedEntity, reference: MergedEntity.Reference)? {
    guard let name = reference.partner else { return nil }
    let number = try connection.value(
      "SELECT Z_ENT FROM now.\(quoted(reference.newTarget)) WHERE Z_PK = ?", [.integer(partner)])?
      .integer
    guard
      let entity = map.entities.first(where: {
        $0.new.entityID == number && $0.new.table == reference.newTarget
      }), let back = entity.references.first(where: { $0.name == name })
    else { return nil }
    return (entity, back)
  }
}
