/// Compares the rows of a table with those that they came from, of another database, as they are read:
/// both trees are gone through side by side, once.
///
/// What is reported to be equal is stored alike, value by value. What is not may still be what was planned: that
/// is left to SQLite.
package struct RowComparison: ~Copyable {
  /// What a column must hold, by the row that the one at hand came from.
  package indirect enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case text([UInt8])
    /// What that row holds in a column.
    case column(Int)
    /// The same, with some numbers become others.
    case renumbered(Int, [Int64: Int64])
    /// What `Value` shows, where that row holds something in a column; else nothing.
    case present(Int, Value)
    /// What that row holds in a column; where it holds nothing there, whatever there is.
    case known(Int)
  }

  /// What became of rows of a kind.
  package struct Rows: Sendable {
    /// What the column of kinds holds in the source; `nil` for all rows.
    package var kind: Int64?
    /// What each column that is compared must hold, by its place.
    package var columns: [(place: Int, value: Value)]

    package init(kind: Int64?, columns: [(place: Int, value: Value)]) {
      self.kind = kind
      self.columns = columns
    }
  }

  /// A table of the source that all rows of a table came from, with the keys that they have there.
  package struct Question: Sendable {
    /// The first page of its tree.
    package var root: Int
    /// The column that shows which kind its rows are.
    package var kind: Int?
    /// Columns of the source's table, and of the other, that a row may be too short to have though they
    /// hold something.
    package var filled: (source: Set<Int>, result: Set<Int>)
    package var rows: [Rows]

    package init(
      root: Int, kind: Int?, filled: (source: Set<Int>, result: Set<Int>), rows: [Rows]
    ) {
      self.root = root
      self.kind = kind
      self.filled = filled
      self.rows = rows
    }
  }

  /// Rows that are reported at once.
  private static let stride = 1024

  private let question: Question
  private let count: (Int) -> Void
  private var untold = 0
  private var source: TreeRows
  private var current = 0
  /// How many rows of each of ``Question/rows`` were found, all of them equal.
  private var counts: [Int]
  /// Whether all rows so far are as they must be.
  private var isEqual = true

  /// - Parameters:
  ///   - source: the database that the rows came from, which does not change meanwhile.
  ///   - count: called with how many more rows were compared.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package init(
    _ question: Question, from source: DatabaseImage, counting count: @escaping (Int) -> Void,
    isCancelled: @escaping () -> Bool
  ) throws {
    self.source = TreeRows(question.root, in: TreeReader(source, isCancelled: isCancelled))
    self.question = question
    self.count = count
    counts = question.rows.map { _ in 0 }
    do {
      try self.source.advance()
    } catch is TreeReader.Untold {
      isEqual = false
    }
  }

  /// Compares the next row, in the order of keys.
  mutating func add(_ key: Int64, _ record: borrowing Record) throws {
    guard isEqual else { return }
    do {
      // Rows that became nothing may be passed over, and no others. Of a row that came from none the
      // number of rows shows.
      while let former = source.key, former < key {
        guard try rows() == nil else { return isEqual = false }
        try source.advance()
      }
      guard source.key == key else { return }
      if let rows = try rows() {
        for column in question.rows[rows].columns {
          guard isSame(column.value, record, column.place) else { return isEqual = false }
        }
        counts[rows] += 1
        untold += 1
        if untold == Self.stride {
          count(untold)
          untold = 0
        }
      }
      try source.advance()
    } catch is TreeReader.Untold {
      isEqual = false
    }
  }

  /// How many rows of each of ``Question/rows`` there are once all were added, where all are as they must
  /// be and each that was to become one did; `nil` where that is not so, or not known.
  package mutating func finish() throws -> [Int]? {
    count(untold)
    untold = 0
    do {
      while isEqual, source.key != nil {
        guard try rows() == nil else {
          isEqual = false
          break
        }
        try source.advance()
      }
    } catch is TreeReader.Untold {
      isEqual = false
    }
    return isEqual ? counts : nil
  }

  /// Of which kind the source's row is; `nil` where it became nothing.
  private mutating func rows() throws -> Int? {
    var kind: Int64?
    if let column = question.kind {
      guard let number = source.record.integer(column) else { throw TreeReader.Untold() }
      kind = number
    }
    func isOf(_ rows: Int) -> Bool {
      guard question.rows.indices.contains(rows) else { return false }
      return question.rows[rows].kind == nil || question.rows[rows].kind == kind
    }
    if isOf(current) { return current }
    guard let found = question.rows.indices.first(where: isOf) else { return nil }
    current = found
    return found
  }

  private func isSame(_ value: Value, _ record: borrowing Record, _ place: Int) -> Bool {
    guard place < record.count || !question.filled.result.contains(place) else { return false }
    switch value {
    case .null: return record.isNull(place)
    case .integer(let number): return record.integer(place) == number
    case .text(let text):
      return record.kind(place) == .text && record.raw(place).elementsEqual(text)
    case .column(let column):
      return isThere(column) && record.isSame(place, as: source.record, column)
    case .renumbered(let column, let numbers):
      guard isThere(column) else { return false }
      guard let former = source.record.integer(column), let number = numbers[former] else {
        return record.isSame(place, as: source.record, column)
      }
      return record.integer(place) == number
    case .present(let column, let value):
      guard isThere(column) else { return false }
      return source.record.isNull(column)
        ? record.isNull(place) : isSame(value, record, place)
    case .known(let column):
      return isThere(column)
        && (source.record.isNull(column) || record.isSame(place, as: source.record, column))
    }
  }

  /// Whether what the source's row holds in a column is in the row.
  private func isThere(_ column: Int) -> Bool {
    column < source.record.count || !question.filled.source.contains(column)
  }
}

/// Values as SQLite compares them: https://www.sqlite.org/datatype3.html, "Sort Order".
extension Record {
  /// What distinguishes a value of one kind from one of another, of which small numbers are no multiples.
  private enum Tag {
    static let null: UInt64 = 0xD6E8_FEB8_6659_FD93
    static let number: UInt64 = 0xA076_1D64_78BD_642F
    static let real: UInt64 = 0xE703_7ED1_A0B4_28DB
    static let text: UInt64 = 0x8EBC_6AF0_9C88_C6E3
    static let blob: UInt64 = 0x5899_65CC_7537_4CC3
  }

  @inline(__always)
  static func mixed(_ hash: UInt64, _ value: UInt64) -> UInt64 {
    let product = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }

  /// A hash that can be summed up: every bit depends on all of them, so that values which changed places
  /// among rows do not come to the same as before.
  @inline(__always)
  static func settled(_ hash: UInt64) -> UInt64 {
    var bits = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    bits = (bits ^ bits >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return bits ^ bits >> 33
  }

  /// A hash of a number as it counts, whichever way it is stored: a column of reals holds 2.0 as 2.
  @inline(__always)
  static func mixed(_ hash: UInt64, integer: Int64) -> UInt64 {
    mixed(mixed(hash, Tag.number), UInt64(bitPattern: integer))
  }

  /// Adds a value to a hash, so that equal values come to the same; the column is there.
  func mixed(_ hash: UInt64, _ column: Int) -> UInt64 {
    switch kind(column) {
    case .integer: return Self.mixed(hash, integer: integer(column) ?? 0)
    case .real:
      let real = real(column)
      if let whole = Int64(exactly: real) { return Self.mixed(hash, integer: whole) }
      return Self.mixed(Self.mixed(hash, Tag.real), real.bitPattern)
    case .text: return Self.mixed(Self.mixed(hash, Tag.text), raw(column))
    case .blob: return Self.mixed(Self.mixed(hash, Tag.blob), raw(column))
    case .null: return Self.mixed(hash, Tag.null)
    }
  }

  @inline(__always)
  static func mixed(_ hash: UInt64, _ content: UnsafeRawBufferPointer) -> UInt64 {
    var hash = mixed(hash, UInt64(content.count))
    var place = 0
    while place + 8 <= content.count {
      hash = mixed(hash, content.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < content.count {
      rest = rest << 8 | UInt64(content[place])
      place += 1
    }
    return mixed(hash, rest)
  }

  /// Compares values of one column of two records, both of which have it: below 0 where this one comes
  /// first.
  func order(
    _ other: borrowing Record, _ column: Int, _ collation: IndexedTable.Collation
  ) -> Int {
    let (kind, otherKind) = (kind(column), other.kind(column))
    switch (kind, otherKind) {
    case (.integer, .integer):
      let (one, two) = (integer(column) ?? 0, other.integer(column) ?? 0)
      return one < two ? -1 : one == two ? 0 : 1
    case (.real, .real):
      let (one, two) = (real(column), other.real(column))
      return one < two ? -1 : one == two ? 0 : 1
    case (.integer, .real): return Self.order(integer(column) ?? 0, other.real(column))
    case (.real, .integer): return -Self.order(other.integer(column) ?? 0, real(column))
    case (.null, .null): return 0
    case (.text, .text), (.blob, .blob):
      return Self.order(
        raw(column), other.raw(column), kind == .text ? collation : .binary)
    default: return Self.rank(kind) - Self.rank(otherKind)
    }
  }

  private static func rank(_ kind: Record.Kind) -> Int {
    switch kind {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  private static func order(_ whole: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 || real.isNaN { return 1 }
    let cut = Int64(real)
    if whole != cut { return whole < cut ? -1 : 1 }
    let rest = real - Double(cut)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }

  private static func order(
    _ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer,
    _ collation: IndexedTable.Collation
  ) -> Int {
    var (counts, place) = ((one.count, two.count), 0)
    if collation == .rtrim {
      while counts.0 > 0, one[counts.0 - 1] == 0x20 { counts.0 -= 1 }
      while counts.1 > 0, two[counts.1 - 1] == 0x20 { counts.1 -= 1 }
    }
    let shared = min(counts.0, counts.1)
    while place < shared {
      var (a, b) = (one[place], two[place])
      if collation == .noCase {
        if a &- 0x41 < 26 { a |= 0x20 }
        if b &- 0x41 < 26 { b |= 0x20 }
      }
      if a != b { return a < b ? -1 : 1 }
      place += 1
    }
    return counts.0 < counts.1 ? -1 : counts.0 == counts.1 ? 0 : 1
  }
}
