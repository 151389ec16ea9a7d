import Files

/// How the bytes of a file were moved on their way, so that its pages stand elsewhere than they should.
///
/// A file that went through a text transfer has 0D 0A for each 0A; a header may stand before it, bytes may be
/// missing or stand too many in its middle. What was moved can be read where it is; of a page in which bytes
/// are missing a part stays lost.
package enum ByteShift: Sendable, Equatable {
  /// So many bytes stand before the file's own beginning.
  case header(Int)
  /// Each 0A is 0D 0A; so many bytes are too many.
  case lineEnds(Int)
  /// Each 0D that stood before an 0A is gone: so many bytes. So many cells, and pages, are not known for it.
  case lineFeeds(lost: Int, cells: Int, pages: Int)
  /// From these pages on, all stands so many bytes behind its place; before it where that is negative.
  case moved([Move])

  /// Whether bytes are missing, so that not everything can be read as it was.
  package var isLossy: Bool {
    switch self {
    case .header, .lineEnds: false
    case .lineFeeds, .moved: true
    }
  }

  /// Where pages begin to stand elsewhere.
  package struct Move: Sendable, Equatable {
    /// The first page that does, from 1.
    package var page: Int
    /// How far behind its place it stands.
    package var by: Int
  }

  /// A file's bytes where they should stand.
  struct Reading: Sendable {
    let shift: ByteShift
    let pageSize: Int
    /// Bytes of the file as it was.
    let size: Int
    /// Of line ends: how many were taken out before each place of `step` bytes of the file as it is.
    var removed: [Int] = []
    /// Where pages begin to stand elsewhere.
    var moves: [Move] = []
    /// Pages that are not read from the file.
    var pages: [Int: [UInt8]] = [:]
    /// Those of them without cells that were left out.
    var shortened: Set<Int> = []
    /// Where a 0D stands in the file as it was that is not in it any more, in order.
    var inserted: [Int] = []
    static let step = 4096
  }

  private static let mostHeader = 65_536

  /// Finds out whether a file's bytes were moved.
  ///
  /// - Returns: `nil` where it begins as a database, and is as long as whole pages are, or where nothing in it
  ///   shows a move.
  /// - Throws: `CoreDataError` where it cannot be read.
  static func reading(of file: OpenFile) throws -> Reading? {
    let head = try file.read(at: 0, count: mostHeader)
    guard let start = ByteSearch.place(of: FileHeader.magic, in: head) else { return nil }
    guard let pageSize = FileHeader(head[start...]).pageSize else { return nil }
    if start > 0 {
      return Reading(
        shift: .header(start), pageSize: pageSize, size: file.size - start)
    }
    guard file.size % pageSize != 0 else { return nil }
    if let found = try lineEnds(of: file, pageSize, isWhole: { $0 % pageSize == 0 }) {
      return found
    }
    if let loss = try LineFeedLoss(file, FileHeader(head[...]), pageSize: pageSize) {
      return Reading(
        shift: .lineFeeds(lost: loss.lost, cells: loss.cells, pages: loss.unknown),
        pageSize: pageSize, size: file.size + loss.lost, moves: loss.moves, pages: loss.pages,
        shortened: loss.shortened)
    }
    let header = FileHeader(head)
    // So many bytes are too many or missing, by what the header counts; a file that was cut off is as if.
    let surplus = file.size - header.pages * pageSize
    let isCounted = header.pages > 0 && header.changeCounter == header.versionValidFor
    let (moves, pages) = try moves(
      in: file, pageSize, usable: pageSize - header.reserved,
      surplus: isCounted && abs(surplus) < pageSize ? surplus : nil)
    guard let last = moves.last else { return nil }
    return Reading(
      shift: .moved(moves), pageSize: pageSize, size: file.size - last.by, moves: moves,
      pages: pages)
  }

  /// Finds out whether the bytes of a -wal were moved, as those of its main file: what stands before it, and line
  /// ends.
  ///
  /// - Parameter pageSize: that of its frames, where the log does not say it.
  static func reading(ofLog file: OpenFile, pageSize: Int?) throws -> Reading? {
    let head = try file.read(at: 0, count: mostHeader)
    let magics: [[UInt8]] = [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]
    guard let start = magics.compactMap({ ByteSearch.place(of: $0, in: head) }).min(),
      let size = LogHeader(Array(head[start...].prefix(LogHeader.size))).pageSize ?? pageSize
    else { return nil }
    if start > 0 {
      return Reading(shift: .header(start), pageSize: size, size: file.size - start)
    }
    let frame = LogHeader.frameHeaderSize + size
    guard (file.size - LogHeader.size) % frame != 0 else { return nil }
    if let found = try lineEnds(of: file, size, isWhole: { ($0 - LogHeader.size) % frame == 0 }) {
      return found
    }
    guard let loss = try LogLineFeedLoss(file, pageSize: size) else { return nil }
    return Reading(
      shift: .lineFeeds(lost: loss.places.count, cells: 0, pages: loss.unknown), pageSize: size,
      size: loss.size, inserted: loss.places)
  }

  /// Finds out how the bytes of a -wal were moved of which SQLite does not read every frame.
  ///
  /// - Parameter pageSize: that of its frames, where the log does not show it.
  /// - Throws: `CoreDataError` where it cannot be read.
  package static func ofLog(_ file: OpenFile, pageSize: Int) throws -> ByteShift? {
    try reading(ofLog: file, pageSize: pageSize)?.shift
  }

  /// Of a file in which no 0A stands without a 0D before it, and that has whole pages without these.
  private static func lineEnds(
    of file: OpenFile, _ pageSize: Int, isWhole: (_ size: Int) -> Bool
  ) throws -> Reading? {
    var removed: [Int] = []
    var (count, before) = (0, UInt8(0))
    for offset in stride(from: 0, to: file.size, by: Reading.step) {
      removed.append(count)
      for byte in try file.read(at: offset, count: Reading.step) {
        if byte == 0x0A {
          guard before == 0x0D else { return nil }
          count += 1
        }
        before = byte
      }
    }
    guard count > 0, isWhole(file.size - count) else { return nil }
    return Reading(
      shift: .lineEnds(count), pageSize: pageSize, size: file.size - count, removed: removed)
  }

  /// Pages of a tree that are looked for at once, and how many of them vouch for a place.
  private static let window = 24
  private static let enough = 5

  /// Where pages begin to stand elsewhere: as many begin there as in order would; and the pages around each such
  /// place, as far as they are known.
  ///
  /// - Parameter surplus: how many bytes there are besides those of the pages that the header counts; `nil` where that
  ///   is not known.
  private static func moves(
    in file: OpenFile, _ pageSize: Int, usable: Int, surplus: Int?
  ) throws -> (moves: [Move], pages: [Int: [UInt8]]) {
    var moves: [Move] = []
    var pages: [Int: [UInt8]] = [:]
    var (by, page, last) = (0, 2, 1)
    let most = file.size / pageSize + 2
    while page <= most, moves.count < 16 {
      if try sound(from: page, by, file, pageSize, count: 1) == 1 {
        last = page
        page += 1
        continue
      }
      // What is no tree's page shows nothing: those after it do.
      guard try sound(from: page, by, file, pageSize, count: window) < 2 else {
        page += 1
        continue
      }
      guard let found = try place(of: page, besides: by, file, pageSize, surplus: surplus) else {
        page += window
        continue
      }
      let seam = try ByteSeam(
        file, pageSize: pageSize, usable: usable, behind: last, from: by, to: found,
        upTo: page + window)
      pages.merge(seam.pages) { first, _ in first }
      by = found
      last = seam.next
      page = max(page, seam.next)
      moves.append(Move(page: seam.next, by: by))
    }
    return (moves, pages)
  }

  /// How many pages from one on are of trees, where all stands so many bytes behind its place.
  static func sound(
    from page: Int, _ by: Int, _ file: OpenFile, _ pageSize: Int, count: Int
  ) throws -> Int {
    let start = (page - 1) * pageSize + by
    guard start >= 0 else { return 0 }
    let bytes = try file.read(at: start, count: count * pageSize)
    var found = 0
    for index in 0..<count where (index + 1) * pageSize <= bytes.count {
      if begins(bytes, index * pageSize, pageSize) { found += 1 }
    }
    return found
  }

  /// Whether a page of a tree begins at a place, one without cells too.
  private static func begins(_ bytes: [UInt8], _ offset: Int, _ pageSize: Int) -> Bool {
    isSound(bytes, offset, pageSize)
      || ShortenedPage.isEmpty(bytes, at: offset, usable: pageSize)
  }

  /// How far behind their places pages from one on stand, by a page's length at most either way.
  ///
  /// In a file of few pages, those that stand where the header's count has them vouch for a place.
  private static func place(
    of page: Int, besides by: Int, _ file: OpenFile, _ pageSize: Int, surplus: Int?
  ) throws -> Int? {
    let first = max(0, (page - 1) * pageSize + by - pageSize)
    let bytes = try file.read(at: first, count: (window + 2) * pageSize)
    var counts = [Int](repeating: 0, count: 2 * pageSize)
    for start in counts.indices {
      var offset = start
      while offset + pageSize <= bytes.count {
        if begins(bytes, offset, pageSize) { counts[start] += 1 }
        offset += pageSize
      }
    }
    let own = (page - 1) * pageSize
    guard let best = counts.max(), best >= enough else {
      // The last pages of the file: fewer than vouch for any other place are all there are.
      guard let surplus, surplus != by, file.size - (own + by) < enough * 2 * pageSize,
        try sound(from: page, surplus, file, pageSize, count: window) > 0
      else { return nil }
      return surplus
    }
    // The nearest of equal ones.
    return counts.indices.filter { counts[$0] == best }.map { first + $0 - own }
      .filter { $0 != by }.min { abs($0 - by) < abs($1 - by) }
  }

  /// Whether a page of a tree begins at a place: its header and all places of its cells.
  static func isSound(_ bytes: [UInt8], _ offset: Int, _ pageSize: Int) -> Bool {
    guard let kind = TreePage.Kind(rawValue: bytes[offset]), bytes[offset + 7] <= 60 else {
      return false
    }
    let count = BigEndian.half(bytes, offset + 3)
    let content = BigEndian.half(bytes, offset + 5)
    let pointers = kind.isInterior ? 12 : 8
    guard count > 0, content >= pointers + 2 * count, content < pageSize,
      BigEndian.half(bytes, offset + 1) < pageSize
    else { return false }
    return (0..<count).allSatisfy { index in
      let place = BigEndian.half(bytes, offset + pointers + 2 * index)
      return place >= content && place < pageSize
    }
  }
}

extension ByteShift.Reading {
  /// The bytes from `offset` of the file as it was on: `count` of them, or fewer where it ends.
  func read(_ file: OpenFile, at offset: Int, count: Int) throws -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let count = min(count, size - offset)
    switch shift {
    case .header(let start): return try file.read(at: offset + start, count: count)
    case .lineEnds: return try unescaped(file, at: offset, count: count)
    case .lineFeeds where !inserted.isEmpty: return try filled(file, at: offset, count: count)
    case .moved, .lineFeeds:
      // Pages are read one by one where a move lies between.
      var result: [UInt8] = []
      var place = offset
      while result.count < count {
        let page = place / pageSize + 1
        if let own = pages[page] {
          let taken = own.dropFirst(place % pageSize).prefix(count - result.count)
          result += taken
          place += taken.count
          continue
        }
        let next =
          [
            moves.first { $0.page > page }.map { ($0.page - 1) * pageSize } ?? Int.max,
            pages.isEmpty ? Int.max : page * pageSize,
          ].min() ?? Int.max
        let by = moves.last { $0.page <= page }?.by ?? 0
        let wanted = min(count - result.count, next - place)
        let bytes = try file.read(at: max(0, place + by), count: wanted)
        guard !bytes.isEmpty else { break }
        result += bytes
        place += bytes.count
        if bytes.count < wanted { break }
      }
      return result
    }
  }

  private func filled(_ file: OpenFile, at offset: Int, count: Int) throws -> [UInt8] {
    let before = inserted.partitioningIndex { $0 >= offset }
    let own = inserted[before...].prefix { $0 < offset + count }
    var result = try file.read(at: offset - before, count: count - own.count)
    for place in own where place - offset <= result.count {
      result.insert(0x0D, at: place - offset)
    }
    return result
  }

  private func unescaped(_ file: OpenFile, at offset: Int, count: Int) throws -> [UInt8] {
    // The last step that begins at the offset or before it.
    let behind = removed.indices.partitioningIndex { $0 * Self.step - removed[$0] > offset }
    let step = max(0, behind - 1)
    var place = step * Self.step
    var skipped = offset - (place - removed[step])
    var before = place > 0 ? try file.read(at: place - 1, count: 1).first ?? 0 : 0
    var isHeld = before == 0x0D
    // A 0D at the end of the step before was not given yet.
    if isHeld { skipped += 1 }
    var result: [UInt8] = []
    func give(_ byte: UInt8) {
      if skipped > 0 { skipped -= 1 } else if result.count < count { result.append(byte) }
    }
    while result.count < count {
      let bytes = try file.read(at: place, count: min(Self.step, 2 * count + 64))
      guard !bytes.isEmpty else { break }
      for byte in bytes {
        if isHeld, byte != 0x0A { give(before) }
        isHeld = byte == 0x0D
        if !isHeld { give(byte) }
        before = byte
      }
      place += bytes.count
    }
    if isHeld { give(before) }
    return result
  }
}
