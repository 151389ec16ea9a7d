import ManagedModel
import ManagedStore
import SQLite

/// Places in ordered relationships that are missing or equal: the objects of such an owner are
/// renumbered, in the order in which they are shown.
struct OrderMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    // Objects that came to another owner may have a place there that is taken.
    guard !work.kinds.isDisjoint(with: [.order, .uniqueness]) else { return }
    var done: Set<String> = []
    for table in source.entityTables where source.database.contains(table.table) {
      for entry in table.relationships {
        guard let storage = entry.storage, let position = storage.position,
          storage.kind != .reflexive,
          let other = source.table(of: entry.relationship.destination),
          done.insert(storage.table + "." + position).inserted
        else { continue }
        try number(entry.relationship, of: table, storage, position, other)
      }
    }
  }

  private func number(
    _ relationship: Relationship, of table: EntityTable, _ storage: RelationshipStorage,
    _ position: String, _ other: EntityTable
  ) throws {
    let connection = work.connection
    let (owner, key, order) = (
      quoted(storage.owner), quoted(storage.destination), quoted(position)
    )
    let links = "main." + quoted(storage.table)
    // With room in between, as Core Data leaves it.
    try connection.execute(
      """
      DELETE FROM log.places;
      INSERT INTO log.places (owner, key, old, new)
      SELECT l.\(owner), l.\(key), l.\(order), \(OrderKey.sql(numbering: "l." + owner, by: "ifnull(l.\(order), 0), e.name, l.\(key)"))
      FROM \(links) l
      JOIN main.\(quoted(other.table)) d ON d.Z_PK = l.\(key)
      LEFT JOIN log.entities e ON e.number = d.Z_ENT
      WHERE l.\(owner) IN (
        SELECT t.\(owner) FROM \(links) t JOIN main.\(quoted(table.table)) o ON o.Z_PK = t.\(owner)
        GROUP BY t.\(owner) HAVING count(*) <> count(DISTINCT t.\(order)))
      """)
    let child =
      "(\(work.entity(of: "d", else: relationship.destination))) || '/p' || p.key || ' at '"
    guard
      try work.note(
        .order, entity: work.entity(of: "o", else: table.entity), key: "p.owner",
        property: relationship.name.literal,
        old: "\(child) || ifnull(p.old, 'no place')", new: "\(child) || p.new",
        """
        FROM log.places p JOIN main.\(quoted(table.table)) o ON o.Z_PK = p.owner
        JOIN main.\(quoted(other.table)) d ON d.Z_PK = p.key WHERE p.old IS NOT p.new
        """) > 0
    else { return }
    try connection.execute(
      """
      UPDATE \(links) AS t SET \(order) = p.new FROM log.places p
      WHERE t.\(key) = p.key AND t.\(owner) = p.owner AND p.old IS NOT p.new
      """)
  }
}
