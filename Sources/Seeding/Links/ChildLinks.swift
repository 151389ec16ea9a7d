/// The parent of each child: worked out from its key alone, so that nothing has to be remembered.
///
/// What the model asks for comes first: as many children as each parent must have are dealt out in
/// turn, then the rest, up to what a parent may have. Within one hierarchy a parent has a smaller key
/// than its child, so that there is no circle.
struct ChildLinks: Sendable {
  private let children: KeySpan
  private let parents: KeySpan
  /// Children that have a parent.
  private let linked: Int
  private let least: Int
  private let most: Int?
  private let isMandatory: Bool
  private let order: Shuffle
  private let slots: Shuffle?
  private let seed: UInt64
  private let context: LinkContext
  private let shape: LinkShape
  private let isTree: Bool
  private let isRing: Bool
  /// What the model asks for and there are not the objects for.
  private(set) var notes: [String] = []

  init(
    _ pair: LinkPair, _ children: KeySpan, _ parents: KeySpan, _ shape: LinkShape,
    _ context: LinkContext
  ) {
    self.children = children
    self.parents = parents
    self.context = context
    self.shape = shape
    let start = SeededGenerator.seed(context.seed, "links", pair.from.name, pair.to.name)
    seed = start
    isMandatory = pair.from.isMandatory
    let isWithin = children.overlaps(parents)
    isRing = isWithin && pair.to.least > 0
    isTree = isWithin && !isRing
    most = pair.mostChildren
    if isRing, pair.to.least > 1 || children != parents {
      notes.append(
        "\(pair.to.name): not every object can have \(pair.to.least) in a hierarchy; each has one at most"
      )
    }
    let needed = parents.count.multipliedReportingOverflow(by: pair.to.least)
    let lower = needed.overflow ? .max : needed.partialValue
    let capacity = most.map { parents.count.multipliedReportingOverflow(by: $0) }
    let upper =
      capacity.map { $0.overflow ? children.count : min(children.count, $0.partialValue) }
      ?? children.count
    var linked =
      isMandatory
      ? children.count : children.count - children.count * shape.emptyPercent / 100
    linked = min(max(linked, lower), upper)
    if lower > upper {
      notes.append(
        "\(pair.to.name): there are not enough objects for \(pair.to.least) each of \(parents.count)"
      )
    }
    if isMandatory, linked < children.count {
      notes.append(
        "\(pair.from.name): mandatory, but there is room for \(linked) of \(children.count)")
    }
    self.linked = linked
    let spared = min(pair.to.least, max(0, linked / max(1, parents.count)))
    least = spared
    order = Shuffle(children.count, seed: seed)
    // A shuffle of all slots keeps to the limit without counting.
    let free = most.map { parents.count.multipliedReportingOverflow(by: max(0, $0 - spared)) }
    slots = free.flatMap { free in
      free.overflow || free.partialValue > 1 << 40
        ? nil : Shuffle(free.partialValue, seed: ~start)
    }
  }

  /// Objects of the chain of an edge case; `nil` where there is none.
  var chainLength: Int? {
    isTree && context.chain > 0 ? min(context.chain, children.count) : nil
  }

  /// The key of the parent; `nil` for a child without one.
  func parent(of key: Int64) -> Int64? {
    guard parents.count > 0, let ordinal = children.ordinal(of: key) else { return nil }
    if isRing {
      guard let place = parents.ordinal(of: key) else {
        return parents.key(ordinal % parents.count)
      }
      return parents.key((place + 1) % parents.count)
    }
    if isTree { return above(key, ordinal) }
    let rank = order.place(of: ordinal)
    guard rank < linked else { return nil }
    let dealt = least * parents.count
    if rank < dealt { return parents.key(rank % parents.count) }
    if let slots {
      guard slots.count > 0 else { return nil }
      return parents.key(slots.place(of: (rank - dealt) % slots.count) % parents.count)
    }
    return parents.key(popular(rank))
  }

  /// Some parents have many children and many have few.
  private func popular(_ rank: Int) -> Int {
    var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: rank))
    let unit = random.unit()
    let place = min(parents.count - 1, Int(Double(parents.count) * unit * (0.4 + 0.6 * unit)))
    // Edge cases have empty to-manys.
    return least == 0 && parents.count > context.edgeRows * 2 && place < context.edgeRows
      ? place + context.edgeRows : place
  }

  private func above(_ key: Int64, _ ordinal: Int) -> Int64? {
    let below = parents.count(below: key)
    guard below > 0 else {
      return isMandatory ? parents.ordinal(of: key).map { parents.key($0) } ?? parents.key(0) : nil
    }
    if ordinal < context.chain { return parents.key(below - 1) }
    var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: key))
    if !isMandatory, random.chance(shape.emptyPercent) { return nil }
    if let most {
      let place = (ordinal - 1) / max(1, most)
      return place >= 0 && place < below ? parents.key(place) : isMandatory ? parents.key(0) : nil
    }
    // The chain stays a chain.
    let first = below > context.chain ? max(0, context.chain - 1) : 0
    return parents.key(first + random.below(below - first))
  }
}
