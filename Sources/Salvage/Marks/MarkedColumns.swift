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
    guard let leaf = TreePage(page, number: root, usable: usable), leaf.kind == .tableLeaf,
      leaf.isPlausible
    else { return false }
    for number in 0..<leaf.count {
      guard let cell = leaf.cell(number, in: page), row(page, at: cell, usable, &found) else {
        return false
      }
    }
    return true
  }

  @inline(__always)
  private func row(
    _ page: UnsafeRawBufferPointer, at cell: Int, _ usable: Int, _ found: inout [Found]
  ) -> Bool {
    guard let cell = Cell(page, at: cell, present: usable, usable: usable) else { return false }
    var place = cell.start
    let (size, start, end) = (cell.size, cell.start, cell.start + cell.local)
    guard let header = Varint.read(page, at: &place, before: end), header > 0,
      header <= UInt64(cell.local)
    else { return false }
    let values = start + Int(header)
    var content = Int(header)
    var (number, next) = (0, 0)
    while let wanted = next < places.count ? places[next] : nil {
      // A row that was written before the column came has none.
      if place == values { return true }
      guard let type = Varint.read(page, at: &place, before: values),
        let bytes = Record.size(of: type), bytes <= size - content
      else { return false }
      if number == wanted {
        if bytes > 0, type >= 12, type & 1 == 0 {
          take(page, from: start + content, bytes, end, cell.key, next, &found)
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
