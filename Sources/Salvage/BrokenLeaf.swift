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
      guard
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
