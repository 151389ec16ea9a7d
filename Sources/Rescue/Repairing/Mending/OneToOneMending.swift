import ManagedModel
import ManagedStore
import SQLite

/// The two sides of one-to-ones, where they disagree.
///
/// Where an object leads to one that leads nowhere, and no other leads there, that one gets its other
/// side. Which of two links counts that contradict each other is a choice: asked for by name, the pair
/// counts that agrees, and a link into it from elsewhere goes.
struct OneToOneMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.oneToOne) else { return }
    for side in source.model.oneToOnes.flatMap(\.sides) {
      guard let own = source.table(of: side.entity),
        let storage = own.storage(of: side.name), let column = storage.toOneColumn,
        let inverse = side.relationship.inverse,
        let other = source.table(of: side.relationship.destination),
        let back = other.storage(of: inverse), let backColumn = back.toOneColumn
      else { continue }
      let link = Link(
        entity: side.entity, name: side.name, inverse: inverse,
        destination: side.relationship.destination, own: own, other: other, column: column,
        entityColumn: storage.entityColumn, back: backColumn, backEntity: back.entityColumn)
      try complete(link)
      if work.options.names(.oneToOne) { try takeOut(link) }
    }
  }

  private struct Link {
    let entity: String
    let name: String
    let inverse: String
    let destination: String
    let own: EntityTable
    let other: EntityTable
    let column: String
    let entityColumn: String?
    let back: String
    let backEntity: String?

    /// The rows `t` that lead to a row `o`.
    var owners: String {
      "main.\(quoted(own.table)) t WHERE t.Z_ENT IN (\(own.numbers.list)) AND t.\(quoted(column)) = o.Z_PK"
    }
  }

  /// The other side, where that is empty and only one claims it.
  private func complete(_ link: Link) throws {
    let other = "main." + quoted(link.other.table)
    let rows = """
      o.\(quoted(link.back)) IS NULL AND o.Z_ENT IN (\(link.other.numbers.list))
      AND (SELECT count(*) FROM \(link.owners)) = 1
      """
    let entity = work.entity(of: "t", else: link.entity)
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "o", else: link.destination), key: "o.Z_PK",
        property: link.inverse.literal, old: "NULL",
        new: "(SELECT \(entity) || '/p' || t.Z_PK FROM \(link.owners))",
        "FROM \(other) o WHERE \(rows)") > 0
    else { return }
    var assignments = ["\(quoted(link.back)) = (SELECT t.Z_PK FROM \(link.owners))"]
    if let column = link.backEntity {
      assignments.append("\(quoted(column)) = (SELECT t.Z_ENT FROM \(link.owners))")
    }
    try work.connection.execute(
      "UPDATE \(other) AS o SET \(assignments.joined(separator: ", ")) WHERE \(rows)")
  }

  /// A link to an object that agrees with another one.
  private func takeOut(_ link: Link) throws {
    let own = "main." + quoted(link.own.table)
    let rows = """
      t.Z_ENT IN (\(link.own.numbers.list)) AND EXISTS (
        SELECT 1 FROM main.\(quoted(link.other.table)) o
        JOIN main.\(quoted(link.own.table)) p ON p.Z_PK = o.\(quoted(link.back))
        WHERE o.Z_PK = t.\(quoted(link.column)) AND p.Z_PK <> t.Z_PK
        AND p.\(quoted(link.column)) = o.Z_PK)
      """
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "t", else: link.entity), key: "t.Z_PK",
        property: link.name.literal,
        old: "\(link.destination.literal) || '/p' || t.\(quoted(link.column))",
        "FROM \(own) t WHERE \(rows)") > 0
    else { return }
    let columns = [link.column, link.entityColumn].compactMap { $0 }
    let assignments = columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
    try work.connection.execute("UPDATE \(own) AS t SET \(assignments) WHERE \(rows)")
  }
}
