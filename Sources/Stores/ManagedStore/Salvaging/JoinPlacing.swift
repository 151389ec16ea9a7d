import Files
import SQLite
import Salvage

/// Determines which join table rows belong to whose tree is not known: rows of keys alone.
///
/// All rows of a tree are of one table. It is the one whose two entities have objects with these keys. Where
/// several would do, an index whose table is known and that holds these rows says which, then the place of the tree
/// among others; else that one is it which has so few objects that keys out of a larger one would hardly all be
/// among them: twenty links to tags 1 to 20 are no links between a thousand recipes.
struct JoinPlacing {
  /// A join table that no tree is known of.
  struct Candidate {
    let table: SalvagedTable
    /// What each of its two columns holds keys of.
    let sides: [Side]
  }

  /// The objects that a column of keys may name.
  struct Side {
    let table: String
    /// Their Z_ENT.
    let numbers: Set<Int64>
    /// The last key that was given out in the table.
    let greatest: Int64
    /// Whether the table has no other objects.
    var isWholeTable = false
  }

  private var candidates: [Candidate] = []
  private let connection: Connection
  /// Some rows of each group: how many values they have, and the two keys.
  private var samples: [Int: [[Int64]]] = [:]
  /// The rows of each group by their own keys, as far as they are in its sample: all values.
  private(set) var rows: [Int: [Int64: [Int64]]] = [:]
  /// How many rows each group has.
  private(set) var counts: [Int: Int] = [:]
  /// The own keys of each group's rows, from the least to the greatest.
  private var spans: [Int: ClosedRange<Int64>] = [:]
  /// The candidates that each group's rows could be of.
  private var fitting: [Int: [Int]] = [:]
  static let sampleSize = 200
  /// How much likelier one table has to be than any other, in bits: a thousand million times.
  private static let enough = 30.0
  /// How many of a table's links name objects that are there, or were.
  private static let possibleShare = 0.98
  private var sizes: [String: Double] = [:]

  init(_ connection: Connection) { self.connection = connection }

  /// What holds rows together: their tree, else their page.
  static func group(of row: RowScan.Row) -> Int { row.root > 0 ? row.root : -row.page }

  /// Takes a row into account; false where it is none of keys alone.
  mutating func add(_ row: RowScan.Row, _ record: borrowing Record) -> Bool {
    guard isWaiting(record) else { return false }
    let group = Self.group(of: row)
    counts[group, default: 0] += 1
    let span = spans[group] ?? row.key...row.key
    spans[group] = min(span.lowerBound, row.key)...max(span.upperBound, row.key)
    if samples[group, default: []].count < Self.sampleSize {
      let keys = (0..<record.count).compactMap { record.integer($0) }
      samples[group, default: []].append([Int64(record.count)] + keys.prefix(2))
      rows[group, default: [:]][row.key] = keys
    }
    return true
  }

  /// Whether a row is of keys alone.
  func isWaiting(_ record: borrowing Record) -> Bool {
    guard (2...4).contains(record.count) else { return false }
    for column in 0..<record.count where record.integer(column) == nil {
      guard record.kind(column) == .null, column >= 2 else { return false }
    }
    return true
  }

  /// The tables that a group's rows could be of, by name; empty where none would do.
  func possible(for group: Int) -> [String] {
    (fitting[group] ?? []).map { candidates[$0].table.name }.sorted()
  }

  /// The table of each group that can be determined.
  ///
  /// - Parameters:
  ///   - isInOrder: whether the store's trees stand in the order in which Core Data makes the tables of a new
  ///     one; those that more than one table would do for are then determined by that.
  ///   - witnesses: the tables that have an index with a group's rows.
  ///   - order: determines tables by the places of their trees, of those that would do.
  mutating func tables(
    among candidates: [Candidate], isInOrder: Bool, witnesses: [Int: Set<String>] = [:],
    order: ([Int: [String]]) throws -> [Int: String] = { _ in [:] }
  ) throws -> [Int: SalvagedTable] {
    self.candidates = candidates
    for (group, rows) in samples {
      fitting[group] = try options(for: rows)
    }
    try apply(witnesses)
    let told = try order(
      fitting.filter { $0.key > 0 && $0.value.count > 1 }.mapValues { options in
        options.map { candidates[$0].table.name }
      })
    for (group, name) in told {
      if let place = fitting[group]?.first(where: { candidates[$0].table.name == name }) {
        fitting[group] = [place]
      }
    }
    leaveTaken()
    var result = fitting.compactMapValues { $0.count == 1 ? $0.first : nil }
    let parts = partsOfTrees()
    for (group, options) in fitting where options.count > 1 {
      guard let rows = samples[group],
        let likeliest = try likeliest(
          options, for: rows, ofTree: group > 0 && !parts.contains(group))
      else {
        continue
      }
      result[group] = likeliest
    }
    if isInOrder {
      let taken = Set(result.filter { $0.key > 0 }.values)
      let open = fitting.filter { $0.key > 0 && $0.value.count > 1 && result[$0.key] == nil }
        .map { (group: $0.key, options: $0.value.filter { !taken.contains($0) }) }
        .sorted { $0.group < $1.group }
      for (group, place) in OrderedChoice.only(open.map(\.options), of: candidates.count)
        .enumerated()
      {
        if let place { result[open[group].group] = place }
      }
    }
    // A table has one tree: of two with the same keys that seem to be it, one is not.
    let trees = Dictionary(grouping: result.filter { $0.key > 0 }, by: \.value)
    for group in trees.values where group.count > 1 {
      for root in overlapping(group.map(\.key)) { result[root] = nil }
    }
    return result.mapValues { candidates[$0].table }
  }

  /// Leaves each tree the tables that have an index with its rows. Where several trees have the same rows, it is all
  /// the same whose is whose.
  ///
  /// So it does for pages whose tree is not known: a page of another state of the store may have the same rows, and
  /// is the same table's. What leads to the index may be of that state, too, so that the rows must be possible.
  private mutating func apply(_ witnesses: [Int: Set<String>]) throws {
    func places(_ group: Int, _ names: Set<String>) -> [Int] {
      candidates.indices.filter { place in
        let table = candidates[place].table
        return names.contains(table.name)
          && samples[group]?.allSatisfy { $0[0] == Int64(table.columns.count) } == true
      }
    }
    var seen: [Int: [Int]] = [:]
    for (group, names) in witnesses {
      let places = places(group, names)
      guard group < 0 else {
        if !places.isEmpty { seen[group] = places }
        continue
      }
      if places.count == 1, fitting[group]?.contains(places[0]) == true { fitting[group] = places }
    }
    for (group, places) in seen {
      let rivals = seen.keys.filter { seen[$0] == places }.sorted()
      guard rivals.count > 1 else {
        fitting[group] = places
        continue
      }
      // Of rows that are not the same nobody knows whose the index is.
      guard let own = rows[group], own.count < Self.sampleSize,
        rivals.allSatisfy({ rows[$0] == own }), let place = rivals.firstIndex(of: group)
      else { continue }
      fitting[group] =
        place < places.count ? [places[place]] : fitting[group]?.filter { !places.contains($0) }
    }
  }

  /// The trees whose rows have keys between those of another.
  ///
  /// Where the page above all of a table is lost, each page below it is the root of a tree, with keys of its own.
  private func overlapping(_ roots: [Int]) -> Set<Int> {
    let sorted = roots.compactMap { root in spans[root].map { (root: root, span: $0) } }
      .sorted { ($0.span.lowerBound, $0.root) < ($1.span.lowerBound, $1.root) }
    var found: Set<Int> = []
    var last: (root: Int, span: ClosedRange<Int64>)?
    for tree in sorted {
      if let before = last, before.span.upperBound >= tree.span.lowerBound {
        found.formUnion([before.root, tree.root])
      }
      if last.map({ $0.span.upperBound < tree.span.upperBound }) ?? true { last = tree }
    }
    return found
  }

  /// Trees that may be parts of one table's: the same tables would do for them, and their keys are apart.
  private func partsOfTrees() -> Set<Int> {
    let groups = Dictionary(grouping: fitting.keys.filter { $0 > 0 }) { fitting[$0] ?? [] }
    return groups.values.filter { $0.count > 1 }.reduce(into: []) { parts, roots in
      parts.formUnion(Set(roots).subtracting(overlapping(roots)))
    }
  }

  /// A table that has its tree has no other with the same keys.
  private mutating func leaveTaken() {
    var taken: Set<Int> = []
    while true {
      // Of two that seem to be one, one is not, or each is a part of it: nothing follows from them.
      let found = Dictionary(
        grouping: fitting.filter { $0.key > 0 && $0.value.count == 1 },
        by: { $0.value.first ?? 0 }
      ).compactMapValues { $0.count == 1 ? $0.first?.key : nil }
      let newest = found.filter { !taken.contains($0.key) }
      guard !newest.isEmpty else { return }
      taken.formUnion(newest.keys)
      for (group, options) in fitting where group > 0 && options.count > 1 {
        fitting[group] = options.filter { option in
          newest[option].map { overlapping([$0, group]).isEmpty } ?? true
        }
      }
    }
  }

  /// The candidate that is far likelier than the others, by how many objects its columns may name.
  ///
  /// Of one page of a tree, keys that rise with the rows' own show which part of the tree it is, and nothing more: on
  /// the first page of all links of a thousand recipes are those of the first twenty.
  private mutating func likeliest(
    _ options: [Int], for rows: [[Int64]], ofTree isTree: Bool
  ) throws -> Int? {
    // Links that are there twice show nothing twice.
    let count = Double(Set(rows).count)
    let columns = [1, 2].filter { column in isTree || !Self.isDrifting(rows.map { $0[column] }) }
    let keys = [1, 2].map { column in Double(Set(rows.map { $0[column] }).count) }
    let scores = try options.map { place in
      let sides = candidates[place].sides
      let bits = try columns.reduce(0) { bits, column in
        // As many objects as it names there are, or were.
        try bits + log2(max(keys[column - 1], size(of: sides[column - 1])))
      }
      return (place: place, score: count * bits)
    }.sorted { ($0.score, $0.place) < ($1.score, $1.place) }
    guard scores.count > 1, scores[1].score - scores[0].score > Self.enough else { return nil }
    // Keys that were never given out are another table's, however many of the rows' keys are there.
    let sides = candidates[scores[0].place].sides
    let possible = try rows.count {
      try isPossible($0[1], sides[0]) && isPossible($0[2], sides[1])
    }
    return Double(possible) >= Self.possibleShare * Double(rows.count) ? scores[0].place : nil
  }

  /// Whether keys rise or fall from row to row, by more than chance has them do.
  private static func isDrifting(_ keys: [Int64]) -> Bool {
    guard keys.count > 2 else { return false }
    let (count, values) = (Double(keys.count), keys.map(Double.init))
    let (middle, mean) = ((count - 1) / 2, values.reduce(0, +) / count)
    var (together, ofPlaces, ofKeys) = (0.0, 0.0, 0.0)
    for (place, value) in values.enumerated() {
      together += (Double(place) - middle) * (value - mean)
      ofPlaces += (Double(place) - middle) * (Double(place) - middle)
      ofKeys += (value - mean) * (value - mean)
    }
    // Three times what keys in no order come to.
    return together * together * count > 9 * ofPlaces * ofKeys
  }

  /// How many objects a side has.
  private mutating func size(of side: Side) throws -> Double {
    let list = side.numbers.sorted().map(String.init).joined(separator: ", ")
    let key = side.table + " " + list
    if let known = sizes[key] { return known }
    // All rows of a table SQLite counts by its pages.
    let condition = side.isWholeTable ? "" : " WHERE Z_ENT IN (\(list))"
    let count =
      try connection.value("SELECT count(*) FROM \(quoted(side.table))\(condition)")?.integer ?? 0
    sizes[key] = Double(max(1, count))
    return Double(max(1, count))
  }

  /// The candidates whose objects the rows could join, by place: objects that are there, else, of a store
  /// that lost some, keys that were given out.
  private func options(for rows: [[Int64]]) throws -> [Int] {
    func fitting(_ share: Double, _ isSide: (Int64, Side) throws -> Bool) rethrows -> [Int] {
      try candidates.indices.filter { place in
        let candidate = candidates[place]
        let own = rows.filter { $0.count == 3 && $0[0] == Int64(candidate.table.columns.count) }
        guard own.count == rows.count else { return false }
        let there = try own.count {
          try isSide($0[1], candidate.sides[0]) && isSide($0[2], candidate.sides[1])
        }
        return Double(there) >= share * Double(rows.count)
      }
    }
    let there = try fitting(0.8) { try entity(of: $0, $1).map($1.numbers.contains) == true }
    // Objects that another table would need may be among those that are lost.
    let possible = try fitting(Self.possibleShare, isPossible)
    return there + possible.filter { !there.contains($0) }
  }

  /// Whether an object of the side has a key, or may have had it.
  private func isPossible(_ key: Int64, _ side: Side) throws -> Bool {
    if let number = try entity(of: key, side) { return side.numbers.contains(number) }
    return key <= side.greatest
  }

  /// The Z_ENT of the object with a key; `nil` where it is not there.
  private func entity(of key: Int64, _ side: Side) throws -> Int64? {
    let statement = try connection.cached("SELECT Z_ENT FROM \(quoted(side.table)) WHERE Z_PK = ?")
    try statement.bind([.integer(key)])
    defer { statement.reset() }
    return try statement.step() ? statement.integer(at: 0) : nil
  }
}
