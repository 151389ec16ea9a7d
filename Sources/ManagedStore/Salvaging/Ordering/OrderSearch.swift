/// Finds the order of a table's columns that its rows fit best.
///
/// A table that was migrated in place has the columns of a new store in their order, without those that
/// came later: these follow at the end, in any order. How well a column fits a place is known for each;
/// the best order is found by way of all sets of places at the end that are taken.
struct OrderSearch {
  /// An order, as the place of each column, and what all its columns count together.
  struct Order: Equatable {
    var places: [Int]
    var score: Double
    /// How many columns stand at the end.
    var appended: Int
  }

  /// How well each column fits each place.
  let scores: [[Double]]
  /// The columns that stand in any order among themselves: those of positions.
  let positions: [Bool]
  /// Most columns at the end that are looked for.
  static let mostAppended = 8

  private var count: Int { scores.count }

  /// What a column counts in a place of the columns that were there from the beginning. Those of positions
  /// stand for one another: which is which is told later.
  private func base(_ column: Int, _ place: Int) -> Double {
    guard positions[column] else { return scores[column][place] }
    return scores.indices.filter { positions[$0] }.map { scores[$0][place] }.max() ?? 0
  }

  /// The best order with so many columns at the end, and for each column and place the most that an order
  /// counts that has it there.
  func best(appended: Int) -> (order: Order, most: [[Double]]) {
    let sets = 1 << appended
    let first = count - appended
    let never = -Double.infinity
    // What the columns before one count, by the set of places at the end that they take.
    var ahead = Array(repeating: Array(repeating: never, count: sets), count: count + 1)
    ahead[0][0] = 0
    for column in 0..<count {
      for set in 0..<sets where ahead[column][set] > never {
        let place = column - set.nonzeroBitCount
        let score = ahead[column][set]
        if place >= 0, place < first {
          ahead[column + 1][set] = max(ahead[column + 1][set], score + base(column, place))
        }
        for end in 0..<appended where set & 1 << end == 0 {
          let next = set | 1 << end
          ahead[column + 1][next] = max(
            ahead[column + 1][next], score + scores[column][first + end])
        }
      }
    }
    var behind = Array(repeating: never, count: sets)
    behind[sets - 1] = 0
    var most = Array(repeating: Array(repeating: never, count: count), count: count)
    for column in (0..<count).reversed() {
      var before = Array(repeating: never, count: sets)
      for set in 0..<sets {
        let place = column - set.nonzeroBitCount
        if place >= 0, place < first, behind[set] > never {
          let rest = base(column, place) + behind[set]
          before[set] = rest
          most[column][place] = max(most[column][place], ahead[column][set] + rest)
        }
        for end in 0..<appended where set & 1 << end == 0 && behind[set | 1 << end] > never {
          let rest = scores[column][first + end] + behind[set | 1 << end]
          before[set] = max(before[set], rest)
          most[column][first + end] = max(most[column][first + end], ahead[column][set] + rest)
        }
      }
      behind = before
    }
    return (trace(ahead, appended), most)
  }

  /// The order that what was counted goes back to; of equal ones that which leaves a column where a new
  /// store has it.
  private func trace(_ ahead: [[Double]], _ appended: Int) -> Order {
    let sets = 1 << appended
    let first = count - appended
    var places = Array(repeating: 0, count: count)
    var set = sets - 1
    for column in (0..<count).reversed() {
      let score = ahead[column + 1][set]
      func goes(to end: Int) -> Bool {
        set & 1 << end != 0
          && ahead[column][set & ~(1 << end)] + scores[column][first + end] == score
      }
      let place = column - set.nonzeroBitCount
      let own = column - first
      if own >= 0, goes(to: own) {
        places[column] = column
        set &= ~(1 << own)
      } else if place >= 0, place < first, ahead[column][set] + base(column, place) == score {
        places[column] = place
      } else if let end = (0..<appended).reversed().first(where: goes) {
        // Those that came later came in order, as far as nothing speaks against it.
        places[column] = first + end
        set &= ~(1 << end)
      }
    }
    return Order(places: places, score: ahead[count][sets - 1], appended: appended)
  }
}
