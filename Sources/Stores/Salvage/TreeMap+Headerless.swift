extension TreeMap {
  /// Takes pages without a header for tables of one leaf that no schema names: the map says that a tree begins there,
  /// and rows and freed blocks fill the page to its end.
  mutating func takeHeaderlessRoots() throws {
    for number in 2..<max(2, image.pageCount + 1) where role(of: number) == .unknown {
      guard try image.kind(of: number) == 0, try pointers?.entry(number)?.kind == .root,
        let page = try image.page(number), page.present == page.bytes.count,
        let keys = BrokenLeaf(page, usable: image.usable, range: nil).keysToEnd,
        keys.lowerBound < keys.upperBound
      else { continue }
      let place = TreeHole(anywhereIn: number)
      take(place, .broken)
      ranges[number] = place
      holes.append(place)
    }
  }

  /// Treats pages without a header as interior pages of a table if the pointer map has pages of a table under them, and
  /// nothing else that is left references them.
  ///
  /// - Parameter isComplete: whether all roots are known; otherwise such a page can be a root itself.
  mutating func takeHeaderlessInteriors(isComplete: Bool) throws {
    var lost: Set<Int> = []
    for number in 2..<max(2, image.pageCount + 1) where role(of: number) == .unknown {
      let kind = try image.kind(of: number).flatMap { TreePage.Kind(rawValue: $0) }
      guard kind == nil, let entry = try pointers?.entry(number),
        entry.kind == .tree || entry.kind == .root && !isComplete
      else { continue }
      lost.insert(number)
    }
    guard !lost.isEmpty else { return }
    // Whether pages of tables, and of indexes, are under each.
    var below: [Int: (tables: Bool, indexes: Bool)] = [:]
    for number in 2..<max(2, image.pageCount + 1) {
      guard let entry = try pointers?.entry(number), entry.kind == .tree,
        lost.contains(entry.parent)
      else { continue }
      let kind = try image.kind(of: number).flatMap { TreePage.Kind(rawValue: $0) }
      var found = below[entry.parent] ?? (false, false)
      if kind?.isOfTable != false { found.tables = true } else { found.indexes = true }
      below[entry.parent] = found
    }
    for (number, kinds) in below.sorted(by: { $0.key < $1.key })
    where kinds.tables && !kinds.indexes {
      guard let root = try rootByMap(above: number), !isComplete || owner(of: root) == root else {
        continue
      }
      let place = TreeHole(root: root, page: number, above: nil, upTo: nil)
      take(place, .broken)
      ranges[number] = place
      let hole = TreeHole(anywhereIn: root)
      if !holes.contains(hole) { holes.append(hole) }
    }
  }

  /// The root of a page's tree by the pointer map; `nil` if the map does not lead to a root.
  private func rootByMap(above number: Int) throws -> Int? {
    var (pointers, page) = (pointers, number)
    // No tree is deeper.
    for _ in 0..<24 {
      guard let entry = try pointers?.entry(page) else { return nil }
      switch entry.kind {
      case .root: return page
      case .tree: page = entry.parent
      default: return nil
      }
    }
    return nil
  }

  /// Takes pages without a header for leaves of the tree that the map gives them to, where the page above
  /// them has no header either.
  ///
  /// It is done where nothing speaks against it: rows and freed blocks fill the page to its end, and the keys
  /// stand between those of the tree's other leaves.
  mutating func takeHeaderless() throws {
    var siblings: [Int: LeafRanges] = [:]
    for number in 2...max(2, image.pageCount) where role(of: number) == .unknown {
      guard try image.kind(of: number) == 0, let entry = try pointers?.entry(number),
        entry.kind == .tree, role(of: entry.parent) == .broken, let above = ranges[entry.parent],
        let page = try image.page(number), page.present == page.bytes.count,
        let keys = BrokenLeaf(page, usable: image.usable, range: above).keysToEnd
      else { continue }
      let root = above.root
      if siblings[root] == nil {
        siblings[root] = LeafRanges(
          try (1...image.pageCount).compactMap { other in
            guard owner(of: other) == root, role(of: other) == .leaf || role(of: other) == .adopted
            else { return nil }
            return try ends(of: other).map { min($0.0, $0.1)...max($0.0, $0.1) }
          })
      }
      guard let room = siblings[root]?.room(around: keys) else { continue }
      siblings[root]?.add(keys)
      let lower = [room.above, above.above].compactMap { $0 }
      let upper = [room.upTo, above.upTo].compactMap { $0 }
      let place = TreeHole(root: root, page: number, above: lower.max(), upTo: upper.min())
      take(place, .broken)
      ranges[number] = place
    }
  }

  /// Leaves out pages without a header that were interior ones, since the map has pages of the table under them:
  /// the cells in them are of a leaf that the page was before, and their rows may have been deleted since.
  mutating func leaveWipedInteriors() throws {
    var wiped: Set<Int> = []
    for number in 2...max(2, image.pageCount) {
      guard let entry = try pointers?.entry(number), entry.kind == .tree,
        role(of: entry.parent) == .broken, !wiped.contains(entry.parent)
      else { continue }
      let kind = try image.kind(of: number).flatMap { TreePage.Kind(rawValue: $0) }
      if kind?.isOfTable ?? (role(of: number) == .broken) { wiped.insert(entry.parent) }
    }
    for page in wiped { roles[page - 1] = .interior }
  }

  /// The keys of rows in a leaf without a header that are not part of freed room, as far as the page shows it.
  ///
  /// - Throws: `CoreDataError` where the file cannot be read.
  package func standingKeys(ofHeaderless number: Int) throws -> Set<Int64> {
    guard let page = try image.page(number) else { return [] }
    return BrokenLeaf(page, usable: image.usable, range: range(of: number))
      .standing(in: page, usable: image.usable)
  }
}

/// The keys of a table's leaves, from the first to the last of each.
private struct LeafRanges {
  /// By the first key.
  private let sorted: [ClosedRange<Int64>]
  /// The greatest key of each and those before it.
  private let greatest: [Int64]
  /// Those of leaves that were found since.
  private var added: [ClosedRange<Int64>] = []

  init(_ ranges: [ClosedRange<Int64>]) {
    sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
    var last = Int64.min
    greatest = sorted.map { range in
      last = max(last, range.upperBound)
      return last
    }
  }

  mutating func add(_ keys: ClosedRange<Int64>) { added.append(keys) }

  /// The keys between those of the leaves before and behind some; `nil` if a leaf has any of them.
  func room(around keys: ClosedRange<Int64>) -> (above: Int64?, upTo: Int64?)? {
    var (first, end) = (0, sorted.count)
    while first < end {
      let middle = (first + end) / 2
      if sorted[middle].lowerBound <= keys.upperBound { first = middle + 1 } else { end = middle }
    }
    let before = first > 0 ? greatest[first - 1] : nil
    guard before.map({ $0 < keys.lowerBound }) != false, !added.contains(where: keys.overlaps)
    else {
      return nil
    }
    let lower = added.map(\.upperBound).filter { $0 < keys.lowerBound } + [before].compactMap { $0 }
    let upper =
      added.map(\.lowerBound).filter { $0 > keys.upperBound }
      + (first < sorted.count ? [sorted[first].lowerBound] : [])
    return (lower.max(), upper.min().map { $0 - 1 })
  }
}
