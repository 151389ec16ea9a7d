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

  /// Whether cells, freed blocks and fragments together fill the area of cells of a table's leaf, as SQLite keeps
  /// them: of a page whose halves are of two times they mostly do not.
  ///
  /// - Parameter taken: the sum of ``TreeCell/room(from:)`` of its cells.
  func isBalanced(_ taken: Int, in bytes: [UInt8]) -> Bool {
    guard kind == .tableLeaf, usable <= bytes.count, isPlausible else { return true }
    var sum = taken + Int(bytes[pointers - 1])
    var block = firstFree
    while block > 0 {
      guard block >= content, block + 4 <= usable else { return false }
      let next = BigEndian.half(bytes, block)
      sum += BigEndian.half(bytes, block + 2)
      guard next == 0 || next > block else { return false }
      block = next
    }
    return sum == usable - content
  }

  /// Where the cells begin, in the order of their keys; places outside the page are left out.
  public func cells(in bytes: [UInt8]) -> [Int] {
    guard usable <= bytes.count else { return [] }
    var cells: [Int] = []
    cells.reserveCapacity(listed)
    bytes.withUnsafeBytes { bytes in
      for number in 0..<listed {
        if let place = cell(number, in: bytes) { cells.append(place) }
      }
    }
    return cells
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

  /// The page below a cell of an interior page, or, behind them, the last one; 0 if there is none.
  func child(_ number: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    if number == count { return last }
    guard let place = cell(number, in: bytes), place <= usable - 4 else { return 0 }
    return BigEndian.word(bytes, place)
  }
}

extension TreePage {
  /// Where a cell stands that is whole by what it says of itself, with its key where it is a table's, and how many
  /// values it has; `nil` where it is none.
  ///
  /// - Parameter pageCount: how many pages the database has.
  func extent(
    of place: Int, in page: [UInt8], pageCount: Int
  ) -> (range: Range<Int>, key: Int64?, columns: Int)? {
    if kind.isInterior {
      guard place + 4 <= usable, (2...max(2, pageCount)).contains(Int(BigEndian.word(page, place)))
      else { return nil }
    }
    guard kind != .tableInterior else {
      return Varint.read(page, place + 4).map { (place..<$0.end, Int64(bitPattern: $0.value), 0) }
    }
    guard let cell = TreeCell(page, at: place, of: kind, present: page.count, usable: usable),
      cell.local == cell.size || (2...max(2, pageCount)).contains(cell.overflow)
    else { return nil }
    var columns = 0
    let stated = page.withUnsafeBytes { bytes in
      Record.parse(
        UnsafeRawBufferPointer(rebasing: bytes[cell.start..<cell.start + cell.local])
      ) { _ in columns += 1 }
    }
    guard stated == cell.size else { return nil }
    return (place..<max(cell.end, place + 4), kind == .tableLeaf ? cell.key : nil, columns)
  }
}

/// A cell that has a payload, of a table's leaf or of an index: where the payload is, and a row's key.
package struct TreeCell: Sendable, Equatable {
  /// The row's key; 0 for an entry of an index, whose payload ends with it.
  package var key: Int64
  /// Bytes of the payload, wherever they stand.
  package var size: Int
  /// Where in the page the payload begins.
  package var start: Int
  /// Bytes of the payload that are in the page.
  package var local: Int
  /// The first page of those that hold the rest; 0 where all is here.
  package var overflow: Int

  /// Where in the page the cell ends.
  package var end: Int { start + local + (local < size ? 4 : 0) }

  /// How many bytes of its page it takes: SQLite gives no cell fewer than four.
  ///
  /// - Parameter place: where in the page the cell begins.
  @inline(__always)
  func room(from place: Int) -> Int { max(4, end - place) }

  /// Most bytes of a row: SQLite's own limit.
  static let mostBytes: UInt64 = 0x7FFF_FFFF

  /// Reads a cell.
  ///
  /// - Parameters:
  ///   - page: the page's bytes.
  ///   - kind: what page it is; cells of a table's interior pages have no payload.
  ///   - present: how many of the bytes are there.
  ///   - usable: how many of them are used.
  /// - Returns: `nil` where it is none: cut off, or reaching out of the page.
  package init?(
    _ page: [UInt8], at offset: Int, of kind: TreePage.Kind = .tableLeaf, present: Int, usable: Int
  ) {
    guard offset >= 0, usable <= page.count else { return nil }
    guard
      let cell = page.withUnsafeBytes({
        TreeCell($0, at: offset, of: kind, present: present, usable: usable)
      })
    else { return nil }
    self = cell
  }

  /// The same of a page where its bytes lie, which are at least those that are used.
  @inline(__always)
  init?(
    _ page: UnsafeRawBufferPointer, at offset: Int, of kind: TreePage.Kind = .tableLeaf,
    present: Int, usable: Int
  ) {
    let limit = min(present, usable)
    var place = kind == .indexInterior ? offset + 4 : offset
    guard kind != .tableInterior, let size = Varint.read(page, at: &place, before: limit), size > 0,
      size <= Self.mostBytes
    else { return nil }
    self.size = Int(size)
    if kind == .tableLeaf {
      guard let key = Varint.read(page, at: &place, before: limit) else { return nil }
      self.key = Int64(bitPattern: key)
      local = Self.local(of: self.size, usable: usable)
    } else {
      key = 0
      local = Self.localOfIndex(self.size, usable: usable)
    }
    start = place
    overflow = 0
    guard end <= limit else { return nil }
    if local < self.size { overflow = BigEndian.word(page, start + local) }
  }

  /// How many bytes of a payload stand in a leaf of a table; the rest is on other pages.
  static func local(of size: Int, usable: Int) -> Int {
    let most = usable - 35
    guard size > most else { return size }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (size - least) % (usable - 4)
    return fitting <= most ? fitting : least
  }

  /// The same of an index.
  static func localOfIndex(_ size: Int, usable: Int) -> Int {
    let most = (usable - 12) * 64 / 255 - 23
    guard size > most else { return size }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (size - least) % (usable - 4)
    return fitting <= most ? fitting : least
  }
}
