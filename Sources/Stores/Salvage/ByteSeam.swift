import Files

/// The place in the middle of a file where bytes were put in or are missing, and what can be read of the pages
/// around it.
///
/// The cells of its page before that place stand where they should, those behind it do not. The last one before it
/// may hold the place itself, and look whole with bytes that it never had: it is left out.
struct ByteSeam {
  /// The first page that stands elsewhere from its beginning on.
  private(set) var next: Int
  /// The pages before that one, and the next, that cannot be read as they stand: put together as far as that can be
  /// done, else zeros.
  private(set) var pages: [Int: [UInt8]] = [:]

  private let file: OpenFile
  private let pageSize: Int
  private let usable: Int
  /// How far behind its place all stands before the seam, and behind it.
  private let from: Int
  private let to: Int

  private static let mostBetween: Int64 = 64

  /// Looks for the place.
  ///
  /// - Parameters:
  ///   - last: a page of a tree that begins before it.
  ///   - end: a page behind it.
  /// - Throws: `CoreDataError` where the file cannot be read.
  init(
    _ file: OpenFile, pageSize: Int, usable: Int, behind last: Int, from: Int, to: Int,
    upTo end: Int
  ) throws {
    self.file = file
    (self.pageSize, self.usable, self.from, self.to) = (pageSize, usable, from, to)
    next = last + 1
    // The last page of a tree before it, and the first one behind it.
    var last = last
    while next < end, try ByteShift.sound(from: next, to, file, pageSize, count: 1) == 0 {
      if try ByteShift.sound(from: next, from, file, pageSize, count: 1) == 1 { last = next }
      next += 1
    }
    let missing = max(0, from - to)
    if let behind = try join(last) {
      next = last + 1
      if behind > pageSize { try forget(next..<next + 1, beginning: behind - pageSize) }
      return
    }
    // It is in that page's last cell, or in a page of something else: one begins before it, another does not.
    var (first, isLater) = (last + 1, false)
    for page in last + 1..<next {
      let (isBefore, isBehind) = (try isRest(page, from), try isRest(page, to))
      if isBefore, !isBehind { (first, isLater) = (page, true) }
      if isBehind, !isBefore {
        next = page
        break
      }
    }
    if !isLater { try leaveLastCell(of: last) }
    try forget(first..<max(first, next), beginning: missing > 0 ? missing : pageSize)
  }

  /// A page as it stands so many bytes behind its place, with zeros for what the file does not have.
  private func page(_ number: Int, _ by: Int) throws -> [UInt8] {
    let start = (number - 1) * pageSize + by
    let bytes = start < 0 ? [] : try file.read(at: start, count: pageSize)
    return bytes + [UInt8](repeating: 0, count: pageSize - bytes.count)
  }

  private var pageCount: Int { file.size / pageSize + 1 }

  /// Whether a page can be one with the rest of a row: it begins with the number of the page that follows.
  private func isRest(_ number: Int, _ by: Int) throws -> Bool {
    Int(BigEndian.word(try page(number, by), 0)) <= pageCount
  }

  /// Takes pages for lost, but for the cells of a leaf that lost its beginning.
  private mutating func forget(_ range: Range<Int>, beginning lost: Int) throws {
    for number in range {
      var bytes = try page(number, to)
      let lost = min(lost, pageSize)
      bytes.replaceSubrange(0..<lost, with: repeatElement(0, count: lost))
      let rest = DatabaseImage.Page(number: number, bytes: bytes, present: pageSize, origin: .main)
      let isLeaf = BrokenLeaf(rest, usable: usable, range: nil).cells.count > 2
      pages[number] = isLeaf ? bytes : [UInt8](repeating: 0, count: pageSize)
    }
  }

  /// Puts the page together in which the place is.
  ///
  /// - Returns: where in it the bytes behind the place should stand, which may be in the next page; `nil` where every
  ///   cell stands where it should.
  private mutating func join(_ number: Int) throws -> Int? {
    var bytes = try page(number, from)
    guard let tree = TreePage(bytes, number: number, usable: usable), tree.kind != .tableInterior
    else { return nil }
    let rest = try page(number, to)
    let places = tree.cells(in: bytes).sorted()
    let isElsewhere = places.contains {
      tree.extent(of: $0, in: bytes, pageCount: pageCount) == nil
    }
    guard isElsewhere else { return nil }
    // An index is made anew.
    guard tree.kind == .tableLeaf else {
      pages[number] = [UInt8](repeating: 0, count: pageSize)
      return 0
    }
    let old = cells(at: places, of: tree, in: bytes)
    let isBefore = old.prefix { $0 != nil }.count
    let keys = Set(old[..<isBefore].compactMap { $0?.key })
    // A cell that was met where it should stand is met once more where all rows have one length.
    let new = cells(at: places, of: tree, in: rest).map {
      $0.flatMap { keys.contains($0.key) ? nil : $0 }
    }
    let isBehind = new[isBefore...].reversed().prefix { $0 != nil }.count
    var kept = Array(0..<isBefore)
    if isBefore + isBehind == places.count
      || to < from && !beginsAsItWas(isBefore, places, old, new, of: tree, in: bytes)
    {
      kept = kept.dropLast()
    }
    let seam = kept.compactMap { old[$0]?.end }.max() ?? tree.least
    let behind = seam + max(0, from - to)
    kept += places.indices.suffix(isBehind).filter { places[$0] >= behind }
    let left = Set(places.indices).subtracting(kept).map { places[$0] }
    for place in seam..<max(seam, pageSize) { bytes[place] = place < behind ? 0 : rest[place] }
    leave(left, of: tree, in: &bytes)
    pages[number] = bytes
    return behind
  }

  /// The cells at places in rising order: those that end before the next begins, with as many values as another one
  /// has, unless there are few.
  private func cells(
    at places: [Int], of tree: TreePage, in page: [UInt8]
  ) -> [(end: Int, key: Int64)?] {
    let found = places.map { tree.extent(of: $0, in: page, pageCount: pageCount) }
    let counts = Dictionary(grouping: found.compactMap { $0?.columns }) { $0 }
    return zip(found, places.dropFirst() + [usable]).map { cell, next in
      guard let cell, cell.range.upperBound <= next,
        places.count < 4 || (counts[cell.columns]?.count ?? 0) > 1
      else { return nil }
      return (cell.range.upperBound, cell.key ?? 0)
    }
  }

  /// Whether the first cell that cannot be read begins as it did, so that the place is in it, and the one before it is
  /// whole: it ends where the next cell begins, with a key between those of the nearest cells in the list.
  private func beginsAsItWas(
    _ index: Int, _ places: [Int], _ old: [(end: Int, key: Int64)?],
    _ new: [(end: Int, key: Int64)?], of tree: TreePage, in page: [UInt8]
  ) -> Bool {
    guard places.indices.contains(index), index > 0, old[index - 1]?.end == places[index],
      let cell = TreeCell(page, at: places[index], present: page.count, usable: usable),
      cell.end == (index + 1 < places.count ? places[index + 1] : usable)
    else { return false }
    let keys = tree.cells(in: page).map { place -> Int64? in
      guard let other = places.firstIndex(of: place), other != index else { return nil }
      return other < index ? old[other]?.key : new[other]?.key
    }
    guard let listed = tree.cells(in: page).firstIndex(of: places[index]),
      let before = keys[..<listed].last(where: { $0 != nil }) ?? nil,
      let behind = keys[(listed + 1)...].first(where: { $0 != nil }) ?? nil
    else { return false }
    // Many keys between would fit by chance.
    return before < cell.key && cell.key < behind && behind - before < Self.mostBetween
  }

  private mutating func leaveLastCell(of number: Int) throws {
    var bytes = try page(number, from)
    guard let tree = TreePage(bytes, number: number, usable: usable), tree.kind == .tableLeaf,
      let last = tree.cells(in: bytes).max()
    else { return }
    leave([last], of: tree, in: &bytes)
    pages[number] = bytes
  }

  /// Makes places of cells lead to the page's last byte, where none can be: their keys are reported as lost.
  private func leave(_ places: [Int], of tree: TreePage, in bytes: inout [UInt8]) {
    for index in 0..<tree.listed {
      let pointer = tree.pointers + 2 * index
      guard places.contains(BigEndian.half(bytes, pointer)) else { continue }
      BigEndian.putHalf(usable - 1, into: &bytes, pointer)
    }
  }
}
