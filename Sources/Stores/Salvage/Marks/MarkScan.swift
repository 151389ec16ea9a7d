import Files
import Synchronization

/// Looks for marked blobs in a table, on two threads, without reading what rows hold besides.
///
/// A thread of its own begins; who waits for the answer helps. Only the file's own pages are looked at:
/// it is for files that nobody writes to, and that no -wal belongs to.
package final class MarkScan: Sendable {
  private struct State {
    var found: [MarkedColumns.Found] = []
    var isTold = true
  }

  private let columns: MarkedColumns
  private let file: OpenFile
  private let pageSize: Int
  private let usable: Int
  /// The table's leaves, in the order in which they stand in the file.
  private let leaves: [UInt32]
  /// Where in `leaves` what is read at once begins.
  private let parts: [Int]
  private let state = Mutex(State())
  private let tasks: SharedTasks

  // Larger memory is had from the system each time.
  private static let bytesAtOnce = 1 << 16

  /// Begins to look.
  ///
  /// - Returns: `nil` where the table's pages do not show where its rows are.
  package init?(_ columns: MarkedColumns, in path: String) {
    guard let image = try? DatabaseImage(path: path, log: nil), let file = try? OpenFile(path),
      let leaves = try? Self.leaves(of: columns.root, in: image)
    else { return nil }
    self.columns = columns
    self.file = file
    (pageSize, usable) = (image.pageSize, image.usable)
    self.leaves = leaves
    var parts: [Int] = []
    var first: UInt32 = 0
    let most = UInt32(max(1, Self.bytesAtOnce / pageSize))
    for (index, leaf) in leaves.enumerated() where index == 0 || leaf - first >= most {
      parts.append(index)
      first = leaf
    }
    self.parts = parts
    tasks = SharedTasks(count: parts.count)
    guard parts.count > 16 else { return }
    tasks.begin { [self] in work { false } }
  }

  /// Ends the scan early; its answer is of no interest any more.
  package func stop() { tasks.stop() }

  /// Helps with what is left, then answers what was found, in the order of the rows' keys; `nil` where
  /// reading does not say, and where it was cancelled.
  package func found(isCancelled: () -> Bool) -> [MarkedColumns.Found]? {
    work(isCancelled)
    tasks.wait()
    return state.withLock { state in
      guard state.isTold, !tasks.isStopped else { return nil }
      return state.found.sorted { ($0.key, $0.column) < ($1.key, $1.column) }
    }
  }

  private func work(_ isCancelled: () -> Bool) {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(Self.bytesAtOnce, pageSize), alignment: 16)
    defer { memory.deallocate() }
    var found: [MarkedColumns.Found] = []
    while let part = tasks.take() {
      if part % 16 == 0, isCancelled() { return stop() }
      let end = part + 1 < parts.count ? parts[part + 1] : leaves.count
      guard read(parts[part]..<end, into: memory, &found) else {
        state.withLock { $0.isTold = false }
        return stop()
      }
    }
    state.withLock { [found] in $0.found += found }
  }

  private func read(
    _ part: Range<Int>, into memory: UnsafeMutableRawBufferPointer,
    _ found: inout [MarkedColumns.Found]
  ) -> Bool {
    let first = Int(leaves[part.lowerBound])
    let count = (Int(leaves[part.upperBound - 1]) - first + 1) * pageSize
    let wanted = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    guard let got = try? file.read(at: (first - 1) * pageSize, into: wanted), got == count else {
      return false
    }
    for leaf in leaves[part] {
      let start = (Int(leaf) - first) * pageSize
      let page = UnsafeRawBufferPointer(rebasing: wanted[start..<start + pageSize])
      guard columns.read(page, usable: usable, &found) else { return false }
    }
    return true
  }

  /// The leaves of a table's tree, each once; `nil` where it is none.
  private static func leaves(of root: Int, in image: DatabaseImage) throws -> [UInt32]? {
    guard root > 1 else { return nil }
    var level = [UInt32(clamping: root)]
    // All leaves are equally deep.
    for _ in 0..<24 {
      guard let first = level.first, let kind = try image.kind(of: Int(first)) else { return nil }
      if kind == TreePage.Kind.tableLeaf.rawValue {
        level.sort()
        let areOnce = zip(level, level.dropFirst()).allSatisfy { $0 < $1 }
        return areOnce && (level.last.map { Int($0) <= image.mainPages } ?? false) ? level : nil
      }
      var children: [UInt32] = []
      for number in level {
        guard let page = try image.page(Int(number)), page.present == page.bytes.count,
          let tree = TreePage(page.bytes, number: Int(number), usable: image.usable),
          tree.kind == .tableInterior, tree.isSound(in: page.bytes)
        else { return nil }
        children += tree.children(in: page.bytes).map { UInt32(clamping: $0) }
      }
      guard children.count <= image.pageCount, children.allSatisfy({ $0 > 1 }) else { return nil }
      level = children
    }
    return nil
  }
}

/// Which columns of a table hold blobs that begin with a mark: what a leaf's rows show about them.
package struct MarkedColumns: Sendable {
  /// A blob that begins with the mark.
  package struct Found: Sendable, Equatable {
    /// The row's key.
    package var key: Int64
    /// Which of the columns it is in, in the order in which they were asked for.
    package var column: Int
    /// The first bytes of the blob, with the mark; `nil` where they stand on other pages, and only SQLite
    /// says whether they begin with it.
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
    guard let cell = TreeCell(page, at: cell, present: usable, usable: usable) else { return false }
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
