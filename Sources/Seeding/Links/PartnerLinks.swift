/// The partner of each object in a one-to-one, determined from either side.
struct PartnerLinks: Sendable {
  private let from: KeySpan
  private let to: KeySpan
  private let linked: Int
  private let fromOrder: Shuffle
  private let toOrder: Shuffle
  /// Both sides are the same objects: each references the next.
  private let isChain: Bool
  private let isRing: Bool
  private let isReflexive: Bool
  private let isMandatory: Bool
  private(set) var notes: [String] = []

  init(_ pair: LinkPair, _ from: KeySpan, _ to: KeySpan, _ shape: LinkShape, _ context: LinkContext)
  {
    self.from = from
    self.to = to
    let seed = SeededGenerator.seed(context.seed, "partners", pair.from.name, pair.to.name)
    isReflexive = pair.form == .reflexiveOne
    isChain = from == to
    isMandatory = pair.from.isMandatory || pair.to.isMandatory
    isRing = isChain && isMandatory
    let most = min(from.count, to.count)
    let needed = max(
      pair.from.isMandatory ? from.count : 0, pair.to.isMandatory ? to.count : 0)
    linked = min(most, max(needed, most - most * shape.emptyPercent / 100))
    if !isChain, needed > most {
      notes.append(
        "\(pair.from.name): mandatory one-to-one, but \(from.count) objects meet \(to.count)")
    }
    fromOrder = Shuffle(from.count, seed: seed)
    toOrder = Shuffle(to.count, seed: ~seed)
  }

  /// The key of the partner of an object of the first side.
  func partner(ofFrom key: Int64) -> Int64? {
    guard let ordinal = from.ordinal(of: key) else { return nil }
    if isReflexive { return mate(ordinal) }
    if isChain { return neighbour(ordinal, 1) }
    let rank = fromOrder.place(of: ordinal)
    return rank < linked ? to.key(toOrder.number(at: rank)) : nil
  }

  /// The same of an object of the other side.
  func partner(ofTo key: Int64) -> Int64? {
    guard let ordinal = to.ordinal(of: key) else { return nil }
    if isReflexive { return mate(ordinal) }
    if isChain { return neighbour(ordinal, -1) }
    let rank = toOrder.place(of: ordinal)
    return rank < linked ? from.key(fromOrder.number(at: rank)) : nil
  }

  /// Two and two; who is left over has itself, where it must have somebody.
  private func mate(_ ordinal: Int) -> Int64? {
    let other = ordinal ^ 1
    if other < from.count { return from.key(other) }
    return isMandatory ? from.key(ordinal) : nil
  }

  private func neighbour(_ ordinal: Int, _ step: Int) -> Int64? {
    let next = ordinal + step
    if isRing { return from.key((next + from.count) % from.count) }
    return next >= 0 && next < from.count ? from.key(next) : nil
  }
}
