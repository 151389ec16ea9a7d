import SQLite
import Salvage
import StoreTables

/// What sqlite_master says of a damaged database, as far as it can be read page by page.
struct SchemaList {
  /// A row of it, with the page that its tree begins at.
  struct Object {
    var object: SchemaObject
    var root: Int
  }

  /// The objects, the first row of each name.
  private(set) var objects: [Object] = []
  /// Whether all of it was read.
  private(set) var isWhole = false
  /// How many names its tree has twice, in rows of their own: no list of one state has any.
  private(set) var namedTwice = 0

  /// - Throws: ``CoreDataError`` where the file cannot be read.
  init(_ image: DatabaseImage) throws {
    let master = try TreeMap(image, roots: [1], isComplete: true)
    var keys: [String: (key: Int64, isOfTree: Bool)] = [:]
    var twice: Set<String> = []
    let others = try master.pagesWithoutLists()
    let former = try Self.formerPages(image, master, besides: others)
    var scan = RowScan(image, master, besides: others)
    // Where its first page is gone, the others are found by what they hold.
    try scan.rows(where: SalvageSource.isLive) { row, record in
      guard !former.contains(row.page) else { return }
      guard record.count == 5, let type = SalvageSource.text(record, 0, image),
        ["table", "index", "trigger", "view"].contains(type),
        let name = SalvageSource.text(record, 1, image), let root = record.integer(3)
      else { return }
      // A trigger may be called as a table is.
      let place = (type == "trigger" ? "trigger " : "") + name
      let isOfTree =
        master.role(of: row.page) == .leaf || master.outOfPlace.contains(row.page)
      if let first = keys[place] {
        // The same row comes twice where a page stands in another's place.
        if isOfTree, first.isOfTree, first.key != row.key { twice.insert(place) }
        return
      }
      keys[place] = (row.key, isOfTree)
      objects.append(
        Object(
          object: SchemaObject(type: type, name: name, sql: SalvageSource.text(record, 4, image)),
          root: Int(clamping: root)))
    }
    namedTwice = twice.count
    isWhole =
      !objects.isEmpty && master.holes.isEmpty && scan.unreadable == 0 && twice.isEmpty
      && !image.shortenedPages.contains { master.owner(of: $0) == 1 }
  }

  /// Pages that hold the list of an earlier time, where its first page is gone and nothing says which ones were freed:
  /// they name a table where an index stands, or the other way round.
  private static func formerPages(
    _ image: DatabaseImage, _ master: TreeMap, besides others: [Bool]
  ) throws -> Set<Int> {
    guard try SchemaRoots.isOfTable(1, in: image) != true else { return [] }
    var found: Set<Int> = []
    var scan = RowScan(image, master, besides: others)
    try scan.rows(where: SalvageSource.isLive) { row, record in
      guard !found.contains(row.page), record.count == 5,
        let type = SalvageSource.text(record, 0, image), type == "table" || type == "index",
        let root = record.integer(3), root > 1
      else { return }
      let object = SchemaObject(type: type, name: "", sql: SalvageSource.text(record, 4, image))
      let isOfTable = type == "table" && !object.isWithoutRowID
      if try SchemaRoots.isOfTable(Int(clamping: root), in: image) == !isOfTable {
        found.insert(row.page)
      }
    }
    return found
  }

  /// What rows of Core Data's tables look like, by the first page of each; an app's own may hold anything.
  ///
  /// - Throws: ``CoreDataError`` where no database can be made to ask, or it was cancelled.
  func shapes() throws -> [Int: RowShape] {
    do { return try readShapes() } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: ":memory:", kind: .failed)
    }
  }

  private func readShapes() throws -> [Int: RowShape] {
    let connection = try Connection(path: ":memory:", mode: .create)
    var shapes: [Int: RowShape] = [:]
    for entry in objects where entry.object.type == "table" && entry.root > 1 {
      let name = entry.object.name
      guard let sql = entry.object.sql, sql.prefix(13).uppercased() == "CREATE TABLE ",
        name.hasPrefix("Z_") || sql.contains("Z_ENT"), !entry.object.isWithoutRowID,
        (try? connection.run(sql)) != nil
      else { continue }
      let (columns, key) = try SalvagedTable.columns(of: name, connection)
      shapes[entry.root] = RowShape(of: name, columns, keyColumn: key)
    }
    return shapes
  }
}

extension SalvageSource {
  /// That pages of two stores are mixed, as a sentence; `nil` where few pages do not fit those that reference them,
  /// and the trees of a small store are of one state.
  ///
  /// - Parameter hasHoles: whether any page does not fit; without one, no page of a large store is looked at for that.
  package static func mixed(_ image: DatabaseImage, hasHoles: Bool = true) throws -> String? {
    try mixed(image, SchemaList(image), hasHoles: hasHoles)
  }

  static func mixed(
    _ image: DatabaseImage, _ list: SchemaList, hasHoles: Bool
  ) throws -> String? {
    // What was lost of a shifted file makes no page another's.
    guard image.shift?.isLossy != true,
      let sign = try sign(of: image, list, hasHoles: hasHoles)
    else { return nil }
    return
      "Pages of two stores, or of two states of one, are mixed: \(sign). Rows on pages that do fit may belong to the other store."
  }

  private static func sign(
    of image: DatabaseImage, _ list: SchemaList, hasHoles: Bool
  ) throws -> String? {
    if hasHoles || image.hasFewPages, let strangers = try image.strangers(), strangers.count >= 4,
      strangers.count * 10 >= strangers.of
    {
      return "\(strangers.count) of \(strangers.of) pages do not fit the pages that reference them"
    }
    if let table = try image.tableOfOtherIndexes() {
      return "indexes have rows that their table \(table) lacks, and lack rows that it has"
    }
    // One is a row that was written over.
    if list.namedTwice > 1 {
      return "the list of tables (sqlite_master) has \(list.namedTwice) names twice"
    }
    // What was lost of pages makes no tree another's, and two pages in each other's place make two at most.
    guard image.hasFewPages, try !image.hasLostSector(),
      let trees = try image.treesOfOtherStates(list.shapes()),
      trees.count > 2, trees.count * 20 >= trees.of
    else { return nil }
    return
      "\(trees.count) of \(trees.of) tables and indexes have other rows than those that belong to them, or rows of others"
  }
}
