/// Chooses among the orders that a table's columns may have.
struct OrderDecision {
  let columns: [StoreSchema.Column]
  let traits: [ColumnTraits]
  /// How well each column fits each place.
  let scores: [[Double]]
  let evidence: ColumnEvidence
  /// Orders that versions of the model lead to, as columns by place; empty where they are not known.
  let candidates: [[Int]]
  /// Orders that a text in the file tells.
  let remnants: [[Int]]

  /// What an order counts; columns of positions aside, which are told by the links beside them.
  private func score(_ order: [Int]) -> Double {
    order.enumerated().reduce(0) { $0 + scores[$1.element][$1.offset] }
  }

  /// The order to take, and which columns may stand for one another.
  func order(doubt: Double, price: Double) -> ColumnOrdering.Order {
    let shortest = evidence.lengths.keys.min() ?? 0
    // A row that ends early was written before what comes behind it was there.
    let needed = max(0, columns.count + ColumnOrdering.standing - shortest)
    let search = OrderSearch(scores: scores, positions: traits.map(\.isOrder))
    guard needed <= min(columns.count, OrderSearch.mostAppended) else {
      return finished(Array(columns.indices), others: [:], isUnfit: true)
    }
    let most = min(columns.count, OrderSearch.mostAppended)
    let results = (needed...most).map { search.best(appended: $0) }
    guard
      let best = results.map(\.order).max(by: {
        ($0.score - price * Double($0.appended), $1.appended)
          < ($1.score - price * Double($1.appended), $0.appended)
      })
    else { return finished(Array(columns.indices), others: [:], isUnfit: true) }
    var order = columns.indices.map { place in best.places.firstIndex(of: place) ?? place }
    let isUnfit = best.score < -0.75 * ColumnTraits.most
    // What the file itself says is better than what its values may mean.
    let told = remnants.filter { fits($0, needed) && score($0) >= best.score - doubt }
    if let first = told.first, Set(told).count == 1 {
      return .init(columns: first.map { columns[$0] })
    }
    var others: [Int: Set<Int>] = [:]
    let known = candidates.filter { fits($0, needed) }.sorted { score($0) > score($1) }
    if let first = known.first, score(first) >= best.score - price {
      order = first
      for other in known where score(other) >= score(first) - doubt {
        for place in order.indices where other[place] != order[place] {
          others[place, default: []].insert(other[place])
        }
      }
    } else {
      for (result, appended) in zip(results, needed...most) where appended <= best.appended + 1 {
        for place in order.indices {
          for column in columns.indices where column != order[place] {
            let isExchanged = traits[column].isOrder && traits[order[place]].isOrder
            if !isExchanged, result.most[column][place] >= best.score - doubt {
              others[place, default: []].insert(column)
            }
          }
        }
      }
    }
    return finished(order, others: others, isUnfit: isUnfit)
  }

  /// Whether an order has at its end what rows that are short do not have. It may stand there in a new store
  /// too, where nothing tells that it came later.
  private func fits(_ order: [Int], _ needed: Int) -> Bool {
    let first = order.prefix(order.count - needed).filter { !traits[$0].isOrder }
    return needed == 0 || first == first.sorted() || candidates.contains(order)
      || remnants.contains(order)
  }

  private func finished(
    _ order: [Int], others: [Int: Set<Int>], isUnfit: Bool
  ) -> ColumnOrdering.Order {
    var order = order
    var doubtful: Set<Int> = []
    for (place, columns) in others where evidence.isLive(place + ColumnOrdering.standing) {
      doubtful.formUnion(columns)
      doubtful.insert(order[place])
    }
    let positions = PositionPlaces(columns: columns, traits: traits, evidence: evidence)
    doubtful.formUnion(positions.settle(&order))
    return .init(
      columns: order.map { columns[$0] },
      doubtful: isUnfit ? columns : doubtful.sorted().map { columns[$0] }, isUnfit: isUnfit)
  }
}
