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
    guard page > 2, page != number else { return nil }
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
    let last = min(image.pageCount, image.usable / 5 + 1, 40)
    guard last >= 4 else { return false }
    var sound = 0
    for page in 3...last {
      guard let entry = try entry(page) else { continue }
      let needsParent = entry.kind != .root && entry.kind != .free
      if needsParent == (entry.parent > 0) { sound += 1 }
    }
    return sound * 10 >= (last - 2) * 9
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
