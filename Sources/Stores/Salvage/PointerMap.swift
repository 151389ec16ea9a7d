/// What references each page, as an auto-vacuum database keeps it for itself.
///
/// Format: https://www.sqlite.org/fileformat.html, "Pointer Map or Ptrmap Pages".
struct PointerMap {
  /// What a page is.
  enum Kind: UInt8 {
    case root = 1
    case free = 2
    case firstOverflow = 3
    case laterOverflow = 4
    case tree = 5
  }

  /// What is said of a page.
  struct Entry {
    var kind: Kind
    /// The page that references it; 0 for a root and for a free page.
    var parent: Int
  }

  /// Which pages of a database hold the map.
  struct Places {
    let usable: Int
    let pageSize: Int

    /// The page that says of another what it is.
    func map(of page: Int) -> Int {
      let perMap = usable / 5 + 1
      let number = (page - 2) / perMap * perMap + 2
      // The page at 1 GB holds SQLite's locks.
      return number == 0x4000_0000 / pageSize + 1 ? number + 1 : number
    }

    /// Whether a page is one of the map, or the one that is never used.
    func isOwn(_ page: Int) -> Bool {
      page >= 2 && (map(of: page) == page || page == 0x4000_0000 / pageSize + 1)
    }
  }

  private let image: DatabaseImage
  private let places: Places
  private var cached: (number: Int, bytes: [UInt8])?

  init(_ image: DatabaseImage) {
    self.image = image
    places = Places(usable: image.usable, pageSize: image.pageSize)
  }

  /// Whether a page is one of the map, or the one that is never used.
  func isOwn(_ page: Int) -> Bool { places.isOwn(page) }

  /// What is said of a page; `nil` where the map is not readable there.
  mutating func entry(_ page: Int) throws -> Entry? {
    let number = places.map(of: page)
    // The page of SQLite's locks stands before the page of the map that would have it.
    guard page > 2, page > number else { return nil }
    if cached?.number != number {
      cached = try image.page(number).map { (number, $0.bytes) }
    }
    guard let bytes = cached?.bytes, cached?.number == number else { return nil }
    let offset = 5 * (page - number - 1)
    guard offset + 5 <= bytes.count, let kind = Kind(rawValue: bytes[offset]) else { return nil }
    let parent = Int(BigEndian.word(bytes, offset + 1))
    guard parent <= image.pageCount else { return nil }
    return Entry(kind: kind, parent: parent)
  }

  /// Whether the first map says of the first pages what only a map does: for a database whose header
  /// is gone.
  mutating func isLikely() throws -> Bool {
    try isLikely(behind: 2, most: min(40, image.usable / 5 + 1) - 2)
  }

  /// Whether maps behind the first one do: for a database that lost that one, too.
  mutating func areLikelyBehindFirst() throws -> Bool {
    var next = 2
    for _ in 0..<3 {
      next = places.map(of: next + image.usable / 5 + 1)
      if try isLikely(behind: next, most: 38) { return true }
    }
    return false
  }

  /// Whether a map says of the pages behind it what only a map does.
  private mutating func isLikely(behind map: Int, most: Int) throws -> Bool {
    let last = min(image.pageCount, map + most)
    guard last >= map + 2 else { return false }
    var sound = 0
    for page in map + 1...last {
      guard let entry = try entry(page) else { continue }
      let needsParent = entry.kind != .root && entry.kind != .free
      if needsParent == (entry.parent > 0) { sound += 1 }
    }
    return sound * 10 >= (last - map) * 9
  }
}

/// The pages that a database counts as free.
struct Freelist {
  /// The pages, trunks and leaves.
  private(set) var pages: Set<Int> = []
  /// Whether the list is what the header says of it.
  private(set) var isSound = true

  /// Follows the list from the header; without one that can be believed it is empty.
  init(_ image: DatabaseImage) throws {
    guard image.header.isMagic else { return }
    var trunk = image.header.freelist
    while trunk != 0 {
      guard trunk > 1, trunk <= image.pageCount, pages.insert(trunk).inserted,
        let bytes = try image.page(trunk)?.bytes
      else {
        isSound = false
        return
      }
      let count = Int(BigEndian.word(bytes, 4))
      guard count <= image.usable / 4 - 2 else {
        isSound = false
        return
      }
      for index in 0..<count {
        let page = Int(BigEndian.word(bytes, 8 + index * 4))
        guard page > 1, page <= image.pageCount, pages.insert(page).inserted else {
          isSound = false
          return
        }
      }
      trunk = Int(BigEndian.word(bytes, 0))
    }
    if pages.count != image.header.freePages { isSound = false }
  }
}

/// The pages of long rows that more than one row lays claim to: who reads the rows of all pages once more need not
/// look for them again.
final class SharedOverflow {
  /// The pages; `nil` before they were looked for.
  var pages: Set<Int>?
}

/// Follows the pages that hold what of a row does not fit into its leaf, as far as they are the row's own.
///
/// Each page has one owner. Where a chain runs into a page that another row lays claim to, the pointer map
/// says whose it is; without a map it is neither's, and so are those behind it.
final class OverflowChains {
  /// What was found of a chain.
  struct Chain {
    /// Its pages, in order, up to the first that is not its own.
    var pages: [Int] = []
    /// Whether these are all, and the last says that none follows.
    var isWhole = false
    /// Whether one page, and not the last, ends in a sector of zeros, which no other does: it may not have been
    /// written to its end.
    var isDoubtful = false
  }

  private let image: DatabaseImage
  private let trees: TreeMap
  private var pointers: PointerMap?

  init(_ image: DatabaseImage, _ trees: TreeMap) {
    self.image = image
    self.trees = trees
    pointers = trees.isMapped ? PointerMap(image) : nil
  }

  /// The pages that more than one row lays claim to, found once for each map of the trees.
  private var shared: Set<Int> {
    if let known = trees.shared.pages { return known }
    let found = (try? findShared()) ?? []
    trees.shared.pages = found
    return found
  }

  /// How many pages hold a rest of so many bytes.
  private func count(_ rest: Int) -> Int { (rest + image.usable - 5) / (image.usable - 4) }

  /// The pages of a rest.
  ///
  /// - Parameters:
  ///   - first: the page that the cell names.
  ///   - leaf: the cell's page.
  ///   - rest: bytes that are to stand on them.
  /// - Throws: `CoreDataError` where the file cannot be read.
  func chain(_ first: Int, of leaf: Int, rest: Int) throws -> Chain {
    let count = count(rest)
    var chain = Chain()
    guard count <= image.pageCount else { return chain }
    // Of each page whether the map has it where the chain has it.
    var told: [Bool?] = []
    var (next, before, zeros) = (first, leaf, 0)
    while chain.pages.count < count, isOverflow(next), let page = try image.page(next),
      page.present > 4
    {
      told.append(try isMapped(next, after: before, isFirst: before == leaf))
      chain.pages.append(next)
      if chain.pages.count < count,
        !page.bytes[..<image.usable].suffix(512).contains(where: { $0 != 0 })
      {
        zeros += 1
      }
      before = next
      next = Int(BigEndian.word(page.bytes, 0))
    }
    chain.isDoubtful = zeros == 1
    let isEnded = chain.pages.count == count && next == 0
    // The map may be what is wrong, as long as nobody else has the pages.
    let other = chain.pages.indices.first { index in
      switch told[index] {
      case true?: false
      case false?: !isEnded || shared.contains(chain.pages[index])
      case nil: shared.contains(chain.pages[index])
      }
    }
    if let other { chain.pages.removeSubrange(other...) }
    chain.isWhole = isEnded && other == nil
    return chain
  }

  /// Whether a page may be one of these: none of a tree, of the map, or free.
  private func isOverflow(_ page: Int) -> Bool {
    page > 1 && page <= image.pageCount && trees.role(of: page) == .unknown
  }

  /// Whether the map has a page as the one that follows another; `nil` where it does not say.
  private func isMapped(_ page: Int, after before: Int, isFirst: Bool) throws -> Bool? {
    guard let entry = try pointers?.entry(page) else { return nil }
    return entry.kind == (isFirst ? .firstOverflow : .laterOverflow) && entry.parent == before
  }

  /// Looks for pages that more than one row lays claim to, or one row twice.
  private func findShared() throws -> Set<Int> {
    var claimed = [Bool](repeating: false, count: image.pageCount)
    var shared: Set<Int> = []
    for number in 1...max(1, image.pageCount) {
      switch trees.role(of: number) {
      case .leaf, .adopted: break
      default: continue
      }
      guard let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable)
      else { continue }
      for offset in tree.cells(in: page.bytes) {
        guard
          let cell = TreeCell(page.bytes, at: offset, present: page.present, usable: image.usable),
          cell.local < cell.size
        else { continue }
        let count = count(cell.size - cell.local)
        guard count <= image.pageCount else { continue }
        var (next, done) = (cell.overflow, 0)
        while done < count, isOverflow(next), let page = try image.page(next) {
          if claimed[next - 1] {
            // What follows was claimed with it.
            guard shared.insert(next).inserted else { break }
          }
          claimed[next - 1] = true
          done += 1
          next = Int(BigEndian.word(page.bytes, 0))
        }
      }
    }
    return shared
  }
}
