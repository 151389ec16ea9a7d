#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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
        guard let cell = Cell(page.bytes, at: offset, present: page.present, usable: one.usable)
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
  /// Whoever wrote one file on from the other left the pages of most rows alone.
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
      guard let low = Cell(page.bytes, at: first, present: page.present, usable: image.usable)?.key,
        let high = Cell(page.bytes, at: last, present: page.present, usable: image.usable)?.key,
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
