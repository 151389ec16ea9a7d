import ManagedStore
import SQLite

/// Merges the rows of objects: those that only the older store has come in, and of those that both have, each value
/// is one store's or the other's. Links between two ends that can have one each, and many-to-many ones, are not in it.
struct RowMerge {
  let map: ObjectMap
  let options: MergeOptions
  let files: MergedFiles
  let told: MergeTelling

  var connection: Connection { map.connection }

  // MARK: New objects

  /// Copies the rows of objects that come in; those that a uniqueness constraint refuses are left for later.
  func insert(_ entity: MergedEntity) throws {
    try connection.execute(insertion(of: entity, where: "m.kind > 0"))
    for reference in entity.references where reference.partner == nil && !reference.isMandatory {
      told.report.lostLinks += try map.count(
        "(SELECT 1 FROM \(map.rows(of: entity)) AND m.kind > 0 AND \(isLost(reference)))")
    }
  }

  /// True of a row `o` that references an object of the older store which is not in the result.
  private func isLost(_ reference: MergedEntity.Reference) -> String {
    let key = "o." + quoted(reference.old)
    return """
      (\(key) IS NOT NULL AND \(map.result(reference.oldTarget, key)) IS NULL
      AND EXISTS (SELECT 1 FROM src.\(quoted(reference.oldTarget)) x WHERE x.Z_PK = \(key)))
      """
  }

  func insertion(
    of entity: MergedEntity, where condition: String, without: [String] = []
  )
    -> String
  {
    var columns = [
      ("Z_PK", "m.r"), ("Z_ENT", String(entity.new.entityID)), ("Z_OPT", "1"),
    ]
    for attribute in entity.attributes where !without.contains(attribute.new) {
      columns.append((attribute.new, "o." + quoted(attribute.old)))
    }
    for reference in entity.references
    where reference.partner == nil && !without.contains(reference.new) {
      let key = "o." + quoted(reference.old)
      columns.append((reference.new, map.result(reference.oldTarget, key)))
      if let other = reference.newEntity {
        columns.append((other, map.entityNumber(reference.oldTarget, key)))
      }
    }
    return """
      INSERT OR IGNORE INTO main.\(quoted(entity.new.table))
      (\(columns.map { quoted($0.0) }.joined(separator: ", ")))
      SELECT \(columns.map(\.1).joined(separator: ", ")) FROM \(map.rows(of: entity)) AND \(condition)
      ORDER BY m.r
      """
  }

  // MARK: Objects that both have

  /// What of a property differs, as bits: between old and new, old and base, new and base; and whether the older
  /// store's reference has nothing in the result, the newer store's is NULL, the older store's is, the latter is of an object
  /// that the newer store does not have, and there is nothing that could be lost.
  private struct Difference {
    let bits: Int64
    var isDifferent: Bool { bits & 1 != 0 }
    var isChangedInOld: Bool { bits & 2 != 0 }
    var isChangedInNew: Bool { bits & 4 != 0 }
    var isLost: Bool { bits & 8 != 0 }
    var isNullInNew: Bool { bits & 16 != 0 }
    var isNullInOld: Bool { bits & 32 != 0 }
    var isBack: Bool { bits & 64 != 0 }
    var isLostInOld: Bool { bits & 128 != 0 }
  }

  /// Whose value a property gets.
  private enum Choice { case same, new, old, conflict }

  /// Merges the objects of an entity that both stores have and that may differ.
  func update(_ entity: MergedEntity) throws {
    let attributes = entity.attributes.filter { !$0.isDerived }
    let references = entity.references.filter { $0.partner == nil }
    let newest = options.newest(in: entity.lineage).flatMap { name in
      entity.attributes.first { $0.name == name }
    }
    var columns = ["m.a", "m.r", entity.base == nil ? "0" : "b.Z_PK IS NOT NULL"]
    columns.append(newest.map(Self.order) ?? "0")
    columns += attributes.map(difference) + references.map(difference)
    // The newer store as it was: rows of the result change meanwhile.
    var from = """
      temp.merge_key m CROSS JOIN src.\(quoted(entity.old.table)) o ON o.Z_PK = m.a
      CROSS JOIN now.\(quoted(entity.new.table)) n ON n.Z_PK = m.r
      """
    if let base = entity.base {
      from += """
         LEFT JOIN base.\(quoted(base.table)) b ON b.Z_PK = m.a\(base.ownRows("b").map { " AND " + $0 } ?? "")
        """
    }
    let reading = try connection.prepare(
      """
      SELECT \(columns.joined(separator: ", ")) FROM \(from)
      WHERE m.t = \(map.number(entity.old.table)) AND m.e = \(entity.place) AND m.kind = 0 AND m.differs
      ORDER BY m.a
      """)
    while try reading.step() {
      try told.check()
      let (a, r) = (reading.integer(at: 0), reading.integer(at: 1))
      let hasBase = reading.integer(at: 2) != 0
      var taken: [String] = []
      var conflicts: [String] = []
      for (index, attribute) in attributes.enumerated() {
        let found = Difference(bits: reading.integer(at: 4 + index))
        switch try choice(found, attribute, entity, a, r, hasBase: hasBase) {
        case .old: taken.append(attribute.name)
        case .conflict: conflicts.append(attribute.name)
        case .same, .new: break
        }
      }
      for (index, reference) in references.enumerated() {
        let found = Difference(bits: reading.integer(at: 4 + attributes.count + index))
        if found.isLost, !found.isLostInOld { told.report.lostLinks += 1 }
        switch Self.choice(found, hasBase: hasBase) {
        case .old: taken.append(reference.name)
        case .conflict: conflicts.append(reference.name)
        case .same, .new: break
        }
      }
      if !conflicts.isEmpty {
        let winner = winner(reading.integer(at: 3), isOrdered: newest != nil)
        if winner == .old { taken += conflicts }
        try told.conflict(conflicts, of: entity, a: a, r: r, winner)
      }
      if !taken.isEmpty, try !take(taken, of: entity, a: a, r: r) {
        try connection.run(
          "INSERT INTO temp.merge_retry VALUES (?, ?, ?, ?)",
          [
            .integer(Int64(entity.place)), .integer(a), .integer(r),
            .text(taken.joined(separator: "\n")),
          ])
      }
    }
  }

  /// Who wins where both changed something.
  func winner(_ order: Int64, isOrdered: Bool) -> MergeReport.Winner {
    if isOrdered, order != 0 { return order > 0 ? .old : .new }
    switch options.general {
    case .old: return .old
    case .new: return .new
    default: return .undecided
    }
  }

  /// SQL of 1 where the older store's value is the later one, -1 where the newer store's is, else 0.
  static func order(_ attribute: MergedEntity.Attribute) -> String {
    let (old, new) = ("o." + quoted(attribute.old), "n." + quoted(attribute.new))
    return """
      CASE WHEN \(old) > \(new) OR (\(new) IS NULL AND \(old) IS NOT NULL) THEN 1 \
      WHEN \(old) < \(new) OR (\(old) IS NULL AND \(new) IS NOT NULL) THEN -1 ELSE 0 END
      """
  }

  private func difference(_ attribute: MergedEntity.Attribute) -> String {
    let (old, new) = ("o." + quoted(attribute.old), "n." + quoted(attribute.new))
    // The same name can be of two files.
    let isOther =
      attribute.allowsFiles
      ? "(\(old) IS NOT \(new) OR \(MarkedBytes.isFile(old)))" : "(\(old) IS NOT \(new))"
    guard let base = attribute.base.map({ "b." + quoted($0) }) else { return isOther }
    return "\(isOther) + 2 * (\(old) IS NOT \(base)) + 4 * (\(new) IS NOT \(base))"
  }

  private func difference(_ reference: MergedEntity.Reference) -> String {
    let (key, new) = ("o." + quoted(reference.old), "n." + quoted(reference.new))
    let old = map.result(reference.oldTarget, key)
    var parts = [
      "(\(old) IS NOT \(new))", "8 * (\(key) IS NOT NULL AND \(old) IS NULL)",
      "16 * (\(new) IS NULL)", "32 * (\(key) IS NULL)",
      """
      64 * EXISTS (SELECT 1 FROM temp.merge_key k
      WHERE k.t = \(map.number(reference.oldTarget)) AND k.a = \(key) AND k.kind > 0)
      """,
      "128 * (\(key) IS NOT NULL AND NOT \(isLost(reference)))",
    ]
    if let base = reference.base.map({ "b." + quoted($0) }) {
      let former = "coalesce(\(map.result(reference.oldTarget, base)), \(base))"
      // A reference that went with its object was not changed.
      let isThere = """
        (\(new) IS NOT NULL OR EXISTS (
        SELECT 1 FROM now.\(quoted(reference.newTarget)) x WHERE x.Z_PK = \(former)))
        """
      parts += [
        "2 * (\(old) IS NOT \(former))", "4 * (\(new) IS NOT \(former) AND \(isThere))",
      ]
    }
    return parts.joined(separator: " + ")
  }

  /// A value that only one side changed is that side's.
  private func choice(
    _ found: Difference, _ attribute: MergedEntity.Attribute, _ entity: MergedEntity, _ a: Int64,
    _ r: Int64, hasBase: Bool
  ) throws -> Choice {
    guard found.isDifferent else { return .same }
    if attribute.allowsFiles, try files.isSame(attribute, of: entity, a: a, r: r) { return .same }
    if hasBase, attribute.base != nil, !found.isChangedInOld { return .new }
    if attribute.allowsFiles, try files.hasContentOnlyInNew(attribute, of: entity, a: a, r: r) {
      try told.lose([attribute.name], of: entity, a: a, r: r, .missingFile)
      return .new
    }
    guard hasBase, attribute.base != nil else { return .conflict }
    return found.isChangedInNew ? .conflict : .old
  }

  /// The same of a reference; without a base, one that a single store has is kept.
  private static func choice(_ found: Difference, hasBase: Bool) -> Choice {
    guard found.isDifferent, !found.isLost else { return .same }
    // The newer store lost it with the object, which is back.
    if found.isNullInNew, found.isBack, !(hasBase && found.isChangedInOld) { return .old }
    if hasBase {
      guard found.isChangedInOld else { return .new }
      return found.isChangedInNew ? .conflict : .old
    }
    if found.isNullInOld { return .new }
    return found.isNullInNew ? .old : .conflict
  }

  /// Gives an object of the result the older store's values of some properties.
  ///
  /// - Returns: false where another object has a value that is unique.
  func take(
    _ names: [String], of entity: MergedEntity, a: Int64, r: Int64
  ) throws -> Bool {
    var sets: [String] = []
    for name in names {
      if let attribute = entity.attributes.first(where: { $0.name == name }) {
        sets.append("\(quoted(attribute.new)) = o.\(quoted(attribute.old))")
      } else if let reference = entity.references.first(where: { $0.name == name }) {
        let key = "o." + quoted(reference.old)
        sets.append("\(quoted(reference.new)) = \(map.result(reference.oldTarget, key))")
        if let other = reference.newEntity {
          sets.append("\(quoted(other)) = \(map.entityNumber(reference.oldTarget, key))")
        }
        if let position = reference.newPosition { sets.append("\(quoted(position)) = NULL") }
      }
    }
    let statement = try connection.cached(
      """
      UPDATE OR IGNORE main.\(quoted(entity.new.table)) AS n SET \(sets.joined(separator: ", "))
      FROM src.\(quoted(entity.old.table)) o WHERE n.Z_PK = ? AND o.Z_PK = ?
      """)
    try statement.run([.integer(r), .integer(a)])
    guard connection.changes > 0 else { return false }
    try map.touch(r, in: entity.old.table)
    for reference in entity.references where names.contains(reference.name) {
      guard let position = reference.newPosition else { continue }
      let place = reference.oldPosition.map { quoted($0) } ?? "NULL"
      let placing = try connection.cached(
        """
        INSERT OR REPLACE INTO temp.merge_placed
        SELECT \(StoreSchema.text(entity.new.table + "." + position)), ?, \(place)
        FROM src.\(quoted(entity.old.table)) WHERE Z_PK = ?
        """)
      try placing.run([.integer(r), .integer(a)])
    }
    try files.bring(names, of: entity, a: a, r: r)
    return true
  }
}
