import ManagedModel
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
  private func isTaken(
    _ constraint: [String], of entity: MergedEntity, _ a: Int64
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
      WHERE n.Z_PK <> m.r AND \(equal.joined(separator: " AND "))))
      """) > 0
  }

  /// Takes an object of the older store out of the result again, with those that cannot be without it.
  func leaveOut(
    _ entity: MergedEntity, _ a: Int64, _ reason: MergeReport.Reason
  ) throws {
    guard let r = try map.key(of: a, in: entity.old.table) else { return }
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
    for other in map.entities {
      for reference in other.references where reference.newTarget == entity.new.table {
        let own = [other.new.ownRows(), "\(quoted(reference.new)) = ?"].compactMap { $0 }
        let rows = try connection.rows(
          """
          SELECT Z_PK FROM main.\(quoted(other.new.table)) WHERE \(own.joined(separator: " AND "))
          """, [.integer(r)])
        for key in rows.compactMap({ $0.first?.integer }) {
          if reference.isMandatory,
            let (owner, former, kind) = try map.former(
              of: key, in: other.old.table), kind != .paired
          {
            try leaveOut(owner, former, .dependent)
            continue
          }
          told.report.lostLinks += 1
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
  }

  /// Tries what a uniqueness constraint refused again, until nothing more can be done: of the rest the values that
  /// are in the way stay the newer store's.
  func retry() throws {
    var isMoving = true
    while isMoving {
      isMoving = false
      for row in try waiting() {
        guard try take(row.names, of: row.entity, a: row.a, r: row.r) else { continue }
        try forget(row)
        isMoving = true
      }
    }
    for row in try waiting() {
      var (names, lost) = (row.names, [String]())
      for constraint in row.entity.constraints where try isTaken(constraint, of: row.entity, row.a)
      {
        lost += names.filter(constraint.contains)
        names.removeAll(where: constraint.contains)
      }
      if !names.isEmpty, try !take(names, of: row.entity, a: row.a, r: row.r) {
        lost += names
      }
      try told.lose(lost, of: row.entity, a: row.a, r: row.r, .uniqueness)
      try forget(row)
    }
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
