import ManagedModel
import ManagedStore
import Migration
import SQLite

/// What a save leaves of itself besides the objects: their versions (Z_OPT), and a transaction in persistent history.
struct EditHistory {
  /// Who the transaction is of.
  static let author = "strata"

  let store: Store
  let connection: Connection
  let meter: ProgressMeter

  /// Counts the versions of changed objects up, as a save does; `now()` attributes follow by their triggers.
  func raiseVersions() throws {
    for (name, numbers) in Dictionary(
      grouping: store.entityTables, by: \.table
    ).mapValues({ $0.map(\.entityID) }) where store.database.contains(name) {
      try connection.execute(
        """
        UPDATE main.\(quoted(name)) SET Z_OPT = \(HistoryWriter.raisedVersion) WHERE Z_PK IN
        (SELECT DISTINCT key FROM edit.changes WHERE number IN (\(numbers.list)))
        """)
    }
  }

  /// Adds the transaction.
  ///
  /// - Returns: its number; `nil` where the store keeps no history.
  func write() throws -> Int64? {
    guard let writer = HistoryWriter(store, connection: connection) else { return nil }
    let transaction = try writer.addTransaction(author: Self.author)
    try writer.addChanges(of: transaction) { add in
      try addUpdates(add)
      try addDeletions(add, places: writer.tombstoneCount)
    }
    return transaction
  }

  private func addUpdates(_ add: (HistoryWriter.Change) throws -> Void) throws {
    let walk = ModelWalk(store.model, numbers: store.schema.numbers)
    let statement = try connection.prepare(
      "SELECT number, key, subject FROM edit.changes ORDER BY number, key")
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
        if count % 1000 == 0 { try meter.checkCancelled() }
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
      case .toMany(_, let name): subject = EditList.Subject.toMany + name
      case .column(let column):
        switch column.content {
        case .attribute(_, let name): subject = EditList.Subject.attribute + name
        case .toOne(_, let name): subject = EditList.Subject.toOne + name
        case .toOneEntity(_, let name): subject = EditList.Subject.toOneEntity + name
        case .toOneOrder(_, let name): subject = EditList.Subject.toOneOrder + name
        case .owner(let entity, let name): subject = EditList.Subject.owner + "\(entity).\(name)"
        case .ownerOrder(let entity, let name):
          subject = EditList.Subject.ownerOrder + "\(entity).\(name)"
        }
      }
      places[subject] = places[subject] ?? place
    }
    return places
  }

  private func addDeletions(
    _ add: (HistoryWriter.Change) throws -> Void, places: Int
  ) throws {
    let numbers = try connection.rows("SELECT DISTINCT number FROM edit.deleted ORDER BY 1")
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
        SELECT \((["s.Z_PK"] + columns).joined(separator: ", ")) FROM edit.deleted e
        CROSS JOIN src.\(quoted(table.table)) s ON s.Z_PK = e.key
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
