import ManagedModel
import SQLite
import Salvage
import StoreTables

/// A database of the rows that are no longer in a store, or were otherwise: with the store's own tables
/// and bookkeeping, so that it opens as one.
///
/// An object that was deleted has its own key in it, where that is known and free; others, and earlier
/// states of objects, have keys above all that were given out.
package final class RemainsCopy {
  /// The database; its tables of objects hold what was found and nothing else.
  package let connection: Connection
  /// The entities' tables, in the order in which `found.row` counts them.
  package private(set) var tables: [String] = []
  /// The tables that Core Data would make for the model.
  package let schema: StoreSchema
  /// Whether room that rows were deleted from holds zeros alone; `nil` if there is none.
  package private(set) var isWiped: Bool?
  /// How many keys of each table were given out and are not in use any more.
  package var unused: [String: Int] {
    Dictionary(
      zip(tables, zip(given, live)).map { ($0, Int(max(0, $1.0 - $1.1.count))) }
    ) { first, _ in first }
  }
  /// The keys of a table's rows that the store has.
  package func living(in table: String) -> KeySet {
    places[table].map { live[$0] } ?? KeySet()
  }
  /// Whether more rows without a key were found than could be compared with those of the store.
  package var isComparedInPart: Bool { marks.isFull }
  /// What a person should know, as sentences.
  package private(set) var notes: [String] = []
  /// Keys of objects that history says were deleted and of which nothing was found, by table.
  package private(set) var lost: [String: [Int64]] = [:]

  let source: SalvageSource
  private let copy: SalvagedCopy
  private let entities: [SalvagedTable]
  let joins: [Int: SalvagedTable]
  let isCancelled: () -> Bool
  private var live: [KeySet]
  /// The fewest values that a row has: more where columns came later.
  private var fewest: [Int]
  /// The keys of each table that rows may have which are there and cannot be read.
  private var losses: [KeySet] = []
  /// Whether any key of the table may be one of those.
  private var mayLackAny: [Bool] = []
  /// The last key that each table gave out.
  private(set) var given: [Int64] = []
  /// Whether each table's rows have all keys that its counter gave out, so that none was deleted.
  private var isFull: [Bool] = []
  private var found: Int64 = 0
  private var joinRows: Int64 = 0
  /// What distinguishes rows without a key from others.
  private var marks: RowMarks
  /// What looks overwritten of the rows that were found.
  private var doubtful: DoubtfulRows
  private var former: FormerPages
  /// The keys that rows without one can have had, by place and row, as far as anything limits them.
  private var possibleKeys: [[Int64: [Int64]]]
  private static let mostListed = 10_000
  private static let mostLimited = 10_000
  /// What the list of what was found is called, behind the database's name.
  package static let listSuffix = "-found"

  /// Finds the rows.
  ///
  /// - Parameters:
  ///   - path: where the database is to be: a file that is not there, or an empty one.
  ///   - progress: called with how much was looked at, from 0 to 1.
  /// - Throws: ``CoreDataError`` where nothing can be read, the disk is full, or it was cancelled.
  package init(
    of source: SalvageSource, at path: String, model: Model,
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    self.source = source
    self.isCancelled = isCancelled
    copy = try SalvagedCopy(
      of: source, at: path, model: model, contents: .bookkeeping, isCancelled: isCancelled)
    connection = copy.connection
    // Tables and columns have the names that the store has, whatever Core Data would look for.
    schema = try (copy.schema ?? StoreSchema(model: model)).fitted(to: DatabaseTables(connection))
      .schema
    entities = copy.all.filter { !$0.numbers.isEmpty }
    tables = entities.map(\.name)
    live = Array(repeating: KeySet(), count: entities.count)
    fewest = entities.map(\.columns.count)
    marks = RowMarks(tables: entities.count)
    possibleKeys = Array(repeating: [:], count: entities.count)
    doubtful = DoubtfulRows(tables: entities.count, encoding: source.image.header.encoding)
    former = FormerPages(schema, entities)
    let names = Set(schema.joins.map(\.name))
    joins = copy.byRoot.filter { names.contains($0.value.name) }
    do {
      for table in entities { try table.dropConstraints() }
      notes += copy.notes
      _ = try SalvagedBookkeeping(connection).complete(with: model, schema)
      let catalogue = try RemainsCatalogue(connection, at: path + Self.listSuffix)
      try connection.execute("BEGIN")
      try readKeys { progress($0 * 0.2) }
      try find(catalogue) { progress(0.2 + $0 * 0.6) }
      try compare(catalogue) { progress(0.8 + $0 * 0.2) }
      try catalogue.settle()
      try readHistory()
      for (place, table) in tables.enumerated() {
        try catalogue.apply(to: table, place, greatest: given[place])
      }
      try connection.execute("COMMIT")
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    }
  }

  /// The places of the entities' tables, by name.
  private var places: [String: Int] {
    Dictionary(tables.enumerated().map { ($1, $0) }) { first, _ in first }
  }

  private func check() throws { try CoreDataError.check(isCancelled) }

  /// Rows of the store as it is, each with the place of its table: those that salvage would take.
  ///
  /// - Returns: where rows stand that cannot be read.
  @discardableResult
  private func liveRows(
    _ progress: (Double) -> Void,
    _ body: (_ place: Int, RowScan.Row, borrowing Record) throws -> Void
  ) throws -> [TreeHole] {
    let places = self.places
    var tables = try RowTables(of: copy)
    let named = tables.named
    let pages = Double(max(1, source.image.pageCount))
    var displaced: Set<Int> = []
    // One table's rows follow one another: its name is looked up once for all of them.
    var latest: (table: SalvagedTable, place: Int?)?
    var scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { role, root in
        SalvageSource.holdsRows(role, root)
          && (role != .leaf || named[root].map { places[$0.name] != nil } ?? true)
      }, isCancelled: isCancelled, progress: { progress(Double($0) / pages) }
    ) { row, record in
      let table: SalvagedTable
      switch tables.place(row, record) {
      case .table(let found): table = found
      case .other(let found):
        displaced.insert(row.root)
        table = found
      case .none:
        if tables.stands(row) { displaced.insert(row.root) }
        return
      case .deleted, .unknown: return
      }
      if latest?.table !== table { latest = (table, places[table.name]) }
      if let place = latest?.place { try body(place, row, record) }
    }
    try check()
    return scan.lost + displaced.map { TreeHole(anywhereIn: $0) }
  }

  /// The keys of what lives, and of what may.
  private func readKeys(_ progress: (Double) -> Void) throws {
    // Changed here, and not where they are kept, which would be locked for each row.
    var (keys, least, pages) = (live, fewest, former)
    let lost = try liveRows(progress) { place, row, record in
      keys[place].insert(row.key)
      pages.learn(record, place, key: row.key)
      least[place] = min(least[place], record.count)
    }
    (live, fewest, former) = (keys, least, pages)
    try readLosses(lost)
    former.sort()
    for place in live.indices {
      live[place].sort()
      let number = schema.table(named: tables[place]).flatMap { schema.numbers[$0.root] } ?? 0
      let counted = try PrimaryKeys(connection).given(number) ?? 0
      isFull.append(counted > 0 && max(counted, live[place].greatest ?? 0) <= live[place].count)
      // A number that nobody gave out leaves no room above it.
      given.append(min(max(counted, live[place].greatest ?? 0, 0), 1 << 60))
    }
  }

  /// Finds out which objects that are not there may be lost, and not deleted.
  ///
  /// - Parameter rows: where rows stand that cannot be read.
  private func readLosses(_ rows: [TreeHole]) throws {
    let ofNobody = try source.missingPages + copy.unknownHoles + source.pagesOfNothing()
    let holes = Dictionary(copy.tables.map { ($0.name, $0.holes) }) { first, _ in first }
    for table in entities {
      var keys = KeySet()
      var isAny = source.hidesRows || table.root == 0 && ofNobody > 0
      for range in holes[table.name] ?? [] { keys.insert(range) }
      for hole in rows where hole.root == 0 || copy.byRoot[hole.root] === table {
        if hole.isOpen { isAny = true } else { keys.insert(hole.keys) }
      }
      keys.sort()
      losses.append(keys)
      mayLackAny.append(isAny)
    }
  }

  /// The tables of which rows may be lost, and not deleted: keys that were given out and that no row has may have been
  /// on pages that cannot be read.
  package var lossyTables: [String] {
    entities.indices.filter { place in
      guard !isFull[place] else { return false }
      return mayLackAny[place]
        || losses[place].ranges.contains { range in
          let last = min(range.upperBound, given[place])
          return range.lowerBound > .min && range.lowerBound <= last
            && live[place].missing(after: range.lowerBound - 1, before: last + 1, most: 0) == nil
        }
    }.map { entities[$0].name }
  }

  /// Whether an object that is not there may be lost, and not deleted: nothing distinguishes the two where its row
  /// may be one that cannot be read.
  ///
  /// - Parameter key: its key; `nil` where that is not known.
  private func isLost(_ key: Int64?, _ place: Int) -> Bool {
    mayLackAny[place]
      || key.map { losses[place].contains($0) } ?? !losses[place].isEmpty
  }

  /// What history says was deleted, so that it can be determined what nothing is left of.
  private func readHistory() throws {
    guard let (root, table) = copy.byRoot.first(where: { $0.value.name == "ACHANGE" }),
      let kind = table.columns.firstIndex(where: { $0.name == "ZCHANGETYPE" }),
      let number = table.columns.firstIndex(where: { $0.name == "ZENTITY" }),
      let key = table.columns.firstIndex(where: { $0.name == "ZENTITYPK" })
    else { return }
    var places: [Int64: Int] = [:]
    for (place, table) in entities.enumerated() {
      for number in table.numbers { places[number] = place }
    }
    var deleted = Array(repeating: KeySet(), count: entities.count)
    var scan = RowScan(source.image, source.trees)
    try scan.rows(where: { $0 == .leaf && $1 == root }, isCancelled: isCancelled) { _, record in
      guard record.integer(kind) == 2, let place = record.integer(number).flatMap({ places[$0] }),
        let key = record.integer(key)
      else { return }
      deleted[place].insert(key)
    }
    for place in deleted.indices {
      deleted[place].sort()
      let found = try connection.rows(
        "SELECT DISTINCT key FROM found.row WHERE place = ? AND state = 0 AND key IS NOT NULL",
        [.integer(Int64(place))])
      let known = Set(found.compactMap { $0.first?.integer })
      let lost = deleted[place].keys(most: Self.mostListed + known.count).filter {
        !known.contains($0) && !live[place].contains($0)
      }
      if !lost.isEmpty { self.lost[tables[place]] = Array(lost.prefix(Self.mostListed)) }
    }
    try check()
  }

  private func find(_ catalogue: RemainsCatalogue, _ progress: (Double) -> Void) throws {
    let links = try joins.mapValues { try CarvedLinks(of: $0, connection) }
    let places = self.places
    var scan = try RemainsScan(
      source.image, source.trees, shapes: entities.map(shape),
      tables: copy.byRoot.compactMapValues { places[$0.name] }, keys: live, fewest: fewest,
      roots: joins.mapValues { shapeOfLinks(of: $0) }
    ) { root, link in try links[root]?.add(link) }
    var page: (number: Int, source: Remnant.Source, found: Int64)?
    func finishPage() throws {
      for finding in former.finishPage() {
        guard let before = page?.found, before < found else { continue }
        try catalogue.setFormer(finding, in: tables[finding.place], -found ... -(before + 1))
      }
    }
    try scan.rows(isCancelled: isCancelled, progress: progress) { carved, record in
      var remnant = carved
      if page?.number != remnant.page || page?.source != remnant.source {
        try finishPage()
        page = (remnant.page, remnant.source, found)
      }
      // Which bytes are others nothing shows, those of a key least of all.
      if source.isGarbled { (remnant.key, remnant.certainty) = (nil, .unknown) }
      guard let place = remnant.shape else {
        guard let join = joins[remnant.root], join.fits(record) else { return }
        joinRows += 1
        return try join.insert(joinRows, record)
      }
      former.add(remnant, record, place)
      let digest = record.digest
      // One with fewer values than every row of the table is of before a migration: its columns may be others.
      let isOfTable =
        record.count >= fewest[place] || remnant.isCell && live[place].count == 0
      let isWhole =
        record.isWhole && isOfTable && !remnant.mayBeOverwritten && !source.isGarbled
      guard try !catalogue.holds(place, digest: digest, key: remnant.key) else {
        if isWhole { try catalogue.setWhole(place, digest: digest, key: remnant.key) }
        if let key = remnant.key, remnant.certainty == .certain {
          try catalogue.confirm(place, digest: digest, key: key, isCell: remnant.isCell)
        }
        return
      }
      found += 1
      // Not one that an object can have.
      let pk = -found
      try entities[place].insert(pk, record)
      let isRemembered = doubtful.add(record, place, pk: pk)
      try catalogue.add(
        remnant, place, pk: pk, digest: digest, rest: record.digest(from: 2),
        saves: record.integer(2) ?? 0,
        isWhole: isWhole && isRemembered,
        isTelling: !record.marks().isEmpty, isLost: isLost(remnant.key, place))
      guard remnant.key == nil else { return }
      marks.add(record, place, pk)
      if let possible = remnant.possibleKeys, possibleKeys[place].count < Self.mostLimited {
        possibleKeys[place][pk] = possible
      }
    }
    try finishPage()
    // Pages that are free hold zeros in a new store, too.
    let isMissing = live.indices.contains { given[$0] > live[$0].count }
    isWiped = isMissing ? scan.isWiped : nil
    try check()
  }

  /// What a join table's rows look like, with the last key that each of its sides gave out.
  private func shapeOfLinks(of table: SalvagedTable) -> LinkCarver.Shape {
    let join = schema.joins.first { $0.name == table.name }
    let sides = join.map { [($0.first, $0.entity), ($0.second, $0.inverseEntity)] } ?? []
    let greatest = table.columns.prefix(2).map { column -> Int64 in
      let entity = sides.first { $0.0 == column.name }?.1 ?? ""
      let place = schema.table(of: entity).flatMap { tables.firstIndex(of: $0.name) }
      return place.map { given[$0] } ?? 0
    }
    return LinkCarver.Shape(columns: table.columns.count, greatest: greatest + [0, 0])
  }

  /// What a table's rows look like, with what the model says of them.
  private func shape(of table: SalvagedTable) -> RowShape {
    let references = (schema.table(named: table.name)?.columns ?? []).compactMap { column in
      switch column.content {
      case .toOne, .toOneEntity, .owner: column.name
      default: nil
      }
    }
    var shape = table.shape
    shape.references = Set(
      table.columns.indices.filter { references.contains(table.columns[$0].name) })
    return shape
  }

  /// Compares what lives with what was found.
  private func compare(_ catalogue: RemainsCatalogue, _ progress: (Double) -> Void) throws {
    let keys = try tables.indices.map { place in
      var keys = KeySet()
      for row in try connection.rows(
        "SELECT key FROM found.row WHERE place = ? AND key IS NOT NULL ORDER BY 1",
        [.integer(Int64(place))])
      {
        if let key = row.first?.integer { keys.insert(key) }
      }
      return keys
    }
    var unsure = [Set<UInt64>](repeating: [], count: tables.count)
    for row in try connection.rows(
      "SELECT place, digest FROM found.row WHERE key IS NULL OR certainty = 'inferred'")
    {
      guard let place = row[0].integer, let digest = row[1].integer else { continue }
      unsure[Int(place)].insert(UInt64(bitPattern: digest))
    }
    let keyless = try connection.rows("SELECT DISTINCT place FROM found.row WHERE key IS NULL")
    var inverses = InverseKeys(
      schema, entities, keyless: Set(keyless.compactMap { $0.first?.integer.map { Int($0) } }))
    var cut: Set<Int> = []
    try liveRows(progress) { place, row, record in
      doubtful.compare(record, place)
      if !record.isWhole { cut.insert(place) }
      inverses.add(record, place, key: row.key, live: live)
      let hasKey = keys[place].contains(row.key)
      let hasMarks = marks.areAny(in: place)
      guard hasKey || hasMarks || !unsure[place].isEmpty else { return }
      let digest = record.digest
      if hasKey || unsure[place].contains(digest) {
        let rest = record.digest(from: 2)
        try catalogue.compare(place, key: row.key, digest: digest, rest: rest, hasKey: hasKey)
      }
      if hasMarks { marks.compare(record, place, key: row.key) }
    }
    try marks.forEachMatch { place, pk, key in try catalogue.setOlder(place, pk: pk, of: key) }
    // Of a row of which values are lost any may be an earlier state.
    for place in cut.sorted() { try catalogue.setUnsure(place) }
    try inverses.keys(connection, live: live, possible: possibleKeys) { place, pk, key in
      try catalogue.setKey(place, pk: pk, key: key, isLost: isLost(key, place))
    }
    for place in isFull.indices where isFull[place] { try catalogue.setAllOlder(place) }
    try doubtful.forEach { place, pk, isOfCells in
      try catalogue.setPartial(place, pk: pk, isOfCells: isOfCells)
    }
  }
}
