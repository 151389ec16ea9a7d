import Files

/// Undoes what a transfer as text does to a file that has no line ends: each 0D that stood before an 0A is gone.
///
/// Where they stood nothing in the file says. But a page of a tree is found by what it begins with, so that it is known
/// how many bytes each page lost; and in a page that became shorter each cell that can be read where the bytes before
/// it put it is as it was. Of the cell that lost the byte itself more than one place may do: then it is left out.
/// Pictures of the form PNG begin with a line end for that very purpose: there the byte's place is known.
struct LineFeedLoss {
  /// Where pages begin to stand before their places.
  private(set) var moves: [ByteShift.Move] = []
  /// Pages that lost bytes, as they were; zeros where that is not known.
  private(set) var pages: [Int: [UInt8]] = [:]
  /// How many bytes are gone.
  let lost: Int
  /// Pages without cells that were left out.
  private(set) var shortened: Set<Int> = []
  /// Cells that were left out, and pages.
  private(set) var cells = 0
  private(set) var unknown = 0

  private let pageSize: Int

  /// A pair of these bytes stands in 65,536 by chance: more are not gone than one in so many.
  private static let seldom = 2_048
  private static let seldomTwice = 32
  /// So many bytes that are gone from one place, and nowhere else, are hardly line ends.
  private static let mostOfOne = 8

  /// - Parameter header: the first bytes of the file.
  /// - Returns: `nil` where the file did not become shorter in that way.
  /// - Throws: `CoreDataError` where it cannot be read.
  init?(_ file: OpenFile, _ header: FileHeader, pageSize: Int) throws {
    lost = header.pages * pageSize - file.size
    self.pageSize = pageSize
    guard header.isMagic, lost > 0, lost <= 16 + file.size / Self.seldom,
      try Self.pairs(in: file) <= 2 + lost / Self.seldomTwice
    else { return nil }
    let starts = PageStarts(file, header, pageSize: pageSize, lost: lost)
    guard var gone = try starts.gone() else { return nil }
    if gone.contains(nil), header.isAutoVacuum {
      let known = PageStarts(
        file, header, pageSize: pageSize, lost: lost, kinds: try kinds(gone, file, header))
      if let again = try known.gone() { gone = again }
    }
    for page in 1...header.pages {
      guard let before = gone[page - 1], let behind = gone[page] else {
        forget(page)
        continue
      }
      if before != -(moves.last?.by ?? 0) { moves.append(.init(page: page, by: -before)) }
      guard behind > before else { continue }
      let isWhole = try take(page, before, behind, file, header)
      // Nothing but this page says that it was line ends.
      if !isWhole, behind - before == lost, lost > Self.mostOfOne { return nil }
    }
  }

  /// The kind of each page by the pointer map, as far as the map's own pages can be located and restored.
  private func kinds(
    _ gone: [Int?], _ file: OpenFile, _ header: FileHeader
  ) throws -> [PointerMap.Kind?] {
    var result = [PointerMap.Kind?](repeating: nil, count: header.pages)
    let usable = pageSize - header.reserved
    let places = PointerMap.Places(usable: usable, pageSize: pageSize)
    for map in 2..<max(2, header.pages + 1) where places.map(of: map) == map {
      guard let before = gone[map - 1], let behind = gone[map], behind >= before,
        let page = try mended(map, before, behind, file, header)?.page
      else { continue }
      for entry in 0..<max(0, min(usable / 5, header.pages - map)) {
        result[map + entry] = PointerMap.Kind(rawValue: page[5 * entry])
      }
    }
    return result
  }

  /// Takes a page that lost bytes.
  ///
  /// - Returns: whether all of it is known.
  private mutating func take(
    _ number: Int, _ before: Int, _ behind: Int, _ file: OpenFile, _ header: FileHeader
  ) throws -> Bool {
    guard let mended = try mended(number, before, behind, file, header) else {
      forget(number)
      return false
    }
    pages[number] = mended.page
    cells += mended.dropped
    if mended.dropped > 0 { shortened.insert(number) }
    return mended.dropped == 0
  }

  /// A page as it was, and how many of its cells had to be left out; `nil` where that is not known.
  private func mended(
    _ number: Int, _ before: Int, _ behind: Int, _ file: OpenFile, _ header: FileHeader
  ) throws -> (page: [UInt8], dropped: Int)? {
    let length = pageSize - (behind - before)
    guard length > 0 else { return nil }
    // The byte behind it shows whether its last one may be among them.
    let bytes = try file.read(at: (number - 1) * pageSize - before, count: length + 1)
    guard bytes.count >= length else { return nil }
    return ShortenedPage(
      Array(bytes.prefix(length)), followedBy: bytes.count > length ? bytes[length] : nil,
      number: number, pageSize: pageSize, header: header
    ).mended()
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

  private mutating func forget(_ page: Int) {
    pages[page] = [UInt8](repeating: 0, count: pageSize)
    unknown += 1
  }
}
