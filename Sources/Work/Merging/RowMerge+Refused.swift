import ManagedStore
import SQLite

/// What rules of the model keep out of the result: values that are unique, and objects that cannot be without others.
extension RowMerge {
  /// Copies the rows that were refused, now that the others have their values: without a value that another object
  /// has, or not at all where the value is mandatory.
  func insertRefused(_ entity: MergedEntity) throws {
    let missing = """
      m.kind > 0 AND NOT EXISTS (SELECT 1 FROM main.\(quoted(entity.new.table)) n WHERE n.Z_PK = m.r)
      """
    try connection.execute(insertion(of: entity, where: missing))
    let keys = try connection.rows("SELECT m.a, m.r FROM \(map.rows(of: entity)) AND \(missing)")
    for row in keys {
      guard let a = row[0].integer, let r = row[1].integer else { continue }
      var without: [String] = []
      var lost: [String] = []
      while true {
        try connection.execute(
          insertion(of: entity, where: "m.kind > 0 AND m.a = \(a)", without: without))
        if connection.changes > 0 { break }
        guard let name = try optionalPart(of: entity, a, without),
          let column = entity.columns(of: [name])?.first
        else { break }
        without.append(column)
        lost.append(name)
      }
      guard try map.count("main.\(quoted(entity.new.table)) WHERE Z_PK = \(r)") > 0 else {
        try leaveOut(entity, a, .uniqueness)
        continue
      }
      try told.lose(lost, of: entity, a: a, r: nil, .uniqueness)
    }
  }

  /// A property that an object can be without, of a constraint that keeps it out.
  private func optionalPart(
    of entity: MergedEntity, _ a: Int64, _ without: [String]
  ) throws -> String? {
    for constraint in entity.constraints {
      guard let columns = entity.columns(of: constraint), Set(columns).isDisjoint(with: without),
        try isTaken(constraint, of: entity, a)
      else { continue }
      return constraint.last { name in
        entity.attributes.first { $0.name == name }?.isOptional
          ?? entity.references.first { $0.name == name }.map { !$0.isMandatory } ?? false
      }
    }
    return nil
  }

  /// Whether another object of the result has the values of a constraint that an object of the older store has.
  ///
  /// - Parameter others: keys of objects that do not count.
  private func isTaken(
    _ constraint: [String], of entity: MergedEntity, _ a: Int64, besides others: [Int64] = []
  ) throws -> Bool {
    let equal = constraint.compactMap { name -> String? in
      if let attribute = entity.attributes.first(where: { $0.name == name }) {
        return "n.\(quoted(attribute.new)) = o.\(quoted(attribute.old))"
      }
      guard let reference = entity.references.first(where: { $0.name == name }) else { return nil }
      let key = map.result(reference.oldTarget, "o." + quoted(reference.old))
      return "n.\(quoted(reference.new)) = \(key)"
    }
    return try map.count(
      """
      (SELECT 1 FROM \(map.rows(of: entity)) AND m.a = \(a) AND EXISTS (
      SELECT 1 FROM main.\(quoted(entity.new.table)) n
      WHERE n.Z_PK <> m.r AND n.Z_PK NOT IN (\(others.list)) AND \(equal.joined(separator: " AND "))))
      """) > 0
  }

  /// Leaves out objects that came in and cannot be without one that did not.
  func leaveOutIncomplete(_ entity: MergedEntity) throws {
    for reference in entity.references where reference.isMandatory {
      let key = "o." + quoted(reference.old)
      let rows = try connection.rows(
        """
        SELECT m.a FROM \(map.rows(of: entity)) AND m.kind > 0 AND \(key) IS NOT NULL
        AND \(map.result(reference.oldTarget, key)) IS NULL
        """)
      for a in rows.compactMap({ $0.first?.integer }) { try leaveOut(entity, a, .dependent) }
    }
  }

  /// Tries what a uniqueness constraint refused again, until nothing more can be done: of the rest the values that
  /// are in the way stay the newer store's.
  func retry() throws {
    var isMoving = true
    while isMoving {
      isMoving = false
      for row in try waiting() where try take(row.names, of: row.entity, a: row.a, r: row.r) {
        try forget(row)
        isMoving = true
      }
      if !isMoving { isMoving = try loseTaken() }
    }
    try exchange()
    for row in try waiting() {
      try lose(
        row.names.filter { name in row.entity.constraints.contains { $0.contains(name) } }, of: row)
    }
  }

  /// Gives up values that are of objects which keep them.
  ///
  /// - Returns: whether there were any.
  private func loseTaken() throws -> Bool {
    let rows = try waiting()
    for row in rows {
      let others = rows.filter { $0.entity.new.table == row.entity.new.table }.map(\.r)
      let taken = try row.entity.constraints.filter { constraint in
        try !Set(constraint).isDisjoint(with: row.names)
          && isTaken(constraint, of: row.entity, row.a, besides: others)
      }
      guard !taken.isEmpty else { continue }
      try lose(row.names.filter { name in taken.contains { $0.contains(name) } }, of: row)
      return true
    }
    return false
  }

  /// Gives an object its other values, without those that it cannot have.
  private func lose(_ names: [String], of row: Waiting) throws {
    var lost = names
    let rest = row.names.filter { !lost.contains($0) }
    if !rest.isEmpty, try !take(rest, of: row.entity, a: row.a, r: row.r) { lost += rest }
    try told.lose(lost, of: row.entity, a: row.a, r: row.r, .uniqueness)
    try forget(row)
  }

  /// Gives objects the values of each other, all at once: each is in the way of another.
  private func exchange() throws {
    let rows = try waiting()
    // A file that was copied is not taken back.
    let haveFiles = rows.contains { row in
      row.entity.attributes.contains { $0.allowsFiles && row.names.contains($0.name) }
    }
    guard rows.count > 1, !haveFiles else { return }
    try connection.execute("SAVEPOINT merge_exchange")
    for row in rows {
      let names = row.entity.constraints.joined().filter(row.names.contains)
      let columns = row.entity.columns(of: Array(names)) ?? []
      guard !columns.isEmpty else { continue }
      try connection.run(
        """
        UPDATE main.\(quoted(row.entity.new.table))
        SET \(columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")) WHERE Z_PK = ?
        """, [.integer(row.r)])
    }
    let isDone = try rows.allSatisfy { try take($0.names, of: $0.entity, a: $0.a, r: $0.r) }
    if isDone { for row in rows { try forget(row) } }
    try connection.execute(
      isDone
        ? "RELEASE merge_exchange" : "ROLLBACK TO merge_exchange; RELEASE merge_exchange")
  }

  private typealias Waiting = (entity: MergedEntity, a: Int64, r: Int64, names: [String])

  private func waiting() throws -> [Waiting] {
    try connection.rows("SELECT e, a, r, columns FROM temp.merge_retry ORDER BY e, a").compactMap {
      row in
      guard row.count == 4, let place = row[0].integer, let a = row[1].integer,
        let r = row[2].integer, let names = row[3].text,
        let entity = map.entities.first(where: { $0.place == Int(place) })
      else { return nil }
      return (entity, a, r, names.split(separator: "\n").map(String.init))
    }
  }

  private func forget(_ row: Waiting) throws {
    try connection.run(
      "DELETE FROM temp.merge_retry WHERE e = ? AND a = ?",
      [.integer(Int64(row.entity.place)), .integer(row.a)])
  }
}
