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
