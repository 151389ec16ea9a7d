/// A page of a b-tree: what kind it is, and where its cells are.
///
/// Format: https://www.sqlite.org/fileformat.html, "B-tree Pages".
public struct TreePage: Sendable {
  /// What a page of a b-tree is.
  public enum Kind: UInt8, Sendable {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13
  }

  /// What kind it is.
  public let kind: Kind
  /// Where the cells begin, in the order of their keys; places outside the page are left out.
  public let cells: [Int]
  /// How many cells the list places outside the page.
  package let outside: Int
  /// The page of what is behind the last cell, of an interior page.
  public let last: Int
  /// Where the area of cells begins.
  public let content: Int
  /// The first of the blocks that were freed; 0 without one.
  public let firstFree: Int
  /// Whether all that the header says can be: cells in the page, and as many as it counts.
  public let isSound: Bool

  /// Reads a page's header.
  ///
  /// - Parameters:
  ///   - bytes: the whole page.
  ///   - number: the page, from 1: page 1 begins with the database's own header.
  ///   - usable: the bytes of the page that are used.
  /// - Returns: `nil` where it is no page of a b-tree.
  public init?(_ bytes: [UInt8], number: Int, usable: Int) {
    let start = number == 1 ? FileHeader.size : 0
    guard bytes.count > start + 12, usable <= bytes.count, let kind = Kind(rawValue: bytes[start])
    else { return nil }
    self.kind = kind
    let isInterior = kind == .tableInterior || kind == .indexInterior
    let pointers = start + (isInterior ? 12 : 8)
    let count = BigEndian.half(bytes, start + 3)
    let stated = BigEndian.half(bytes, start + 5)
    content = stated == 0 ? 65_536 : stated
    firstFree = BigEndian.half(bytes, start + 1)
    last = isInterior ? Int(BigEndian.word(bytes, start + 8)) : 0
    let room = max(0, usable - pointers) / 2
    let end = pointers + min(count, room) * 2
    cells = stride(from: pointers, to: end, by: 2).map { BigEndian.half(bytes, $0) }
      .filter { $0 >= end && $0 < usable }
    outside = (end - pointers) / 2 - cells.count
    isSound = cells.count == count && content <= usable && content >= end && firstFree < usable
  }
}
