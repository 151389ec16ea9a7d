import ManagedModel
import ManagedStore

/// What SQLite's own check of the file found, as findings.
struct PageLayer {
  let place: StorePlace
  let damage: FileDamage
  let tables: [EntityTable]

  func findings() -> [Finding] {
    var found = holes() + rows()
    var lines: [FindingKind: [String]] = [:]
    for line in damage.problems {
      guard let kind = Self.kind(of: line) else { continue }
      lines[kind, default: []].append(line)
    }
    // Those follow from pages that are gone.
    if !found.isEmpty {
      for kind in [FindingKind.pageUnreadable, .freelist, .pointerMap] { lines[kind] = nil }
    }
    // Below a page that cannot be read, pages seem to be in no use.
    let isUnread = lines[.pageUnreadable]?.contains { $0.contains("btreeInitPage") } == true
    if isUnread, lines[.freelist]?.allSatisfy({ $0.hasSuffix("never used") }) == true {
      lines[.freelist] = nil
    }
    // A page that the free list claims is met twice.
    if lines[.freelist] != nil || lines[.pointerMap] != nil { lines[.pageUnreadable] = nil }
    if lines[.freelist] != nil { lines[.pointerMap] = nil }
    // Every row was read, so that what cannot be is an index.
    if damage.holes.isEmpty, lines.count == 1, let only = lines[.pageUnreadable],
      only.count == 1 && only[0].hasPrefix("database disk image")
        || found.isEmpty && only.allSatisfy({ $0.contains("btreeInitPage") })
    {
      lines = [.indexWrong: only]
    }
    for (kind, lines) in lines.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      found.append(contentsOf: findings(kind, lines))
    }
    return found
  }

  /// Rows that SQLite reads, and that are not what was saved.
  private func rows() -> [Finding] {
    let rows = damage.rows
    let sentences = damage.rowSentences(tables)
    guard !sentences.isEmpty else { return [] }
    let count =
      rows.cut.values.reduce(0) { $0 + $1.count } + rows.unreadable + rows.misplaced
      + rows.outOfPlace
      + rows.missing.values.reduce(0) { $0 + $1.count }
    let table = rows.cut.keys.sorted().first ?? rows.missing.keys.sorted().first
    let keys = (rows.cut.values.flatMap { $0 } + rows.missing.values.flatMap { $0 }).sorted()
    return [
      Finding(
        .pageUnreadable, sentences.joined(separator: " "),
        entity: table.map { table in
          tables.first { $0.table == table && $0.isWholeTable }?.entity ?? table
        }, count: count > 0 ? count : nil, first: keys.prefix(5).map { "p\($0)" }, in: place)
    ]
  }

  /// Rows that are lost, a finding a table.
  private func holes() -> [Finding] {
    var tablesInOrder: [String] = []
    for hole in damage.holes where !tablesInOrder.contains(hole.table) {
      tablesInOrder.append(hole.table)
    }
    return tablesInOrder.map { table in
      let holes = damage.holes.filter { $0.table == table }
      let entity = tables.first { $0.table == table && $0.isWholeTable }?.entity
      let counts = holes.compactMap { $0.counts.map { $0.values.reduce(0, +) } }
      let count = counts.count == holes.count ? counts.reduce(0, +) : nil
      let (noun, owner) = entity.map { ("object", $0) } ?? ("row", "the table \(table)")
      let atMost = holes.compactMap(\.width)
      let number =
        count.map { NumberText.counted($0, noun) }
        ?? (atMost.count == holes.count
          ? "At most \(NumberText.counted(atMost.sum, noun))" : "An unknown number of \(noun)s")
      let places = holes.count == 1 ? "" : " in \(holes.count) places"
      return Finding(
        .pageUnreadable,
        "\(number) of \(owner) cannot be read: pages of the table are gone or damaged\(places).",
        entity: entity ?? table, count: count, first: holes.prefix(5).map(\.keys), in: place)
    }
  }

  private func findings(_ kind: FindingKind, _ lines: [String]) -> [Finding] {
    let more = damage.problemCount
    switch kind {
    case .indexWrong:
      let names = Set(lines.compactMap(Self.indexName)).sorted()
      let what =
        names.isEmpty
        ? "An index cannot be read, but every row can."
        : "\(NumberText.counted(names.count, "index does", plural: "indexes do")) not match the table."
      return [
        Finding(
          kind, what, count: max(1, names.count),
          first: Array((names.isEmpty ? lines : names).prefix(5)), in: place)
      ]
    case .uniqueness:
      return [
        Finding(
          kind, "Rows have equal values in a unique index: \(lines.first ?? "").",
          count: lines.count, first: Array(lines.prefix(5)), in: place)
      ]
    default:
      let places =
        lines.count == 1
        ? "one place" : "\(lines.count < damage.problems.count ? "\(lines.count)" : more) places"
      return [
        Finding(
          kind, "SQLite finds that \(kind.title), in \(places).", count: lines.count,
          first: Array(lines.prefix(5)), in: place)
      ]
    }
  }

  /// What a line of `PRAGMA integrity_check` is about; `nil` for what shows nothing by itself.
  static func kind(of line: String) -> FindingKind? {
    if line.contains("Failed to read ptrmap") { return .pointerMap }
    if line.hasPrefix("Main freelist") || line.hasPrefix("Freelist")
      || line.hasSuffix("is never used") || line.hasSuffix("never used")
    {
      return .freelist
    }
    if line.contains("ptr map") { return .pointerMap }
    if line.hasPrefix("non-unique entry in index ") { return .uniqueness }
    if line.hasPrefix("NULL value in ") || line.hasPrefix("CHECK constraint failed in ")
      || line.hasPrefix("NUMERIC value in ") || line.hasPrefix("TEXT value in ")
    {
      return .storageClass
    }
    if indexName(line) != nil { return .indexWrong }
    return .pageUnreadable
  }

  /// The index that a line names.
  static func indexName(_ line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    guard let place = words.firstIndex(of: "index"), place + 1 < words.count else { return nil }
    if line.hasPrefix("the index ") || line.hasPrefix("wrong # of entries in index ")
      || line.hasPrefix("row ") || line.hasPrefix("rowid ")
    {
      return words[place + 1]
    }
    return nil
  }
}

extension FileDamage.Hole {
  /// How many keys lie in it; `nil` where its end is not known.
  fileprivate var width: Int64? {
    last.map { last in
      let (width, isPast) = last.subtractingReportingOverflow(first)
      return isPast || width == .max ? .max : width + 1
    }
  }

  /// The keys that may be lost: `p4920–p4965`.
  var keys: String {
    last.map { $0 == first ? "p\(first)" : "p\(first)–p\($0)" } ?? "from p\(first) on"
  }
}

extension [Int64] {
  /// As much of the sum as a number holds.
  fileprivate var sum: Int64 {
    reduce(0) { sum, width in
      let (result, isPast) = sum.addingReportingOverflow(width)
      return isPast ? .max : result
    }
  }
}
