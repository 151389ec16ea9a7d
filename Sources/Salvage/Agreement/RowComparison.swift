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
