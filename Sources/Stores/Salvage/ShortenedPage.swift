/// A page that lost single bytes 0D, each before an 0A, put together again as far as that can be done.
struct ShortenedPage {
  private let bytes: [UInt8]
  private let following: UInt8?
  private let number: Int
  private let pageSize: Int
  private let usable: Int
  private let pageCount: Int
  private let isMap: Bool

  private static let mostTried = 4_000
  private static let mostHeads = 200
  private static let mostOfHead = 6
  /// What is hardly less likely is another way.
  private static let equal = 2
  private static let never = 1_000_000

  /// - Parameters:
  ///   - bytes: what is left of the page.
  ///   - following: the byte behind it.
  init(
    _ bytes: [UInt8], followedBy following: UInt8?, number: Int, pageSize: Int, header: FileHeader
  ) {
    (self.bytes, self.following, self.number, self.pageSize) = (bytes, following, number, pageSize)
    usable = pageSize - header.reserved
    pageCount = header.pages
    isMap =
      header.isAutoVacuum && PointerMap.Places(usable: usable, pageSize: pageSize).isOwn(number)
  }

  /// The page as it was, and how many cells had to be left out; `nil` where nothing of it is known.
  func mended() -> (page: [UInt8], dropped: Int)? {
    var bytes = bytes
    while bytes.count < pageSize, let place = Self.picture(in: bytes) {
      bytes.insert(0x0D, at: place)
    }
    let missing = pageSize - bytes.count
    guard missing > 0 else { return (bytes, 0) }
    if isMap { return only(bytes, missing, where: isMap).map { ($0, 0) } }
    if let tree = tree(bytes, missing) { return tree }
    // It lost as many bytes as it has places for them.
    let start = number == 1 ? FileHeader.size : 0
    guard TreePage.Kind(rawValue: bytes[start]) == nil else { return nil }
    return only(bytes, missing, where: { _ in true }).map { ($0, 0) }
  }

  /// A PNG's mark that lost the first byte of its line end.
  private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A]

  /// Where the first line end of a PNG's mark stands that lost its first byte.
  private static func picture(in bytes: [UInt8]) -> Int? {
    bytes.firstRange(of: picture).map { $0.lowerBound + 4 }
  }

  /// How many pictures lack that byte.
  static func pictures(in bytes: ArraySlice<UInt8>) -> Int {
    var (count, rest) = (0, bytes)
    while let mark = rest.firstIndex(of: picture[0]) {
      if rest[mark...].starts(with: picture) { count += 1 }
      rest = rest[(mark + 1)...]
    }
    return count
  }

  /// The places that bytes may be gone from, among those from one on up to another, and at it.
  private func ends(in bytes: [UInt8], _ first: Int, _ last: Int) -> [Int] {
    (first...max(first, last)).filter { place in
      place < bytes.count ? bytes[place] == 0x0A : place == bytes.count && following == 0x0A
    }
  }

  /// The bytes with so many put back, where only one choice of places makes them what they must be.
  private func only(
    _ bytes: [UInt8], _ missing: Int, where isRight: ([UInt8]) -> Bool
  ) -> [UInt8]? {
    let choices = choices(of: missing, among: ends(in: bytes, 0, bytes.count))
    var found: [UInt8]?
    for places in choices ?? [] {
      let longer = Self.inserting(places, into: bytes)
      guard isRight(longer) else { continue }
      guard found == nil || found == longer else { return nil }
      found = longer
    }
    return found
  }

  private static func inserting(_ places: [Int], into bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for place in places.reversed() { result.insert(0x0D, at: place) }
    return result
  }

  /// All choices of so many places; `nil` where there are too many.
  private func choices(of count: Int, among places: [Int]) -> [[Int]]? {
    guard count <= places.count else { return [] }
    var result: [[Int]] = [[]]
    for taken in 0..<count {
      var longer: [[Int]] = []
      for choice in result {
        for place in places where place > choice.last ?? -1 {
          longer.append(choice + [place])
        }
        guard longer.count <= Self.mostTried else { return nil }
      }
      result = longer
      if taken == count - 1 { break }
    }
    return result
  }

  /// Whether all entries of a page of the pointer map can be.
  private func isMap(_ page: [UInt8]) -> Bool {
    (0..<min(usable / 5, max(0, pageCount - number))).allSatisfy { entry in
      guard let kind = PointerMap.Kind(rawValue: page[5 * entry]) else { return false }
      let parent = Int(BigEndian.word(page, 5 * entry + 1))
      return parent <= pageCount && (parent == 0) == (kind == .root || kind == .free)
    }
  }
}

extension ShortenedPage {
  /// Whether a page of a tree without cells begins at a place.
  static func isEmpty(_ bytes: [UInt8], at place: Int, usable: Int) -> Bool {
    guard place + 8 <= bytes.count,
      bytes[place] == TreePage.Kind.tableLeaf.rawValue
        || bytes[place] == TreePage.Kind.indexLeaf.rawValue
    else { return false }
    return bytes[place + 1..<place + 5].allSatisfy { $0 == 0 } && bytes[place + 7] == 0
      && BigEndian.half(bytes, place + 5) == usable & 0xFFFF
  }

  /// Whether the header of a page of a tree begins at a place, with its cells' places, that lost bytes.
  static func isHead(_ bytes: [UInt8], at place: Int, pageSize: Int) -> Bool {
    guard bytes[place] == 0x0A || TreePage.Kind(rawValue: bytes[place]) != nil else { return false }
    let page = Array(bytes[place..<place + pageSize])
    return heads(page, 0, most: mostOfHead).dropFirst().contains {
      ByteShift.isSound($0, 0, pageSize)
    }
  }

  /// A page's bytes, and these with up to so many put back in its header and the list of its cells.
  private static func heads(_ bytes: [UInt8], _ start: Int, most: Int) -> [[UInt8]] {
    var (all, newest) = ([bytes], [(bytes: bytes, from: start)])
    for _ in 0..<most {
      var longer: [(bytes: [UInt8], from: Int)] = []
      for (head, from) in newest {
        let kind = TreePage.Kind(rawValue: head[start])
        let pointers = start + (kind?.isInterior == true ? 12 : 8)
        let listed = min(BigEndian.half(head, start + 3), (head.count - pointers) / 2)
        let isRead = kind != nil && BigEndian.half(head, start + 5) >= pointers + 2 * listed
        var end = min(head.count, isRead ? pointers + 2 * listed : pointers)
        // Behind the first lost byte the entries of the list are no cell offsets any more.
        if isRead {
          let (first, last) = (BigEndian.half(head, start + 5), bytes.count + most)
          let wrong = stride(from: pointers, to: end - 1, by: 2).first {
            let place = BigEndian.half(head, $0)
            return place < first || place > last
          }
          if let wrong { end = wrong + 2 }
        }
        for place in from..<max(from, end) where head[place] == 0x0A {
          var next = head
          next.insert(0x0D, at: place)
          longer.append((next, place + 2))
        }
        if all.count + longer.count > mostHeads { return all }
      }
      all += longer.map(\.bytes)
      newest = longer
    }
    return all
  }

  /// A page of a tree, put together by its cells.
  private func tree(_ bytes: [UInt8], _ missing: Int) -> (page: [UInt8], dropped: Int)? {
    let start = number == 1 ? FileHeader.size : 0
    var best: (cost: Int, pages: [(page: [UInt8], dropped: Int)]) = (Self.never, [])
    for head in Self.heads(bytes, start, most: min(missing, Self.mostOfHead)) {
      let rest = pageSize - head.count
      let page = head + [UInt8](repeating: 0, count: rest)
      guard let tree = TreePage(page, number: number, usable: usable), tree.isSound(in: page),
        tree.count > 0 || Self.isEmpty(page, at: start, usable: usable),
        let found = CellPlaces(head, rest, tree, self).mended()
      else { continue }
      if found.cost < best.cost { best = (found.cost, []) }
      if found.cost == best.cost { best.pages.append((found.page, found.dropped)) }
    }
    guard let first = best.pages.first,
      best.pages.allSatisfy({ $0.page == first.page && $0.dropped == first.dropped })
    else { return nil }
    return first
  }

  /// Where the cells of a page stand that became shorter behind the list of them.
  private struct CellPlaces {
    let head: [UInt8]
    let rest: Int
    let tree: TreePage
    let page: ShortenedPage
    /// The cells' places in the page as it was, in rising order, and the end of the last one.
    let places: [Int]

    init(_ head: [UInt8], _ rest: Int, _ tree: TreePage, _ page: ShortenedPage) {
      (self.head, self.rest, self.tree, self.page) = (head, rest, tree, page)
      places = Array(Set(tree.cells(in: head + [UInt8](repeating: 0, count: rest)))).sorted()
    }

    /// The page as if so many bytes were gone before each of its cells.
    private func shifted(_ gone: Int) -> [UInt8] {
      head[..<tree.least] + [UInt8](repeating: 0, count: gone) + head[tree.least...]
        + [UInt8](repeating: 0, count: rest - gone)
    }

    private func next(_ cell: Int) -> Int {
      cell + 1 < places.count ? places[cell + 1] : page.usable
    }

    func mended() -> (page: [UInt8], dropped: Int, cost: Int)? {
      let shifts = rest + 1
      guard shifts * shifts * max(1, places.count) < 2_000_000 else { return nil }
      let shifted = (0...rest).map(shifted)
      guard !places.isEmpty else { return (shifted[rest], 0, 0) }
      let ends = places.indices.map { cell in
        shifted.map { bytes -> Int? in
          let end = tree.extent(of: places[cell], in: bytes, pageCount: page.pageCount)?.range
            .upperBound
          return end.flatMap { $0 <= next(cell) ? $0 : nil }
        }
      }
      // How many bytes 0A stand before each place.
      var before = [0]
      for byte in head { before.append(before[before.count - 1] + (byte == 0x0A ? 1 : 0)) }
      func count(_ first: Int, _ last: Int) -> Int {
        guard first <= last else { return 0 }
        let isLast = last >= head.count && page.following == 0x0A
        return before[min(last + 1, head.count)] - before[min(first, head.count)] + (isLast ? 1 : 0)
      }
      func cost(_ cell: Int, _ gone: Int, _ behind: Int) -> Int {
        let losing = behind - gone
        let end = ends[cell][gone]
        guard losing > 0 else {
          return end.map { $0 == next(cell) ? 0 : next(cell) - $0 < 4 ? 1 : 3 } ?? 30
        }
        let has = count(places[cell] - gone, next(cell) - behind)
        // One that loses a byte ahead of its values is seldom, beside all those that lose one in them.
        return has < losing ? ShortenedPage.never : 8 + losing + (end == nil ? 4 : 0)
      }
      var forward = [
        (0...rest).map { gone in
          gone == 0
            ? 0
            : count(tree.least, places[0] - gone) < gone ? ShortenedPage.never : 6 + gone
        }
      ]
      for cell in places.indices {
        let own = forward[cell]
        forward.append(
          (0...rest).map { behind in
            (0...behind).map { min(ShortenedPage.never, own[$0] + cost(cell, $0, behind)) }.min()
              ?? ShortenedPage.never
          })
      }
      let best = forward[places.count][rest]
      guard best < ShortenedPage.never else { return nil }
      var backward = [(0...rest).map { $0 == rest ? 0 : ShortenedPage.never }]
      for cell in places.indices.reversed() {
        let behind = backward[backward.count - 1]
        backward.append(
          (0...rest).map { gone in
            (gone...rest).map { min(ShortenedPage.never, cost(cell, gone, $0) + behind[$0]) }.min()
              ?? ShortenedPage.never
          })
      }
      backward.reverse()
      // How many bytes are gone before each cell, and before the page's end; nil where that is not known.
      let gone = (0...places.count).map { cell -> Int? in
        let near = (0...rest).filter {
          forward[cell][$0] + backward[cell][$0] <= best + ShortenedPage.equal
        }
        return near.count == 1 ? near[0] : nil
      }
      return put(together: gone, shifted, ends).map { ($0.page, $0.dropped, best) }
    }

    private func put(
      together gone: [Int?], _ shifted: [[UInt8]], _ ends: [[Int?]]
    ) -> (page: [UInt8], dropped: Int)? {
      var result = shifted[gone[0] ?? 0]
      var left: [Range<Int>] = []
      var shortened: [(cell: Int, before: Int, behind: Int)] = []
      for cell in places.indices {
        let (own, end) = (places[cell], next(cell))
        guard let before = gone[cell], let behind = gone[cell + 1] else {
          left.append(own..<end)
          continue
        }
        result.replaceSubrange(own..<end, with: shifted[behind][own..<end])
        if before == behind {
          if ends[cell][before] == nil { left.append(own..<end) }
        } else if let last = ends[cell][before],
          page.ends(in: head, own - before, last - before).isEmpty
        {
          // It has no place for the bytes: they are gone behind it.
          result.replaceSubrange(own..<last, with: shifted[before][own..<last])
        } else {
          shortened.append((cell, before, behind))
        }
      }
      let uncertain = left + shortened.map { places[$0.cell]..<next($0.cell) }
      let others = Likeness(
        tree.cells(in: result).filter { place in !uncertain.contains { $0.contains(place) } }
          .compactMap { likeness(at: $0, in: result) })
      for (cell, before, behind) in shortened {
        let own = places[cell]
        if let whole = whole(cell, before, behind, others) {
          result.replaceSubrange(own..<own + whole.count, with: whole)
        } else {
          left.append(own..<next(cell))
        }
      }
      guard left.isEmpty || tree.kind == .tableLeaf else { return nil }
      return (leaving(left, in: result), left.count)
    }

    /// What the rows of one table have alike: how many values, and the second one, which is the entity's number.
    private struct Likeness {
      let counts: Set<Int>
      let seconds: Set<Int64?>

      init(_ rows: [(count: Int, second: Int64?)]) {
        counts = Set(rows.map(\.count))
        seconds = Set(rows.map(\.second))
      }

      func holds(_ row: (count: Int, second: Int64?)) -> Bool {
        counts.contains(row.count) && seconds.contains(row.second)
      }
    }

    private func likeness(at place: Int, in bytes: [UInt8]) -> (count: Int, second: Int64?)? {
      var record = Record()
      guard
        let cell = TreeCell(
          bytes, at: place, of: tree.kind, present: bytes.count, usable: page.usable),
        record.read(bytes, cell.start..<cell.start + cell.local)
      else { return nil }
      return (record.count, record.integer(1))
    }

    /// The only cell that a shortened one can have been, or the only one that is like the others.
    private func whole(
      _ cell: Int, _ before: Int, _ behind: Int, _ others: Likeness
    ) -> [UInt8]? {
      let (own, end) = (places[cell], next(cell))
      let (first, last) = (own - before, end - behind)
      guard first <= last, last <= head.count,
        let choices = page.choices(of: behind - before, among: page.ends(in: head, first, last))
      else { return nil }
      var found: Set<[UInt8]> = []
      var alike: Set<[UInt8]> = []
      for places in choices {
        let longer = ShortenedPage.inserting(
          places.map { $0 - first }, into: Array(head[first..<last]))
        var bytes = shifted(0)
        bytes.replaceSubrange(own..<end, with: longer)
        guard
          let extent = tree.extent(of: own, in: bytes, pageCount: page.pageCount),
          extent.range.upperBound <= end
        else { continue }
        let whole = Array(bytes[own..<extent.range.upperBound])
        found.insert(whole)
        if tree.kind == .tableLeaf, likeness(at: own, in: bytes).map(others.holds) == true {
          alike.insert(whole)
        }
      }
      return alike.count == 1 ? alike.first : found.count == 1 ? found.first : nil
    }

    /// A page of a table without the cells in some ranges, which become free room without a byte in it.
    private func leaving(_ ranges: [Range<Int>], in bytes: [UInt8]) -> [UInt8] {
      guard !ranges.isEmpty else { return bytes }
      var page = bytes
      let kept = tree.cells(in: bytes).filter { place in !ranges.contains { $0.contains(place) } }
      let start = tree.pointers - 8
      BigEndian.putHalf(kept.count, into: &page, start + 3)
      for (index, place) in kept.enumerated() {
        BigEndian.putHalf(place, into: &page, tree.pointers + 2 * index)
      }
      for range in ranges {
        for place in range { page[place] = 0 }
      }
      return page
    }
  }
}
