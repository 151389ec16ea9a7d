/// Makes the interior pages of a table's tree above leaves that are given in the order of their keys.
///
/// Of a tree whose upper pages are lost the leaves are kept as they are, and only what leads to them is new.
struct TreeTop {
  /// A page, and the greatest key that may stand in it or below it.
  private typealias Child = (page: Int, key: Int64)

  /// Pages of a level that none above leads to yet.
  private struct Level {
    var children: [Child] = []
    /// Bytes that they take in a page above.
    var size = 0
  }

  /// The pages that were made.
  private(set) var taken: [Int] = []
  private var levels: [Level] = []
  private let pageSize: Int
  /// Bytes of a page for what leads to others, without its header.
  private var room: Int { pageSize - 12 }

  init(pageSize: Int) { self.pageSize = pageSize }

  /// Adds the page that comes behind those that were added.
  ///
  /// - Parameter key: no row of the page has a greater one, and all rows behind it have.
  mutating func add(_ page: Int, upTo key: Int64, to file: inout PageFile) throws {
    try add((page, key), at: 0, to: &file)
  }

  private mutating func add(_ child: Child, at level: Int, to file: inout PageFile) throws {
    if level == levels.count { levels.append(Level()) }
    levels[level].children.append(child)
    levels[level].size += Self.size(of: child)
    // Two pages' worth wait, so that the last page of a level is never one of a single child.
    if levels[level].size > 2 * room - 64 { try closePage(at: level, in: &file) }
  }

  /// Makes a page of the first that wait at a level, of as many as it has room for.
  private mutating func closePage(at level: Int, in file: inout PageFile) throws {
    let waiting = levels[level].children
    var (count, size) = (0, 0)
    // The last child of a page takes no room beside the others: the header names it.
    while count < waiting.count - 2, size + Self.size(of: waiting[count]) <= room {
      size += Self.size(of: waiting[count])
      count += 1
    }
    let own = waiting.prefix(count)
    guard let key = own.last?.key else { return }
    levels[level].children.removeFirst(count)
    levels[level].size -= size
    let number = try file.take(.tree, parent: 0)
    taken.append(number)
    try write(own, to: number, in: &file)
    try add((number, key), at: level + 1, to: &file)
  }

  /// Makes the pages that are still to come, the last of which is the root.
  ///
  /// - Parameter root: its page.
  /// - Returns: false where there are too few leaves for a tree.
  mutating func finish(at root: Int, of file: inout PageFile) throws -> Bool {
    var level = 0
    while level < levels.count {
      if level == levels.count - 1, levels[level].size <= room {
        guard levels[level].children.count > 1 else { return false }
        try write(levels[level].children[...], to: root, in: &file)
        return true
      }
      while !levels[level].children.isEmpty {
        guard levels[level].size <= room else {
          try closePage(at: level, in: &file)
          continue
        }
        let rest = levels[level].children
        levels[level] = Level()
        let number = try file.take(.tree, parent: 0)
        taken.append(number)
        try write(rest[...], to: number, in: &file)
        try add((number, rest[rest.count - 1].key), at: level + 1, to: &file)
      }
      level += 1
    }
    return false
  }

  private func write(
    _ children: ArraySlice<Child>, to number: Int, in file: inout PageFile
  ) throws {
    for child in children { try file.point(child.page, .tree, parent: number) }
    let cells = children.map { ($0.page, Varint.bytes(UInt64(bitPattern: $0.key))) }
    try file.write(TreeCopy.page(of: cells, size: pageSize), to: number)
  }

  private static func size(of child: Child) -> Int {
    6 + Varint.length(UInt64(bitPattern: child.key))
  }
}

extension DatabaseImage {
  /// The first key of a tree, or its last, as far as its leaves can be read; `nil` where none can.
  func endKey(of root: Int, isLast: Bool, depth: Int = 0) throws -> Int64? {
    guard depth < 24, root > 1, root <= pageCount, let page = try page(root),
      let tree = TreePage(page.bytes, number: root, usable: usable), tree.kind.isOfTable
    else { return nil }
    if tree.kind == .tableLeaf {
      let cells = tree.cells(in: page.bytes)
      return (isLast ? cells.last : cells.first).flatMap {
        TreeCell(page.bytes, at: $0, present: page.present, usable: usable)?.key
      }
    }
    let children = tree.children(in: page.bytes)
    for child in isLast ? children.reversed() : children {
      if let key = try endKey(of: child, isLast: isLast, depth: depth + 1) { return key }
    }
    return nil
  }
}
