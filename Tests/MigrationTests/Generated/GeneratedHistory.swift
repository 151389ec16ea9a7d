import ManagedModel
import ManagedStore
import SQLite

/// Persistent history of a generated store: of each entity updates of all, of every second and of no property, and
/// a deletion. A migration verifies what becomes of it, and the second reader that it fits the new model.
enum GeneratedHistory {
  static func write(to path: String) throws {
    let store = try Store(path: path)
    let (model, numbers) = (store.model, store.schema.numbers)
    let walk = ModelWalk(model, numbers: numbers)
    let tombstones = (0..<Tombstones.count(for: model)).map { ", \(Tombstones.column($0)) BLOB" }
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(
      """
      CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones.joined()) );
      CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
      CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
      CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (1, 16002, 700000000);
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 0), (16002, 'TRANSACTION', 0, 1), (16003, 'TRANSACTIONSTRING', 0, 0);
      """)
    let columns = "(Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)"
    for (entity, number) in numbers.sorted(by: { $0.value < $1.value }) {
      let properties = ChangedProperties(walk, entity: entity, model: model)
      let places = properties.order.indices
      for bitmap in [places.filter { _ in true }, places.filter { $0 % 2 == 0 }, []] {
        try connection.run(
          "INSERT INTO ACHANGE \(columns) VALUES (16001, 1, ?, 1, 1, ?)",
          [.integer(number), .blob(properties.bitmap(of: bitmap))])
      }
      try connection.run(
        "INSERT INTO ACHANGE \(columns) VALUES (16001, 2, ?, 99, 1, NULL)", [.integer(number)])
      for place in model.tombstoneAttributes(of: entity).indices {
        try connection.run(
          "UPDATE ACHANGE SET \(Tombstones.column(place)) = ? WHERE ZCHANGETYPE = 2 AND ZENTITY = ?",
          [.text("\(entity) \(place)"), .integer(number)])
      }
    }
  }
}
