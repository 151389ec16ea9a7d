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
    var taken = 0
    let cells = tree.cells(in: page.bytes).map { place in
      let cell = TreeCell(page.bytes, at: place, present: page.present, usable: image.usable)
      taken += cell?.room(from: place) ?? 0
      return cell
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
      !tree.isBalanced(taken, in: page.bytes)
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
