import Files
import Values

/// Copies trees of a database page for page into a new one, where they are whole: faster than row by
/// row, and indexes need not be rebuilt.
///
/// Of a table the pages that cannot be read are left out of its tree; their rows, as far as there are
/// any, are for the caller to put in. An index is copied whole or not at all.
public struct TreeCopy: ~Copyable {
  /// What became of a table.
  public struct Outcome: Sendable, Equatable {
    /// Rows that were copied.
    public var rows = 0
    /// Whether nothing was left out.
    public var isWhole = true
  }

  /// A tree that cannot be copied.
  private struct Broken: Error {}

  /// Which pages were copied; the first is page 1.
  public private(set) var isCopied: [Bool]

  private let image: DatabaseImage
  private let chains: OverflowChains
  private var file: PageFile
  private let isCancelled: () -> Bool
  private let progress: (Double) -> Void
  private var done: Int
  private var record = Record()
  private var isOwn: (borrowing Record) -> Bool = { _ in true }
  private var isOfObjects = false
  /// What was taken for the tree that is being copied: old pages and new ones.
  private var taken: (old: [Int], new: [Int]) = ([], [])

  /// Whether pages of a database can be copied as they are: all of a page is used.
  package static func isPossible(_ image: DatabaseImage) -> Bool {
    image.usable == image.pageSize && image.header.encoding == .utf8
  }

  /// - Parameters:
  ///   - trees: which page of the database is whose.
  ///   - path: the new database, made by SQLite with the same size of page and auto_vacuum.
  ///   - copied: pages that were copied before, the first of which is page 1.
  ///   - progress: called with how much of the file was copied, from 0 to 1.
  /// - Throws: `CoreDataError` where it cannot be written.
  package init(
    _ image: DatabaseImage, _ trees: TreeMap, to path: String, besides copied: [Bool] = [],
    isCancelled: @escaping () -> Bool, progress: @escaping (Double) -> Void
  ) throws {
    self.image = image
    chains = OverflowChains(image, trees)
    file = try PageFile(path, pageSize: image.pageSize)
    isCopied =
      copied.count == image.pageCount
      ? copied : Array(repeating: false, count: image.pageCount)
    done = isCopied.count { $0 }
    self.isCancelled = isCancelled
    self.progress = progress
  }

  /// Copies a table into the place of an empty one.
  ///
  /// - Parameters:
  ///   - roots: the first page of its tree, or, where that is lost, those of the trees that are left of it.
  ///   - new: that of the empty table.
  ///   - isOwn: whether a row can be the table's.
  ///   - isOfObjects: whether the rows are objects, whose texts are UTF-8.
  /// - Returns: what was copied: nothing where the tree cannot be kept.
  /// - Throws: `CoreDataError` where a file cannot be read or written.
  package mutating func copyTable(
    roots: [Int], to new: Int, isOfObjects: Bool = false,
    where isOwn: @escaping (borrowing Record) -> Bool
  ) throws -> Outcome {
    taken = ([], [])
    self.isOfObjects = isOfObjects
    self.isOwn = isOwn
    var top = TreeTop(pageSize: image.pageSize)
    do {
      if roots.count > 1 { return try leaves(of: roots, new, &top) }
      let place = TreeHole(root: roots.first ?? 0, page: roots.first ?? 0)
      if let copied = try table(place, new, parent: 0, depth: 0) { return copied.outcome }
    } catch is Broken {}
    taken.new += top.taken
    undo()
    return Outcome(isWhole: false)
  }

  /// Copies an index into the place of an empty one.
  ///
  /// - Returns: how many entries it has; `nil` where it is not whole.
  package mutating func copyIndex(root: Int, to new: Int) throws -> Int? {
    taken = ([], [])
    do {
      return try index(root, new, depth: 0)
    } catch is Broken {
      undo()
      return nil
    }
  }

  /// Writes what the new database keeps of its pages; nothing can be copied afterwards.
  package mutating func finish() throws { try file.finish() }

  private mutating func undo() {
    for page in taken.old { isCopied[page - 1] = false }
    file.give(back: taken.new)
  }

  private mutating func take(_ kind: PointerMap.Kind, parent: Int) throws -> Int {
    let number = try file.take(kind, parent: parent)
    taken.new.append(number)
    return number
  }

  private mutating func mark(_ page: Int) {
    isCopied[page - 1] = true
    taken.old.append(page)
  }

  /// A page that is all there and was not copied yet.
  private mutating func page(_ number: Int) throws -> [UInt8]? {
    guard number > 1, number <= image.pageCount, !isCopied[number - 1],
      let page = try image.page(number), page.present == page.bytes.count
    else { return nil }
    done += 1
    if done % 256 == 0 {
      progress(Double(done) / Double(image.pageCount))
      try CoreDataError.check(isCancelled)
    }
    return page.bytes
  }

  // MARK: Tables

  /// Copies a page of a table's tree and all below it.
  ///
  /// - Parameter new: where to: 0 takes a page.
  /// - Returns: where it is now; `nil` where nothing of it can be kept.
  private mutating func table(
    _ place: TreeHole, _ new: Int, parent: Int, depth: Int
  ) throws -> (page: Int, outcome: Outcome)? {
    guard depth < 24, let bytes = try page(place.page) else { return nil }
    switch TreePage.Kind(rawValue: bytes[0]) {
    case .tableLeaf: return try leaf(place, bytes, new, parent: parent)
    case .tableInterior: return try interior(place, bytes, new, parent: parent, depth: depth)
    default: return nil
    }
  }

  private mutating func leaf(
    _ place: TreeHole, _ source: [UInt8], _ new: Int, parent: Int
  ) throws -> (page: Int, outcome: Outcome)? {
    let count = BigEndian.half(source, 3)
    guard 8 + 2 * count <= source.count,
      let tree = TreePage(source, number: place.page, usable: source.count)
    else { return nil }
    var room = 0
    var spilled: [(cell: TreeCell, chain: [Int])] = []
    var last = place.above
    for index in 0..<count {
      let offset = BigEndian.half(source, 8 + 2 * index)
      guard offset >= 8 + 2 * count,
        let cell = TreeCell(source, at: offset, present: source.count, usable: source.count),
        cell.key > last ?? .min || last == nil, cell.key <= place.upTo ?? .max
      else { return nil }
      last = cell.key
      room += cell.room(from: offset)
      guard isRow(source, cell) else { return nil }
      guard cell.local < cell.size else { continue }
      guard let chain = try chain(cell.overflow, of: place.page, rest: cell.size - cell.local)
      else {
        return nil
      }
      spilled.append((cell, chain))
    }
    guard tree.isBalanced(room, in: source) else { return nil }
    var bytes = source
    let number = new > 0 ? new : try take(.tree, parent: parent)
    mark(place.page)
    for (cell, chain) in spilled {
      let first = try copy(chain, of: number)
      BigEndian.put(first, into: &bytes, cell.start + cell.local)
    }
    try file.write(bytes, to: number)
    return (number, Outcome(rows: count))
  }

  /// Whether a cell holds a record of its own size that can be a row of the table.
  private mutating func isRow(_ page: [UInt8], _ cell: TreeCell) -> Bool {
    // One that ends in zeros is looked at by itself.
    let end = cell.start + cell.local
    guard page[end - 1] != 0 || DatabaseImage.Page.zeros(in: cell.start..<end, of: page) == nil
    else {
      return false
    }
    return page.withUnsafeBytes { bytes in
      record.read(UnsafeRawBufferPointer(rebasing: bytes[cell.start..<cell.start + cell.local]))
        && record.stated == cell.size && isOwn(record)
        // One with text that is none is looked at by itself, too.
        && !(isOfObjects && record.hasGarbledText())
    }
  }

  private mutating func interior(
    _ place: TreeHole, _ source: [UInt8], _ new: Int, parent: Int, depth: Int
  ) throws -> (page: Int, outcome: Outcome)? {
    guard let tree = TreePage(source, number: place.page, usable: source.count),
      tree.isSound(in: source)
    else { return nil }
    mark(place.page)
    let number = new > 0 ? new : try take(.tree, parent: parent)
    var outcome = Outcome()
    var kept: [(child: Int, key: [UInt8])] = []
    var above = place.above
    for offset in tree.cells(in: source) + [-1] {
      let key = offset < 0 ? nil : Varint.read(source, offset + 4)
      if offset >= 0, key == nil { throw Broken() }
      let child = offset < 0 ? tree.last : Int(BigEndian.word(source, offset))
      let bound = key.map { Int64(bitPattern: $0.value) } ?? place.upTo
      // Keys rise from one to the next.
      if let bound, let above, bound <= above { throw Broken() }
      let hole = TreeHole(root: place.root, page: child, above: above, upTo: bound)
      above = bound
      guard let to = try table(hole, 0, parent: number, depth: depth + 1) else {
        outcome.isWhole = false
        continue
      }
      outcome.rows += to.outcome.rows
      outcome.isWhole = outcome.isWhole && to.outcome.isWhole
      kept.append((to.page, key.map { Array(source[offset + 4..<$0.end]) } ?? []))
    }
    // A page of pointers has at least two.
    guard kept.count > 1,
      kept.reduce(12, { $0 + 6 + $1.key.count }) <= source.count + 6
    else { throw Broken() }
    try file.write(Self.page(of: kept, size: source.count), to: number)
    return (number, outcome)
  }

  /// An interior page of a table's tree; the key of the last child is left out.
  static func page(of children: [(child: Int, key: [UInt8])], size: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    bytes[0] = TreePage.Kind.tableInterior.rawValue
    var end = size
    for (index, cell) in children.dropLast().enumerated() {
      end -= 4 + cell.key.count
      BigEndian.put(cell.child, into: &bytes, end)
      bytes.replaceSubrange(end + 4..<end + 4 + cell.key.count, with: cell.key)
      BigEndian.putHalf(end, into: &bytes, 12 + 2 * index)
    }
    BigEndian.putHalf(children.count - 1, into: &bytes, 3)
    BigEndian.putHalf(end, into: &bytes, 5)
    BigEndian.put(children.last?.child ?? 0, into: &bytes, 8)
    return bytes
  }

  // MARK: Tables without their upper pages

  /// Copies the leaves of trees that together are one table's, and makes the pages above them.
  ///
  /// A tree with keys between those of another is left out: one of the two is of another time.
  private mutating func leaves(of roots: [Int], _ new: Int, _ top: inout TreeTop) throws -> Outcome
  {
    var trees = try roots.compactMap { root in
      try image.endKey(of: root, isLast: false).flatMap { first in
        try image.endKey(of: root, isLast: true).map { (root: root, first: first, last: $0) }
      }
    }.sorted { $0.first < $1.first }
    var outcome = Outcome(isWhole: trees.count == roots.count)
    var greatest = Int64.min
    let isApart = trees.indices.map { place in
      let tree = trees[place]
      defer { greatest = max(greatest, tree.last) }
      return tree.first <= tree.last && (place == 0 || tree.first > greatest)
        && (place + 1 == trees.count || tree.last < trees[place + 1].first)
    }
    trees = zip(trees, isApart).filter { $0.1 }.map { $0.0 }
    if isApart.contains(false) { outcome.isWhole = false }
    var above: Int64?
    for tree in trees {
      let place = TreeHole(root: tree.root, page: tree.root, above: above, upTo: tree.last)
      try leaves(place, depth: 0, &top, &outcome)
      above = tree.last
    }
    guard try top.finish(at: new, of: &file) else { throw Broken() }
    return outcome
  }

  private mutating func leaves(
    _ place: TreeHole, depth: Int, _ top: inout TreeTop, _ outcome: inout Outcome
  ) throws {
    // Behind the last leaf that can be read there may be others.
    guard depth < 24, let last = place.upTo, last > place.above ?? .min || place.above == nil,
      let bytes = try page(place.page)
    else {
      outcome.isWhole = false
      return
    }
    switch TreePage.Kind(rawValue: bytes[0]) {
    case .tableLeaf:
      guard BigEndian.half(bytes, 3) > 0, let copied = try leaf(place, bytes, 0, parent: 0) else {
        outcome.isWhole = false
        return
      }
      outcome.rows += copied.outcome.rows
      try top.add(copied.page, upTo: last, to: &file)
    case .tableInterior:
      guard let tree = TreePage(bytes, number: place.page, usable: bytes.count),
        tree.isSound(in: bytes)
      else {
        outcome.isWhole = false
        return
      }
      mark(place.page)
      var above = place.above
      for offset in tree.cells(in: bytes) {
        // Keys rise from one to the next.
        guard let key = Varint.read(bytes, offset + 4).map({ Int64(bitPattern: $0.value) }),
          key > above ?? .min
        else { throw Broken() }
        let child = TreeHole(
          root: place.root, page: Int(BigEndian.word(bytes, offset)), above: above,
          upTo: min(key, last))
        try leaves(child, depth: depth + 1, &top, &outcome)
        above = key
      }
      let child = TreeHole(root: place.root, page: tree.last, above: above, upTo: last)
      try leaves(child, depth: depth + 1, &top, &outcome)
    default: outcome.isWhole = false
    }
  }

  // MARK: What is too large for a page

  /// The pages of a rest of so many bytes; `nil` where they are not all there.
  private mutating func chain(_ first: Int, of owner: Int, rest: Int) throws -> [Int]? {
    let chain = try chains.chain(first, of: owner, rest: rest)
    guard chain.isWhole, !chain.isDoubtful else { return nil }
    for number in chain.pages where try page(number) == nil { return nil }
    return chain.pages
  }

  /// Copies such pages.
  ///
  /// - Parameter owner: the page whose cell they belong to.
  /// - Returns: the first.
  private mutating func copy(_ chain: [Int], of owner: Int) throws -> Int {
    var numbers: [Int] = []
    for _ in chain {
      numbers.append(
        try take(
          numbers.isEmpty ? .firstOverflow : .laterOverflow, parent: numbers.last ?? owner))
    }
    for (index, old) in chain.enumerated() {
      guard var bytes = try page(old) else { throw Broken() }
      mark(old)
      BigEndian.put(index + 1 < numbers.count ? numbers[index + 1] : 0, into: &bytes, 0)
      try file.write(bytes, to: numbers[index])
    }
    return numbers.first ?? 0
  }

  // MARK: Indexes

  /// - Returns: how many entries were copied.
  private mutating func index(_ old: Int, _ new: Int, depth: Int) throws -> Int {
    guard depth < 24, let source = try page(old),
      let tree = TreePage(source, number: old, usable: source.count), !tree.kind.isOfTable,
      tree.isSound(in: source)
    else { throw Broken() }
    mark(old)
    var bytes = source
    var entries = tree.count
    for offset in tree.cells(in: source) {
      guard
        let cell = TreeCell(
          source, at: offset, of: tree.kind, present: source.count, usable: source.count)
      else { throw Broken() }
      if cell.local < cell.size {
        guard let chain = try chain(cell.overflow, of: old, rest: cell.size - cell.local) else {
          throw Broken()
        }
        BigEndian.put(try copy(chain, of: new), into: &bytes, cell.start + cell.local)
      }
      guard tree.kind.isInterior else { continue }
      let child = try take(.tree, parent: new)
      entries += try index(Int(BigEndian.word(source, offset)), child, depth: depth + 1)
      BigEndian.put(child, into: &bytes, offset)
    }
    if tree.kind.isInterior {
      let child = try take(.tree, parent: new)
      entries += try index(tree.last, child, depth: depth + 1)
      BigEndian.put(child, into: &bytes, 8)
    }
    try file.write(bytes, to: new)
    return entries
  }
}
