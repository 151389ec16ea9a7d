import SQLite
import Salvage

extension RemainsCopy {
  /// Links that are no longer in a join table, by the row IDs that it gave out.
  package struct MissingLinks: Equatable {
    /// The relationship that names the table, with its entity, such as `Recipe.tags`.
    package var relationship: String
    /// Row IDs that are in no row, up to the greatest that is.
    package var removed: Int
    /// Links that were found and that the table does not have.
    package var found: Int
  }

  /// Most links that are compared with those of the store.
  private static let mostLinks = 100_000

  /// Join tables of which more links were removed than were found. A table with a page that cannot be read is left out.
  ///
  /// - Throws: ``CoreDataError`` where the file cannot be read, `SQLiteError`.
  package func missingLinks() throws -> [MissingLinks] {
    var result: [MissingLinks] = []
    for (root, join) in joins.sorted(by: { $0.key < $1.key }) {
      guard let named = schema.joins.first(where: { $0.name == join.name }),
        !source.trees.holes.contains(where: { $0.root == root })
      else { continue }
      let columns = join.columns.prefix(2).map { quoted($0.name) }.joined(separator: ", ")
      let rows = try connection.rows(
        "SELECT \(columns) FROM \(quoted(CarvedLinks.table(of: join.name))) UNION SELECT \(columns) FROM \(quoted(join.name)) LIMIT \(Self.mostLinks + 1)"
      )
      guard rows.count <= Self.mostLinks else { continue }
      var found = Set(rows.map { $0.map(\.integer) })
      var (count, greatest): (Int64, Int64) = (0, 0)
      var scan = RowScan(source.image, source.trees)
      try scan.rows(where: { $0 == .leaf && $1 == root }, isCancelled: isCancelled) { row, record in
        count += 1
        greatest = max(greatest, row.key)
        if !found.isEmpty { found.remove([record.integer(0), record.integer(1)]) }
      }
      let removed = Int(max(0, greatest - count))
      guard removed > found.count else { continue }
      result.append(
        MissingLinks(
          relationship: "\(named.entity).\(named.relationship)", removed: removed,
          found: found.count))
    }
    return result
  }
}
