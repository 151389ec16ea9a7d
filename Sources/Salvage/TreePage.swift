/// The header of a page of a b-tree: what kind it is, and where its cells are.
///
/// The page's bytes stay where they are; who asks for cells hands them in.
/// Format: https://www.sqlite.org/fileformat.html, "B-tree Pages".
public struct TreePage: Sendable {
  /// What a page of a b-tree is.
  public enum Kind: UInt8, Sendable {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13

    /// Whether other pages are below it.
    @inline(__always)
    var isInterior: Bool { self == .tableInterior || self == .indexInterior }
    /// Whether it is of a table, not of an index.
    var isOfTable: Bool { self == .tableInterior || self == .tableLeaf }
  }

  /// What kind it is.
  public let kind: Kind
  /// How many cells its header counts.
  public let count: Int
  /// How many of them its list has room for.
  let listed: Int
  /// Where the list of cells begins.
  let pointers: Int
  /// The page of what is behind the last cell, of an interior page.
  public let last: Int
  /// Where the area of cells begins.
  public let content: Int
  /// The first of the blocks that were freed; 0 without one.
  public let firstFree: Int
  private let usable: Int

  /// Where the list of cells ends, and cells may begin.
  @inline(__always)
  var least: Int { pointers + 2 * listed }

  /// Reads a page's header.
  ///
  /// - Parameters:
  ///   - bytes: the whole page.
  ///   - number: the page, from 1: page 1 begins with the database's own header.
  ///   - usable: the bytes of the page that are used.
  /// - Returns: `nil` where it is no page of a b-tree.
  init?(_ bytes: UnsafeRawBufferPointer, number: Int, usable: Int) {
    let start = number == 1 ? FileHeader.size : 0
    guard usable <= bytes.count, usable > start + 12, let kind = Kind(rawValue: bytes[start])
    else { return nil }
    self.kind = kind
    self.usable = usable
    pointers = start + (kind.isInterior ? 12 : 8)
    count = BigEndian.half(bytes, start + 3)
    listed = min(count, (usable - pointers) / 2)
    let stated = BigEndian.half(bytes, start + 5)
    content = stated == 0 ? 65_536 : stated
    firstFree = BigEndian.half(bytes, start + 1)
    last = kind.isInterior ? BigEndian.word(bytes, start + 8) : 0
  }

  /// The same of a page whose bytes were copied.
  public init?(_ bytes: [UInt8], number: Int, usable: Int) {
    guard let page = bytes.withUnsafeBytes({ TreePage($0, number: number, usable: usable) }) else {
      return nil
    }
    self = page
  }

  /// Whether all that the header says can be, the places of the cells aside.
  @inline(__always)
  var isPlausible: Bool {
    listed == count && content <= usable && content >= least && firstFree < usable
  }

  /// Whether all that the header says can be: cells in the page, and as many as it counts.
  public func isSound(in bytes: [UInt8]) -> Bool { isPlausible && cells(in: bytes).count == count }

  /// Where the cells begin, in the order of their keys; places outside the page are left out.
  public func cells(in bytes: [UInt8]) -> [Int] {
    guard usable <= bytes.count else { return [] }
    return bytes.withUnsafeBytes { bytes in (0..<listed).compactMap { cell($0, in: bytes) } }
  }

  /// The pages below an interior page, in the order of their keys, 0 for one that the page is too short to
  /// name; none of a leaf.
  func children(in bytes: [UInt8]) -> [Int] {
    guard kind.isInterior else { return [] }
    return cells(in: bytes).map { Int(BigEndian.word(bytes, $0)) } + [last]
  }

  /// Where a cell begins; `nil` where that is not in the page.
  @inline(__always)
  func cell(_ number: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard number >= 0, number < listed else { return nil }
    let offset = BigEndian.half(bytes, pointers + 2 * number)
    return offset >= least && offset < usable ? offset : nil
  }

  /// The page below a cell of an interior page, or, behind them, the last one; 0 where there is none.
  func child(_ number: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    if number == count { return last }
    guard let place = cell(number, in: bytes), place <= usable - 4 else { return 0 }
    return BigEndian.word(bytes, place)
  }
}
