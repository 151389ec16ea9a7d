import Files

/// Whether a -wal belongs to the main file that it lies beside: what the two say that cannot both be.
///
/// SQLite applies a -wal by its own header and checksums; nothing in it names the main file. Pages of another
/// database are then laid over those of this one. What a commit leaves is in order within itself, however, so
/// that a page which does not fit its neighbours, while the main file's own does, is not of this file, or not
/// of this time of it. Where nothing contradicts, nothing is proved either.
package struct LogKinship {
  /// What the log, or a rollback journal, and the main file say that cannot both be.
  package enum Contradiction: Sendable, Equatable {
    /// Their pages are not of one size.
    case pageSize(log: Int, main: Int)
    /// The database has so many pages after the last commit; its first page counts others.
    case pageCount(committed: Int, stated: Int)
    /// A rollback journal counts so many pages before its save; the first page that it saved counts others.
    case journalPages(counted: Int, stated: Int)
    /// They were made as different stores: what Z_METADATA names them.
    case uuid(log: String, main: String)
    /// The list of tables, with one count of its changes, lists others.
    case schema
    /// Its first page counts other changes of the list of tables, which is the same; and rows of it have keys beyond
    /// the store's counters, which it does not touch.
    case counters
    /// With the log the list of tables, or Z_METADATA, cannot be read; without it it can.
    case unreadable
    /// A page of the log does not fit the pages that reference it.
    case page(Int)
    /// With the log an index does not have the rows of its table; without it it has.
    case index(String)
  }

  let image: DatabaseImage
  let main: DatabaseImage
  private let log: LogFrames
  private static let mostPages = 20_000

  /// - Parameters:
  ///   - image: the main file with the log over it.
  ///   - main: the main file alone.
  /// - Returns: `nil` where there is nothing to compare: no frame that is applied, or no main file.
  package init?(_ image: DatabaseImage, main: DatabaseImage) {
    guard let log = image.log, !log.newest.isEmpty, main.mainPages > 0, main.header.isMagic else {
      return nil
    }
    self.image = image
    self.main = main
    self.log = log
  }

  /// Compares a log with the main file beside it; `nil` where there is nothing to compare.
  ///
  /// - Parameter journal: where the main file's rollback journal would be.
  /// - Throws: `CoreDataError` where a file cannot be read.
  package init?(of log: String, store: String, journal: String) throws {
    guard try FileSystem.present(store) != nil else { return nil }
    try self.init(
      DatabaseImage(path: store, log: log, journal: journal),
      main: DatabaseImage(path: store, log: nil, journal: journal))
  }

  /// What speaks against it; `nil` where nothing does.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package func contradiction() throws -> Contradiction? {
    guard log.pageSize == main.pageSize else {
      return .pageSize(log: log.pageSize, main: main.pageSize)
    }
    // Behind a frame that is damaged, pages need not be of one time.
    let isWhole = !log.frames.contains { $0.state == .wrong }
    if isWhole, let found = try pageCount() { return found }
    if let found = try names() { return found }
    return isWhole ? try roots() ?? pages() ?? indexes() : nil
  }

  /// The first page counts as many pages as the last commit leaves.
  private func pageCount() throws -> Contradiction? {
    let header = image.header
    guard header.isMagic, header.pages > 0, header.changeCounter == header.versionValidFor,
      log.pages > 0, header.pages != log.pages
    else { return nil }
    // What is wrong with the main file's own count is no sign of the log's.
    if log.newest[1] == nil, main.header.pages != main.mainPages { return nil }
    return .pageCount(committed: log.pages, stated: header.pages)
  }

  private func names() throws -> Contradiction? {
    let own = try Self.names(in: main)
    guard let own, let uuid = own.uuid else { return nil }
    guard let both = try Self.names(in: image), let other = both.uuid else {
      // Pages of the log may be damaged themselves.
      return log.frames.contains { $0.state == .wrong } ? nil : .unreadable
    }
    if other != uuid { return .uuid(log: other, main: uuid) }
    if log.newest[1] != nil, image.header.schemaCookie == main.header.schemaCookie,
      both.objects != own.objects
    {
      return .schema
    }
    // Each of the two alone can come of the app: an index that is dropped and made again, rows put in by SQL.
    let isRewritten = log.pages <= log.newest.count
    if log.newest[1] != nil, !isRewritten,
      image.header.schemaCookie != main.header.schemaCookie, both.objects == own.objects,
      let counters = own.objects["Z_PRIMARYKEY"], log.newest[counters] == nil,
      try Self.hasKeysBeyondCounters(image, both.objects),
      try !Self.hasKeysBeyondCounters(main, own.objects)
    {
      return .counters
    }
    return nil
  }

  /// Whether the log has objects with keys above the last one that was given out, where the main file has none. Rows
  /// of another store have, and rows that an app put in by SQL: it does not tell the two apart.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package func hasKeysBeyondCounters() throws -> Bool {
    // Behind a frame that is damaged, the counters may be of before the objects.
    guard log.pageSize == main.pageSize, !log.frames.contains(where: { $0.state == .wrong }),
      let root = try Self.names(in: image)?.objects["Z_PRIMARYKEY"]
    else { return false }
    let counters = try KeyCounters(image, root: root)
    var record = Record()
    func isBeyond(_ page: DatabaseImage.Page?) -> Bool {
      guard let page, let tree = TreePage(page.bytes, number: page.number, usable: image.usable),
        tree.kind == .tableLeaf
      else { return false }
      return tree.cells(in: page.bytes).contains { place in
        guard
          let cell = TreeCell(page.bytes, at: place, present: page.present, usable: image.usable),
          record.read(page.bytes, cell.start..<cell.start + cell.local)
        else { return false }
        return counters.isBeyond(cell.key, record)
      }
    }
    for number in log.newest.keys where number > 1 && number <= image.pageCount {
      if try isBeyond(image.page(number)), try !isBeyond(main.page(number)) { return true }
    }
    return false
  }

  /// Whether an object has a key above the last one that Z_PRIMARYKEY says was given out.
  private static func hasKeysBeyondCounters(
    _ image: DatabaseImage, _ objects: [String: Int]
  ) throws -> Bool {
    guard let root = objects["Z_PRIMARYKEY"] else { return false }
    let trees = try TreeMap(image, roots: Array(Set(objects.values)), isComplete: true)
    let counters = try KeyCounters(image, root: root)
    var isBeyond = false
    var scan = RowScan(image, trees)
    try scan.rows(
      where: { role, owner in role == .leaf && owner != root && !isBeyond },
      isCancelled: { isBeyond }
    ) { row, record in
      if counters.isBeyond(row.key, record) { isBeyond = true }
    }
    return isBeyond
  }

  /// What a database lists as its tables and indexes, with their first pages, and the UUID of the store.
  ///
  /// - Returns: `nil` where the list cannot be read whole.
  static func names(
    in image: DatabaseImage
  ) throws -> (objects: [String: Int], uuid: String?)? {
    let master = try TreeMap(image, roots: [1], isComplete: true)
    var objects: [String: Int] = [:]
    var scan = RowScan(image, master)
    try scan.rows(where: { role, root in role == .leaf && root == 1 }) { _, record in
      guard record.count == 5, let name = record.content(1).map(image.header.encoding.text),
        let root = record.integer(3), root > 0
      else { return }
      objects[name] = Int(clamping: root)
    }
    guard master.holes.isEmpty, scan.unreadable == 0, !objects.isEmpty else { return nil }
    guard let root = objects["Z_METADATA"] else { return (objects, nil) }
    var uuid: String?
    let tree = try TreeMap(image, roots: [root], isComplete: true)
    scan = RowScan(image, tree)
    try scan.rows(where: { role, owner in role == .leaf && owner == root }) { _, record in
      guard uuid == nil, record.count == 3, record.kind(1) == .text,
        let bytes = record.content(1)
      else { return }
      uuid = image.header.encoding.text(bytes)
    }
    return (objects, uuid)
  }

  /// A page of the log that is of an index where a table begins, or the other way round.
  private func roots() throws -> Contradiction? {
    guard let roots = try SchemaRoots(image) else { return nil }
    for number in log.newest.keys.sorted() where number > 1 && number <= log.pages {
      if try roots.isStranger(number, in: image) == true,
        try roots.isStranger(number, in: main) != true
      {
        return .page(number)
      }
    }
    return nil
  }

  /// Pages of the log that do not fit what references them, where the main file's own do.
  private func pages() throws -> Contradiction? {
    guard image.header.isAutoVacuum, main.header.isAutoVacuum else { return nil }
    var with = PageFit(image)
    var without = PageFit(main)
    for number in log.newest.keys.sorted().prefix(Self.mostPages)
    where number > 1 && number <= log.pages {
      guard try with.fits(number) == false, try without.fits(number) == true else { continue }
      return .page(number)
    }
    return nil
  }
}

/// The last key that was given out of each entity, as Z_PRIMARYKEY has it.
private struct KeyCounters {
  private var counters: [Int64: (parent: Int64, greatest: Int64)] = [:]

  init(_ image: DatabaseImage, root: Int) throws {
    let tree = try TreeMap(image, roots: [root], isComplete: true)
    var counters: [Int64: (parent: Int64, greatest: Int64)] = [:]
    var scan = RowScan(image, tree)
    try scan.rows(where: { role, owner in role == .leaf && owner == root }) { row, record in
      guard record.count == 4, let parent = record.integer(2), let greatest = record.integer(3)
      else { return }
      counters[row.key] = (parent, greatest)
    }
    self.counters = counters
  }

  /// Whether a row is an object whose key nobody gave out.
  func isBeyond(_ key: Int64, _ record: borrowing Record) -> Bool {
    guard record.count > 3, record.kind(0) == .null, var number = record.integer(1) else {
      return false
    }
    // The counter is that of the entity at the top.
    for _ in 0..<64 {
      guard let parent = counters[number]?.parent, parent > 0, parent != number else { break }
      number = parent
    }
    return counters[number].map { key > $0.greatest } ?? false
  }
}

extension DatabaseImage {
  /// How many pages there are of which the pointer map or the list of tables says whose they are, and how many of
  /// them a sound page should reference which does not, or leads to with other keys, or are of another kind: many
  /// where pages of two databases are mixed.
  ///
  /// - Returns: `nil` where neither of the two says anything.
  package func strangers() throws -> (count: Int, of: Int)? {
    guard header.isMagic else { return nil }
    let roots = try SchemaRoots(self, isPartial: true)
    guard header.isAutoVacuum else { return try roots?.strangers(in: self) }
    var fit = PageFit(self)
    var (count, all) = (0, 0)
    for number in 2..<max(2, pageCount + 1) {
      switch try fit.isStranger(number) ?? roots?.isStranger(number, in: self) {
      case true?:
        count += 1
        all += 1
      case false?: all += 1
      case nil: continue
      }
    }
    return (count, all)
  }
}

/// Whether a page of a tree fits the pages around it: the pointer map's entry, the page above it with its
/// range of keys, and the pages below.
struct PageFit {
  private let image: DatabaseImage
  private var pointers: PointerMap

  init(_ image: DatabaseImage) {
    self.image = image
    pointers = PointerMap(image)
  }

  /// - Returns: `nil` where it cannot be determined: a page that is no tree's, or that is free.
  mutating func fits(_ number: Int) throws -> Bool? {
    guard !pointers.isOwn(number), let tree = try tree(number) else { return nil }
    guard let entry = try pointers.entry(number) else { return nil }
    switch entry.kind {
    // A page that was freed stays as it was; what is too long for a row can look like anything.
    case .free, .firstOverflow, .laterOverflow: return nil
    case .root: break
    case .tree:
      guard let above = try self.tree(entry.parent), above.page.kind.isInterior,
        above.page.kind.isOfTable == tree.page.kind.isOfTable,
        let range = range(of: number, in: above)
      else { return false }
      if tree.page.kind == .tableLeaf, let keys = keys(of: tree),
        !range.holds(keys.lowerBound) || !range.holds(keys.upperBound)
      {
        return false
      }
    }
    guard tree.page.kind.isInterior else { return true }
    for child in children(of: tree) {
      guard let entry = try pointers.entry(child) else { continue }
      guard entry.kind == .tree, entry.parent == number else { return false }
    }
    return true
  }

  /// Whether a sound page should reference this one and does not, or the map has it for one of another kind; `nil`
  /// where that cannot be told.
  mutating func isStranger(_ number: Int) throws -> Bool? {
    guard !pointers.isOwn(number), let entry = try pointers.entry(number) else { return nil }
    let isOfTree = entry.kind == .tree || entry.kind == .root
    guard let tree = try tree(number) else {
      // What is too long for a row begins with the number of the page that follows.
      guard isOfTree, let page = try image.page(number) else { return nil }
      let next = Int(BigEndian.word(page.bytes, 0))
      return next > 1 && next <= image.pageCount ? true : nil
    }
    if entry.kind == .firstOverflow || entry.kind == .laterOverflow { return true }
    guard entry.kind == .tree, let above = try self.tree(entry.parent) else { return nil }
    guard above.page.kind.isInterior, above.page.kind.isOfTable == tree.page.kind.isOfTable,
      let range = range(of: number, in: above)
    else { return true }
    guard tree.page.kind == .tableLeaf, let keys = keys(of: tree) else { return false }
    return !range.holds(keys.lowerBound) || !range.holds(keys.upperBound)
  }

  private struct Tree {
    var number: Int
    var bytes: [UInt8]
    var page: TreePage
  }

  private func tree(_ number: Int) throws -> Tree? {
    guard let page = try image.page(number), page.present == page.bytes.count,
      let tree = TreePage(page.bytes, number: number, usable: image.usable),
      tree.isSound(in: page.bytes)
    else { return nil }
    return Tree(number: number, bytes: page.bytes, page: tree)
  }

  private func children(of tree: Tree) -> [Int] {
    tree.page.children(in: tree.bytes)
  }

  /// The keys that a page may hold by the one above it; `nil` where that does not reference it.
  private func range(of child: Int, in tree: Tree) -> TreeHole? {
    guard tree.page.kind == .tableInterior else {
      return children(of: tree).contains(child)
        ? TreeHole(root: 0, page: child, above: nil, upTo: nil) : nil
    }
    var above: Int64?
    for cell in tree.page.cells(in: tree.bytes) {
      guard let (bits, _) = Varint.read(tree.bytes, cell + 4) else { return nil }
      let key = Int64(bitPattern: bits)
      if Int(BigEndian.word(tree.bytes, cell)) == child {
        return TreeHole(root: 0, page: child, above: above, upTo: key)
      }
      above = key
    }
    return tree.page.last == child
      ? TreeHole(root: 0, page: child, above: above, upTo: nil) : nil
  }

  private func keys(of tree: Tree) -> ClosedRange<Int64>? {
    let cells = tree.page.cells(in: tree.bytes)
    let keys = [cells.first, cells.last].compactMap { offset in
      offset.flatMap {
        TreeCell(tree.bytes, at: $0, present: tree.bytes.count, usable: image.usable)?.key
      }
    }
    guard keys.count == 2, keys[0] <= keys[1] else { return nil }
    return keys[0]...keys[1]
  }
}
