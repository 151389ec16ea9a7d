/// A whole page of a b-tree where its bytes lie, for as long as they lie there.
struct RawPage {
  let bytes: UnsafeRawBufferPointer
  let usable: Int
  let kind: TreePage.Kind
  /// How many cells it has.
  let count: Int
  /// Where the places of the cells stand, and where cells may begin.
  private let pointers: Int
  private let least: Int

  /// Reads a page's header.
  ///
  /// - Parameters:
  ///   - bytes: the whole page.
  ///   - number: the page, from 1: page 1 begins with the database's own header.
  ///   - usable: the bytes of the page that are used.
  /// - Returns: `nil` where it is no page of a b-tree, or cannot be what it says.
  init?(_ bytes: UnsafeRawBufferPointer, number: Int, usable: Int) {
    let start = number == 1 ? FileHeader.size : 0
    guard usable <= bytes.count, usable > start + 12,
      let kind = TreePage.Kind(rawValue: bytes[start])
    else { return nil }
    count = BigEndian.half(bytes, start + 3)
    pointers = start + (kind == .tableInterior || kind == .indexInterior ? 12 : 8)
    least = pointers + 2 * count
    let stated = BigEndian.half(bytes, start + 5)
    let content = stated == 0 ? 65_536 : stated
    guard content <= usable, content >= least, BigEndian.half(bytes, start + 1) < usable else {
      return nil
    }
    self.bytes = bytes
    self.usable = usable
    self.kind = kind
  }

  /// Where a cell begins; `nil` where that is not in the page.
  @inline(__always)
  func cell(_ number: Int) -> Int? {
    guard number >= 0, number < count else { return nil }
    let offset = BigEndian.half(bytes, pointers + 2 * number)
    return offset >= least && offset < usable ? offset : nil
  }

  /// The page below a cell of an interior page, or, behind them, the last one; 0 where there is none.
  func child(_ number: Int) -> Int {
    let place = number == count ? pointers - 4 : cell(number) ?? usable
    guard place <= usable - 4 else { return 0 }
    return BigEndian.word(bytes, place)
  }
}
