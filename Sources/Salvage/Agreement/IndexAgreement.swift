/// Finds out whether the indexes of a table have an entry for each of its rows, and no other, in order.
///
/// Each tree is read once, from its first page to its last: of the rows and of the entries hashes are
/// summed up, which come to the same where both hold the same values and keys. SQLite looks each row up
/// in each index instead. What is found to differ, and what is not understood here, is SQLite's to tell.
package struct IndexAgreement {
  /// A tree that is not as it should be, or not one that is read here.
  private struct Untold: Error {}

  /// What the rows, or the entries of an index, come to.
  private struct Sum: Equatable {
    var count = 0
    var hashes: UInt64 = 0
  }

  private let image: DatabaseImage
  private let isCancelled: () -> Bool
  /// Pages that may still be read: more than there are only circles have.
  private var budget = 0
  private var record = Record()
  private var former = Record()
  private var hasFormer = false

  /// Of a database whose pages do not change meanwhile.
  package init(_ image: DatabaseImage, isCancelled: @escaping () -> Bool = { false }) {
    self.image = image
    self.isCancelled = isCancelled
  }

  /// Whether all indexes of a table agree with it; false also where that cannot be told.
  ///
  /// - Parameter facts: what the rows come to is added to it; of no use where the answer is false.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package mutating func isGiven(
    for table: IndexedTable, gathering facts: inout RowFacts?
  ) throws -> Bool {
    do {
      var rows = [Sum](repeating: Sum(), count: table.indexes.count)
      begin()
      try walk(table.root, of: table, &rows, &facts, depth: 0)
      for (index, sum) in zip(table.indexes, rows) {
        var entries = Sum()
        begin()
        try walk(index.root, of: index, &entries, depth: 0)
        if entries != sum { return false }
      }
      return true
    } catch is Untold {
      return false
    }
  }

  private mutating func begin() {
    budget = image.pageCount
    hasFormer = false
  }

  /// Reads a page of a tree; the budget keeps from going round in circles.
  private mutating func page(_ number: Int, _ depth: Int) throws -> (DatabaseImage.Page, TreePage) {
    budget -= 1
    guard budget >= 0, depth < 24 else { throw Untold() }
    if budget % 256 == 0, isCancelled() { throw Untold() }
    guard let page = try image.page(number), page.present == page.bytes.count,
      let tree = TreePage(page.bytes, number: number, usable: image.usable), tree.isSound
    else { throw Untold() }
    return (page, tree)
  }

  private mutating func walk(
    _ number: Int, of table: IndexedTable, _ sums: inout [Sum], _ facts: inout RowFacts?,
    depth: Int
  ) throws {
    let (page, tree) = try page(number, depth)
    switch tree.kind {
    case .tableInterior:
      for cell in tree.cells {
        try walk(Int(BigEndian.word(page.bytes, cell)), of: table, &sums, &facts, depth: depth + 1)
      }
      try walk(tree.last, of: table, &sums, &facts, depth: depth + 1)
    case .tableLeaf:
      for offset in tree.cells {
        guard
          let cell = Cell(page.bytes, at: offset, present: page.present, usable: image.usable)
        else { throw Untold() }
        try read(page, cell.start, cell.local, of: cell.size, cell.overflow)
        try add(cell.key, of: table, to: &sums)
        facts?.add(cell.key, record)
      }
    case .indexInterior, .indexLeaf: throw Untold()
    }
  }

  private func add(_ key: Int64, of table: IndexedTable, to sums: inout [Sum]) throws {
    for (number, index) in table.indexes.enumerated() {
      var hash: UInt64 = 0
      for column in index.columns {
        guard let place = column.place else {
          hash = Record.mixed(hash, integer: key)
          continue
        }
        guard place < record.count || !table.filled.contains(place) else { throw Untold() }
        hash = record.mixed(hash, place)
      }
      sums[number].count += 1
      sums[number].hashes &+= Record.settled(Record.mixed(hash, integer: key))
    }
  }

  private mutating func walk(
    _ number: Int, of index: IndexedTable.Index, _ sum: inout Sum, depth: Int
  ) throws {
    let (page, tree) = try page(number, depth)
    switch tree.kind {
    case .indexInterior:
      for cell in tree.cells {
        try walk(Int(BigEndian.word(page.bytes, cell)), of: index, &sum, depth: depth + 1)
        try entry(of: page, at: cell + 4, of: index, &sum)
      }
      try walk(tree.last, of: index, &sum, depth: depth + 1)
    case .indexLeaf:
      for cell in tree.cells { try entry(of: page, at: cell, of: index, &sum) }
    case .tableInterior, .tableLeaf: throw Untold()
    }
  }

  /// Adds an entry, which must come behind the one before it.
  private mutating func entry(
    of page: DatabaseImage.Page, at offset: Int, of index: IndexedTable.Index, _ sum: inout Sum
  ) throws {
    guard let (size, start) = Varint.read(page.bytes, offset), size > 0, size <= Cell.mostBytes
    else { throw Untold() }
    let local = Cell.localOfIndex(Int(size), usable: image.usable)
    let overflow = local < Int(size) ? Int(BigEndian.word(page.bytes, start + local)) : 0
    guard start + local + (overflow > 0 ? 4 : 0) <= image.usable else { throw Untold() }
    swap(&record, &former)
    try read(page, start, local, of: Int(size), overflow)
    let width = index.columns.count
    guard record.count == width + 1, let key = record.integer(width) else { throw Untold() }
    var hash: UInt64 = 0
    for column in 0..<width { hash = record.mixed(hash, column) }
    sum.count += 1
    sum.hashes &+= Record.settled(Record.mixed(hash, integer: key))
    if hasFormer, !isBehind(index, key) { throw Untold() }
    hasFormer = true
  }

  private func isBehind(_ index: IndexedTable.Index, _ key: Int64) -> Bool {
    var isFree = !index.isUnique
    for (place, column) in index.columns.enumerated() {
      let order = former.order(record, place, column.collation)
      if order != 0 { return (order < 0) != column.isDescending }
      if record.kind(place) == .null { isFree = true }
    }
    return isFree && (former.integer(index.columns.count) ?? .max) < key
  }

  /// Takes a payload, with what of it is on other pages.
  private mutating func read(
    _ page: DatabaseImage.Page, _ start: Int, _ local: Int, of size: Int, _ overflow: Int
  ) throws {
    if local == size {
      guard record.read(page.bytes, start..<start + size), record.isWhole else { throw Untold() }
      return
    }
    guard size / (image.usable - 4) <= image.pageCount else { throw Untold() }
    var payload = Array(page.bytes[start..<start + local])
    var next = overflow
    while payload.count < size {
      budget -= 1
      guard budget >= 0, let page = try image.page(next), page.present == page.bytes.count else {
        throw Untold()
      }
      payload += page.bytes[4..<4 + min(size - payload.count, image.usable - 4)]
      next = Int(BigEndian.word(page.bytes, 0))
    }
    guard record.read(payload, 0..<payload.count), record.isWhole else { throw Untold() }
  }
}
