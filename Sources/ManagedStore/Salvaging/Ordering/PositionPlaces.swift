/// Tells columns of positions apart: each stands with the key of the object whose place it is.
///
/// Core Data puts them beside each other, in an order of its own. An object has a position where it has the
/// link, and no two objects that lead to the same have the same position.
struct PositionPlaces {
  let columns: [StoreSchema.Column]
  let traits: [ColumnTraits]
  let evidence: ColumnEvidence

  /// More of them than that are left as they are.
  private static let most = 7

  /// Puts the columns of positions that stand beside each other in the order that the rows tell.
  ///
  /// - Parameter order: the columns, by place.
  /// - Returns: those whose values may be those of another.
  func settle(_ order: inout [Int]) -> Set<Int> {
    let places = order.indices.filter { traits[order[$0]].isOrder }
    let own = places.map { order[$0] }
    guard own.count > 1 else { return [] }
    let live = places.filter { evidence.isLive($0 + ColumnOrdering.standing) }
    guard !live.isEmpty else { return [] }
    guard own.count <= Self.most else { return Set(own) }
    let links = own.map { column in link(of: column, in: order) }
    let scores = links.map { link in places.map { score($0, link) } }
    var all: [(order: [Int], score: Double)] = []
    Self.permutations(own.count) { choice in
      all.append(
        (choice, choice.enumerated().reduce(0) { $0 + scores[$1.element][$1.offset] }))
    }
    guard let best = all.max(by: { $0.score < $1.score }) else { return [] }
    // The order of a new store, where it does as well.
    let chosen = all.first { $0.score >= best.score - 1e-9 } ?? best
    var doubtful: Set<Int> = []
    for other in all where other.score >= best.score - 1 {
      for (index, place) in places.enumerated()
      where other.order[index] != chosen.order[index] && live.contains(place) {
        doubtful.insert(own[other.order[index]])
        doubtful.insert(own[chosen.order[index]])
      }
    }
    for (index, place) in places.enumerated() { order[place] = own[chosen.order[index]] }
    return doubtful
  }

  /// The place of the link that a column has the positions of.
  private func link(of column: Int, in order: [Int]) -> Int? {
    let property = columns[column].content.property
    return order.indices.first { place in
      switch columns[order[place]].content {
      case .toOne(let entity, let name), .owner(let entity, let name):
        property == (entity, name)
      default: false
      }
    }
  }

  /// How well a place holds the positions of a link.
  private func score(_ place: Int, _ link: Int?) -> Double {
    guard let link else { return -1 }
    var (rows, apart, pairs, again) = (0, 0, 0, 0)
    var seen: Set<[Int64]> = []
    for row in evidence.sample {
      let position = row.value(place + ColumnOrdering.standing)
      let key = row.value(link + ColumnOrdering.standing)
      guard position != .none || key != .none else { continue }
      rows += 1
      if (position == .none) != (key == .none) { apart += 1 }
      if case .integer(let position) = position, case .integer(let key) = key {
        pairs += 1
        if !seen.insert([key, position]).inserted { again += 1 }
      }
    }
    guard rows > 0 else { return 0 }
    let twice = pairs > 0 ? Double(again) / Double(pairs) : 0
    return -12 * Double(apart) / Double(rows) - 6 * twice
  }

  /// All orders of so many, that of their own first.
  private static func permutations(_ count: Int, _ body: ([Int]) -> Void) {
    func extend(_ chosen: [Int]) {
      guard chosen.count < count else { return body(chosen) }
      for next in 0..<count where !chosen.contains(next) { extend(chosen + [next]) }
    }
    extend([])
  }
}
