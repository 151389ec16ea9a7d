/// Goes through the rows of a table, one after the other, in the order of their keys.
struct RowCursor: ~Copyable {
  /// Pages below one, and which of them comes next.
  private struct Level {
    var children: [Int]
    var next = 0
  }

  private let reader: TreeReader
  private var levels: [Level]
  private var leaf: RawPage?
  /// The row of the leaf that comes next.
  private var next = 0
  /// The key of the row at hand; `nil` before the first and behind the last one.
  private(set) var key: Int64?
  /// The row at hand.
  private(set) var record = RecordView()

  /// Before the first row.
  init(_ root: Int, in reader: TreeReader) {
    self.reader = reader
    levels = [Level(children: [root])]
  }

  /// Goes on to the next row, whose key must be a larger one.
  ///
  /// - Throws: `TreeReader.Untold`; `CoreDataError` where the file cannot be read.
  mutating func advance() throws {
    while true {
      if let leaf, next < leaf.count {
        let found = try reader.row(of: leaf, next, into: &record)
        if let key, key >= found { throw TreeReader.Untold() }
        key = found
        next += 1
        return
      }
      guard try nextLeaf() else {
        key = nil
        return
      }
    }
  }

  private mutating func nextLeaf() throws -> Bool {
    leaf = nil
    while let level = levels.indices.last {
      let place = levels[level].next
      guard place < levels[level].children.count else {
        levels.removeLast()
        continue
      }
      levels[level].next += 1
      let page = try reader.page(levels[level].children[place], level)
      switch page.kind {
      case .tableInterior: levels.append(Level(children: (0...page.count).map(page.child)))
      case .tableLeaf:
        (leaf, next) = (page, 0)
        return true
      case .indexInterior, .indexLeaf: throw TreeReader.Untold()
      }
    }
    return false
  }
}
