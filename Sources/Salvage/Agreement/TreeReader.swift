/// Goes through trees of a database that is taken for whole, page by page in the order of keys: whatever is
/// not as it should be ends it.
final class TreeReader {
  /// A tree that is not as it should be, or not one that is read here.
  struct Untold: Error {}

  /// Cells that follow each other: those of a leaf, or one of an index's interior page.
  struct Cells {
    let page: TreePage
    let bytes: UnsafeRawBufferPointer
    let numbers: Range<Int>
  }

  /// An interior page, and what comes next of it: 0 is its first child, 1 its first cell, and so on.
  private struct Level {
    let page: TreePage
    var step = 0
  }

  /// Most pages that lie above each other.
  static let mostLevels = 24

  private let image: DatabaseImage
  private let isCancelled: () -> Bool
  /// Pages that may still be read: more than there are only circles have.
  private var budget = 0
  /// The page that comes next, where none was read yet.
  private var root: Int?
  private var isTable = true
  private var levels: [Level] = []
  /// A page of each level, and one that holds more of a payload.
  private var memory: [UnsafeMutableRawBufferPointer] = []
  private let more: UnsafeMutableRawBufferPointer

  /// Of a database whose pages do not change meanwhile.
  init(_ image: DatabaseImage, isCancelled: @escaping () -> Bool) {
    self.image = image
    self.isCancelled = isCancelled
    more = .allocate(byteCount: image.pageSize, alignment: 16)
  }

  deinit {
    for page in memory { page.deallocate() }
    more.deallocate()
  }

  /// Begins with a tree, of a table or of an index.
  func begin(_ root: Int, ofTable isTable: Bool) {
    budget = image.pageCount
    self.root = root
    self.isTable = isTable
    levels.removeAll(keepingCapacity: true)
  }

  /// The cells that come next, good until it is called again; `nil` behind the last ones.
  ///
  /// - Throws: `Untold`; `CoreDataError` where the file cannot be read.
  func next() throws -> Cells? {
    while true {
      let number: Int
      if let root {
        number = root
        self.root = nil
      } else if let level = levels.last {
        let bytes = UnsafeRawBufferPointer(memory[levels.count - 1])
        guard level.step <= 2 * level.page.count else {
          levels.removeLast()
          continue
        }
        let place = level.step / 2
        levels[levels.count - 1].step += isTable ? 2 : 1
        guard level.step % 2 == 0 else {
          return Cells(page: level.page, bytes: bytes, numbers: place..<place + 1)
        }
        number = level.page.child(place, in: bytes)
      } else {
        return nil
      }
      let depth = levels.count
      guard depth < Self.mostLevels else { throw Untold() }
      if depth == memory.count {
        memory.append(.allocate(byteCount: image.pageSize, alignment: 16))
      }
      try read(number, into: memory[depth])
      let bytes = UnsafeRawBufferPointer(memory[depth])
      guard let page = TreePage(bytes, number: number, usable: image.usable), page.isPlausible,
        page.kind.isOfTable == isTable
      else { throw Untold() }
      guard page.kind.isInterior else {
        return Cells(page: page, bytes: bytes, numbers: 0..<page.count)
      }
      levels.append(Level(page: page))
    }
  }

  private func read(_ number: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    budget -= 1
    guard budget >= 0, budget % 256 != 0 || !isCancelled(),
      try image.read(number, into: memory)
    else { throw Untold() }
  }

  /// Reads a row, and answers its key. What is all in the page is good as long as that is.
  @inline(__always)
  func row(_ number: Int, of cells: Cells, into record: inout Record) throws -> Int64 {
    let usable = image.usable
    guard let offset = cells.page.cell(number, in: cells.bytes),
      let cell = TreeCell(cells.bytes, at: offset, present: usable, usable: usable)
    else { throw Untold() }
    try payload(cell, in: cells.bytes, into: &record)
    return cell.key
  }

  /// Reads an entry of an index, likewise.
  @inline(__always)
  func entry(_ number: Int, of cells: Cells, into record: inout Record) throws {
    let usable = image.usable
    guard let offset = cells.page.cell(number, in: cells.bytes),
      let cell = TreeCell(
        cells.bytes, at: offset, of: cells.page.kind, present: usable, usable: usable)
    else { throw Untold() }
    try payload(cell, in: cells.bytes, into: &record)
  }

  /// Takes a payload, with what of it is on other pages.
  @inline(__always)
  private func payload(
    _ cell: TreeCell, in bytes: UnsafeRawBufferPointer, into record: inout Record
  ) throws {
    let here = UnsafeRawBufferPointer(rebasing: bytes[cell.start..<cell.start + cell.local])
    guard
      cell.local == cell.size
        ? record.read(here) : try isRead(here, cell.overflow, of: cell.size, into: &record),
      record.isWhole
    else { throw Untold() }
  }

  private func isRead(
    _ here: UnsafeRawBufferPointer, _ overflow: Int, of size: Int, into record: inout Record
  ) throws -> Bool {
    let most = image.usable - 4
    guard size / most <= image.pageCount else { return false }
    let payload = record.room(for: size)
    payload.copyMemory(from: here)
    var (taken, next) = (here.count, overflow)
    while taken < size {
      try read(next, into: more)
      let part = min(size - taken, most)
      UnsafeMutableRawBufferPointer(rebasing: payload[taken..<taken + part]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: more[4..<4 + part]))
      taken += part
      next = BigEndian.word(UnsafeRawBufferPointer(more), 0)
    }
    return record.read(UnsafeRawBufferPointer(payload))
  }
}

/// The rows of a table that is taken for whole, one after the other, in the order of their keys.
struct TreeRows: ~Copyable {
  private let reader: TreeReader
  private var cells: TreeReader.Cells?
  /// The row of these that comes next.
  private var next = 0
  /// The key of the row at hand; `nil` before the first and behind the last one.
  private(set) var key: Int64?
  /// The row at hand.
  private(set) var record = Record()

  /// Before the first row.
  init(_ root: Int, in reader: TreeReader) {
    self.reader = reader
    reader.begin(root, ofTable: true)
  }

  /// Goes on to the next row, whose key must be a larger one.
  ///
  /// - Throws: `TreeReader.Untold`; `CoreDataError` where the file cannot be read.
  mutating func advance() throws {
    while true {
      if let cells, next < cells.numbers.upperBound {
        let found = try reader.row(next, of: cells, into: &record)
        if let key, key >= found { throw TreeReader.Untold() }
        key = found
        next += 1
        return
      }
      guard let found = try reader.next() else {
        (cells, key) = (nil, nil)
        return
      }
      (cells, next) = (found, 0)
    }
  }
}
