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

/// What the rows of a table come to, counted while they are read for another reason.
package struct RowFacts: Sendable {
  /// What is to be found out, in columns by their place.
  package struct Question: Sendable {
    /// The column that shows what kind of row it is, a number.
    package var kind: Int?
    /// Whether the rows' own keys are kept.
    package var keys: Bool
    /// Columns that hold keys of other rows.
    package var references: [Int]
    /// Columns of bytes, of which those are looked for that begin with `mark`.
    package var marked: [Int]
    package var mark: UInt8

    package init(kind: Int?, keys: Bool, references: [Int], marked: [Int], mark: UInt8) {
      self.kind = kind
      self.keys = keys
      self.references = references
      self.marked = marked
      self.mark = mark
    }
  }

  /// The rows of one kind.
  package struct Kind: Sendable {
    /// What the column of kinds has; `nil` without such a column.
    package let number: Int64?
    package fileprivate(set) var rows = 0
    /// How many rows hold NULL, by column; a row may be too short to have the last ones.
    fileprivate var nulls: [Int] = []
    /// Rows by how many columns they have.
    fileprivate var widths: [Int] = []
    package fileprivate(set) var keys = KeyBits()
    /// Keys of the rows whose bytes begin with the mark, for each column that was asked for.
    package fileprivate(set) var marked: [[Int64]]

    /// How many rows hold NULL in a column.
    package func nulls(in column: Int) -> Int {
      let short = widths.prefix(column + 1).reduce(0, +)
      return (nulls.indices.contains(column) ? nulls[column] : 0) + short
    }
  }

  /// Most keys that are kept of rows whose bytes begin with the mark.
  package static let mostMarked = 1000

  package let question: Question
  package private(set) var kinds: [Kind] = []
  /// The keys in each column of references.
  package private(set) var references: [KeyBits]
  /// Whether a row has a kind, or a reference, that is no whole number: nothing is reported then.
  package private(set) var isUnclear = false
  /// The kind of the row that was added last, which is not among the others meanwhile.
  private var current = Kind(number: nil, marked: [])
  private var hasCurrent = false
  private var shortest = Int.max

  package init(_ question: Question) {
    self.question = question
    references = question.references.map { _ in KeyBits() }
  }

  /// Whether every row has a value of its own in a column, if only NULL: what a shorter row holds there
  /// is in the schema.
  package func reaches(_ column: Int) -> Bool { shortest > column }

  /// Adds a row.
  @inline(__always)
  mutating func add(_ key: Int64, _ record: borrowing Record) {
    var number: Int64?
    if let column = question.kind {
      guard let found = record.integer(column) else {
        isUnclear = true
        return
      }
      number = found
    }
    if number != current.number || !hasCurrent { guard isFound(number) else { return } }
    current.rows += 1
    if question.keys { current.keys.insert(key) }
    let width = record.count
    if width >= current.widths.count {
      current.widths += [Int](repeating: 0, count: width + 1 - current.widths.count)
      current.nulls += [Int](repeating: 0, count: width + 1 - current.nulls.count)
    }
    current.widths[width] += 1
    shortest = min(shortest, width)
    current.nulls.withUnsafeMutableBufferPointer { record.countNulls($0) }
    for place in 0..<question.references.count {
      let column = question.references[place]
      if let key = record.integer(column) {
        references[place].insert(key)
      } else if !record.isNull(column) {
        isUnclear = true
      }
    }
    for place in 0..<question.marked.count
    where record.begins(question.marked[place], with: question.mark) {
      if current.marked[place].count <= Self.mostMarked { current.marked[place].append(key) }
    }
  }

  /// Goes on with rows of another kind.
  private mutating func isFound(_ number: Int64?) -> Bool {
    finish()
    guard let known = kinds.firstIndex(where: { $0.number == number }) else {
      // A column that held so many would be none of kinds.
      guard kinds.count < 4096 else {
        isUnclear = true
        return false
      }
      current = Kind(number: number, marked: question.marked.map { _ in [] })
      hasCurrent = true
      return true
    }
    // What is counted is held once, and changed where it is.
    current = Kind(number: number, marked: [])
    swap(&current, &kinds[known])
    kinds.remove(at: known)
    hasCurrent = true
    return true
  }

  /// Ends: all rows were added.
  mutating func finish() {
    if hasCurrent { kinds.append(current) }
    hasCurrent = false
  }
}

/// Keys of rows, a bit for each: for keys in no order, of which there may be millions.
package struct KeyBits: Sendable, Equatable {
  /// Most stretches of 65,536 keys, which take 4 MB: more than any table has whose keys were counted up.
  private static let most = 512
  private static let wordsInStretch = 1024

  private var words: [UInt64] = []
  /// Which stretch of `words` holds the keys that begin alike.
  private var stretches: [Int64: Int] = [:]
  private var last = Int64.min
  private var lastStretch = 0
  /// Whether keys were left out, since they lie too far from each other.
  package private(set) var isCutShort = false

  /// One without keys.
  package init() {}

  /// Adds a key.
  @inline(__always)
  package mutating func insert(_ key: Int64) {
    let high = key >> 16
    if high != last, !find(high) { return }
    words[lastStretch + Int(key & 0xFFFF) >> 6] |= 1 << UInt64(key & 63)
  }

  private mutating func find(_ high: Int64) -> Bool {
    if let known = stretches[high] {
      lastStretch = known
    } else {
      guard stretches.count < Self.most else {
        isCutShort = true
        return false
      }
      lastStretch = words.count
      stretches[high] = lastStretch
      words += [UInt64](repeating: 0, count: Self.wordsInStretch)
    }
    last = high
    return true
  }

  /// Whether each of its keys is in one of others; `nil` where that is not known.
  package func isSubset(of others: [KeyBits]) -> Bool? {
    guard !isCutShort, !others.contains(where: \.isCutShort) else { return nil }
    for (high, stretch) in stretches {
      let there = others.compactMap { other in other.stretches[high].map { (other, $0) } }
      for word in 0..<Self.wordsInStretch {
        let all = there.reduce(UInt64(0)) { $0 | $1.0.words[$1.1 + word] }
        if words[stretch + word] & ~all != 0 { return false }
      }
    }
    return true
  }
}
