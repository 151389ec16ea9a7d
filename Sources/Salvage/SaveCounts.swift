/// How often the objects on a page were saved: Core Data raises Z_OPT with each save, so that of two
/// states of a page the newer one can be determined.
package struct SaveCounts {
  private var counts: [Int64: (entity: Int64, saves: Int64)] = [:]

  /// Those of a leaf's rows that begin as objects do: the null of the key, Z_ENT, Z_OPT.
  ///
  /// - Returns: `nil` where the page is no leaf of a table.
  package init?(_ bytes: [UInt8], number: Int) {
    guard let tree = TreePage(bytes, number: number, usable: bytes.count), tree.kind == .tableLeaf
    else { return nil }
    var record = Record()
    for offset in tree.cells(in: bytes) {
      guard let cell = TreeCell(bytes, at: offset, present: bytes.count, usable: bytes.count),
        record.read(bytes, cell.start..<cell.start + cell.local), record.count > 3,
        record.kind(0) == .null, let entity = record.integer(1), entity > 0,
        let saves = record.integer(2), saves > 0
      else { continue }
      counts[cell.key] = (entity, saves)
    }
  }

  /// How many objects of another state of the page were saved again since this one, and how many the
  /// other way.
  package func compared(to other: SaveCounts) -> (later: Int, earlier: Int) {
    var result = (later: 0, earlier: 0)
    for (key, count) in counts {
      guard let newer = other.counts[key], newer.entity == count.entity else { continue }
      if newer.saves > count.saves { result.later += 1 }
      if newer.saves < count.saves { result.earlier += 1 }
    }
    return result
  }
}
