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
  /// Room that is too short for a freed block.
  private static let mostFragment = 3
  /// The rest of one row looks like at most so many rows.
  private static let mostFalse = 2
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
    keysToEnd = Self.keysToEnd(taken, cells, page.bytes, usable: usable)
  }

  /// The keys of the cells that fill a page to its end, together with its freeblocks. The rest of a row whose beginning
  /// is lost can look like one or two rows: these precede the others, and are skipped.
  private static func keysToEnd(
    _ places: [Range<Int>], _ cells: [TreeCell], _ page: [UInt8], usable: Int
  ) -> ClosedRange<Int64>? {
    guard places.count == cells.count else { return nil }
    let places = places.sorted { $0.lowerBound < $1.lowerBound }
    let keys = cells.sorted { $0.start < $1.start }.map(\.key)
    for skipped in 0...min(mostFalse, max(0, places.count - 1)) {
      let own = keys.dropFirst(skipped)
      guard let first = own.min(), let last = own.max(), Set(own).count == own.count,
        fill(Array(places.dropFirst(skipped)), page, usable: usable)
      else { continue }
      return first...last
    }
    return nil
  }

  /// Whether nothing stands between rows, and behind the last of them, but blocks that were freed, each of
  /// which has its own size and references the next, and fragments that are too short for one.
  private static func fill(_ rows: [Range<Int>], _ page: [UInt8], usable: Int) -> Bool {
    let ends = rows.dropFirst().map(\.lowerBound) + [usable]
    guard zip(rows, ends).allSatisfy({ $0.upperBound <= $1 }) else { return false }
    let gaps = zip(rows, ends).map { $0.upperBound..<$1 }.filter { $0.count >= 4 }
    var next = 0
    for gap in gaps.reversed() {
      let place = (0...mostFragment).map { gap.lowerBound + $0 }.first { place in
        guard let block = FreedBlock(page, at: place, usable: usable) else { return false }
        return block.next == next && block.end <= gap.upperBound
          && gap.upperBound - block.end <= mostFragment
      }
      guard let place else { return false }
      next = place
    }
    return true
  }
}

/// A block that was freed in a page of a b-tree.
private struct FreedBlock {
  /// Where the next one begins; 0 for the last.
  let next: Int
  let end: Int

  init?(_ page: [UInt8], at place: Int, usable: Int) {
    guard place + 4 <= usable, usable <= page.count else { return nil }
    next = BigEndian.half(page, place)
    end = place + BigEndian.half(page, place + 2)
    guard end >= place + 4, end <= usable, next == 0 || next >= end && next + 4 <= usable else {
      return nil
    }
  }
}

extension BrokenLeaf {
  /// The keys of rows from which on rows and freed blocks fill the page to its end, as those of a page that is in use
  /// do: of what was deleted, the blocks often say themselves that they are of another time.
  ///
  /// - Returns: the keys of all rows where it does not show.
  func standing(in page: DatabaseImage.Page, usable: Int) -> Set<Int64> {
    let all = Set(cells.map(\.key))
    guard page.present == page.bytes.count, usable <= page.bytes.count else { return all }
    let rows = cells.compactMap { cell in
      Self.place(of: cell, in: page.bytes).map { (place: $0, cell: cell) }
    }.sorted { $0.place < $1.place }
    guard rows.count == cells.count, let first = rows.first,
      !Self.hasSectorOfOneByte(page.bytes, from: first.place)
    else { return all }
    let ends = Dictionary(rows.map { ($0.place, $0.cell) }) { first, _ in first }
    for row in rows {
      if let keys = Self.keys(from: row.place, ends, page.bytes, usable: usable) { return keys }
    }
    return all
  }

  /// Where a cell begins: its size and its key stand before its payload.
  private static func place(of cell: TreeCell, in page: [UInt8]) -> Int? {
    (2...18).lazy.map { cell.start - $0 }.first { place in
      guard place >= 0, let size = Varint.read(page, place), size.value == UInt64(cell.size),
        let key = Varint.read(page, size.end)
      else { return false }
      return key.end == cell.start && Int64(bitPattern: key.value) == cell.key
    }
  }

  private static func keys(
    from first: Int, _ rows: [Int: TreeCell], _ page: [UInt8], usable: Int
  ) -> Set<Int64>? {
    var (keys, place, fragment): (Set<Int64>, Int, Int) = ([], first, 0)
    var next: Int?
    while place < usable {
      if let row = rows[place], next != place {
        guard keys.insert(row.key).inserted else { return nil }
        (place, fragment) = (row.end, 0)
      } else if next == nil || next == place,
        let block = FreedBlock(page, at: place, usable: usable)
      {
        (next, place, fragment) = (block.next, block.end, 0)
      } else if fragment < mostFragment {
        place += 1
        fragment += 1
      } else {
        return nil
      }
    }
    return next ?? 0 == 0 ? keys : nil
  }

  private static func hasSectorOfOneByte(_ page: [UInt8], from first: Int) -> Bool {
    let sector = 512
    return stride(from: (first + sector - 1) / sector * sector, to: page.count, by: sector)
      .contains { start in
        let bytes = page[start..<min(page.count, start + sector)]
        return bytes.allSatisfy { $0 == bytes.first }
      }
  }
}
