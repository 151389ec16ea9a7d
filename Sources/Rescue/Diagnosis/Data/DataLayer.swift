import ManagedModel
import ManagedStore
import SQLite

/// What is wrong with the objects themselves: every rule of the model against every row, in one pass
/// over the rows of each entity.
struct DataLayer {
  let place: StorePlace
  let store: Store

  /// Each by itself, so that one which fails leaves the others.
  var checks: [() throws -> [Finding]] {
    // Without a model, nothing shows what columns mean.
    guard store.modelSource != .raw else { return [] }
    let rules = RowRules(place: place, store: store)
    let tables = store.entityTables.filter { store.database.contains($0.table) }
    return tables.map { table in { try rules.findings(of: table) } } + [
      PredicateCheck(place: place, store: store).findings,
      EntityCheck(place: place, store: store).findings,
      LinkChecks(place: place, store: store).findings,
      OrderCheck(place: place, store: store).findings,
      UniquenessCheck(place: place, store: store).findings,
      ExternalCheck(place: place, store: store).findings,
    ]
  }
}
