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
