/// Reads the rows of a database's tables, page after page as they stand in the file.
public struct RowScan: ~Copyable {
  /// What is known of a row.
  public enum Certainty: String, Sendable {
    /// It is in a page that its table's tree references.
    case certain
    /// Its table's tree leads to its page, which may be of another database all the same.
    case unvouched
    /// Its page, or its place in the page, was found by looking.
    case guessed
  }

  /// A row, without its values.
  public struct Row: Sendable {
    /// The first page of its table's tree; 0 where that is not known.
    public var root: Int
    /// The page that its cell is in.
    public var page: Int
    /// Where that page stands.
    public var origin: DatabaseImage.Origin
    /// Its key, which SQLite calls rowid.
    public var key: Int64
    /// What is known of it.
    public var certainty: Certainty
  }

  /// Cells of leaves that could not be read as rows.
  public private(set) var unreadable = 0
  /// The keys that rows may have whose cells could not be read, by the cells around them.
  ///
  /// Those of pages without a header are not among them: the ``TreeMap`` has a hole for each.
  package private(set) var lost: [TreeHole] = []
  /// Rows of which a page may not have been written to its end: a sector of zeros ends it.
  package private(set) var doubtful = 0
  /// Rows of pages whose cells, freed blocks and fragments do not fill them: such a page may be of two times, by table.
  package private(set) var unbalanced: [Int: Int] = [:]

  private let image: DatabaseImage
  private let trees: TreeMap
  private let besides: [Bool]
  private let chains: OverflowChains
  private var record = Record()
  /// How many pages of rests of rows are still read: more than there are only circles have.
  private var budget = 0
  /// The trees of which no more places are listed: any key of theirs may be lost.
  private var fullTrees: Set<Int> = []
  private static let mostLost = 10_000

  /// A scan over the pages that a map knows.
  ///
  /// - Parameter besides: pages to pass over, the first of which is page 1; none where it is shorter.
  public init(_ image: DatabaseImage, _ trees: TreeMap, besides: [Bool] = []) {
    self.image = image
    self.trees = trees
    self.besides = besides
    chains = OverflowChains(image, trees)
  }

  /// Reads the rows of pages.
  ///
  /// - Parameters:
  ///   - isWanted: whether to read a page, by what it is and by the root of its tree, 0 for none.
  ///   - isCancelled: asked every few pages; the scan then ends.
  ///   - progress: called every few pages with how many were read.
  ///   - body: takes each row; the record is good until it returns.
  /// - Throws: `CoreDataError` where the file cannot be read; what `body` throws.
  public mutating func rows(
    where isWanted: (_ role: TreeMap.Role, _ root: Int) -> Bool,
    isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in },
    _ body: (Row, borrowing Record) throws -> Void
  ) throws {
    // Each page belongs to one row at most.
    budget = 2 * image.pageCount + 1000
    for number in 1...max(1, image.pageCount) {
      if number % 256 == 0 {
        if isCancelled() { return }
        progress(number)
      }
      if number <= besides.count, besides[number - 1] { continue }
      let role = trees.role(of: number)
      guard isWanted(role, trees.owner(of: number)), let page = try image.page(number) else {
        continue
      }
      try rows(of: page, role, body)
    }
  }

  private mutating func rows(
    of page: DatabaseImage.Page, _ role: TreeMap.Role,
    _ body: (Row, borrowing Record) throws -> Void
  ) throws {
    var row = Row(
      root: trees.owner(of: page.number), page: page.number, origin: page.origin, key: 0,
      certainty: role != .leaf
        ? .guessed : trees.isDoubtful(page.origin) ? .unvouched : .certain)
    guard role != .broken else {
      let range = trees.range(of: page.number)
      for cell in BrokenLeaf(page, usable: image.usable, range: range).cells {
        guard try read(cell, of: page) else {
          unreadable += 1
          continue
        }
        row.key = cell.key
        try body(row, record)
      }
      return
    }
    guard let tree = TreePage(page.bytes, number: page.number, usable: image.usable) else { return }
    let cells = tree.cells(in: page.bytes).map {
      TreeCell(page.bytes, at: $0, present: page.present, usable: image.usable)
    }
    var hole = TreeHole(root: row.root, page: page.number, above: nil, upTo: nil)
    if tree.listed > cells.count {
      // No page has more of them.
      unreadable += min(tree.listed - cells.count, image.usable / 6)
      lose(hole)
    }
    let overlapping = Self.overlapping(cells)
    let before = unreadable
    var last: Int64?
    var isLosing = false
    for (index, cell) in cells.enumerated() {
      // Keys rise, and no two cells share a byte: one that does is not where it belongs.
      guard let cell, cell.key > last ?? .min || last == nil, !overlapping.contains(index) else {
        unreadable += 1
        if !isLosing { hole.above = last }
        isLosing = true
        continue
      }
      if isLosing {
        hole.upTo = cell.key
        lose(hole)
        isLosing = false
      }
      guard try read(cell, of: page) else {
        unreadable += 1
        hole.above = cell.key > .min ? cell.key - 1 : nil
        hole.upTo = cell.key
        lose(hole)
        continue
      }
      last = cell.key
      row.key = cell.key
      try body(row, record)
    }
    if unreadable == before, page.present == page.bytes.count, !cells.isEmpty,
      !tree.isBalanced(in: page.bytes)
    {
      unbalanced[row.root, default: 0] += cells.count
    }
    guard isLosing else { return }
    hole.upTo = nil
    lose(hole)
  }

  /// Takes into account that keys may be those of rows that could not be read.
  private mutating func lose(_ hole: TreeHole) {
    guard !fullTrees.contains(hole.root) else { return }
    if lost.count < Self.mostLost { return lost.append(hole) }
    fullTrees.insert(hole.root)
    lost.append(TreeHole(anywhereIn: hole.root))
  }

  /// Which of the cells of a page have bytes that another has as well.
  private static func overlapping(_ cells: [TreeCell?]) -> Set<Int> {
    // Rows that were added one after the other stand before each other: of most pages nothing has to be sorted.
    var least = Int.max
    let isInOrder = cells.allSatisfy { cell in
      guard let cell else { return true }
      defer { least = cell.start }
      return cell.end <= least
    }
    guard !isInOrder else { return [] }
    let ranges = cells.enumerated().compactMap { index, cell in
      cell.map { (index: index, start: $0.start, end: $0.end) }
    }.sorted { $0.start < $1.start }
    var result: Set<Int> = []
    for (one, next) in zip(ranges, ranges.dropFirst()) where next.start < one.end {
      result.formUnion([one.index, next.index])
    }
    return result
  }

  /// Takes a cell's payload, with what of it is on other pages.
  private mutating func read(_ cell: TreeCell, of page: DatabaseImage.Page) throws -> Bool {
    guard cell.local < cell.size else {
      // What a record says of itself and what its cell says of it are the same.
      let end = cell.start + cell.size
      guard record.read(page.bytes, cell.start..<end), record.stated == cell.size else {
        return false
      }
      // Zeros from the beginning of a sector on, where text should be: they were not written. A blob may be so.
      if let place = DatabaseImage.Page.zeros(in: cell.start..<end, of: page.bytes) {
        guard record.isUnwritten(from: place - cell.start) else {
          doubtful += 1
          return true
        }
        return record.read(page.bytes, cell.start..<place)
      }
      return true
    }
    // More than all pages can hold is no size.
    guard cell.size / (image.usable - 4) <= image.pageCount else { return false }
    var taken = cell.start + cell.local
    guard budget > 0 else { return record.read(page.bytes, cell.start..<taken) }
    let chain = try chains.chain(cell.overflow, of: page.number, rest: cell.size - cell.local)
    budget -= chain.pages.count
    if chain.isDoubtful { doubtful += 1 }
    // No more than the pages hold, whatever the cell says.
    let payload = record.room(
      for: min(cell.size, cell.local + chain.pages.count * (image.usable - 4)))
    payload.copyBytes(from: page.bytes[cell.start..<taken])
    taken = cell.local
    for number in chain.pages {
      guard let page = try image.page(number) else { break }
      // Nothing at all, where something is to follow: the page was lost.
      let count = min(cell.size - taken, min(page.present, image.usable) - 4)
      if !page.bytes.contains(where: { $0 != 0 }) { break }
      UnsafeMutableRawBufferPointer(rebasing: payload[taken..<taken + count])
        .copyBytes(from: page.bytes[4..<4 + count])
      taken += count
      if page.present < page.bytes.count { break }
    }
    return record.read(UnsafeRawBufferPointer(rebasing: payload[..<taken]))
      && record.stated == cell.size
  }
}

/// The cells of a leaf whose header is gone, found one by one.
///
/// What is left of the list of cells is in the order of keys, and names cells for certain. Cells of which
/// the list lost the places are looked for in the room that is left: each must be a record whose end is
/// where its own header says, with a key in the order of the rest. A key may come more than once: an
/// older state of a row can stand in room that is no longer used.
struct BrokenLeaf {
  /// The cells, in the order of their keys.
  private(set) var cells: [TreeCell] = []
  /// The keys of the cells where these and blocks that were freed fill the page from the first of them to its
  /// end, and each key comes once; `nil` where they do not.
  private(set) var keysToEnd: ClosedRange<Int64>?

  /// More rows of a page were not overwritten in part, unless somebody made it to take long.
  private static let mostOverwritten = 32
  /// A list begins no later where but its header is lost, or little more.
  private static let mostHeader = 24
  /// So many rows of a page are looked into.
  private static let mostLooked = 256

  /// - Parameter range: the keys that the page may hold.
  init(_ page: DatabaseImage.Page, usable: Int, range: TreeHole?) {
    func row(_ offset: Int) -> (cell: TreeCell, columns: Int)? {
      // SQLite writes no number with a first byte of no value: it is the last one of the row before.
      guard offset < page.bytes.count, page.bytes[offset] != 0x80,
        let cell = TreeCell(page.bytes, at: offset, present: page.present, usable: usable),
        range?.holds(cell.key) != false
      else { return nil }
      var columns = 0
      let stated = page.bytes.withUnsafeBytes { bytes in
        Record.parse(UnsafeRawBufferPointer(rebasing: bytes[cell.start..<cell.start + cell.local]))
        {
          _ in columns += 1
        }
      }
      return stated == cell.size ? (cell, columns) : nil
    }
    func cell(_ offset: Int) -> TreeCell? { row(offset)?.cell }
    // The list may have lost its beginning: the longest run of places whose keys rise.
    var best: (first: Int, listed: [(offset: Int, cell: TreeCell)]) = (0, [])
    var place = 8
    while place < usable / 2 {
      var listed: [(offset: Int, cell: TreeCell)] = []
      var next = place
      while next + 2 <= usable {
        let offset = BigEndian.half(page.bytes, next)
        guard offset > next + 1, let cell = cell(offset), cell.key > listed.last?.cell.key ?? .min
        else { break }
        listed.append((offset, cell))
        next += 2
      }
      // Bytes of rows can look like one or two places of a list; those of a header are few.
      if listed.count > best.listed.count, listed.count > 2 || place <= Self.mostHeader {
        best = (place, listed)
      }
      place = max(next, place) + 2
    }
    var taken = best.listed.map { $0.offset..<$0.cell.end }
    var found = best.listed.map(\.cell)
    // As many more as the list had room for before its first place, all with lesser keys.
    let lost = best.listed.isEmpty ? Int.max : (best.first - 8) / 2
    var more: [TreeCell] = []
    var offset = max(8, best.first + 2 * best.listed.count)
    let limit = found.first?.key ?? .max
    var (overwritten, looked) = (0, 0)
    /// Whether a later row was written over the end of one: its own begins within, where that one's would
    /// have been overwritten by it, and fills the room up to the next.
    func isOverwritten(_ older: (cell: TreeCell, columns: Int), at offset: Int) -> Bool {
      guard overwritten < Self.mostOverwritten else { return false }
      return (offset + 1..<older.cell.end).contains { place in
        guard let row = row(place), row.columns == older.columns, row.cell.key < limit,
          row.cell.end >= older.cell.end
        else { return false }
        let end = row.cell.end
        return !taken.contains { $0.overlaps(place..<end) }
          && (end == usable || taken.contains { $0.lowerBound == end } || cell(end) != nil)
      }
    }
    /// Whether rows stand one behind the other within what looks like one: that is none then.
    func holdsOthers(_ outer: TreeCell, at offset: Int) -> Bool {
      guard outer.end - offset > 24, looked < Self.mostLooked else { return false }
      looked += 1
      for place in offset + 1..<outer.end {
        guard let first = row(place), first.cell.end < outer.end,
          let second = row(first.cell.end), second.columns == first.columns,
          second.cell.key != first.cell.key, let third = row(second.cell.end),
          third.columns == first.columns
        else { continue }
        return true
      }
      return false
    }
    while offset < usable {
      if let block = taken.first(where: { $0.contains(offset) }) {
        offset = block.upperBound
        continue
      }
      guard let row = row(offset), found.isEmpty || row.cell.key < limit,
        !taken.contains(where: { $0.overlaps(offset..<row.cell.end) })
      else {
        offset += 1
        continue
      }
      guard !holdsOthers(row.cell, at: offset) else {
        offset += 1
        continue
      }
      guard !isOverwritten(row, at: offset) else {
        overwritten += 1
        offset += 1
        continue
      }
      let cell = row.cell
      more.append(cell)
      taken.append(offset..<cell.end)
      offset = cell.end
    }
    // What was lost of the list stood before its first: the next lesser keys are the likeliest.
    let keys = Set(Set(more.map(\.key)).sorted(by: >).prefix(lost))
    found += more.filter { keys.contains($0.key) }
    cells = found.sorted { $0.key < $1.key }
    taken.sort { $0.lowerBound < $1.lowerBound }
    let areOnce =
      taken.count == cells.count
      && zip(cells, cells.dropFirst()).allSatisfy { $0.key < $1.key }
    if areOnce, let first = cells.first, let last = cells.last,
      Self.fill(taken, page.bytes, usable: usable)
    {
      keysToEnd = first.key...last.key
    }
  }

  /// Whether nothing stands between rows, and behind the last of them, but blocks that were freed, each of
  /// which has its own size and references the next, and fragments that are too short for one.
  private static func fill(_ rows: [Range<Int>], _ page: [UInt8], usable: Int) -> Bool {
    let ends = rows.dropFirst().map(\.lowerBound) + [usable]
    guard zip(rows, ends).allSatisfy({ $0.upperBound <= $1 }) else { return false }
    let gaps = zip(rows, ends).map { $0.upperBound..<$1 }.filter { $0.count >= 4 }
    return zip(gaps, gaps.dropFirst().map(\.lowerBound) + [0]).allSatisfy { gap, next in
      BigEndian.half(page, gap.lowerBound) == next
        && BigEndian.half(page, gap.lowerBound + 2) == gap.count
    }
  }
}

/// How often the objects on a page were saved: Core Data raises Z_OPT with each save, so that of two
/// states of a page the newer one can be determined.
package struct SaveCounts {
  private var counts: [Int64: (entity: Int64, saves: Int64)] = [:]

  /// Those of a leaf's rows that begin as objects do: the null of the key, Z_ENT, Z_OPT.
  ///
  /// - Returns: `nil` where the page is no leaf of a table.
  package init?(_ bytes: [UInt8], number: Int) {
    guard let tree = TreePage(bytes, number: number, usable: bytes.count), tree.kind == .tableLeaf
    else { return nil }
    var record = Record()
    for offset in tree.cells(in: bytes) {
      guard let cell = TreeCell(bytes, at: offset, present: bytes.count, usable: bytes.count),
        record.read(bytes, cell.start..<cell.start + cell.local), record.count > 3,
        record.kind(0) == .null, let entity = record.integer(1), entity > 0,
        let saves = record.integer(2), saves > 0
      else { continue }
      counts[cell.key] = (entity, saves)
    }
  }

  /// How many objects of another state of the page were saved again since this one, and how many the
  /// other way.
  package func compared(to other: SaveCounts) -> (later: Int, earlier: Int) {
    var result = (later: 0, earlier: 0)
    for (key, count) in counts {
      guard let newer = other.counts[key], newer.entity == count.entity else { continue }
      if newer.saves > count.saves { result.later += 1 }
      if newer.saves < count.saves { result.earlier += 1 }
    }
    return result
  }
}
