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
        total(r.certainty = 'ambiguous'), total(r.lost) \
        FROM found.row r JOIN \(quoted(table)) t ON t.Z_PK = r.pk WHERE r.place = ? GROUP BY 1, 2
        """, [.integer(Int64(place))])
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
            lost: count(9)))
      }
    }
    return result.sorted { ($0.entity, $0.state.rawValue) < ($1.entity, $1.state.rawValue) }
  }
}
