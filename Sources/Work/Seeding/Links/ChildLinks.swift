import ExampleValues

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

  /// Objects of the chain of an edge case; `nil` if there is no chain.
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

/// The objects at the other side of a many-to-many, each once, worked out from an object's key.
///
/// Where the model says how many there must or may be, links are numbered through and dealt out in
/// turn on both sides, so that each side's counts differ by one at most.
struct CrossLinks: Sendable {
  private let from: KeySpan
  private let to: KeySpan
  private let seed: UInt64
  private let shape: LinkShape
  private let edgeRows: Int
  private let isReflexive: Bool
  /// Links in all where they are dealt out; `nil` where they are free.
  private let dealt: Int?
  /// Links of an object that are dealt out at most, at an average.
  private static let mostLinks = 1000
  /// Whether each object has one mate at most.
  private let isPaired: Bool
  private(set) var notes: [String] = []

  init(_ pair: LinkPair, _ from: KeySpan, _ to: KeySpan, _ shape: LinkShape, _ context: LinkContext)
  {
    self.from = from
    self.to = to
    self.shape = shape
    edgeRows = context.edgeRows
    isReflexive = pair.form == .reflexiveMany
    seed = SeededGenerator.seed(context.seed, "crossing", pair.from.name, pair.to.name)
    isPaired = isReflexive && pair.from.most == 1
    let other = isReflexive ? pair.from : pair.to
    guard pair.from.least > 0 || other.least > 0 || pair.from.most != nil || other.most != nil
    else {
      dealt = nil
      return
    }
    func product(_ one: Int, _ two: Int) -> Int {
      let (product, overflow) = one.multipliedReportingOverflow(by: two)
      return overflow ? .max : product
    }
    if isReflexive {
      // A ring in which each object has those at both sides.
      let least = pair.from.least
      let most = min(pair.from.most ?? .max, max(0, from.count - 1))
      dealt =
        most < 2
        ? most
        : max(1, min((max(least, Int(shape.mean)) + 1) / 2, most / 2, Self.mostLinks))
      if least > most || least % 2 == 1 && least == pair.from.most && least > 1 {
        notes.append("\(pair.from.name): \(from.count) objects cannot have \(least) links each")
      }
      return
    }
    let lower = max(product(from.count, pair.from.least), product(to.count, other.least))
    let upper = min(
      product(from.count, min(pair.from.most ?? to.count, to.count)),
      product(to.count, min(other.most ?? from.count, from.count)))
    if lower > upper {
      notes.append(
        "\(pair.from.name) and \(pair.to.name): \(from.count) and \(to.count) objects cannot have as many links as the model requires"
      )
    }
    let wanted = max(lower, min(upper, Int(Double(from.count) * shape.mean)))
    // A model may ask for more than any disk holds.
    let links = min(wanted, upper, product(max(from.count, to.count), Self.mostLinks))
    if links < lower, lower <= upper {
      notes.append("\(pair.from.name) and \(pair.to.name): not as many links as the model requires")
    }
    // Of the same objects each has the same number, which then holds on both sides.
    dealt =
      from == to && from.count > 0 ? (links + from.count - 1) / from.count * from.count : links
  }

  /// The keys of the objects that an object of the first side references.
  func targets(of key: Int64) -> [Int64] {
    guard let ordinal = from.ordinal(of: key), to.count > 0 else { return [] }
    if isReflexive { return mates(of: ordinal) }
    guard let dealt else { return free(of: key, ordinal) }
    let first = dealt.multipliedFullWidth(by: ordinal)
    let last = dealt.multipliedFullWidth(by: ordinal + 1)
    let start = from.count.dividingFullWidth(first).quotient
    let end = from.count.dividingFullWidth(last).quotient
    // Of the same objects those behind it; itself comes last of all.
    let shift = from == to ? ordinal + 1 - start % to.count : 0
    return (start..<end).map { to.key((($0 + shift) % to.count + to.count) % to.count) }
  }

  private func free(of key: Int64, _ ordinal: Int) -> [Int64] {
    guard ordinal >= edgeRows else { return [] }
    var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: key))
    guard !random.chance(shape.emptyPercent) else { return [] }
    // From one up to about twice the average, evenly.
    let wide = max(1, Int((shape.mean * 2).rounded()) - 1)
    let degree = min(1 + random.below(wide), max(1, shape.most), to.count)
    let start = random.below(to.count)
    let step = 1 + random.below(max(1, to.count / max(1, degree)))
    return (0..<degree).map { to.key((start + $0 * step) % to.count) }.filter {
      $0 != key || from.root != to.root
    }
  }

  /// Each pair is written once, by the one that comes first.
  private func mates(of ordinal: Int) -> [Int64] {
    guard from.count > 1 else { return (dealt ?? 0) > 0 ? [from.key(0)] : [] }
    guard let dealt else {
      guard ordinal > 0 else { return [] }
      return free(of: from.key(ordinal), ordinal).filter { $0 < from.key(ordinal) }
    }
    if isPaired {
      return ordinal % 2 == 0 && ordinal + 1 < from.count ? [from.key(ordinal + 1)] : []
    }
    return (1...max(1, dealt)).compactMap { step in
      let other = (ordinal + step) % from.count
      return other == ordinal ? nil : from.key(other)
    }
  }
}

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
