import ManagedModel
import StoreTables

/// Chooses among the orders that a lost table's columns may have: by what cannot be, never by what values
/// may mean.
struct OrderChoice {
  /// An order, as columns by place.
  struct Candidate: Equatable {
    var order: [Int]
    /// How many of them the table was made with: no row is shorter.
    var original: Int
  }

  let columns: [StoreSchema.Column]
  private let evidence: ColumnEvidence
  /// Whether a column may stand in a place.
  private let holds: [[Bool]]
  /// The orders that the versions lead to, by how many versions before this one made the store.
  let candidates: [Candidate]
  /// Orders that a text in the file states.
  private let remnants: [[Int]]
  /// The to-one relationship of each column of positions.
  private var linkOfOrder: [Int: Int] = [:]

  /// More columns at the end than that are not guessed.
  private static let mostAppended = 3
  /// More columns of positions are not turned among themselves.
  private static let mostTurned = 4
  /// Of more columns only one at the end is guessed.
  private static let mostTried = 60
  /// One wrong value in so many may be of a row that is none.
  private static let tolerance = 20
  /// After so many orders it is asked whether the search was cancelled.
  private static let stride = 64

  init(
    columns: [StoreSchema.Column], traits: [ColumnTraits], evidence: ColumnEvidence,
    candidates: [Candidate], remnants: [[Int]]
  ) {
    self.columns = columns
    self.evidence = evidence
    self.candidates = candidates
    self.remnants = remnants
    for (place, column) in columns.enumerated() where column.content.isOrder {
      linkOfOrder[place] = columns.firstIndex {
        if case .toOne = $0.content {
          $0.content.property == column.content.property
        } else {
          false
        }
      }
    }
    holds = traits.map { traits in
      columns.indices.map { place in
        let (wrong, all) = traits.misfits(place + LostColumns.standing, evidence)
        return wrong * Self.tolerance <= all && (wrong == 0 || all > Self.tolerance)
      }
    }
  }

  /// Whether nothing in the rows speaks against an order.
  func isPossible(_ candidate: Candidate) -> Bool {
    evidence.longest <= columns.count + LostColumns.standing
      && candidate.original + LostColumns.standing <= evidence.shortest
      && isHeld(candidate.order)
  }

  private func isHeld(_ order: [Int]) -> Bool {
    order.indices.allSatisfy { holds[order[$0]][$0] } && areOrdersOfLinks(order)
  }

  /// Whether no row has a place in an order without the link that it is of.
  private func areOrdersOfLinks(_ order: [Int]) -> Bool {
    for (place, column) in order.enumerated() {
      guard let link = linkOfOrder[column], let own = order.firstIndex(of: link) else { continue }
      if evidence.hasValue(at: place + LostColumns.standing, without: own + LostColumns.standing) {
        return false
      }
    }
    return true
  }

  /// The order to take, with the columns that may stand for one another.
  ///
  /// - Parameters:
  ///   - starts: which of the candidates nothing in the whole store speaks against, the latest first.
  ///   - isCancelled: asked every few orders that are tried.
  /// - Throws: ``CoreDataError`` where it was cancelled.
  func order(
    starts: [Int], isCancelled: () -> Bool = { false }
  ) throws -> LostColumns.Order {
    let stated = remnants.filter {
      isPossible(Candidate(order: $0, original: min($0.count, shortest)))
    }
    if let first = stated.first, stated.allSatisfy({ $0 == first }) {
      return result(first, others: [], isStated: true)
    }
    let known = starts.map { candidates[$0] }.filter(isPossible)
    let own = known.isEmpty ? candidates.filter(isPossible) : known
    if let first = own.first, candidates.count > 1 {
      return result(first.order, others: own.map(\.order), isStated: true)
    }
    // One version is known: what others there were, and what they added, only the rows can say.
    guard let fewest = try fewestAppended(isCancelled),
      case let found = try appended(fewest, isCancelled),
      let first = found.first
    else {
      return .init(
        columns: candidates.first.map { $0.order.map { columns[$0] } } ?? columns,
        doubtful: columns, isUnfit: true)
    }
    var order = result(first, others: found, isStated: false)
    var doubtful = Set(order.doubtful.compactMap { columns.firstIndex(of: $0) })
    try eachOrderOfSeveralVersions(showing: fewest + 1, isCancelled) {
      doubtful.formUnion(differing($0, from: first))
    }
    order.doubtful = doubtful.sorted().map { columns[$0] }
    return order
  }

  /// Gives all possible orders that several versions may have led to, each of which put columns at the end: these
  /// stand in any order. More of them than the rows show have no values.
  private func eachOrderOfSeveralVersions(
    showing shown: Int, _ isCancelled: () -> Bool, _ body: ([Int]) -> Void
  ) throws {
    guard columns.count <= Self.mostTried else { return }
    let needed = max(1, columns.count - shortest)
    let dead = columns.indices.reversed()
      .prefix { !evidence.isLive($0 + LostColumns.standing) }.count
    var tried = 0
    func extend(_ standing: [Int], _ next: Int, _ appended: [Int]) throws {
      guard next < columns.count else {
        guard appended.count >= needed, appended.count <= max(shown, dead) else { return }
        try check(&tried, isCancelled)
        return eachTurn(of: appended) { turned in
          let order = standing + turned
          if isHeld(order) { body(order) }
        }
      }
      if holds[next][standing.count] { try extend(standing + [next], next + 1, appended) }
      if appended.count < Self.mostAppended { try extend(standing, next + 1, appended + [next]) }
    }
    try extend([], 0, [])
  }

  /// Counts an order that is tried.
  ///
  /// - Throws: ``CoreDataError`` where the search was cancelled.
  private func check(_ tried: inout Int, _ isCancelled: () -> Bool) throws {
    tried += 1
    if tried % Self.stride == 0 { try CoreDataError.check(isCancelled) }
  }

  private func eachTurn(of columns: [Int], _ body: ([Int]) -> Void, _ turned: [Int] = []) {
    guard !columns.isEmpty else { return body(turned) }
    for column in columns {
      eachTurn(of: columns.filter { $0 != column }, body, turned + [column])
    }
  }

  private var shortest: Int { max(0, evidence.shortest - LostColumns.standing) }

  /// How few columns at the end make an order possible; `nil` where none of those that are tried does.
  func fewestAppended(_ isCancelled: () -> Bool = { false }) throws -> Int? {
    guard evidence.longest <= columns.count + LostColumns.standing else { return nil }
    return try sizes.first { try !orders(appended: $0, most: 1, isCancelled).isEmpty }
  }

  /// The orders with few columns at the end that nothing speaks against, the fewest first: those of the
  /// smallest number, and of one more.
  private func appended(_ fewest: Int, _ isCancelled: () -> Bool) throws -> [[Int]] {
    try orders(appended: fewest, isCancelled)
      + (fewest < sizes.upperBound ? orders(appended: fewest + 1, isCancelled) : [])
  }

  private var sizes: ClosedRange<Int> {
    let needed = max(0, columns.count - shortest)
    let most = min(columns.count, columns.count > Self.mostTried ? 1 : Self.mostAppended)
    return needed...max(needed, most)
  }

  /// Possible orders with so many columns at the end, all different: each set of columns at the end is another one.
  ///
  /// - Parameter most: how many are looked for.
  private func orders(
    appended count: Int, most: Int = .max, _ isCancelled: () -> Bool
  ) throws -> [[Int]] {
    guard count <= Self.mostAppended, count <= 1 || columns.count <= Self.mostTried else {
      return []
    }
    var found: [[Int]] = []
    var tried = 0
    func extend(_ chosen: [Int]) throws {
      guard found.count < most else { return }
      guard chosen.count < count else {
        try check(&tried, isCancelled)
        let order = columns.indices.filter { !chosen.contains($0) } + chosen
        if isHeld(order) {
          found.append(order)
        } else if count == 0 {
          // Their order comes out of a hash table: one of an earlier version of the model may have had another.
          found = turned(order).filter(isHeld)
        }
        return
      }
      for next in ((chosen.last ?? -1) + 1)..<max(columns.count, (chosen.last ?? -1) + 1) {
        try extend(chosen + [next])
      }
    }
    try extend([])
    return found
  }

  /// The same order with its columns of positions in each other order.
  private func turned(_ order: [Int]) -> [[Int]] {
    let places = order.indices.filter { linkOfOrder[order[$0]] != nil }
    guard (2...Self.mostTurned).contains(places.count) else { return [] }
    var result: [[Int]] = []
    func extend(_ chosen: [Int], _ rest: [Int]) {
      guard !rest.isEmpty else {
        var other = order
        for (place, column) in zip(places, chosen) { other[place] = column }
        return result.append(other)
      }
      for column in rest { extend(chosen + [column], rest.filter { $0 != column }) }
    }
    extend([], places.map { order[$0] })
    return result
  }

  private func result(_ order: [Int], others: [[Int]], isStated: Bool) -> LostColumns.Order {
    let doubtful = others.reduce(into: Set<Int>()) { $0.formUnion(differing($1, from: order)) }
    return .init(
      columns: order.map { columns[$0] }, doubtful: doubtful.sorted().map { columns[$0] },
      isAssumed: !isStated && columns.count > 1)
  }

  /// The columns of which an order has other values than another one.
  private func differing(_ other: [Int], from order: [Int]) -> Set<Int> {
    var found: Set<Int> = []
    for place in order.indices
    where other[place] != order[place] && evidence.isLive(place + LostColumns.standing) {
      found.formUnion([order[place], other[place]])
    }
    return found
  }
}
