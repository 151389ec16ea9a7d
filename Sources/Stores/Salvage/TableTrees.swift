/// Which pages belong to some tables, followed from one state of a database to the next, so that pages that were
/// written name the rows that may have changed.
///
/// No page is read but those that were written and those that lead to them.
package struct TableTrees {
  /// Root of the table that each page belongs to, 0 for any other; the first is page 1.
  private var owners: [Int32]
  private let usable: Int
  /// The pages of the pointer map; `nil` where the database has none.
  private let map: PointerMap.Places?

  /// Follows tables from their roots.
  ///
  /// - Parameter page: a page as it is now.
  /// - Returns: `nil` where the trees are not sound.
  /// - Throws: what `page` throws.
  package init?(
    roots: [Int], pageCount: Int, page: (Int) throws -> [UInt8]?
  ) throws {
    guard let first = try page(1), pageCount > 0 else { return nil }
    let header = FileHeader(first)
    usable = max(480, first.count - (header.reserved < 64 ? header.reserved : 0))
    map = header.isAutoVacuum ? PointerMap.Places(usable: usable, pageSize: first.count) : nil
    owners = [Int32](repeating: 0, count: pageCount)
    for root in roots {
      guard try walk(root, page) else { return nil }
    }
  }

  private mutating func walk(_ root: Int, _ page: (Int) throws -> [UInt8]?) throws -> Bool {
    var waiting = [root]
    while let number = waiting.popLast() {
      guard take(number, root), let bytes = try page(number), let tree = tree(bytes, number) else {
        return false
      }
      guard tree.kind == .tableInterior else { continue }
      let children = tree.children(in: bytes)
      // All leaves are equally far from the root: one shows what its neighbours are.
      guard let first = children.first, let below = try page(first),
        let kind = self.tree(below, first)?.kind
      else { return false }
      guard kind == .tableLeaf else {
        waiting += children
        continue
      }
      for child in children {
        guard take(child, root) else { return false }
      }
    }
    return true
  }

  private mutating func take(_ page: Int, _ root: Int) -> Bool {
    guard owners.indices.contains(page - 1), owners[page - 1] == 0 else { return false }
    owners[page - 1] = Int32(clamping: root)
    return true
  }

  private func owner(of page: Int) -> Int32 {
    owners.indices.contains(page - 1) ? owners[page - 1] : 0
  }

  /// A page of a table; `nil` for any other.
  private func tree(_ bytes: [UInt8], _ number: Int) -> TreePage? {
    guard let tree = TreePage(bytes, number: number, usable: usable), tree.kind.isOfTable,
      tree.isPlausible
    else { return nil }
    return tree
  }

  // MARK: Following

  /// The rows that may differ once pages are written, by the root of their table; afterwards these pages count.
  ///
  /// A row counts whose bytes differ or that only one state has, and of rows that reach into other pages those
  /// of which such a page was written.
  ///
  /// - Parameters:
  ///   - pages: the pages that are written, as they are then.
  ///   - pageCount: pages of the database then.
  ///   - old: a page as it was.
  /// - Returns: `nil` where that cannot be determined: the trees must be followed from their roots again.
  /// - Throws: what `old` throws.
  package mutating func rows(
    writing pages: [Int: [UInt8]], pageCount: Int, old: (Int) throws -> [UInt8]?
  ) throws -> [Int: [Int64]]? {
    if pageCount > owners.count {
      owners += [Int32](repeating: 0, count: pageCount - owners.count)
    }
    guard let moves = try moves(pages, pageCount, old) else { return nil }
    func ownerNow(_ page: Int) -> Int32 {
      moves.after[page] ?? (moves.before[page] == nil ? owner(of: page) : 0)
    }
    var involved = Set(pages.keys)
    for (page, root) in moves.before where moves.after[page] != root { involved.insert(page) }
    for (page, root) in moves.after where moves.before[page] != root { involved.insert(page) }
    var rows = RowStates(usable: usable)
    for page in involved {
      let (former, root) = (Int(owner(of: page)), Int(ownerNow(page)))
      var (before, after): ([UInt8]?, [UInt8]?)
      if former != 0 {
        before = try old(page)
        guard before != nil else { return nil }
      }
      if root != 0 {
        after = try pages[page] ?? old(page)
        guard after != nil else { return nil }
      }
      guard rows.add(page, before, of: former, after, of: root) else { return nil }
    }
    var found = rows.differing
    let loose = pages.keys.filter { owner(of: $0) == 0 && ownerNow($0) == 0 }
    guard try addOverflow(loose, pages, old, ownerNow, &found) else { return nil }
    for (page, root) in moves.before where moves.after[page] == nil && owner(of: page) == root {
      owners[page - 1] = 0
    }
    for (page, root) in moves.after where owners.indices.contains(page - 1) {
      owners[page - 1] = root
    }
    return found.mapValues { $0.sorted() }
  }

  /// The pages below interior pages that are written, with their tables: as it was, and as it is then.
  private func moves(
    _ pages: [Int: [UInt8]], _ pageCount: Int, _ old: (Int) throws -> [UInt8]?
  ) throws -> (before: [Int: Int32], after: [Int: Int32])? {
    // Whatever is below a page in the new state.
    var named: Set<Int> = []
    for (number, bytes) in pages {
      if let tree = tree(bytes, number) { named.formUnion(tree.children(in: bytes)) }
    }
    var before: [Int: Int32] = [:]
    var waiting = pages.keys.map { ($0, owner(of: $0)) }.filter { $0.1 != 0 }
    while let (number, root) = waiting.popLast() {
      guard let bytes = try old(number), let tree = tree(bytes, number) else { return nil }
      for child in tree.children(in: bytes) where before[child] == nil {
        before[child] = root
        // An interior page that went away unwritten takes those below it along.
        if pages[child] == nil, !named.contains(child) { waiting.append((child, root)) }
      }
    }
    var after: [Int: Int32] = [:]
    var done: [Int: Int32] = [:]
    waiting = pages.keys.filter { before[$0] == nil }.map { ($0, owner(of: $0)) }
      .filter { $0.1 != 0 }
    while let (number, root) = waiting.popLast() {
      if let known = done[number] {
        guard known == root else { return nil }
        continue
      }
      done[number] = root
      guard let bytes = pages[number], let tree = tree(bytes, number) else { return nil }
      for child in tree.children(in: bytes) {
        guard child > 1, child <= pageCount, after[child] == nil || after[child] == root else {
          return nil
        }
        after[child] = root
        if pages[child] != nil {
          waiting.append((child, root))
        } else if before[child] == nil, owner(of: child) == 0 {
          return nil
        }
      }
    }
    return (before, after)
  }

  // MARK: Overflow

  /// Adds the rows that reach into pages which are written.
  private func addOverflow(
    _ loose: [Int], _ pages: [Int: [UInt8]], _ old: (Int) throws -> [UInt8]?,
    _ owner: (Int) -> Int32, _ found: inout [Int: Set<Int64>]
  ) throws -> Bool {
    /// The leaf that each page of a long row belongs to; 0 for none.
    var leaves: [Int: Int] = [:]
    for number in loose where number > 1 && map?.isOwn(number) != true {
      guard let bytes = pages[number], let first = bytes.first,
        TreePage.Kind(rawValue: first) == nil,
        try old(number) != bytes
      else { continue }
      // Without a map no page says which row it belongs to.
      guard let map else { return false }
      var (page, path) = (number, [number])
      var leaf = 0
      while leaf == 0, path.count < 1_000_000 {
        if let known = leaves[page] {
          leaf = known
          break
        }
        let place = map.map(of: page)
        guard page != place, let bytes = try pages[place] ?? old(place) else { break }
        let offset = 5 * (page - place - 1)
        guard offset >= 0, offset + 5 <= bytes.count else { break }
        let parent = Int(BigEndian.word(bytes, offset + 1))
        switch PointerMap.Kind(rawValue: bytes[offset]) {
        case .firstOverflow: leaf = parent
        case .laterOverflow:
          page = parent
          path.append(page)
          continue
        default: break
        }
        break
      }
      for page in path { leaves[page] = leaf }
    }
    for leaf in Set(leaves.values) where leaf > 0 {
      let root = owner(leaf)
      guard root != 0, let bytes = try pages[leaf] ?? old(leaf) else { continue }
      guard let tree = tree(bytes, leaf) else { return false }
      for offset in tree.cells(in: bytes) {
        guard let cell = TreeCell(bytes, at: offset, present: bytes.count, usable: usable) else {
          return false
        }
        if cell.local < cell.size { found[Int(root), default: []].insert(cell.key) }
      }
    }
    return true
  }
}

/// Rows of two states, by their bytes.
private struct RowStates {
  let usable: Int
  /// Rows that are not in the same page of the other state.
  private var old: [Int: [Int64: Row]] = [:]
  private var new: [Int: [Int64: Row]] = [:]
  /// Keys of rows that are in the same page of both, with other bytes.
  private var changed: [Int: Set<Int64>] = [:]

  private struct Row: Equatable {
    var size: Int
    var overflow: Int
    var bytes: ArraySlice<UInt8>
  }

  init(usable: Int) { self.usable = usable }

  /// Adds the rows of a page as it was and as it is, each where it belongs to a table.
  ///
  /// Most rows stay in their page: what became of these is known at once, and they are not kept.
  ///
  /// - Returns: false where it is no page of a table.
  mutating func add(
    _ number: Int, _ before: [UInt8]?, of former: Int, _ after: [UInt8]?, of root: Int
  ) -> Bool {
    guard var gone = before.map({ rows($0, number) }) ?? [:],
      var come = after.map({ rows($0, number) }) ?? [:]
    else { return false }
    if former == root {
      for (key, row) in gone {
        guard let other = come.removeValue(forKey: key) else { continue }
        gone[key] = nil
        if row != other { changed[root, default: []].insert(key) }
      }
    }
    old[former, default: [:]].merge(gone) { $1 }
    new[root, default: [:]].merge(come) { $1 }
    return true
  }

  /// The rows of a leaf by their keys; an interior page has none. `nil` where it is no page of a table.
  private func rows(_ page: [UInt8], _ number: Int) -> [Int64: Row]? {
    guard let tree = TreePage(page, number: number, usable: usable), tree.kind.isOfTable,
      tree.isPlausible
    else { return nil }
    guard tree.kind == .tableLeaf else { return [:] }
    let cells = tree.cells(in: page)
    guard cells.count == tree.count else { return nil }
    var rows: [Int64: Row] = [:]
    for offset in cells {
      guard let cell = TreeCell(page, at: offset, present: page.count, usable: usable) else {
        return nil
      }
      rows[cell.key] = Row(
        size: cell.size, overflow: cell.overflow, bytes: page[cell.start..<cell.start + cell.local])
    }
    return rows
  }

  /// Keys of rows that are not the same in both.
  var differing: [Int: Set<Int64>] {
    var found = changed
    for (root, rows) in new {
      let former = old[root] ?? [:]
      let keys = rows.lazy.filter { former[$0.key] != $0.value }.map(\.key)
      if !keys.isEmpty { found[root, default: []].formUnion(keys) }
    }
    for (root, rows) in old {
      let later = new[root] ?? [:]
      let keys = rows.keys.lazy.filter { later[$0] == nil }
      if !keys.isEmpty { found[root, default: []].formUnion(keys) }
    }
    return found
  }
}
