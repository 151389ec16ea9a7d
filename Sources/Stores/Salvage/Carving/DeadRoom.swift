/// What of a b-tree's page is not in use: the gap between the list of cells and the cells, the blocks
/// that were freed, and what lies between cells.
///
/// SQLite clears none of it unless secure_delete is on: what was deleted stands there until something
/// else is written over it. Of a cell that was freed the first four bytes are overwritten by the list of
/// free blocks, except where it was joined to a block before it or to the gap.
struct DeadRoom {
  /// The bytes that are not in use, from low to high.
  private(set) var ranges: [Range<Int>] = []
  /// The cells of a table's leaf that are in use, from low to high.
  private(set) var cells: [(range: Range<Int>, key: Int64)] = []

  /// - Returns: `nil` where the page is no sound one of a b-tree.
  init?(_ bytes: [UInt8], number: Int, usable: Int) {
    guard let tree = TreePage(bytes, number: number, usable: usable), tree.isPlausible,
      case let offsets = tree.cells(in: bytes), offsets.count == tree.count
    else { return nil }
    let listed = tree.least
    if tree.kind == .tableLeaf {
      for offset in offsets {
        guard let cell = TreeCell(bytes, at: offset, present: bytes.count, usable: usable) else {
          continue
        }
        cells.append((offset..<max(cell.end, offset + 4), cell.key))
      }
      cells.sort { $0.range.lowerBound < $1.range.lowerBound }
      var place = listed
      for cell in cells {
        if cell.range.lowerBound > place { ranges.append(place..<cell.range.lowerBound) }
        place = max(place, cell.range.upperBound)
      }
      if place < usable { ranges.append(place..<usable) }
      return
    }
    if tree.content > listed { ranges.append(listed..<min(tree.content, usable)) }
    var block = tree.firstFree
    while block >= tree.content, block + 4 <= usable {
      let size = BigEndian.half(bytes, block + 2)
      guard size >= 4, block + size <= usable else { break }
      ranges.append(block..<block + size)
      let next = BigEndian.half(bytes, block)
      guard next > block else { break }
      block = next
    }
  }

  /// Whether the cells of the page were written one after another, with rising keys from its end down: so
  /// it is where rows were only ever added, and the order shows the keys of what was deleted between them.
  var isInOrder: Bool {
    zip(cells, cells.dropFirst()).allSatisfy { $0.key > $1.key }
  }
}

extension DeadRoom {
  /// The greatest key that SQLite writes in so many bytes, from one on.
  private static let greatestKeys: [Int64] = (1...9).map { $0 < 9 ? 1 << (7 * $0) - 1 : .max }

  /// How many bytes the keys may take of rows that were deleted in a range.
  ///
  /// Where rows were only ever added, their keys lie between those of the cells around the range, and are none of a row in
  /// use. Otherwise keys of any length are possible: a row may have moved within the page.
  ///
  /// - Parameter bounds: the keys that the leaf may hold by the pages above it; `nil` if unknown.
  func keyLengths(in range: Range<Int>, within bounds: TreeHole?) -> Set<Int> {
    let any = Set(1...Self.greatestKeys.count)
    guard isInOrder, !cells.isEmpty else { return any }
    var first = bounds?.above.map { $0 == .max ? $0 : $0 + 1 } ?? 1
    var last = bounds?.upTo ?? .max
    let below = cells.last { $0.range.upperBound <= range.lowerBound }
    let above = cells.first { $0.range.lowerBound >= range.upperBound }
    if let above, above.key < .max { first = max(first, above.key + 1) }
    if let below, below.key > .min { last = min(last, below.key - 1) }
    var lengths: Set<Int> = []
    var least: Int64 = 1
    for (index, greatest) in Self.greatestKeys.enumerated() {
      let (from, to) = (max(first, least), min(last, greatest))
      if from <= to {
        let used = cells.count { $0.key >= from && $0.key <= to }
        if UInt64(used) <= UInt64(to - from) { lengths.insert(index + 1) }
      }
      least = greatest == .max ? .max : greatest + 1
    }
    return lengths.isEmpty ? any : lengths
  }
}

extension TreeMap {
  /// The keys that a leaf may hold by the pages above it; `nil` if it is none of a known tree, or has no row in use.
  func bounds(of number: Int, _ room: DeadRoom) throws -> TreeHole? {
    guard role(of: number) == .leaf, let cell = room.cells.first else { return nil }
    return try bounds(of: number, holding: cell.key)
  }
}
