import Salvage

/// What distinguishes rows that were found without a key from others: values that few rows share. A row of the store
/// that has most of one's is the object that the other is an earlier state of.
struct RowMarks {
  /// Whether there is no room left for the marks of further rows.
  private(set) var isFull = false
  /// Rows by mark, for each table.
  private var rows: [[UInt64: [Int64]]]
  /// The columns of the marks that each row has, for each table.
  private var columns: [[Int64: [Int]]]
  /// The live object that each row is like, for each table.
  private var matches: [[Int64: Int64]]
  private var count = 0
  private static let most = 250_000
  private static let mostSharing = 16

  /// - Parameter tables: how many tables there are.
  init(tables: Int) {
    rows = Array(repeating: [:], count: tables)
    columns = Array(repeating: [:], count: tables)
    matches = Array(repeating: [:], count: tables)
  }

  /// Whether there are any of a table's rows.
  func areAny(in place: Int) -> Bool { !rows[place].isEmpty }

  /// Takes a row that was found.
  mutating func add(_ record: borrowing Record, _ place: Int, _ pk: Int64) {
    let own = record.marks()
    guard count + own.count < Self.most else {
      isFull = true
      return
    }
    count += own.count
    for (column, mark) in own {
      guard var sharing = rows[place][mark] else {
        rows[place][mark] = [pk]
        columns[place][pk, default: []].append(column)
        continue
      }
      // What many rows share shows nothing; it stays as an empty list.
      if sharing.isEmpty { continue }
      if sharing.count < Self.mostSharing {
        sharing.append(pk)
        rows[place][mark] = sharing
        columns[place][pk, default: []].append(column)
      } else {
        for other in sharing { columns[place][other]?.removeAll { $0 == column } }
        rows[place][mark] = []
      }
    }
  }

  /// Takes a row of the store.
  mutating func compare(_ record: borrowing Record, _ place: Int, key: Int64) {
    // Most of what few rows share is shared with this one.
    var shared: [Int64: Int] = [:]
    for (_, mark) in record.marks() {
      for pk in rows[place][mark] ?? [] { shared[pk, default: 0] += 1 }
    }
    for (pk, count) in shared {
      let own = columns[place][pk] ?? []
      // Values that are lost of the living row are like none, and unlike none.
      var comparable = own.count
      if !record.isWhole {
        for column in own where !record.isPresent(column) { comparable -= 1 }
      }
      guard count * 3 >= comparable * 2 else { continue }
      // What several rows share shows nothing.
      matches[place][pk] = matches[place][pk] == nil ? key : .max
    }
  }

  /// Gives each row that is like one live object, with the object's key.
  func forEachMatch(_ body: (_ place: Int, _ pk: Int64, _ key: Int64) throws -> Void) rethrows {
    for (place, found) in matches.enumerated() {
      for (pk, key) in found where key < .max { try body(place, pk, key) }
    }
  }
}
