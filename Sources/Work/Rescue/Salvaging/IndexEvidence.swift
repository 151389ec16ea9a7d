import ManagedStore
import SQLite
import Salvage

/// What indexes of a damaged store say otherwise than the new one.
struct IndexEvidence {
  /// Keys that they hold and that the new store has not, by table.
  private(set) var missing: [String: Set<Int64>] = [:]
  /// Keys of rows of which they have other values, by table.
  private(set) var different: [String: Set<Int64>] = [:]
  /// Tables of which one index has the key of each row and no other, while another has not: that one is wrong.
  private var confirmed: Set<String> = []
  /// The table of each index.
  private var tables: [String: String] = [:]

  private static let most = 10_000

  /// An index, and what of it is no row of the new store's as it is.
  private struct Index {
    let name: String
    let table: String
    /// Asks for the row with the key of an entry: for no value of it where the index is over an expression.
    let question: String
    /// How many columns it has; 0 over an expression.
    let width: Int
    /// Whether the table is of objects, of which none has a key below 1.
    let isOfObjects: Bool
    var orphans: Set<Int64> = []
    var others: Set<Int64> = []
    var keys = KeySum()

    init(_ name: String, of table: String, _ connection: Connection) throws {
      (self.name, self.table) = (name, table)
      let all = try connection.rows("PRAGMA index_info(\(quoted(name)))").map { $0.last?.text }
      let names = all.compactMap { $0.map(quoted) }
      let columns = names.count == all.count ? names : []
      width = columns.count
      question =
        "SELECT \((["1"] + columns).joined(separator: ", ")) FROM \(quoted(table)) NOT INDEXED WHERE rowid = ?"
      isOfObjects = try DatabaseTables(connection).columns(of: table).contains("Z_PK")
    }
  }

  init(of source: SalvageSource, in path: String) throws {
    let connection = try Connection(path: path, mode: .immutable)
    let encoding = source.encoding
    let present = try DatabaseTables(connection)
    var indexes: [Index] = []
    var places: [String: Int] = [:]
    try source.entriesOfIndexes { name, table, key, record in
      // A damaged list of tables may name one that the new store has not.
      guard present.contains(table) else { return }
      if places[name] == nil {
        (tables[name], places[name]) = (table, indexes.count)
        indexes.append(try Index(name, of: table, connection))
      }
      guard let own = places[name] else { return }
      indexes[own].keys.add(key)
      guard indexes[own].orphans.count + indexes[own].others.count < Self.most else { return }
      let statement = try connection.cached(indexes[own].question)
      try statement.bind([.integer(key)])
      defer { statement.reset() }
      guard try statement.step() else {
        indexes[own].orphans.insert(key)
        return
      }
      let values = statement.row().dropFirst()
      for (column, value) in values.enumerated() {
        guard let entry = record.value(column)?.value(encoding) else { continue }
        if !Self.areSame(entry, value) { indexes[own].others.insert(key) }
      }
    }
    try Self.leaveOutTwice(of: &indexes, source)
    for index in indexes {
      if !index.others.isEmpty { different[index.table, default: []].formUnion(index.others) }
      let orphans = index.isOfObjects ? index.orphans.filter { $0 > 0 } : index.orphans
      if !orphans.isEmpty { missing[index.table, default: []].formUnion(orphans) }
    }
    confirmed = try Self.confirmed(by: indexes, connection)
    for table in confirmed { missing[table] = nil }
  }

  /// Whether another index of the same table has the keys of all its rows, and no other: of none is it in doubt that it
  /// was there.
  func confirms(rowsOf index: String) -> Bool {
    tables[index].map(confirmed.contains) ?? false
  }

  /// Leaves out entries with other values than a row has, where another entry has its key as well: that is the row's,
  /// and this one is wrong.
  private static func leaveOutTwice(
    of indexes: inout [Index], _ source: SalvageSource
  ) throws {
    var counts = Dictionary(
      indexes.filter { !$0.others.isEmpty }.map { index in
        (index.name, Dictionary(index.others.map { ($0, 0) }) { first, _ in first })
      }
    ) { first, _ in first }
    guard !counts.isEmpty else { return }
    try source.entriesOfIndexes(Set(counts.keys)) { name, _, key, _ in
      if let count = counts[name]?[key] { counts[name]?[key] = count + 1 }
    }
    for place in indexes.indices {
      let own = counts[indexes[place].name] ?? [:]
      indexes[place].others = indexes[place].others.filter { own[$0] ?? 0 < 2 }
    }
  }

  /// The tables of which an index has the keys of all rows, each once, while another has not.
  private static func confirmed(
    by indexes: [Index], _ connection: Connection
  ) throws -> Set<String> {
    var found: Set<String> = []
    for (table, own) in Dictionary(grouping: indexes, by: \.table)
    where Set(own.map(\.keys)).count > 1 {
      var keys = KeySum()
      let statement = try connection.prepare("SELECT rowid FROM \(quoted(table)) NOT INDEXED")
      while try statement.step() { keys.add(statement.integer(at: 0)) }
      if own.contains(where: { $0.orphans.isEmpty && $0.keys == keys }) { found.insert(table) }
    }
    return found
  }

  /// A real number without a fraction stands in a record as a whole one.
  private static func areSame(_ entry: Value, _ value: Value) -> Bool {
    switch (entry, value) {
    case (.integer(let number), .real(let real)): Double(number) == real
    default: entry == value
    }
  }
}

/// A sum of keys that comes to the same for the same keys, each as often, in whatever order.
private struct KeySum: Hashable {
  private var count = 0
  private var hashes: UInt64 = 0

  mutating func add(_ key: Int64) {
    count += 1
    var bits = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hashes &+= bits ^ bits >> 33
  }
}
