import Files

/// The tree of an index of which no schema shows whose it is.
package struct IndexTree: Sendable {
  /// The first page.
  package let root: Int
  /// Some of its entries, from all over it: the values that it has of a row, and the row's key last.
  package let entries: [[RecordValue]]

  /// At how many places of a tree entries are taken, and how many of a leaf.
  private static let places = 9
  private static let entriesOfLeaf = 6

  /// Finds the trees of indexes: where the database keeps pointer maps that can be read these name the roots, else
  /// each page that no other of an index references is one.
  ///
  /// - Parameter besides: pages to pass over, the first of which is page 1; none where it is shorter.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package static func all(in image: DatabaseImage, besides: [Bool]) throws -> [IndexTree] {
    var pointers = PointerMap(image)
    let isMapped = image.header.isMagic ? image.header.isAutoVacuum : try pointers.isLikely()
    let isBelow = isMapped ? [] : try pagesBelow(in: image)
    var result: [IndexTree] = []
    for page in 2..<max(2, image.pageCount + 1) {
      if page <= besides.count, besides[page - 1] { continue }
      guard let kind = try image.kind(of: page).flatMap({ TreePage.Kind(rawValue: $0) }),
        kind == .indexLeaf || kind == .indexInterior,
        isMapped ? try pointers.entry(page)?.kind == .root : !isBelow[page - 1]
      else { continue }
      var entries: [[RecordValue]] = []
      var leaves: Set<Int> = []
      for place in 0..<places {
        try take(
          from: page, at: Double(place) / Double(places - 1), of: image, &leaves, &entries)
      }
      if !entries.isEmpty { result.append(IndexTree(root: page, entries: entries)) }
    }
    return result
  }

  /// Which pages an interior page of an index references; the first is page 1.
  private static func pagesBelow(in image: DatabaseImage) throws -> [Bool] {
    var isBelow = [Bool](repeating: false, count: image.pageCount)
    for number in 2..<max(2, image.pageCount + 1) {
      guard try image.kind(of: number) == TreePage.Kind.indexInterior.rawValue,
        let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable),
        tree.isSound(in: page.bytes)
      else { continue }
      for child in tree.children(in: page.bytes) where isBelow.indices.contains(child - 1) {
        isBelow[child - 1] = true
      }
    }
    return isBelow
  }

  /// Gives the leaves of an index's tree, each once, as far as its pages reference them.
  package static func leaves(
    of root: Int, in image: DatabaseImage, _ body: (Int) throws -> Void
  ) throws {
    _ = try pages(of: root, in: image) { page, tree in
      if tree.kind == .indexLeaf { try body(page.number) }
    }
  }

  /// Gives the sound pages of an index's tree, each once, as far as they reference each other.
  ///
  /// - Returns: whether they reference no other.
  private static func pages(
    of root: Int, in image: DatabaseImage, _ body: (DatabaseImage.Page, TreePage) throws -> Void
  ) throws -> Bool {
    var waiting = [root]
    var seen: Set<Int> = []
    var isWhole = true
    while let number = waiting.popLast() {
      guard seen.insert(number).inserted, let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable),
        !tree.kind.isOfTable, tree.isSound(in: page.bytes)
      else {
        isWhole = false
        continue
      }
      try body(page, tree)
      waiting += tree.children(in: page.bytes)
    }
    return isWhole
  }

  /// Gives the records of a tree that keeps whole rows, as a table without row ids does: those of its inner
  /// pages, too.
  ///
  /// - Returns: whether all of it was read.
  package static func rows(
    of root: Int, in image: DatabaseImage, _ body: (borrowing Record) throws -> Void
  ) throws -> Bool {
    var areRead = true
    var record = Record()
    let isWhole = try pages(of: root, in: image) { page, tree in
      for offset in tree.cells(in: page.bytes) {
        guard
          let cell = TreeCell(
            page.bytes, at: offset, of: tree.kind, present: page.bytes.count, usable: image.usable),
          let payload = try payload(page.bytes, cell, image),
          record.read(payload, 0..<payload.count)
        else {
          areRead = false
          continue
        }
        try body(record)
      }
    }
    return isWhole && areRead
  }

  /// A payload with what of it stands on other pages; `nil` where it is not all there.
  private static func payload(
    _ page: [UInt8], _ cell: TreeCell, _ image: DatabaseImage
  ) throws -> [UInt8]? {
    guard cell.size / (image.usable - 4) <= image.pageCount else { return nil }
    var payload = Array(page[cell.start..<cell.start + cell.local])
    var next = cell.overflow
    while payload.count < cell.size {
      guard next > 0, let more = try image.page(next) else { return nil }
      payload += more.bytes[4..<4 + min(cell.size - payload.count, image.usable - 4)]
      next = Int(BigEndian.word(more.bytes, 0))
    }
    return payload
  }

  /// Takes entries of the leaf that is at a share of the way through a tree, 0 for its first.
  private static func take(
    from root: Int, at share: Double, of image: DatabaseImage, _ leaves: inout Set<Int>,
    _ entries: inout [[RecordValue]]
  ) throws {
    var (number, share) = (root, share)
    for _ in 0..<24 {
      guard let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable),
        tree.isSound(in: page.bytes)
      else { return }
      if tree.kind == .indexLeaf {
        guard leaves.insert(number).inserted else { return }
        let cells = tree.cells(in: page.bytes)
        var record = Record()
        for index in stride(from: 0, to: cells.count, by: max(1, cells.count / entriesOfLeaf)) {
          guard
            let cell = TreeCell(
              page.bytes, at: cells[index], of: .indexLeaf, present: page.bytes.count,
              usable: image.usable),
            cell.local == cell.size, record.read(page.bytes, cell.start..<cell.end), record.isWhole
          else { continue }
          entries.append((0..<record.count).map { record.value($0) ?? .null })
        }
        return
      }
      guard tree.kind == .indexInterior else { return }
      let children = tree.children(in: page.bytes)
      let place = share * Double(children.count)
      let child = min(children.count - 1, max(0, Int(place)))
      share = min(1, max(0, place - Double(child)))
      number = children[child]
    }
  }
}

/// Reads what stands in the leaves of indexes: values of rows, and their keys.
package struct IndexEntries: ~Copyable {
  private let image: DatabaseImage
  private var record = Record()

  /// Those of a database.
  package init(_ image: DatabaseImage) { self.image = image }

  /// The entries of a page; none where it is no leaf of an index. One that does not stand in the page as a
  /// whole is left out.
  ///
  /// - Parameter body: takes the first value and the row's key, as a record and the places in it.
  package mutating func entries(
    of number: Int, _ body: (_ key: Int64, borrowing Record) throws -> Void
  ) throws {
    guard try image.kind(of: number) == TreePage.Kind.indexLeaf.rawValue,
      let page = try image.page(number),
      let tree = TreePage(page.bytes, number: number, usable: image.usable)
    else { return }
    for offset in tree.cells(in: page.bytes) {
      guard
        let cell = TreeCell(
          page.bytes, at: offset, of: .indexLeaf, present: page.present, usable: image.usable),
        cell.local == cell.size, record.read(page.bytes, cell.start..<cell.end),
        record.count >= 2, let key = record.integer(record.count - 1)
      else { continue }
      try body(key, record)
    }
  }
}

/// A new database that pages are appended to: one that SQLite made, with pointer maps, and let go of.
struct PageFile {
  /// Bytes of a page, all of which are used.
  let pageSize: Int
  private let file: WritableFile
  /// How many pages it has.
  private var count: Int
  /// Pages that were taken and are not needed.
  private var spare: [Int] = []
  private var maps: [Int: [UInt8]] = [:]
  private let places: PointerMap.Places
  /// Pages that were written and are not in the file yet.
  private var window: PageWindow

  /// - Throws: `CoreDataError` where it cannot be opened.
  init(_ path: String, pageSize: Int) throws {
    file = try WritableFile(path)
    self.pageSize = pageSize
    count = try Int(BigEndian.word(file.read(at: 28, count: 4), 0))
    places = PointerMap.Places(usable: pageSize, pageSize: pageSize)
    window = PageWindow(pageSize: pageSize)
  }

  /// Takes a page for what `kind` and `parent` say of it in the pointer map.
  mutating func take(_ kind: PointerMap.Kind, parent: Int) throws -> Int {
    var number = spare.popLast() ?? 0
    if number == 0 {
      repeat { count += 1 } while places.isOwn(count)
      number = count
    }
    try point(number, kind, parent: parent)
    return number
  }

  /// Gives pages back that were taken.
  mutating func give(back pages: some Sequence<Int>) { spare += pages }

  /// Writes a page, at the latest when all is finished.
  mutating func write(_ bytes: [UInt8], to number: Int) throws {
    try window.write(bytes, to: number, in: file)
  }

  /// Writes what describes the pages: pointer maps, the list of those that are free, the header.
  mutating func finish() throws {
    // Trunks of the list hold the numbers of the others.
    let old = try file.read(at: 32, count: 8)
    var next = Int(BigEndian.word(old, 0))
    let total = spare.count + Int(BigEndian.word(old, 4))
    while let trunk = spare.popLast() {
      let leaves = spare.suffix(pageSize / 4 - 8)
      spare.removeLast(leaves.count)
      var page = [UInt8](repeating: 0, count: pageSize)
      BigEndian.put(next, into: &page, 0)
      BigEndian.put(leaves.count, into: &page, 4)
      for (index, leaf) in leaves.enumerated() {
        BigEndian.put(leaf, into: &page, 8 + 4 * index)
        try point(leaf, .free, parent: 0)
        // What was taken last may not have been written.
        try write([UInt8](repeating: 0, count: pageSize), to: leaf)
      }
      try point(trunk, .free, parent: 0)
      try write(page, to: trunk)
      next = trunk
    }
    try window.flush(to: file)
    for (number, bytes) in maps { try file.write(bytes, at: (number - 1) * pageSize) }
    var free = [UInt8](repeating: 0, count: 8)
    BigEndian.put(next, into: &free, 0)
    BigEndian.put(total, into: &free, 4)
    try file.write(free, at: 32)
    var pages = [UInt8](repeating: 0, count: 4)
    BigEndian.put(count, into: &pages, 0)
    try file.write(pages, at: 28)
  }

  /// Notes in the pointer map what a page is, and which page references it.
  mutating func point(_ number: Int, _ kind: PointerMap.Kind, parent: Int) throws {
    let map = places.map(of: number)
    if maps[map] == nil {
      let old = try file.read(at: (map - 1) * pageSize, count: pageSize)
      maps[map] = old.count == pageSize ? old : [UInt8](repeating: 0, count: pageSize)
    }
    let offset = 5 * (number - map - 1)
    maps[map]?[offset] = kind.rawValue
    BigEndian.put(parent, into: &maps[map, default: []], offset + 1)
  }
}

/// Pages beside each other that go into a file in one piece: a call for each would take longer than the
/// pages do.
struct PageWindow {
  private static let bytes = 524_288

  private let pageSize: Int
  /// How many pages it has room for.
  private let room: Int
  /// The first page that it has room for.
  private var first = 0
  private var content: [UInt8]
  private var isFilled: [Bool]

  init(pageSize: Int) {
    self.pageSize = pageSize
    room = max(8, Self.bytes / pageSize)
    content = Array(repeating: 0, count: room * pageSize)
    isFilled = Array(repeating: false, count: room)
  }

  /// Takes a page; one that stands before the others goes into the file at once.
  mutating func write(_ bytes: [UInt8], to number: Int, in file: WritableFile) throws {
    guard number >= first, bytes.count == pageSize else {
      return try file.write(bytes, at: (number - 1) * pageSize)
    }
    if number >= first + room {
      try flush(to: file)
      // What a row has on pages of its own is written before the row's page, which stands before them.
      first = max(1, number - room / 8)
    }
    let place = number - first
    content.withUnsafeMutableBytes { room in
      bytes.withUnsafeBytes { page in
        UnsafeMutableRawBufferPointer(rebasing: room[place * pageSize..<(place + 1) * pageSize])
          .copyMemory(from: page)
      }
    }
    isFilled[place] = true
  }

  /// Writes what was taken, each run of pages in one piece.
  mutating func flush(to file: WritableFile) throws {
    var place = 0
    while place < room {
      guard isFilled[place] else {
        place += 1
        continue
      }
      let start = place
      while place < room, isFilled[place] {
        isFilled[place] = false
        place += 1
      }
      try file.write(
        content[start * pageSize..<place * pageSize], at: (first + start - 1) * pageSize)
    }
  }
}
