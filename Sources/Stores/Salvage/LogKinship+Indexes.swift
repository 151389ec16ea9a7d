extension DatabaseImage {
  /// Whether its indexes can be compared with their tables whenever a store is opened: more take too long.
  package var hasFewPages: Bool { pageCount * pageSize <= 4_096_000 }

  /// A table whose whole indexes have rows that it lacks, and lack rows that it has, though it is whole as well: so
  /// where pages of two databases are mixed that fit each other. `nil` if there is none, or where one wrong byte
  /// explains it, and for a database that is not small.
  package func tableOfOtherIndexes() throws -> String? {
    guard header.isMagic, hasFewPages else { return nil }
    let witness = try IndexWitness(self)
    // Tables of which few rows differ both ways.
    var differing: Set<String> = []
    for index in witness.indexes {
      guard let found = try witness.found(index), let table = witness.tables[index.table] else {
        continue
      }
      let count = min(found.keys.subtracting(table).count, table.subtracting(found.keys).count)
      if count > 1, count * 10 >= table.count { return index.tableName }
      if count > 0 { differing.insert(index.tableName) }
    }
    return differing.count > 1 ? differing.min() : nil
  }

  /// How many trees of a small database cannot be of one state with the others, at least, and how many were compared:
  /// a tree of the other kind, or of rows that are not its table's; and of each table with its indexes those that do
  /// not name the rows that most of them name. `nil` where nothing of its list of tables can be read.
  ///
  /// A page is of one tree: two pages in each other's place make two of them at most.
  ///
  /// - Parameter shapes: what rows of tables look like, by the first page of each.
  package func treesOfOtherStates(_ shapes: [Int: RowShape]) throws -> (count: Int, of: Int)? {
    guard header.isMagic, hasFewPages, let roots = try SchemaRoots(self, isPartial: true) else {
      return nil
    }
    var strangers: Set<Int> = []
    for root in roots.pages where try roots.isStranger(root, in: self) == true {
      strangers.insert(root)
    }
    strangers.formUnion(try treesOfOtherRows(shapes))
    let witness = try IndexWitness(self, isPartial: true)
    var count = strangers.count
    for (table, indexes) in Dictionary(grouping: witness.indexes, by: \.table) {
      // A table, and an index whose values are those of the table, have `isStrange` false.
      var states: [IndexWitness.Entries: Int] = [:]
      if !strangers.contains(table), let keys = witness.tables[table] {
        states[.init(keys: keys, isStrange: false), default: 0] += 1
      }
      for index in indexes where !strangers.contains(index.root) {
        if let found = try witness.found(index) { states[found, default: 0] += 1 }
      }
      count += states.values.reduce(0, +) - (states.values.max() ?? 0)
    }
    return (count, roots.pages.count)
  }

  /// The trees of tables of which no row is one of the table's.
  private func treesOfOtherRows(_ shapes: [Int: RowShape]) throws -> [Int] {
    let trees = try TreeMap(self, roots: shapes.keys.sorted(), isComplete: true)
    var fits: [Int: Bool] = [:]
    var scan = RowScan(self, trees)
    try scan.rows(where: { role, root in role == .leaf && fits[root] != true }) { row, record in
      fits[row.root] = fits[row.root] == true || shapes[row.root]?.fits(record) == true
    }
    return fits.filter { !$0.value }.map(\.key)
  }
}

extension LogKinship {
  /// An index that does not have the rows of its table with the log, and has them without it.
  ///
  /// Each row has its one entry in each index after every commit. Pages of another store laid over those of
  /// this one seldom hold both.
  func indexes() throws -> Contradiction? {
    guard image.hasFewPages, main.hasFewPages else { return nil }
    let own = try IndexWitness(main)
    guard !own.indexes.isEmpty else { return nil }
    let both = try IndexWitness(image)
    for index in own.indexes where both.indexes.contains(index) {
      if try both.agrees(index) == false, try own.agrees(index) == true {
        return .index(index.name)
      }
    }
    return nil
  }
}

/// What the tables of a small database hold, to compare its indexes with.
private struct IndexWitness {
  /// An index over columns that has an entry of each row.
  struct Index: Equatable {
    var name: String
    var root: Int
    /// The first page of its table.
    var table: Int
    var tableName: String
    /// Whether it holds nothing but values of columns.
    var isPlain: Bool
  }

  private let image: DatabaseImage
  private(set) var indexes: [Index] = []
  /// The keys of each table that was read whole, by its first page.
  private(set) var tables: [Int: Set<Int64>] = [:]
  /// Each value of a row, mixed with the row's key and its table.
  private var values: Set<Int> = []

  /// - Parameter isPartial: whether what can be read of the list of tables is enough.
  init(_ image: DatabaseImage, isPartial: Bool = false) throws {
    self.image = image
    guard let listed = try Self.list(image, isPartial: isPartial) else { return }
    indexes = listed
    let roots = Set(indexes.map(\.table))
    let trees = try TreeMap(image, roots: roots.sorted(), isComplete: true)
    var scan = RowScan(image, trees)
    for root in roots where !trees.holes.contains(where: { $0.root == root }) {
      tables[root] = []
    }
    try scan.rows(where: { [tables] role, root in role == .leaf && tables[root] != nil }) {
      row, record in
      tables[row.root]?.insert(row.key)
      for column in 0..<record.count {
        if let value = Self.hash(record, column, of: row.root, row.key) { values.insert(value) }
      }
    }
    // What rows they are that cannot be read is not known.
    for hole in scan.lost { tables[hole.root] = nil }
  }

  /// Whether an index has the rows of its table, and what they hold; `nil` where it cannot be determined.
  func agrees(_ index: Index) throws -> Bool? {
    guard let table = tables[index.table], let found = try found(index) else { return nil }
    return found.keys == table && !found.isStrange
  }

  /// What the entries of an index name.
  struct Entries: Hashable {
    /// The rows.
    var keys: Set<Int64>
    /// Whether a value is none of its table's.
    var isStrange: Bool
  }

  /// What an index names; `nil` where it cannot be read whole.
  func found(_ index: Index) throws -> Entries? {
    var (keys, isStrange, isTold) = (Set<Int64>(), false, true)
    let isWhole = try IndexTree.rows(of: index.root, in: image) { record in
      guard record.count >= 2, let key = record.integer(record.count - 1) else {
        isTold = false
        return
      }
      // One row twice is as wrong as one too many.
      if !keys.insert(key).inserted { isStrange = true }
      guard index.isPlain else { return }
      for column in 0..<record.count - 1 {
        guard let value = Self.hash(record, column, of: index.table, key) else { continue }
        if !values.contains(value) { isStrange = true }
      }
    }
    return isWhole && isTold ? Entries(keys: keys, isStrange: isStrange) : nil
  }

  /// Longer values are not compared.
  private static let mostBytes = 1_000

  /// - Returns: `nil` for what is not compared: no value, which a row that is too short has as well.
  private static func hash(
    _ record: borrowing Record, _ column: Int, of table: Int, _ key: Int64
  ) -> Int? {
    var hasher = Hasher()
    hasher.combine(table)
    hasher.combine(key)
    switch record.value(column) {
    case nil, .null?: return nil
    case .integer(let number)?: hasher.combine(number)
    case .real(let number)?:
      // A table keeps a whole number as an integer where its index keeps it as it is.
      if let whole = Int64(exactly: number) {
        hasher.combine(whole)
      } else {
        hasher.combine(number)
      }
    case .text(let bytes)?, .blob(let bytes)?:
      guard bytes.count <= mostBytes else { return nil }
      hasher.combine(bytes)
    }
    return hasher.finalize()
  }

  /// The indexes that the list of tables names; `nil` where it cannot be read whole, and has to be.
  private static func list(_ image: DatabaseImage, isPartial: Bool) throws -> [Index]? {
    let master = try TreeMap(image, roots: [1], isComplete: true)
    var tables: [String: Int] = [:]
    var found: [(name: String, table: String, root: Int, sql: String?)] = []
    var scan = RowScan(image, master)
    func text(_ record: borrowing Record, _ column: Int) -> String? {
      record.kind(column) == .text
        ? record.content(column).map(image.header.encoding.text) : nil
    }
    try scan.rows(where: { role, root in role == .leaf && root == 1 }) { _, record in
      guard record.count == 5, let type = text(record, 0), let name = text(record, 1),
        let table = text(record, 2), let root = record.integer(3), root > 1
      else { return }
      if type == "table" { tables[name] = Int(clamping: root) }
      if type == "index" { found.append((name, table, Int(clamping: root), text(record, 4))) }
    }
    guard isPartial || master.holes.isEmpty && scan.unreadable == 0 else { return nil }
    return found.compactMap { index in
      guard let table = tables[index.table] else { return nil }
      let words = index.sql?.uppercased().split(whereSeparator: \.isWhitespace) ?? []
      // One with a condition leaves rows out.
      guard !words.contains("WHERE") else { return nil }
      return Index(
        name: index.name, root: index.root, table: table, tableName: index.table,
        isPlain: index.sql.map(namesColumnsAlone) ?? true)
    }
  }

  /// Whether a statement lists names between its brackets, and computes nothing.
  private static func namesColumnsAlone(_ sql: String) -> Bool {
    guard let open = sql.firstIndex(of: "("), sql.last == ")" else { return false }
    return sql[sql.index(after: open)...].dropLast().utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ","),
        UInt8(ascii: "\""), UInt8(ascii: " "):
        true
      default: byte >= 0x80
      }
    }
  }
}
