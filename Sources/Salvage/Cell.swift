/// A cell that has a payload, of a table's leaf or of an index: where the payload is, and a row's key.
package struct Cell: Sendable, Equatable {
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
        Cell($0, at: offset, of: kind, present: present, usable: usable)
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
