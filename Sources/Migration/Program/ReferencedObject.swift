import ManagedModel
import ManagedStore
import SQLite

/// The object that a mapping made of a source object.
struct ReferencedObject {
  /// Its key; NULL where there is none.
  var key: ColumnValue
  /// Its entity ID.
  var number: ColumnValue
  /// Only known when policies have run.
  var isLate: Bool
}

extension MappingLayout {
  /// What became of a source object, as an object that a relationship can lead to.
  ///
  /// - Parameters:
  ///   - key: the source object's key.
  ///   - sourceEntity: it is of this entity or one below it.
  ///   - through: the mapping that is asked; `nil` asks those that made a `destination` of it.
  ///   - mayDangle: whether the source object is looked for, though its key tells all.
  func destinationObject(
    of key: ColumnValue, sourceEntity: String, through: String?, to destination: String,
    in entityMapping: EntityMapping, _ property: String, mayDangle: Bool = false
  ) throws -> ReferencedObject? {
    let subtree = store.model.subtree(of: sourceEntity)
    let candidates = try takers(
      of: sourceEntity, through: through, to: destination, in: entityMapping, property)
    guard !candidates.isEmpty, let table = store.table(of: sourceEntity) else { return nil }
    let isLate = candidates.contains(where: isPolicy)
    let covered = Set(candidates.compactMap(\.source))
    let isComplete = subtree.allSatisfy {
      covered.contains($0) || store.model.entity(named: $0)?.isAbstract == true
    }
    let offsets = Set(
      candidates.map { keys[$0.name].flatMap { if case .offset(let by) = $0 { by } else { nil } } })
    let numbers = Set(candidates.compactMap { $0.destination.flatMap { schema.numbers[$0] } })
    if !mayDangle, isComplete, candidates.allSatisfy({ $0.condition == nil }), offsets.count == 1,
      let offset = offsets.first ?? nil
    {
      let number: ColumnValue
      if numbers.count == 1, let only = numbers.first {
        if case .column(let name) = key {
          number = .ifPresent(name, .constant(.integer(only)))
        } else {
          number = .lookup(
            "CASE WHEN \(key.sql ?? "NULL") IS NOT NULL THEN \(only) END", reading: key.reads)
        }
      } else {
        number = lookup(
          key, in: table, isComputed: key.isComputed,
          candidates.compactMap { candidate in
            guard let from = candidate.source.flatMap({ store.table(of: $0)?.entityID }),
              let to = candidate.destination.flatMap({ schema.numbers[$0] })
            else { return nil }
            return ("d.Z_ENT = \(from)", String(to))
          })
      }
      return ReferencedObject(
        key: KeyAssignment.offset(offset).destination(of: key), number: number, isLate: isLate)
    }
    var keyCases: [(String, String)] = []
    var numberCases: [(String, String)] = []
    for candidate in candidates {
      guard let from = candidate.source, let own = store.table(of: from),
        let assignment = keys[candidate.name],
        let to = candidate.destination.flatMap({ schema.numbers[$0] })
      else { continue }
      var conditions = try conditions(of: candidate, from: from, row: "d")
      if conditions.isEmpty {
        conditions = [RowCondition("d.Z_ENT = \(own.entityID)", entity: own.entityID)]
      }
      let when = conditions.allTrue
      let made = assignment.destination(of: "d.Z_PK")
      keyCases.append((when, made))
      let isThere = if case .table = assignment { " AND \(made) IS NOT NULL" } else { "" }
      numberCases.append((when + isThere, String(to)))
    }
    // Conditions that a person wrote can fail.
    let isComputed = key.isComputed || candidates.contains { $0.condition != nil }
    return ReferencedObject(
      key: lookup(key, in: table, isComputed: isComputed, keyCases),
      number: lookup(key, in: table, isComputed: isComputed, numberCases), isLate: isLate)
  }

  private func lookup(
    _ key: ColumnValue, in table: EntityTable, isComputed: Bool,
    _ cases: [(when: String, then: String)]
  ) -> ColumnValue {
    let cases = cases.map { "WHEN \($0.when) THEN \($0.then)" }.joined(separator: " ")
    let sql = """
      (SELECT CASE \(cases) END FROM src.\(quoted(table.table)) d WHERE d.Z_PK = \(key.sql ?? "NULL"))
      """
    return isComputed ? .computed(sql, reading: key.reads) : .lookup(sql, reading: key.reads)
  }
}
