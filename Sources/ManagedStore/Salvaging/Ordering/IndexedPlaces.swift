import Salvage

/// Tells by the leaves of indexes which places of a table's rows an index begins with.
///
/// A page is of one index, and all its entries have the values that stand in one place of the rows that
/// they name.
struct IndexedPlaces {
  private struct Sample {
    let table: Int
    let values: [ColumnEvidence.Value]
  }

  private var tables: [String] = []
  private var rows: [Int64: [Sample]] = [:]
  /// Entries of the page whose rows are known, by table.
  private var named: [Int: Int] = [:]
  /// Those of them that have the value of a place, by table and place.
  private var same: [Int: [Int: Int]] = [:]

  var isEmpty: Bool { rows.isEmpty }

  /// Takes the rows of a table that are compared.
  mutating func add(_ table: String, _ sample: [ColumnEvidence.Row]) {
    for row in sample {
      rows[row.key, default: []].append(Sample(table: tables.count, values: row.values))
    }
    tables.append(table)
  }

  /// Turns to another page.
  mutating func begin() {
    named.removeAll(keepingCapacity: true)
    same.removeAll(keepingCapacity: true)
  }

  /// Takes an entry: the row that it names, and values that few rows share.
  mutating func take(_ key: Int64, _ record: borrowing Record) {
    let value = ColumnEvidence.Value(record, 0)
    guard case .digest(_, isTelling: true) = value, let samples = rows[key] else { return }
    for sample in samples {
      named[sample.table, default: 0] += 1
      for (place, other) in sample.values.enumerated() where other == value {
        same[sample.table, default: [:]][place, default: 0] += 1
      }
    }
  }

  /// The places that the page's entries tell; none where more than one would do.
  func found() -> [(table: String, place: Int)] {
    named.compactMap { table, count in
      let places = (same[table] ?? [:]).filter { $0.value == count }
      guard places.count == 1, let place = places.first?.key else { return nil }
      return (tables[table], place)
    }
  }
}
