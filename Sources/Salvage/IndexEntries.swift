/// Reads what stands in the leaves of indexes: values of rows, and their keys.
package struct IndexEntries: ~Copyable {
  private let image: DatabaseImage
  private var record = Record()

  /// Those of a database.
  package init(_ image: DatabaseImage) { self.image = image }

  /// The entries of a page; none where it is no leaf of an index. One that does not stand in the page as a
  /// whole is left out.
  ///
  /// - Parameter body: takes the first value and the row's key, as a record and the places in it.
  package mutating func entries(
    of number: Int, _ body: (_ key: Int64, borrowing Record) throws -> Void
  ) throws {
    guard try image.kind(of: number) == TreePage.Kind.indexLeaf.rawValue,
      let page = try image.page(number),
      let tree = TreePage(page.bytes, number: number, usable: image.usable)
    else { return }
    for offset in tree.cells(in: page.bytes) {
      guard
        let cell = Cell(
          page.bytes, at: offset, of: .indexLeaf, present: page.present, usable: image.usable),
        cell.local == cell.size, record.read(page.bytes, cell.start..<cell.end),
        record.count >= 2, let key = record.integer(record.count - 1)
      else { continue }
      try body(key, record)
    }
  }
}
