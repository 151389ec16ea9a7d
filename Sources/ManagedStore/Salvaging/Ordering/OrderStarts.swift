/// Which versions may have made a store, by how well the columns of all its tables fit what each would have
/// made of them.
struct OrderStarts {
  /// How many versions back, the likeliest first; empty where no other version is known.
  let likely: [Int]

  init(_ decisions: [OrderDecision], doubt: Double) {
    let count = decisions.map(\.candidates.count).max() ?? 0
    var totals: [(evidence: Double, hints: Double)] = Array(repeating: (0, 0), count: count)
    for decision in decisions where decision.candidates.count == count {
      // An order that the file itself tells, or that rows are too short for, says more than all values.
      for (start, order) in decision.candidates.enumerated() {
        let isPossible = decision.isPossible(order)
        totals[start].evidence += isPossible ? decision.score(order) : -100
        totals[start].hints += decision.hint(order)
      }
    }
    let best = totals.map(\.evidence).max() ?? 0
    likely = totals.indices.filter { totals[$0].evidence >= best - doubt }
      .sorted {
        let (one, other) = (totals[$0], totals[$1])
        let difference = one.evidence + one.hints - other.evidence - other.hints
        return abs(difference) > 1e-9 ? difference > 0 : $0 < $1
      }
  }
}
