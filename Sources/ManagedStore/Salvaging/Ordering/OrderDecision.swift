/// Chooses among the orders that a table's columns may have.
struct OrderDecision {
  let columns: [StoreSchema.Column]
  let traits: [ColumnTraits]
  /// How well each column fits each place.
  let scores: [[Double]]
  /// What else speaks for it, and is too little to be sure.
  let hints: [[Double]]
  let evidence: ColumnEvidence
  /// Orders that versions of the model lead to, as columns by place; empty where they are not known.
  let candidates: [[Int]]
  /// Orders that a text in the file tells.
  let remnants: [[Int]]

  /// What an order counts; columns of positions aside, which are told by the links beside them.
  func score(_ order: [Int]) -> Double {
    order.enumerated().reduce(0) {
      $0 + (traits[$1.element].isOrder ? 0 : scores[$1.element][$1.offset])
    }
  }

  /// What else speaks for an order.
  func hint(_ order: [Int]) -> Double {
    order.enumerated().reduce(0) { $0 + hints[$1.element][$1.offset] }
  }

  /// How many columns came later than the oldest rows, which end before them.
  private var needed: Int {
    max(0, columns.count + ColumnOrdering.standing - (evidence.lengths.keys.min() ?? 0))
  }

  /// What the best order counts, with few columns at the end.
  func fit(price: Double) -> Double {
    let search = OrderSearch(scores: scores, positions: traits.map(\.isOrder))
    let most = min(columns.count, 3)
    guard needed <= most else { return -ColumnTraits.most }
    return (needed...most).map { search.best(appended: $0).order.score - price * Double($0) }.max()
      ?? 0
  }

  /// Whether an order can be, where rows end early: what they do not have came later, and what they have
  /// stands as in a new store.
  func isPossible(_ order: [Int]) -> Bool {
    let first = order.prefix(max(0, order.count - needed)).filter { !traits[$0].isOrder }
    return needed == 0 || remnants.contains(order) || candidates.dropFirst().contains(order)
      || first == first.sorted()
  }

  /// The order to take, and which columns may stand for one another.
  ///
  /// - Parameter starts: the candidates that the whole store speaks for, the likeliest first.
  func order(doubt: Double, price: Double, starts: [Int]) -> ColumnOrdering.Order {
    let new = Array(columns.indices)
    guard needed <= min(columns.count, OrderSearch.mostAppended) else {
      return finished(new, others: [:], isUnfit: true)
    }
    let positions = traits.map(\.isOrder)
    let plain = OrderSearch(scores: scores, positions: positions)
    let hinted = OrderSearch(
      scores: zip(scores, hints).map { zip($0, $1).map { $0 + $1 } }, positions: positions)
    let range = needed...min(columns.count, OrderSearch.mostAppended)
    let found = range.map { hinted.best(appended: $0).order }
    guard
      let best = found.max(by: {
        ($0.score - price * Double($0.appended), $1.appended)
          < ($1.score - price * Double($1.appended), $0.appended)
      })
    else { return finished(new, others: [:], isUnfit: true) }
    var order = new
    for (column, place) in best.places.enumerated() { order[place] = column }
    let count = score(order)
    let isUnfit = count < -0.75 * ColumnTraits.most
    // What the file itself says is better than what its values may mean.
    let told = remnants.filter { isPossible($0) && score($0) >= count - price }
    if let first = told.first, Set(told).count == 1 {
      return .init(columns: first.map { columns[$0] })
    }
    let known = starts.filter(candidates.indices.contains).map { candidates[$0] }
    if let first = known.first, isPossible(first), score(first) >= count - 2 * price {
      var others: [Int: Set<Int>] = [:]
      for other in known {
        for place in first.indices where other[place] != first[place] {
          others[place, default: []].insert(other[place])
        }
      }
      return finished(first, others: others, isUnfit: isUnfit)
    }
    return finished(
      order, others: others(than: order, plain, range, appended: best.appended, doubt),
      isUnfit: isUnfit)
  }

  /// The columns that may stand in a place instead, where orders count nearly as much.
  private func others(
    than order: [Int], _ search: OrderSearch, _ range: ClosedRange<Int>, appended: Int,
    _ doubt: Double
  ) -> [Int: Set<Int>] {
    var others: [Int: Set<Int>] = [:]
    let all = range.filter { $0 <= appended + 1 }.map { search.best(appended: $0) }
    let best = all.map(\.order).first { $0.appended == appended }?.score ?? 0
    for result in all {
      for place in order.indices {
        for column in columns.indices where column != order[place] {
          let isExchanged = traits[column].isOrder && traits[order[place]].isOrder
          if !isExchanged, result.most[column][place] >= best - doubt {
            others[place, default: []].insert(column)
          }
        }
      }
    }
    return others
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
