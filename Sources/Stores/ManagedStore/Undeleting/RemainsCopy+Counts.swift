import SQLite

extension RemainsCopy {
  /// How many rows of an entity were found.
  package struct Count: Sendable, Equatable {
    /// The entity.
    package var entity: String
    /// What the rows are.
    package var state: RowOrigin.State
    /// How many there are.
    package var rows: Int
    /// How many of them have a key that was inferred.
    package var inferred: Int
    /// How many have none that is known.
    package var keyless: Int
    /// Of how many some values are lost.
    package var partial: Int
    /// How many of them were never saved.
    package var unsaved: Int
    /// How many of them may be earlier states of objects that live.
    package var unsure: Int
    /// Of how many the key is one that two rows have, and nothing shows which was there last.
    package var ambiguous: Int
    /// How many of them may be lost, and not deleted.
    package var lost: Int
    /// How many of them stood among rows of another time.
    package var former: Int
    /// Of how many of these the entity is not known.
    package var misnumbered: Int
    /// How many of them stood in room that is not in use, where a later state may have been overwritten.
    package var carved: Int
    /// How many of the keys that were given out they have.
    package var keys: Int
  }

  /// What was found of each entity, in the order of names.
  package func counts() throws -> [Count] {
    let names = Dictionary(schema.numbers.map { ($1, $0) }) { first, _ in first }
    var result: [Count] = []
    for (place, table) in tables.enumerated() {
      let rows = try connection.rows(
        """
        SELECT t.Z_ENT, r.state, count(*), total(r.certainty = 'inferred'), total(r.key IS NULL), \
        total(NOT r.whole), total(NOT r.saved), total(r.unsure AND r.certainty <> 'certain'), \
        total(r.certainty = 'ambiguous'), total(r.lost), total(r.former > 0), total(r.former = 2), \
        total(r.source < 2 AND NOT r.cell), count(DISTINCT iif(r.key BETWEEN 1 AND ?2, r.key, NULL)) \
        FROM found.row r JOIN \(quoted(table)) t ON t.Z_PK = r.pk WHERE r.place = ?1 GROUP BY 1, 2
        """, [.integer(Int64(place)), .integer(given[place])])
      for row in rows {
        guard let number = row[0].integer, let name = names[number],
          let state = row[1].integer.flatMap(RowOrigin.State.init)
        else { continue }
        func count(_ column: Int) -> Int {
          if case .real(let number) = row[column] { return Int(number) }
          return Int(row[column].integer ?? 0)
        }
        result.append(
          Count(
            entity: name, state: state, rows: count(2), inferred: count(3), keyless: count(4),
            partial: count(5), unsaved: count(6), unsure: count(7), ambiguous: count(8),
            lost: count(9), former: count(10), misnumbered: count(11), carved: count(12),
            keys: count(13)))
      }
    }
    return result.sorted { ($0.entity, $0.state.rawValue) < ($1.entity, $1.state.rawValue) }
  }
}
