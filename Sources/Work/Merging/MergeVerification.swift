import ManagedModel
import ManagedStore
import Rescue
import SQLite

/// Checks a merged store against both stores that it was made of.
struct MergeVerification {
  let map: ObjectMap
  let told: MergeTelling
  /// Whether links that the newer store took away stay away.
  let keepsDeleted: Bool

  /// Most columns that are compared at once: SQLite bounds the depth of an expression.
  private static let batch = 100

  /// That each object of both stores is in the result or named in the report, that those which the merge does not
  /// concern are as they were, and that those which came in have their values and to-ones.
  func run() throws {
    var done: Set<String> = []
    for entity in map.entities {
      try told.check()
      let (new, old) = (quoted(entity.new.table), quoted(entity.old.table))
      let number = map.number(entity.old.table)
      func own(_ condition: String?) -> String { condition.map { " AND " + $0 } ?? "" }
      try require(
        "objects of the newer store", entity,
        """
        now.\(new) n LEFT JOIN main.\(new) r ON r.Z_PK = n.Z_PK
        WHERE r.Z_ENT IS NOT n.Z_ENT\(own(entity.new.ownRows("n")))
        """)
      if entity.isIncluded {
        try require(
          "objects of the older store", entity,
          """
          src.\(old) o LEFT JOIN temp.merge_key k ON k.t = \(number) AND k.a = o.Z_PK
          LEFT JOIN main.\(new) r ON r.Z_PK = k.r
          WHERE r.Z_ENT IS NOT \(entity.new.entityID)\(own(entity.old.ownRows("o")))
          AND NOT EXISTS (SELECT 1 FROM temp.merge_out x WHERE x.t = \(number) AND x.a = o.Z_PK)
          """)
      }
      try require(
        "objects of either store", entity,
        """
        main.\(new) r WHERE NOT EXISTS (SELECT 1 FROM now.\(new) n WHERE n.Z_PK = r.Z_PK)
        AND NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number) AND k.r = r.Z_PK AND k.kind > 0)\
        \(own(entity.new.ownRows("r")))
        """)
      let derived = Set(entity.attributes.filter(\.isDerived).map(\.new))
      let kept = (map.stores.new.database.tables[entity.new.table] ?? []).map(\.name)
        .filter { !derived.contains($0) }
      try requireEqual(
        "values of the newer store", entity, kept.map { "n.\(quoted($0)) IS NOT r.\(quoted($0))" },
        """
        now.\(new) n JOIN main.\(new) r ON r.Z_PK = n.Z_PK WHERE NOT EXISTS (
        SELECT 1 FROM temp.merge_touched x WHERE x.t = \(number) AND x.r = n.Z_PK)\
        \(own(entity.new.ownRows("n")))
        """)
      // What was lost on the way is in the report.
      let lost = told.report.losses.filter { $0.change.entity == entity.name && $0.change.b == nil }
        .compactMap { $0.change.a?.key }
      let values = entity.attributes.filter { !$0.isDerived }
      try requireEqual(
        "values of the older store", entity,
        values.map { "(o.\(quoted($0.old)) IS NOT r.\(quoted($0.new))\(Self.isInRow($0)))" }
          + entity.references.filter { $0.partner == nil }.map {
            "\(map.result($0.oldTarget, "o." + quoted($0.old))) IS NOT r.\(quoted($0.new))"
          },
        """
        \(map.rows(of: entity, with: "CROSS JOIN main.\(new) r ON r.Z_PK = m.r"))
        AND m.kind > 0 AND m.a NOT IN (\(lost.list))
        """)
      try requireEqual(
        "values of either store", entity,
        values.map {
          let (old, new) = (quoted($0.old), quoted($0.new))
          return "(r.\(new) IS NOT n.\(new) AND r.\(new) IS NOT o.\(old)\(Self.isInRow($0)))"
        }
          + entity.references.filter { $0.partner == nil }.map {
            let (old, new) = (map.result($0.oldTarget, "o." + quoted($0.old)), quoted($0.new))
            return "(r.\(new) IS NOT n.\(new) AND r.\(new) IS NOT \(old))"
          },
        """
        \(map.rows(of: entity, with: "CROSS JOIN main.\(new) r ON r.Z_PK = m.r CROSS JOIN now.\(new) n ON n.Z_PK = m.r"))
        AND m.kind = 0
        """)
      try requireReferences(of: entity)
      try requirePartners(of: entity)
      try requireLinks(of: entity, &done)
    }
  }

  /// Of a value that may be the name of a file, which gets another name, that it is none.
  private static func isInRow(_ attribute: MergedEntity.Attribute) -> String {
    attribute.allowsFiles ? " AND NOT \(MarkedBytes.isFile("o." + quoted(attribute.old)))" : ""
  }

  /// That both ends of a one-to-one name each other, but for those that did not do so in the newer store.
  private func requirePartners(of entity: MergedEntity) throws {
    for reference in entity.references {
      guard let partner = reference.partner,
        let back = map.entities.lazy.filter({ $0.new.table == reference.newTarget })
          .compactMap({ other in other.references.first { $0.name == partner } }).first
      else { continue }
      let (table, target) = (quoted(entity.new.table), quoted(reference.newTarget))
      let (column, other) = (quoted(reference.new), quoted(back.new))
      func isMutual(_ schema: String) -> String {
        "EXISTS (SELECT 1 FROM \(schema).\(target) d WHERE d.Z_PK = r.\(column) AND d.\(other) = r.Z_PK)"
      }
      let own = entity.new.ownRows("r").map { " AND " + $0 } ?? ""
      try require(
        "partners of one-to-ones", entity,
        """
        main.\(table) r WHERE r.\(column) IS NOT NULL\(own) AND NOT \(isMutual("main"))
        AND NOT EXISTS (SELECT 1 FROM now.\(table) n WHERE n.Z_PK = r.Z_PK
        AND n.\(column) IS r.\(column) AND NOT \(isMutual("now")))
        """)
    }
  }

  /// That no reference of the result has lost its object.
  private func requireReferences(of entity: MergedEntity) throws {
    for reference in entity.references {
      let (table, target) = (quoted(entity.new.table), quoted(reference.newTarget))
      let column = quoted(reference.new)
      let own = entity.new.ownRows("r").map { " AND " + $0 } ?? ""
      try require(
        "references", entity,
        """
        main.\(table) r WHERE r.\(column) IS NOT NULL\(own)
        AND NOT EXISTS (SELECT 1 FROM main.\(target) d WHERE d.Z_PK = r.\(column))
        AND NOT EXISTS (SELECT 1 FROM now.\(table) n WHERE n.Z_PK = r.Z_PK AND n.\(column) IS r.\(column))
        """)
    }
  }

  private func requireEqual(
    _ what: String, _ entity: MergedEntity, _ differences: [String], _ from: String
  ) throws {
    for start in stride(from: 0, to: differences.count, by: Self.batch) {
      let part = differences[start..<min(differences.count, start + Self.batch)]
      try require(what, entity, "\(from) AND (\(part.joined(separator: " OR ")))")
    }
  }

  /// That the links of many-to-many relationships of both stores are in the result.
  private func requireLinks(of entity: MergedEntity, _ done: inout Set<String>) throws {
    for entry in entity.new.relationships {
      guard let storage = entry.storage, storage.isJoin, done.insert(storage.table).inserted,
        let former = entity.old.storage(of: entry.relationship.name), former.isJoin,
        let target = map.stores.tables(of: entry.relationship.destination)
      else { continue }
      let (table, owner, other) = (
        quoted(storage.table), quoted(storage.owner), quoted(storage.destination)
      )
      try require(
        "links of the newer store", entity,
        """
        now.\(table) n WHERE NOT EXISTS (
        SELECT 1 FROM main.\(table) r WHERE r.\(owner) IS n.\(owner) AND r.\(other) IS n.\(other))
        """)
      guard !keepsDeleted else { continue }
      func isThere(_ one: String, _ two: String) -> String {
        "EXISTS (SELECT 1 FROM main.\(table) r WHERE r.\(owner) = \(one) AND r.\(other) = \(two))"
      }
      let included = map.entities.filter(\.isIncluded).map { Int64($0.place) }.list
      try require(
        "links of the older store", entity,
        """
        (\(former.allLinks(in: "src."))) l
        JOIN temp.merge_key k ON k.t = \(map.number(entity.old.table)) AND k.a = l.owner
        JOIN temp.merge_key q ON q.t = \(map.number(target.old)) AND q.a = l.destination
        WHERE (k.e IN (\(included)) OR q.e IN (\(included))) AND NOT \(isThere("k.r", "q.r"))\
        \(storage.kind == .reflexive ? " AND NOT " + isThere("q.r", "k.r") : "")
        """)
    }
  }

  private func require(_ what: String, _ entity: MergedEntity, _ rows: String) throws {
    let count = try map.count("(SELECT 1 FROM \(rows))")
    guard count == 0 else {
      throw CoreDataError(
        .failed, "verification failed: the result does not have the \(what) (\(count))",
        entity: entity.name, hint: "The result was removed. Both stores are unchanged.")
    }
  }

  // MARK: Doctor

  /// That nothing is wrong with the result that is not wrong with one of the stores.
  ///
  /// - Parameter hasFiles: whether the files of external data are beside it.
  static func diagnose(
    _ path: String, of stores: MergedStores, hasFiles: Bool = true,
    isCancelled: @escaping () -> Bool
  ) throws {
    func diagnosis(_ path: String) throws -> [String: Int] {
      let model = stores.new.modelSource == .store ? nil : stores.new.wholeModel
      let found = try Diagnosis(of: path, model: model, isCancelled: isCancelled).findings
      return found.filter { $0.severity != .note }.reduce(into: [:]) { counts, finding in
        let place = [finding.kind.rawValue, finding.entity ?? "", finding.property ?? ""]
        counts[place.joined(separator: " "), default: 0] += finding.count ?? 1
      }
    }
    let result = try diagnosis(path).filter {
      hasFiles || !$0.key.hasPrefix(FindingKind.externalMissing.rawValue)
    }
    guard !result.isEmpty else { return }
    let (old, new) = (try diagnosis(stores.old.path), try diagnosis(stores.new.path))
    for (what, count) in result.sorted(by: { $0.key < $1.key })
    where count > (old[what] ?? 0) + (new[what] ?? 0) {
      throw CoreDataError(
        .failed,
        "verification failed: the result has a fault that neither store has: \(what.printable) (\(count))",
        hint: "The result was removed. Both stores are unchanged.")
    }
  }
}
