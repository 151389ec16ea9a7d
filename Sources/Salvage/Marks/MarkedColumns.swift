/// Which columns of a table hold blobs that begin with a mark: what a leaf's rows tell of them.
package struct MarkedColumns: Sendable {
  /// A blob that begins with the mark.
  package struct Found: Sendable, Equatable {
    /// The row's key.
    package var key: Int64
    /// Which of the columns it is in, in the order in which they were asked for.
    package var column: Int
    /// The first bytes of the blob, with the mark; `nil` where they stand on other pages, and only SQLite
    /// tells whether they begin with it.
    package var bytes: [UInt8]?
  }

  /// The first page of the table.
  package var root: Int
  /// Which values of a row they are, from 0, in rising order.
  package var places: [Int]
  /// The byte that blobs begin with.
  package var mark: UInt8
  /// How many bytes of a blob are wanted.
  package var most: Int

  package init(root: Int, places: [Int], mark: UInt8, most: Int) {
    self.root = root
    self.places = places
    self.mark = mark
    self.most = most
  }

  /// Reads a leaf.
  ///
  /// - Returns: false where it is none, or where a row cannot be what it says.
  func read(_ page: UnsafeRawBufferPointer, usable: Int, _ found: inout [Found]) -> Bool {
    guard usable <= page.count, usable > 8, page[0] == TreePage.Kind.tableLeaf.rawValue else {
      return false
    }
    let count = BigEndian.half(page, 3)
    let cells = 8 + 2 * count
    guard cells <= usable else { return false }
    var pointer = 8
    while pointer < cells {
      let cell = BigEndian.half(page, pointer)
      guard cell >= cells, cell < usable, row(page, at: cell, usable, &found) else { return false }
      pointer += 2
    }
    return true
  }

  @inline(__always)
  private func row(
    _ page: UnsafeRawBufferPointer, at cell: Int, _ usable: Int, _ found: inout [Found]
  ) -> Bool {
    var place = cell
    guard let stated = Varint.read(page, at: &place, before: usable), stated > 0,
      stated <= Cell.mostBytes, let key = Varint.read(page, at: &place, before: usable)
    else { return false }
    let (size, start) = (Int(stated), place)
    let local = Cell.local(of: size, usable: usable)
    let end = start + local
    guard end + (local < size ? 4 : 0) <= usable,
      let header = Varint.read(page, at: &place, before: end), header > 0, header <= UInt64(local)
    else { return false }
    let values = start + Int(header)
    var content = Int(header)
    var (number, next) = (0, 0)
    while next < places.count {
      // A row that was written before the column came has none.
      if place == values { return true }
      guard let type = Varint.read(page, at: &place, before: values),
        let bytes = Record.size(of: type), bytes <= size - content
      else { return false }
      if number == places[next] {
        if bytes > 0, type >= 12, type & 1 == 0 {
          take(page, from: start + content, bytes, end, Int64(bitPattern: key), next, &found)
        }
        next += 1
      }
      content += bytes
      number += 1
    }
    return true
  }

  @inline(__always)
  private func take(
    _ page: UnsafeRawBufferPointer, from: Int, _ bytes: Int, _ end: Int, _ key: Int64,
    _ column: Int, _ found: inout [Found]
  ) {
    guard from >= end || page[from] == mark else { return }
    let taken = min(bytes, most)
    let isHere = from + taken <= end
    found.append(
      Found(
        key: key, column: column,
        bytes: isHere ? [UInt8](UnsafeRawBufferPointer(rebasing: page[from..<from + taken])) : nil))
  }
}
