import ManagedModel
import ManagedStore
import SQLite

/// The object that a mapping made of a source object, as SQL.
struct DestinationObjectSQL {
  /// Its key; NULL where there is none.
  var key: String
  var number: String
  /// Only known when policies have run.
  var isLate: Bool

  /// Whether SQL does no more than look up an entity's number: nothing of it can fail.
  ///
  /// Whatever a person wrote would stand in parentheses of its own.
  static func isPlainLookup(_ sql: String) -> Bool {
    sql.hasPrefix(plainStart) && sql.utf8.count { $0 == UInt8(ascii: "(") } == 1
  }

  static let plainStart = "(SELECT CASE WHEN \(byNumber)"
  /// What the cases of a plain look-up begin with.
  static let byNumber = "d.Z_ENT = "
}

extension MappingLayout {
  /// What became of a source object, as an object that a relationship can lead to.
  ///
  /// - Parameters:
  ///   - key: SQL for the source object's key.
  ///   - sourceEntity: it is of this entity or one below it.
  ///   - through: the mapping that is asked; `nil` asks those that made a `destination` of it.
  ///   - mayDangle: whether the source object is looked for, though its key tells all.
  func destinationObject(
    of key: String, sourceEntity: String, through: String?, to destination: String,
    in entityMapping: EntityMapping, _ property: String, mayDangle: Bool = false
  ) throws -> DestinationObjectSQL? {
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
      let moved = KeyAssignment.offset(offset).destination(of: key)
      let number: String
      if numbers.count == 1, let only = numbers.first {
        number = "CASE WHEN \(key) IS NOT NULL THEN \(only) END"
      } else {
        number = lookup(
          key, in: table,
          candidates.compactMap { candidate in
            guard let from = candidate.source.flatMap({ store.table(of: $0)?.entityID }),
              let to = candidate.destination.flatMap({ schema.numbers[$0] })
            else { return nil }
            return (DestinationObjectSQL.byNumber + String(from), String(to))
          })
      }
      return DestinationObjectSQL(key: moved, number: number, isLate: isLate)
    }
    var keyCases: [(String, String)] = []
    var numberCases: [(String, String)] = []
    for candidate in candidates {
      guard let from = candidate.source, let own = store.table(of: from),
        let assignment = keys[candidate.name],
        let to = candidate.destination.flatMap({ schema.numbers[$0] })
      else { continue }
      var conditions = try conditions(of: candidate, from: from, row: "d")
      if conditions.isEmpty { conditions = ["d.Z_ENT = \(own.entityID)"] }
      let when = conditions.allTrue
      let made = assignment.destination(of: "d.Z_PK")
      keyCases.append((when, made))
      let isThere = if case .table = assignment { " AND \(made) IS NOT NULL" } else { "" }
      numberCases.append((when + isThere, String(to)))
    }
    return DestinationObjectSQL(
      key: lookup(key, in: table, keyCases), number: lookup(key, in: table, numberCases),
      isLate: isLate)
  }

  private func lookup(
    _ key: String, in table: EntityTable, _ cases: [(when: String, then: String)]
  ) -> String {
    let cases = cases.map { "WHEN \($0.when) THEN \($0.then)" }.joined(separator: " ")
    return "(SELECT CASE \(cases) END FROM src.\(quoted(table.table)) d WHERE d.Z_PK = \(key))"
  }
}
