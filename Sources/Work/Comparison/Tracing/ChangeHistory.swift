import ManagedStore
import Migration
import SQLite

/// What a save leaves of itself besides the objects: their versions (Z_OPT), and a transaction in persistent history.
///
/// It is made of a ``ChangeList``.
package struct ChangeHistory {
  /// Who the transaction is of.
  package static let author = "strata"

  private let store: Store
  private let connection: Connection
  private let original: String
  private let check: () throws -> Void

  /// - Parameters:
  ///   - store: the original, which is attached as `original` says.
  ///   - connection: has the copy as `main`.
  ///   - check: throws where it was cancelled.
  package init(
    _ store: Store, on connection: Connection, original: String = "src",
    check: @escaping () throws -> Void
  ) {
    (self.store, self.connection, self.original, self.check) = (store, connection, original, check)
  }

  /// Counts the versions of changed objects up, as a save does; `now()` attributes follow by their triggers.
  package func raiseVersions() throws {
    for (name, numbers) in Dictionary(
      grouping: store.entityTables, by: \.table
    ).mapValues({ $0.map(\.entityID) }) where store.database.contains(name) {
      try connection.execute(
        """
        UPDATE main.\(quoted(name)) SET Z_OPT = \(HistoryWriter.raisedVersion) WHERE Z_PK IN
        (SELECT DISTINCT key FROM listed.changes WHERE number IN (\(numbers.list)))
        """)
    }
  }

  /// Adds the transaction.
  ///
  /// - Returns: its number; `nil` where the store keeps no history.
  package func write() throws -> Int64? {
    guard let writer = HistoryWriter(store, connection: connection) else { return nil }
    let transaction = try writer.addTransaction(author: Self.author)
    try writer.addChanges(of: transaction) { add in
      try addInsertions(add)
      try addUpdates(add)
      try addDeletions(add, places: writer.tombstoneCount)
    }
    return transaction
  }

  private func addInsertions(_ add: (HistoryWriter.Change) throws -> Void) throws {
    let statement = try connection.prepare(
      "SELECT number, key FROM listed.inserted ORDER BY number, key")
    while try statement.step() {
      try add(
        HistoryWriter.Change(
          .insert, number: statement.integer(at: 0), key: statement.integer(at: 1)))
    }
  }

  private func addUpdates(_ add: (HistoryWriter.Change) throws -> Void) throws {
    let walk = ModelWalk(store.model, numbers: store.schema.numbers)
    let statement = try connection.prepare(
      "SELECT number, key, subject FROM listed.changes ORDER BY number, key")
    var bits: (number: Int64, properties: ChangedProperties, places: [String: Int])?
    var change: (key: Int64, places: Set<Int>)?
    func flush() throws {
      guard let done = change, let bits else { return }
      var row = HistoryWriter.Change(.update, number: bits.number, key: done.key)
      row.bitmap = bits.properties.bitmap(of: done.places)
      try add(row)
      change = nil
    }
    var count = 0
    while try statement.step() {
      let (number, key) = (statement.integer(at: 0), statement.integer(at: 1))
      if bits?.number != number || change?.key != key {
        try flush()
        count += 1
        if count % 1000 == 0 { try check() }
      }
      if bits?.number != number {
        let properties = ChangedProperties(
          walk, entity: store.entityNames[number] ?? "", model: store.model)
        bits = (number, properties, Self.places(properties.order))
      }
      if change == nil { change = (key, []) }
      if let place = bits?.places[statement.text(at: 2)] { change?.places.insert(place) }
    }
    try flush()
  }

  /// Which bit a subject of the list sets.
  private static func places(_ order: [ModelWalk.ChangeBit]) -> [String: Int] {
    var places: [String: Int] = [:]
    for (place, bit) in order.enumerated() {
      let subject: String
      switch bit {
      case .toMany(_, let name): subject = ChangeList.Subject.toMany + name
      case .column(let column):
        switch column.content {
        case .attribute(_, let name): subject = ChangeList.Subject.attribute + name
        case .toOne(_, let name): subject = ChangeList.Subject.toOne + name
        case .toOneEntity(_, let name): subject = ChangeList.Subject.toOneEntity + name
        case .toOneOrder(_, let name): subject = ChangeList.Subject.toOneOrder + name
        case .owner(let entity, let name): subject = ChangeList.Subject.owner + "\(entity).\(name)"
        case .ownerOrder(let entity, let name):
          subject = ChangeList.Subject.ownerOrder + "\(entity).\(name)"
        }
      }
      places[subject] = places[subject] ?? place
    }
    return places
  }

  private func addDeletions(
    _ add: (HistoryWriter.Change) throws -> Void, places: Int
  ) throws {
    let numbers = try connection.rows("SELECT DISTINCT number FROM listed.deleted ORDER BY 1")
      .compactMap { $0.first?.integer }
    for number in numbers {
      guard let entity = store.entityNames[number], let table = store.table(of: entity) else {
        continue
      }
      let columns = store.model.tombstoneAttributes(of: entity).prefix(places).map { name in
        table.column(of: name).map { "s." + quoted($0) } ?? "NULL"
      }
      let statement = try connection.prepare(
        """
        SELECT \((["s.Z_PK"] + columns).joined(separator: ", ")) FROM listed.deleted e
        CROSS JOIN \(original).\(quoted(table.table)) s ON s.Z_PK = e.key
        WHERE e.number = \(number) ORDER BY e.key
        """)
      while try statement.step() {
        let row = statement.row()
        guard let key = row.first?.integer else { continue }
        var change = HistoryWriter.Change(.delete, number: number, key: key)
        change.tombstones = Array(row.dropFirst())
        try add(change)
      }
    }
  }
}
