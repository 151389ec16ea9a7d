#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Finds out whether the indexes of a table have an entry for each of its rows, and no other, in order.
///
/// Each tree is read once, from its first page to its last: of the rows and of the entries hashes are
/// summed up, which come to the same where both hold the same values and keys. SQLite looks each row up
/// in each index instead. What is found to differ, and what is not understood here, is left to SQLite.
package struct IndexAgreement: ~Copyable {
  /// What the rows, or the entries of an index, come to.
  private struct Sum: Equatable {
    var count = 0
    var hashes: UInt64 = 0

    @inline(__always)
    mutating func add(_ hash: UInt64, _ key: Int64) {
      count += 1
      hashes &+= Record.settled(Record.mixed(hash, integer: key))
    }
  }

  /// A column of an index, in one list for all of them.
  private struct Place {
    /// Which value of the row it is; below 0 the row's key.
    var column: Int
    /// Whether a row that is too short to have it may hold something there.
    var isFilled: Bool
    /// Whether it is the last one of its index.
    var isLast: Bool
  }

  private let reader: TreeReader
  private let table: IndexedTable
  private let places: [Place]
  private var record = Record()
  private var former = Record()
  private var hasFormer = false
  /// The key of the row before.
  private var key: Int64?
  private var sums: [Sum]

  /// Of a table of a database whose pages do not change meanwhile.
  package init(
    _ table: IndexedTable, in image: DatabaseImage, isCancelled: @escaping () -> Bool = { false }
  ) {
    self.table = table
    reader = TreeReader(image, isCancelled: isCancelled)
    sums = table.indexes.map { _ in Sum() }
    places = table.indexes.flatMap { index in
      index.columns.indices.map { number in
        let place = index.columns[number].place
        return Place(
          column: place ?? -1, isFilled: place.map(table.filled.contains) ?? false,
          isLast: number == index.columns.count - 1)
      }
    }
  }

  /// Whether all indexes of the table agree with it; false also where that cannot be determined.
  ///
  /// - Parameters:
  ///   - facts: what the rows come to is added to it; of no use where the answer is false.
  ///   - comparison: is given each row; of no use where the answer is false.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package mutating func isGiven(
    gathering facts: inout RowFacts?, comparing comparison: inout RowComparison?
  ) throws -> Bool {
    do {
      // Without columns an index has no sum.
      guard table.indexes.allSatisfy({ !$0.columns.isEmpty }) else { return false }
      try readRows(&facts, &comparison)
      facts?.finish()
      for number in table.indexes.indices {
        if try sum(of: table.indexes[number]) != sums[number] { return false }
      }
      return true
    } catch is TreeReader.Untold {
      return false
    }
  }

  private mutating func readRows(
    _ facts: inout RowFacts?, _ comparison: inout RowComparison?
  ) throws {
    key = nil
    reader.begin(table.root, ofTable: true)
    while let cells = try reader.next() {
      for number in cells.numbers {
        let key = try reader.row(number, of: cells, into: &record)
        if let former = self.key, former >= key { throw TreeReader.Untold() }
        self.key = key
        try add(key)
        facts?.add(key, record)
        try comparison?.add(key, record)
      }
    }
  }

  private mutating func add(_ key: Int64) throws {
    var (hash, index) = (UInt64(0), 0)
    for place in places {
      if place.column < 0 {
        hash = Record.mixed(hash, integer: key)
      } else {
        guard !place.isFilled || place.column < record.count else { throw TreeReader.Untold() }
        hash = record.mixed(hash, place.column)
      }
      guard place.isLast else { continue }
      sums[index].add(hash, key)
      (hash, index) = (0, index + 1)
    }
  }

  /// What the entries of an index come to, each of which must come behind the one before it.
  private mutating func sum(of index: borrowing IndexedTable.Index) throws -> Sum {
    var sum = Sum()
    hasFormer = false
    reader.begin(index.root, ofTable: false)
    while let cells = try reader.next() {
      for number in cells.numbers { try entry(number, of: cells, of: index, &sum) }
      record.keep()
    }
    return sum
  }

  @inline(__always)
  private mutating func entry(
    _ number: Int, of cells: TreeReader.Cells, of index: borrowing IndexedTable.Index,
    _ sum: inout Sum
  ) throws {
    swap(&record, &former)
    try reader.entry(number, of: cells, into: &record)
    let width = index.columns.count
    guard record.count == width + 1, let key = record.integer(width) else {
      throw TreeReader.Untold()
    }
    var hash: UInt64 = 0
    for column in 0..<width { hash = record.mixed(hash, column) }
    sum.add(hash, key)
    if hasFormer, !isBehind(index, key) { throw TreeReader.Untold() }
    hasFormer = true
  }

  private func isBehind(_ index: borrowing IndexedTable.Index, _ key: Int64) -> Bool {
    var isFree = !index.isUnique
    for place in 0..<index.columns.count {
      let column = index.columns[place]
      let order = former.order(record, place, column.collation)
      if order != 0 { return (order < 0) != column.isDescending }
      if record.isNull(place) { isFree = true }
    }
    return isFree && (former.integer(index.columns.count) ?? .max) < key
  }
}

/// A table and its indexes, as a schema shows them.
package struct IndexedTable: Sendable {
  /// How texts of a column are compared.
  package enum Collation: Sendable {
    case binary
    case noCase
    case rtrim
  }

  /// A column of an index.
  package struct Column: Sendable {
    /// Which value of the row it is, from 0; `nil` for the row's key.
    package var place: Int?
    package var collation: Collation
    package var isDescending: Bool

    package init(place: Int?, collation: Collation, isDescending: Bool) {
      self.place = place
      self.collation = collation
      self.isDescending = isDescending
    }
  }

  /// An index over columns: all rows of the table are in it.
  package struct Index: Sendable {
    package var name: String
    package var root: Int
    /// Without the row's key, which every entry ends with.
    package var columns: [Column]
    package var isUnique: Bool

    package init(name: String, root: Int, columns: [Column], isUnique: Bool) {
      self.name = name
      self.root = root
      self.columns = columns
      self.isUnique = isUnique
    }
  }

  package var root: Int
  package var indexes: [Index]
  /// Columns that rows which are too short to have them hold something in: their default value.
  package var filled: Set<Int>
  /// The names of its columns.
  package var columns: [String]
  /// The column that is the row's key under another name, and that holds nothing in the row.
  package var key: Int?

  package init(
    root: Int, indexes: [Index], filled: Set<Int>, columns: [String] = [], key: Int? = nil
  ) {
    self.root = root
    self.indexes = indexes
    self.filled = filled
    self.columns = columns
    self.key = key
  }
}

/// Compares trees of two databases page by page, as bytes: one is a clone of the other in which these
/// trees may be as they were.
package struct TreeComparison {
  private let one: DatabaseImage
  private let other: DatabaseImage
  private let isCancelled: () -> Bool
  private var budget = 0

  /// Of two databases whose pages do not change meanwhile.
  package init(
    _ one: DatabaseImage, _ other: DatabaseImage, isCancelled: @escaping () -> Bool = { false }
  ) {
    self.one = one
    self.other = other
    self.isCancelled = isCancelled
  }

  /// Whether two trees of rows are the same, each page in the same place but for the first, which SQLite
  /// moves when another table goes. The pages that hold the rest of long rows are compared, too.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package mutating func isSame(_ root: Int, _ otherRoot: Int) throws -> Bool {
    guard one.pageSize == other.pageSize, one.usable == other.usable, root > 1, otherRoot > 1 else {
      return false
    }
    budget = one.pageCount
    return try isSame(root, otherRoot, depth: 0)
  }

  private mutating func isSame(_ number: Int, _ otherNumber: Int, depth: Int) throws -> Bool {
    guard depth < TreeReader.mostLevels, let page = try equalPage(number, otherNumber),
      let tree = TreePage(page.bytes, number: number, usable: one.usable),
      tree.isSound(in: page.bytes)
    else { return false }
    switch tree.kind {
    case .tableInterior:
      for child in tree.children(in: page.bytes) {
        guard try isSame(child, child, depth: depth + 1) else { return false }
      }
      return true
    case .tableLeaf:
      for offset in tree.cells(in: page.bytes) {
        guard let cell = TreeCell(page.bytes, at: offset, present: page.present, usable: one.usable)
        else { return false }
        guard cell.local < cell.size else { continue }
        guard try isRestSame(from: cell.overflow, bytes: cell.size - cell.local) else {
          return false
        }
      }
      return true
    case .indexInterior, .indexLeaf: return false
    }
  }

  /// Where the rows of two trees may differ: keys of rows that stand in no page which both trees have, byte for
  /// byte, under the same number. Neighbouring pages are one range; `nil` where a tree cannot be followed, and
  /// where pages are of two sizes.
  ///
  /// If a program went on writing one file from the state of the other, it left the pages of most rows alone.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package mutating func differing(
    _ root: Int, _ otherRoot: Int
  ) throws -> (one: [ClosedRange<Int64>], other: [ClosedRange<Int64>])? {
    guard one.pageSize == other.pageSize, one.usable == other.usable else { return nil }
    budget = one.pageCount
    guard let leaves = try leaves(of: root, in: one) else { return nil }
    budget = other.pageCount
    guard let otherLeaves = try self.leaves(of: otherRoot, in: other) else { return nil }
    var known = PageSet(count: max(one.pageCount, other.pageCount))
    for leaf in otherLeaves { known.insert(leaf) }
    var same = PageSet(count: max(one.pageCount, other.pageCount))
    // A page of overflow may be looked at once for each of both trees.
    budget = one.pageCount
    for leaf in leaves where known.contains(leaf) {
      guard !isCancelled() else { return nil }
      if try isSame(leaf, leaf, depth: 0) { same.insert(leaf) }
    }
    guard let first = try keys(of: leaves, besides: same, in: one),
      let second = try keys(of: otherLeaves, besides: same, in: other)
    else { return nil }
    return (first, second)
  }

  /// The leaves of a tree of rows, in the order of keys; `nil` where it cannot be followed.
  private mutating func leaves(
    of root: Int, in image: DatabaseImage, depth: Int = 0
  ) throws -> [Int]? {
    budget -= 1
    guard depth < TreeReader.mostLevels, budget >= 0, root > 0, let page = try image.page(root),
      page.present == image.pageSize,
      let tree = TreePage(page.bytes, number: root, usable: image.usable),
      tree.isSound(in: page.bytes)
    else { return nil }
    switch tree.kind {
    case .tableLeaf: return [root]
    case .indexInterior, .indexLeaf: return nil
    case .tableInterior:
      var found: [Int] = []
      for child in tree.children(in: page.bytes) {
        guard let leaves = try leaves(of: child, in: image, depth: depth + 1) else { return nil }
        found += leaves
      }
      return found
    }
  }

  /// The least and the greatest key of leaves that follow each other.
  private func keys(
    of leaves: [Int], besides same: PageSet, in image: DatabaseImage
  ) throws -> [ClosedRange<Int64>]? {
    var ranges: [ClosedRange<Int64>] = []
    var isBehindDiffering = false
    for leaf in leaves {
      guard !same.contains(leaf) else {
        isBehindDiffering = false
        continue
      }
      guard let page = try image.page(leaf),
        let tree = TreePage(page.bytes, number: leaf, usable: image.usable)
      else { return nil }
      let cells = tree.cells(in: page.bytes)
      // An empty table is one leaf without rows.
      guard let first = cells.first, let last = cells.last else { continue }
      guard
        let low = TreeCell(page.bytes, at: first, present: page.present, usable: image.usable)?.key,
        let high = TreeCell(page.bytes, at: last, present: page.present, usable: image.usable)?.key,
        low <= high, ranges.last.map({ $0.upperBound < low }) ?? true
      else { return nil }
      if isBehindDiffering, let last = ranges.popLast() {
        ranges.append(last.lowerBound...high)
      } else {
        ranges.append(low...high)
      }
      isBehindDiffering = true
    }
    return ranges
  }

  private mutating func isRestSame(from first: Int, bytes: Int) throws -> Bool {
    var (next, left) = (first, bytes)
    while left > 0 {
      guard let page = try equalPage(next, next) else { return false }
      left -= one.usable - 4
      next = Int(BigEndian.word(page.bytes, 0))
    }
    return true
  }

  /// A page that is the same in both, and whole; the budget keeps from going round in circles.
  private mutating func equalPage(_ number: Int, _ otherNumber: Int) throws -> DatabaseImage.Page? {
    budget -= 1
    guard budget >= 0, budget % 256 != 0 || !isCancelled(), let page = try one.page(number),
      let copy = try other.page(otherNumber), page.present == one.pageSize,
      copy.present == one.pageSize
    else { return nil }
    let isEqual = page.bytes.withUnsafeBytes { bytes in
      copy.bytes.withUnsafeBytes { copy in
        guard let first = bytes.baseAddress, let second = copy.baseAddress else { return false }
        return bytes.count == copy.count && memcmp(first, second, bytes.count) == 0
      }
    }
    return isEqual ? page : nil
  }
}

/// Some pages of a database, a bit each.
private struct PageSet {
  private var words: [UInt64]

  init(count: Int) { words = [UInt64](repeating: 0, count: count / 64 + 1) }

  func contains(_ page: Int) -> Bool {
    page >= 0 && page / 64 < words.count && words[page / 64] & (1 << UInt64(page % 64)) != 0
  }

  mutating func insert(_ page: Int) {
    guard page >= 0, page / 64 < words.count else { return }
    words[page / 64] |= 1 << UInt64(page % 64)
  }
}
