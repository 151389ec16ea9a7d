import ManagedModel
import ManagedStore
import SQLite

/// The two sides of one-to-ones, where they disagree.
///
/// Where an object references one that leads nowhere, and no other leads there, that one gets its other
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
        let storage = own.storage(of: side.name), storage.kind == .toOne,
        let inverse = side.relationship.inverse,
        let other = source.table(of: side.relationship.destination),
        let back = other.storage(of: inverse), back.kind == .toOne
      else { continue }
      let link = Link(
        entity: side.entity, name: side.name, inverse: inverse,
        destination: side.relationship.destination, own: own, other: other, storage: storage,
        back: back)
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
    /// How the side is kept, and how the other one.
    let storage: RelationshipStorage
    let back: RelationshipStorage

    /// The column of the side, and that of the other one.
    var column: String { quoted(storage.destination) }
    var backColumn: String { quoted(back.destination) }

    /// The rows `t` that reference a row `o`.
    var owners: String {
      "main.\(quoted(own.table)) t WHERE t.Z_ENT IN (\(own.numbers.list)) AND t.\(column) = o.Z_PK"
    }
  }

  /// The other side, where that is empty and only one claims it.
  private func complete(_ link: Link) throws {
    let rows = """
      o.\(link.backColumn) IS NULL AND o.Z_ENT IN (\(link.other.numbers.list))
      AND (SELECT count(*) FROM \(link.owners)) = 1
      """
    let entity = work.entity(of: "t", else: link.entity)
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "o", else: link.destination), key: "o.Z_PK",
        property: link.inverse.literal, old: "NULL",
        new: "(SELECT \(entity) || '/p' || t.Z_PK FROM \(link.owners))",
        "FROM main.\(quoted(link.other.table)) o WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(
      link.back.completing(with: link.owners, in: "main.", where: rows))
  }

  /// A link to an object that agrees with another one.
  private func takeOut(_ link: Link) throws {
    let rows = """
      t.Z_ENT IN (\(link.own.numbers.list)) AND EXISTS (
        SELECT 1 FROM main.\(quoted(link.other.table)) o
        JOIN main.\(quoted(link.own.table)) p ON p.Z_PK = o.\(link.backColumn)
        WHERE o.Z_PK = t.\(link.column) AND p.Z_PK <> t.Z_PK AND p.\(link.column) = o.Z_PK)
      """
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "t", else: link.entity), key: "t.Z_PK",
        property: link.name.literal,
        old: "\(link.destination.literal) || '/p' || t.\(link.column)",
        "FROM main.\(quoted(link.own.table)) t WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(link.storage.emptying(in: "main.", where: rows))
  }
}
