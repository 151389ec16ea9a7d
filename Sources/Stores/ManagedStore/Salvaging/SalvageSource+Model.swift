import Files
import ManagedModel
import SQLite
import Salvage
import StoreTables

extension SalvageSource {
  /// Whether a page is of a tree, or of what a tree lacks.
  static func isLive(_ role: TreeMap.Role, _ root: Int) -> Bool {
    role == .leaf || role == .adopted
  }

  /// Whether a page may hold rows of tables, the schema's own aside.
  static func holdsRows(_ role: TreeMap.Role, _ root: Int) -> Bool {
    root != 1 && (isLive(role, root) || role == .broken)
  }

  /// Which pages may hold rows of a table of Core Data's own: those of its tree where that is known.
  private func pages(of table: String) -> (TreeMap.Role, Int) -> Bool {
    let root = objects.first { $0.object.type == "table" && $0.object.name == table }?.root ?? 0
    guard isSchemaWhole, root > 0, !trees.holes.contains(where: { $0.root == root }),
      trees.doubt != .all
    else { return Self.isLive }
    return { Self.isLive($0, $1) && $1 == root }
  }

  /// The model that is kept in the store, wherever the page of its cache is; `nil` where it is in none.
  package func model() throws -> Model? {
    if let known = foundModel.value { return known }
    let found = try findModel()
    foundModel.value = .some(found)
    return found
  }

  private func findModel() throws -> Model? {
    var found: Model?
    // The cache is one row, whose only column is what the archive deflates to.
    try rows(of: "Z_MODELCACHE", until: { found != nil }) { _, record in
      guard record.count == 1, record.kind(0) == .blob else { return false }
      guard found == nil, let bytes = record.content(0), bytes.count > 64 else { return true }
      found = try? Model(archive: ModelCache.inflate(Array(bytes)))
      return true
    }
    return found
  }

  /// Why ``model()`` finds none, as the beginning of a sentence.
  package func reasonWithoutModel() throws -> String {
    guard !lacksTable("Z_MODELCACHE") else {
      return "the store has no model cache (Z_MODELCACHE)"
    }
    let root = objects.first { $0.object.type == "table" && $0.object.name == "Z_MODELCACHE" }?.root
    guard let root, root > 0, !trees.holes.contains(where: { $0.root == root }) else {
      return "the store's model cache (Z_MODELCACHE) cannot be read"
    }
    var isEmpty = true
    var scan = RowScan(image, trees)
    try scan.rows(where: { $0 == .leaf && $1 == root }) { _, record in
      // Core Data leaves a row without a value where it keeps no model.
      if record.kind(0) != .null { isEmpty = false }
    }
    return isEmpty && scan.unreadable == 0
      ? "the store's model cache (Z_MODELCACHE) is empty"
      : "the model in the store's model cache (Z_MODELCACHE) cannot be read"
  }

  /// The hash of each entity of the model that made the store, as its metadata has them, wherever their
  /// page is; empty where they are gone.
  package func versionHashes() throws -> [String: VersionHash] {
    var found: [String: VersionHash] = [:]
    try rows(of: "Z_METADATA", until: { !found.isEmpty }) { row, record in
      // Of the one row of Z_METADATA its key, UUID and property list.
      guard record.count == 3, row.key == 1, record.kind(0) == .null, record.kind(1) == .text else {
        return false
      }
      guard found.isEmpty, let bytes = record.content(2),
        case .dictionary(let values)? = try? PropertyList.read(Array(bytes))
      else { return true }
      found = StoreMetadata(uuid: "", values: values).versionHashes
      return true
    }
    return found
  }

  /// The tables that Core Data would make for a model, with the numbers that the store gave its
  /// entities, as far as rows of Z_PRIMARYKEY still show them.
  ///
  /// - Parameter others: numbers that another store has, for entities that no row shows.
  func schema(
    for model: Model, numbers others: [(number: Int64, name: String)] = []
  ) throws -> StoreSchema {
    let known = Set(
      model.entities.flatMap { [$0.name] + [$0.renamingIdentifier].compactMap { $0 } })
    let rows = try entityNumbers().filter { known.contains($0.name) }
    guard !rows.isEmpty || !others.isEmpty else { return StoreSchema(model: model) }
    let fresh = StoreSchema.freshNumbers(of: model).merging(
      EntityNumbering.match(model: model, rows: others)
    ) { _, other in other }
    var numbers = EntityNumbering.match(model: model, rows: rows)
    let taken = Set(numbers.values)
    for (name, number) in fresh where numbers[name] == nil && !taken.contains(number) {
      numbers[name] = number
    }
    return StoreSchema(model: model, numbers: numbers)
  }

  /// What rows of Z_PRIMARYKEY still show: the entities' numbers.
  func entityNumbers() throws -> [(number: Int64, name: String)] {
    try counters().map { ($0.number, $0.name) }
  }

  /// The Z_ENT of each table's rows, as rows of Z_PRIMARYKEY name the entities and their parents: what is known of
  /// them without a model.
  func numbersOfTables() throws -> [String: Set<Int64>] {
    let counters = try counters()
    let known = Dictionary(counters.map { ($0.number, $0) }) { first, _ in first }
    var numbers: [String: Set<Int64>] = [:]
    for counter in counters where HistoryTable(rawValue: counter.number) == nil {
      var top = counter
      // No hierarchy is deeper.
      for _ in 0..<64 {
        guard let parent = known[top.parent], parent.number != top.number else { break }
        top = parent
      }
      numbers["Z" + top.name.uppercased(), default: []].insert(counter.number)
    }
    return numbers
  }

  private func counters() throws -> [(number: Int64, name: String, parent: Int64)] {
    var found: [(number: Int64, name: String, parent: Int64)] = []
    try rows(of: "Z_PRIMARYKEY") { row, record in
      guard record.count == 4, record.kind(0) == .null, record.kind(1) == .text,
        record.kind(2) == .integer, found.count < Self.mostEntities,
        let name = Self.text(record, 1, image)
      else { return false }
      found.append((row.key, name, record.integer(2) ?? 0))
      return true
    }
    return found
  }

  /// Reads rows of a table of Core Data's own, wherever they may be: a tree of whose first rows none is one of it is
  /// another table's.
  ///
  /// - Parameters:
  ///   - isDone: asked now and then; no more rows are read then.
  ///   - take: takes a row, and says whether it is one of the table.
  private func rows(
    of table: String, until isDone: () -> Bool = { false },
    _ take: (RowScan.Row, borrowing Record) throws -> Bool
  ) throws {
    let isOfTable = pages(of: table)
    // How many rows of a tree are none of these, where none is.
    var others: [Int: Int] = [:]
    var scan = RowScan(image, trees)
    try scan.rows(
      where: { role, root in
        isOfTable(role, root) && (role != .leaf || others[root, default: 0] < Self.mostOthers)
      }, isCancelled: isDone
    ) { row, record in
      if try take(row, record) {
        others[row.root] = .min
      } else {
        others[row.root, default: 0] += 1
      }
    }
  }

  /// So many rows of a tree that are none of a table's show that there will be none.
  private static let mostOthers = 64

  /// More entities than that no model has; rows of other tables may look alike.
  private static let mostEntities = 100_000
}

/// The model that was looked for in a damaged store, once for all who ask: every page may have to be read for it.
final class FoundModel {
  /// What was found; `nil` before it was looked for.
  var value: Model??
}

/// A healthy store of the same version of an app: it states what the tables of a damaged one are made of.
package struct SiblingStore: Sendable {
  /// Where it is.
  package let path: String
  /// The model in it; `nil` if there is none.
  package let model: Model?
  /// The hashes of its model's entities.
  package let versionHashes: [String: VersionHash]
  /// What its sqlite_master lists, in the order in which it was made.
  let objects: [SchemaObject]
  /// Its entities' numbers.
  let numbers: [(number: Int64, name: String)]

  /// Reads it.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read, is no store, or is damaged itself.
  package init(path: String) throws {
    let store = try Store(path: path)
    guard store.damage == nil else {
      throw CoreDataError(
        .unreadable, "the store that is to show what the tables are like is damaged itself",
        path: path, hint: "Take one that is healthy.")
    }
    self.path = path
    model = store.modelSource == .store ? store.wholeModel : nil
    versionHashes = store.metadata.versionHashes
    do {
      objects = try store.connection.rows(
        "SELECT type, name, sql FROM sqlite_master ORDER BY rowid"
      ).compactMap { row in
        guard row.count == 3, let type = row[0].text, let name = row[1].text else { return nil }
        return SchemaObject(type: type, name: name, sql: row[2].text)
      }.filter { !$0.isSQLites }
      numbers = try store.connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY").compactMap {
        guard $0.count == 2, let number = $0[0].integer, let name = $0[1].text else { return nil }
        return (number, name)
      }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
  }

  /// The statements that make what it has of a kind.
  func statements(_ type: String) -> [(name: String, sql: String)] {
    objects.compactMap { object in
      object.type == type ? object.sql.map { (object.name, $0) } : nil
    }
  }
}

/// What becomes of files beside a store that look like its -journal under another name.
struct RenamedJournal {
  /// The one that is rolled back; `nil` where none is.
  private(set) var path: String?
  /// What a person should know, as sentences.
  private(set) var notes: [String] = []
  /// Whether one is left out that may be the store's: it may hold half of a save then.
  private(set) var isNeeded = false

  /// - Parameters:
  ///   - store: the main file.
  ///   - isTaken: whether one is rolled back at all.
  /// - Throws: `CoreDataError` where a file cannot be read.
  init(beside store: String, isTaken: Bool) throws {
    let own = store + "-journal"
    let isThere = try FileSystem.present(own)?.kind == .file
    let size = FileSystem.status(store)?.size ?? 0
    guard try !isThere || RollbackJournal.state(of: own, besideMainOf: size) != .hot else { return }
    let folder = FileSystem.parent(of: store) ?? "."
    var fitting: [StrayLog] = []
    for stray in StrayLog.all(beside: store)
    where stray.kind == .journal && !stray.isOfAnotherTime {
      let found = try RollbackJournal.contradiction(
        of: folder + "/" + stray.name, store: store)
      guard let found else {
        fitting.append(stray)
        continue
      }
      notes.append("\(stray.name) was left out: it does not belong to the store (\(found.words)).")
      // What is damaged may contradict its own journal.
      if found.isOfDamage { isNeeded = true }
    }
    // Of two, one at most is of the last save, and a journal of the store's own says that it was finished.
    if isTaken, !isThere, fitting.count == 1, let stray = fitting.first {
      path = folder + "/" + stray.name
      notes.append("\(stray.name) was used as the store's -journal, which is missing.")
      return
    }
    notes += fitting.map { $0.sentence(store: store, isNeeded: true) }
    if !fitting.isEmpty { isNeeded = true }
  }
}

extension LogKinship.Contradiction {
  /// Whether damage of the store can be the reason, too.
  fileprivate var isOfDamage: Bool {
    switch self {
    case .unreadable, .page: true
    default: false
    }
  }
}
