import ManagedModel
import ManagedStore
import SQLite

/// What is wrong with the objects themselves: every rule of the model against every row, in one pass
/// over the rows of each entity.
struct DataLayer {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try ValueFunctions.define(on: store.connection)
    var found: [Finding] = []
    if store.modelSource != .raw {
      for table in store.entityTables where store.database.contains(table.table) {
        found += try RowRules(place: place, store: store).findings(of: table)
      }
      found += try EntityCheck(place: place, store: store).findings()
      found += try LinkChecks(place: place, store: store).findings()
      found += try OrderCheck(place: place, store: store).findings()
      found += try UniquenessCheck(place: place, store: store).findings()
    }
    return try found + ExternalCheck(place: place, store: store).findings()
  }
}
