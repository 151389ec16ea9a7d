import Files

/// Finds where the pages of a file begin that lost single bytes: how many are gone before each.
///
/// A page of a tree shows itself, one with the rest of a row begins with the number of the page that follows, and a
/// page of the pointer map has what only a map does. Of all ways to lay the pages out the most likely is taken; where
/// another is about as likely, it is not known where a page begins.
struct PageStarts {
  private let file: OpenFile
  private let header: FileHeader
  private let pageSize: Int
  private let usable: Int
  private let count: Int
  private let lost: Int
  /// The kind of each page by the pointer map, page 1 first; `nil` if unknown.
  private let kinds: [PointerMap.Kind?]

  /// So many bytes may be gone before a page.
  private struct State {
    var gone: Int
    /// How unlikely all pages before it are, and that one begins here.
    var cost: Float
    /// How unlikely it is that one begins here.
    var begin: Float
    /// How unlikely it is that the page lost nothing.
    var whole: Float = 0
    /// Whether it lost nothing: every cell is where it should be, and whole, and the last has no place for a byte.
    var isIntact = false
    /// How many bytes 0A are in it.
    var ends = 0
    /// How many pictures in it lack the byte that their form has there.
    var pictures = 0
  }

  /// How many bytes one page may have lost: first those are tried that are not many.
  private static let few = 8
  private static let many = 256
  /// What is so much less likely is not followed; what is hardly less likely is another way.
  private static let hopeless: Float = 24
  private static let equal: Float = 2
  private static let mostStates = 48
  private static let good: Float = 1.5
  /// The cost of a page's beginning that shows itself where bytes are put back.
  private static let head: Float = 1.5
  /// So many pages of which none begins as a page does are of a file that changed otherwise.
  private static let mostOfNothing = 128

  /// The cost of a beginning that contradicts the pointer map.
  private static let contradiction: Float = 12

  /// - Parameters:
  ///   - lost: how many bytes are gone.
  ///   - kinds: the kind of each page by the pointer map; pages beyond its end are unknown.
  init(
    _ file: OpenFile, _ header: FileHeader, pageSize: Int, lost: Int,
    kinds: [PointerMap.Kind?] = []
  ) {
    self.kinds = kinds
    (self.file, self.header, self.pageSize, self.lost) = (file, header, pageSize, lost)
    usable = pageSize - header.reserved
    count = header.pages
  }

  /// How many bytes are gone before each page, and, last, before the file's end; `nil` for a page of which that is
  /// not known.
  ///
  /// - Returns: `nil` where no way leads to the file's end.
  /// - Throws: `CoreDataError` where the file cannot be read.
  func gone() throws -> [Int?]? {
    var states: [[State]] = [[State(gone: 0, cost: 0, begin: 0)]]
    var least: [Float] = [0]
    for page in 1...count {
      try look(at: page, &states[page - 1])
      let next = try next(behind: page, states[page - 1])
      guard !next.isEmpty else { return nil }
      states.append(next)
      least.append(next.map(\.cost).min() ?? 0)
      if page > Self.mostOfNothing,
        least[page] - least[page - Self.mostOfNothing] > 5 * Float(Self.mostOfNothing)
      {
        return nil
      }
    }
    return likely(states)
  }

  /// Looks at the page that begins where each state says.
  private func look(at page: Int, _ states: inout [State]) throws {
    for index in states.indices {
      let start = (page - 1) * pageSize - states[index].gone
      let bytes = try file.read(at: start, count: pageSize + 1)
      // The 0A behind a byte that is gone stands in the page as it is, be it the next page's first one.
      states[index].ends = bytes.prefix(pageSize).count { $0 == 0x0A }
      states[index].pictures = ShortenedPage.pictures(in: bytes.prefix(pageSize))
      guard bytes.count >= pageSize else {
        states[index].whole = page == count ? 0 : 8
        continue
      }
      if let tree = TreePage(bytes, number: page, usable: usable), tree.isSound(in: bytes) {
        let cells = tree.cells(in: bytes)
        let columns = cells.compactMap {
          tree.extent(of: $0, in: bytes, pageCount: count)?.columns
        }
        let isWhole = columns.count == cells.count
        states[index].whole = isWhole ? 0 : 6
        // An entry of an index that is read a byte too late may look like one of fewer values.
        if isWhole, cells.count > 1, let last = cells.max(), let first = columns.first, first > 1,
          columns.allSatisfy({ $0 == first })
        {
          states[index].isIntact = !bytes[last..<pageSize].contains(0x0A)
        }
      } else if states[index].begin == Self.head {
        states[index].whole = 6
      }
    }
  }

  private static func cost(ofLosing count: Int) -> Float {
    count == 0 ? 0 : 3 + 2 * Float(count.bitWidth - 1 - count.leadingZeroBitCount)
  }

  private func cost(from state: State, losing count: Int) -> Float {
    guard count <= state.ends else { return .infinity }
    if state.isIntact, count > 0 { return Self.hopeless }
    guard state.pictures > 0 else { return count == 0 ? state.whole : Self.cost(ofLosing: count) }
    // A picture that never had the byte is hardly ever kept.
    guard count >= state.pictures else { return Self.hopeless / 2 }
    return Self.cost(ofLosing: count - state.pictures)
  }

  /// Where the page behind one may begin.
  private func next(behind page: Int, _ states: [State]) throws -> [State] {
    guard page < count else {
      let cost = states.map { state in
        state.gone <= lost
          ? state.cost + self.cost(from: state, losing: lost - state.gone) : .infinity
      }.min()
      return cost.map { $0 < .infinity ? [State(gone: lost, cost: $0, begin: 0)] : [] } ?? []
    }
    var found: [Int: State] = [:]
    func extend(_ losses: ClosedRange<Int>) throws {
      guard let least = states.map(\.gone).min(), let most = states.map(\.gone).max() else {
        return
      }
      let greatest = min(lost, most + losses.upperBound)
      let first = max(0, page * pageSize - greatest)
      var bytes = try file.read(at: first, count: pageSize + greatest - least + 8)
      bytes += [UInt8](repeating: 0, count: max(0, pageSize + greatest - least + 8 - bytes.count))
      for state in states {
        for losing in losses where state.gone + losing <= lost {
          let gone = state.gone + losing
          let way = state.cost + cost(from: state, losing: losing)
          guard way < .infinity else { continue }
          let begin =
            found[gone]?.begin ?? begin(of: page + 1, in: bytes, at: page * pageSize - gone - first)
          if found[gone].map({ way + begin < $0.cost }) != false {
            found[gone] = State(gone: gone, cost: way + begin, begin: begin)
          }
        }
      }
    }
    try extend(0...Self.few)
    // As long as the likeliest way does not end where a page begins, the page may have lost more.
    if found.values.min(by: { $0.cost < $1.cost }).map({ $0.begin > Self.good }) != false {
      try extend(Self.few + 1...Self.many)
    }
    guard let best = found.values.map(\.cost).min() else { return [] }
    let kept = found.values.filter { $0.cost <= best + Self.hopeless }
      .sorted { ($0.cost, $0.gone) < ($1.cost, $1.gone) }.prefix(Self.mostStates)
    return kept.sorted { $0.gone < $1.gone }
  }

  /// How unlikely it is that a page begins at a place.
  private func begin(of page: Int, in bytes: [UInt8], at place: Int) -> Float {
    guard place >= 0, place + pageSize <= bytes.count else { return 7 }
    let places = PointerMap.Places(usable: usable, pageSize: pageSize)
    if header.isAutoVacuum, places.isOwn(page) {
      let entries = min(16, usable / 5, count - page)
      let isMap = (0..<max(0, entries)).allSatisfy { entry in
        PointerMap.Kind(rawValue: bytes[place + 5 * entry]) != nil
          && Int(BigEndian.word(bytes, place + 5 * entry + 1)) <= count
      }
      return isMap ? 0 : 7
    }
    let kind = kinds.indices.contains(page - 1) ? kinds[page - 1] : nil
    let isRest = kind == .firstOverflow || kind == .laterOverflow
    if !isRest {
      if ByteShift.isSound(bytes, place, pageSize) { return 0 }
      if ShortenedPage.isEmpty(bytes, at: place, usable: usable) { return 1 }
      if kind == .tree || kind == .root {
        return ShortenedPage.isHead(bytes, at: place, pageSize: pageSize)
          ? Self.head : Self.contradiction
      }
    }
    let next = Int(BigEndian.word(bytes, place))
    if next == page + 1, next <= count { return 0.5 }
    if !isRest, ShortenedPage.isHead(bytes, at: place, pageSize: pageSize) { return Self.head }
    guard next == 0 else { return next <= count && next != page ? 4 : 7 }
    return bytes[place..<place + 64].allSatisfy { $0 == 0 } ? 3 : 5
  }

  /// The most likely way, without the places for which another one is about as likely.
  private func likely(_ states: [[State]]) -> [Int?] {
    var result: [Int?] = [lost]
    var behind: [Float] = [0]
    for page in stride(from: count, through: 1, by: -1) {
      let (own, next) = (states[page - 1], states[page])
      let costs = own.map { state in
        next.indices.map { place in
          next[place].gone < state.gone
            ? Float.infinity
            : cost(from: state, losing: next[place].gone - state.gone) + next[place].begin
              + behind[place]
        }.min() ?? .infinity
      }
      behind = costs
      let all = own.indices.map { own[$0].cost + costs[$0] }
      guard let best = all.min(), best < .infinity else {
        result.append(nil)
        continue
      }
      let near = own.indices.filter { all[$0] <= best + Self.equal }
      result.append(near.count == 1 ? own[near[0]].gone : nil)
    }
    return result.reversed()
  }
}
