import Files

/// Undoes what a transfer as text does to a file that has no line ends: each 0D that stood before an 0A is gone.
///
/// Where they stood nothing in the file says. But the next page of a tree is found by what it begins with, and a
/// page that has become shorter fits together again only where the byte is restored in the right cell. Where
/// more than one place in that cell would do, the cell is left out. Pictures of the form PNG begin with a line end
/// for that very purpose: there the byte's place is known.
struct LineFeedLoss {
  /// Where pages begin to stand before their places.
  private(set) var moves: [ByteShift.Move] = []
  /// Pages that lost bytes, as they were; zeros where that is not known.
  private(set) var pages: [Int: [UInt8]] = [:]
  /// How many bytes are gone.
  let lost: Int
  /// Cells that were left out, and pages.
  private(set) var cells = 0
  private(set) var unknown = 0

  private let pageSize: Int
  private let usable: Int
  private let count: Int

  /// A pair of these bytes stands in 65,536 by chance: more are not gone than one in so many.
  private static let seldom = 2_048
  private static let seldomTwice = 32
  private static let mostOfPage = 8
  private static let mostBetween = 256
  private static let mostTried = 6_000

  /// - Parameter header: the first bytes of the file.
  /// - Returns: `nil` where the file did not become shorter in that way.
  /// - Throws: `CoreDataError` where it cannot be read.
  init?(_ file: OpenFile, _ header: FileHeader, pageSize: Int) throws {
    lost = header.pages * pageSize - file.size
    self.pageSize = pageSize
    count = header.pages
    usable = pageSize - header.reserved
    guard header.isMagic, lost > 0, lost <= 16 + file.size / Self.seldom,
      try Self.pairs(in: file) <= 2 + lost / Self.seldomTwice
    else { return nil }
    var (page, start, gone) = (1, 0, 0)
    while page <= count {
      let next = try anchor(behind: page, start, gone, file)
      let less = next.less
      if less > 0 {
        try take(page, upTo: next.page, start, less: less, file)
        gone += less
        if next.page <= count { moves.append(.init(page: next.page, by: -gone)) }
      }
      start += (next.page - page) * pageSize - less
      page = next.page
    }
    guard gone == lost else { return nil }
  }

  /// How many pairs are left: where two 0D stood before an 0A, one still does.
  private static func pairs(in file: OpenFile) throws -> Int {
    var (count, before) = (0, UInt8(0))
    for offset in stride(from: 0, to: file.size, by: 65_536) {
      for byte in try file.read(at: offset, count: 65_536) {
        if byte == 0x0A, before == 0x0D { count += 1 }
        before = byte
      }
    }
    return count
  }

  /// The next page of a tree, and how many bytes less than its pages lie between; the end of the file behind
  /// the last.
  private func anchor(
    behind page: Int, _ start: Int, _ gone: Int, _ file: OpenFile
  ) throws -> (page: Int, less: Int) {
    for between in 1...Self.mostBetween where page + between <= count {
      let most = min(lost - gone, Self.mostOfPage + between / 16)
      let first = start + between * pageSize - most
      var bytes = try file.read(at: max(0, first), count: pageSize + most)
      // The last page may be shorter.
      bytes += [UInt8](repeating: 0, count: pageSize + most - bytes.count)
      for less in 0...most where ByteShift.isSound(bytes, most - less, pageSize) {
        return (page + between, less)
      }
      // One that lost a byte in its list of cells does not look sound; the page behind it does.
      guard between == 1, page + 2 <= count else { continue }
      for less in 0...most where isLikely(bytes, most - less) {
        let after = try file.read(at: start + 2 * pageSize - less - most, count: pageSize + most)
        let isFollowed = (1...max(1, most)).contains { more in
          most - more >= 0 && most - more + pageSize <= after.count
            && ByteShift.isSound(after, most - more, pageSize)
        }
        if isFollowed { return (page + 1, less) }
      }
    }
    let next = min(count + 1, page + Self.mostBetween)
    return (next, next > count ? lost - gone : 0)
  }

  /// Whether a page of a tree may begin at a place: its header, and its first cell's place.
  private func isLikely(_ bytes: [UInt8], _ offset: Int) -> Bool {
    guard offset + pageSize <= bytes.count, let kind = TreePage.Kind(rawValue: bytes[offset]),
      bytes[offset + 7] <= 60
    else { return false }
    let count = BigEndian.half(bytes, offset + 3)
    let content = BigEndian.half(bytes, offset + 5)
    let pointers = kind == .tableInterior || kind == .indexInterior ? 12 : 8
    let first = BigEndian.half(bytes, offset + pointers)
    return count > 1 && content >= pointers + 2 * count && content < usable
      && BigEndian.half(bytes, offset + 1) < usable && (content..<usable).contains(first)
  }

  /// Takes the pages from one on, of which one or more lost bytes; the first is of a tree.
  private mutating func take(
    _ first: Int, upTo next: Int, _ start: Int, less: Int, _ file: OpenFile
  ) throws {
    let bytes = try file.read(at: start, count: pageSize)
    // Two pages of trees may each have lost some.
    for own in 0...less where next == first + 2 {
      let second = try file.read(at: start + pageSize - own, count: pageSize - less + own)
      guard let one = mended(Array(bytes.prefix(pageSize - own)), first, missing: own),
        let two = mended(second, first + 1, missing: less - own)
      else { continue }
      (pages[first], pages[first + 1]) = (one.page, two.page)
      cells += one.dropped + two.dropped
      return
    }
    // Of several pages it was not the first that lost them, if that is whole.
    if next > first + 1, bytes.count == pageSize, fits(bytes, first) {
      return forget(first + 1..<next)
    }
    guard let mended = mended(Array(bytes.prefix(pageSize - less)), first, missing: less) else {
      return forget(first..<next)
    }
    pages[first] = mended.page
    cells += mended.dropped
    // What stands behind it does so before its place.
    if next > first + 1 { moves.append(.init(page: first + 1, by: (moves.last?.by ?? 0) - less)) }
  }

  private mutating func forget(_ range: Range<Int>) {
    for page in range { pages[page] = [UInt8](repeating: 0, count: pageSize) }
    unknown += range.count
  }

  /// A page with the bytes restored that it lost; `nil` where no places for them make it fit together.
  private func mended(
    _ bytes: [UInt8], _ number: Int, missing: Int
  ) -> (page: [UInt8], dropped: Int)? {
    var (bytes, missing) = (bytes, missing)
    while missing > 0, let place = Self.picture(in: bytes) {
      bytes.insert(0x0D, at: place)
      missing -= 1
    }
    let ends = bytes.indices.filter { place in
      bytes[place] == 0x0A
    }
    var tried = 0
    var fitting: [[UInt8]] = []
    let count = bytes.count
    func extend(_ page: [UInt8], from end: Int, missing: Int) {
      guard missing > 0 else {
        tried += 1
        if fits(page, number) { fitting.append(page) }
        return
      }
      guard end < ends.count else { return }
      for next in end..<ends.count where tried < Self.mostTried {
        var longer = page
        // Those restored before stand further ahead.
        longer.insert(0x0D, at: ends[next] + page.count - count)
        extend(longer, from: next + 1, missing: missing - 1)
      }
    }
    extend(bytes, from: 0, missing: missing)
    guard tried < Self.mostTried else { return nil }
    fitting = likely(fitting, number)
    guard let first = fitting.first else { return nil }
    guard fitting.count > 1 else { return (first, 0) }
    let differing = first.indices.filter { place in fitting.contains { $0[place] != first[place] } }
    guard let low = differing.first, let high = differing.last else { return (first, 0) }
    return without(first, number, low...high)
  }

  /// Those of several pages whose rows have, as their second value, what other rows of the page have: in a table of
  /// objects it is the entity's number.
  private func likely(_ pages: [[UInt8]], _ number: Int) -> [[UInt8]] {
    guard pages.count > 1, let first = pages.first else { return pages }
    let all = pages.map { seconds(of: $0, number) }
    let place = all[0].indices.first { place in
      all.contains { $0.count <= place || $0[place] != all[0][place] }
    }
    guard !first.isEmpty, let place else { return pages }
    var known = Set(all[0])
    if all[0].count(where: { $0 == all[0][place] }) == 1 { known.remove(all[0][place]) }
    let kept = pages.indices.filter { all[$0].count > place && known.contains(all[$0][place]) }
    return kept.isEmpty ? pages : kept.map { pages[$0] }
  }

  private func seconds(of page: [UInt8], _ number: Int) -> [Int64?] {
    guard let tree = TreePage(page, number: number, usable: usable), tree.kind == .tableLeaf
    else { return [] }
    var record = Record()
    return tree.cells(in: page).map { place in
      guard let cell = TreeCell(page, at: place, present: page.count, usable: usable),
        record.read(page, cell.start..<cell.start + cell.local)
      else { return nil }
      return record.integer(1)
    }
  }

  /// Where the first line end of a PNG's mark stands that lost its first byte.
  private static func picture(in bytes: [UInt8]) -> Int? {
    bytes.firstRange(of: [0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A]).map { $0.lowerBound + 4 }
  }

  /// A page of a table without the cells that stand in a range; `nil` for other pages.
  private func without(
    _ page: [UInt8], _ number: Int, _ range: ClosedRange<Int>
  ) -> (page: [UInt8], dropped: Int)? {
    let start = number == 1 ? FileHeader.size : 0
    guard let tree = TreePage(page, number: number, usable: usable), tree.kind == .tableLeaf,
      case let cells = tree.cells(in: page), range.lowerBound >= start + 8 + 2 * cells.count
    else { return nil }
    let kept = cells.filter { place in
      guard let cell = TreeCell(page, at: place, present: page.count, usable: usable) else {
        return false
      }
      return cell.end <= range.lowerBound || place > range.upperBound
    }
    var result = page
    BigEndian.putHalf(kept.count, into: &result, start + 3)
    for (index, place) in kept.enumerated() {
      BigEndian.putHalf(place, into: &result, start + 8 + 2 * index)
    }
    return (result, cells.count - kept.count)
  }

  /// Whether a page of a tree fits together: each cell is one, no two overlap, and what lies between is as much
  /// as the page's header and its free blocks say.
  private func fits(_ page: [UInt8], _ number: Int) -> Bool {
    guard page.count == pageSize, let tree = TreePage(page, number: number, usable: usable),
      tree.count > 0, tree.isSound(in: page)
    else { return false }
    var ranges: [Range<Int>] = []
    var key: Int64?
    for place in tree.cells(in: page) {
      guard let (range, next, _) = tree.extent(of: place, in: page, pageCount: count) else {
        return false
      }
      if let next {
        guard key.map({ $0 < next }) != false else { return false }
        key = next
      }
      ranges.append(range)
    }
    var free = tree.firstFree
    while free > 0 {
      guard free + 4 <= usable else { return false }
      let (next, size) = (BigEndian.half(page, free), BigEndian.half(page, free + 2))
      guard size >= 4, free + size <= usable, next == 0 || next > free else { return false }
      ranges.append(free..<free + size)
      free = next
    }
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var (end, fragments) = (tree.content, 0)
    for range in ranges {
      guard range.lowerBound >= end else { return false }
      fragments += range.lowerBound - end
      end = range.upperBound
    }
    let start = number == 1 ? FileHeader.size : 0
    return fragments + usable - end == Int(page[start + 7])
  }
}

/// Undoes the same in a -wal: the checksum of each frame tells where the bytes stood.
struct LogLineFeedLoss {
  /// Where the bytes stand in the file as it was, in order.
  private(set) var places: [Int] = []
  /// Bytes of the file as it was, up to the first frame of which nothing tells where they stood.
  private(set) var size = LogHeader.size
  /// That frame and those behind it.
  private(set) var unknown = 0

  private let header: LogHeader
  private let frameSize: Int
  private static let mostOfFrame = 64
  private static let mostTried = 50_000

  /// - Returns: `nil` where no byte is gone that can be put back, or the header is damaged as well.
  /// - Throws: `CoreDataError` where the file cannot be read.
  init?(_ file: OpenFile, pageSize: Int) throws {
    header = LogHeader(try file.read(at: 0, count: LogHeader.size))
    frameSize = LogHeader.frameHeaderSize + pageSize
    guard header.isWhole else { return nil }
    var (start, sum) = (LogHeader.size, header.checksum)
    while start < file.size {
      let bytes = try file.read(at: start, count: frameSize + LogHeader.frameHeaderSize)
      guard let frame = frame(bytes, after: sum) else {
        // What is left of an older generation is of no use.
        let isOwn = (7...8).contains { LogHeader.salts(bytes, at: $0) == header.salts }
        if isOwn { unknown = (file.size - start + frameSize - 1) / frameSize }
        break
      }
      places += frame.places.map { size + $0 }
      sum = LogChecksum(frame.bytes, 16)
      start += frameSize - frame.places.count
      size += frameSize
    }
    guard !places.isEmpty else { return nil }
  }

  /// The frame that bytes begin with as it was, and where in it those stand that were put back.
  private func frame(
    _ bytes: [UInt8], after sum: LogChecksum
  ) -> (bytes: [UInt8], places: [Int])? {
    let whole = Array(bytes.prefix(frameSize))
    if fits(whole, after: sum) { return (whole, []) }
    // The next frame shows how many are gone, and so does the file's end.
    var counts = (0...Self.mostOfFrame).filter { gone in
      LogHeader.salts(bytes, at: frameSize - gone + 8) == header.salts
        || bytes.count == frameSize - gone
    }
    if counts.isEmpty { counts = [1, 2] }
    var tried = 0
    func extend(_ bytes: [UInt8], from first: Int, gone: Int, _ places: [Int]) -> [Int]? {
      guard gone > 0 else {
        tried += 1
        return fits(bytes, after: sum) ? places : nil
      }
      for place in first..<max(first, bytes.count)
      where bytes[place] == 0x0A && tried < Self.mostTried {
        var longer = bytes
        longer.insert(0x0D, at: place)
        if let found = extend(longer, from: place + 2, gone: gone - 1, places + [place]) {
          return found
        }
      }
      return nil
    }
    for gone in counts where gone > 0 {
      var frame = Array(bytes.prefix(frameSize - gone))
      guard let places = extend(frame, from: 0, gone: gone, []) else { continue }
      for place in places { frame.insert(0x0D, at: place) }
      return (frame, places)
    }
    return nil
  }

  private func fits(_ frame: [UInt8], after sum: LogChecksum) -> Bool {
    guard frame.count == frameSize, LogHeader.salts(frame, at: 8) == header.salts else {
      return false
    }
    return LogFrames.checksum(frame, from: sum, header.isBigEndian) == LogChecksum(frame, 16)
  }
}
