import ManagedModel
import SQLite
import Salvage

/// What was copied page for page into a database that is made.
struct CopiedTrees {
  /// Roots of tables that the schema does not name and that their rows determine, by name.
  private(set) var told: [String: Int] = [:]
  /// What was copied of tables, by name.
  private(set) var tables: [String: TreeCopy.Outcome] = [:]
  /// Which pages were; the first is page 1.
  private(set) var isPageCopied: [Bool] = []
  /// Indexes that have to be rebuilt.
  private(set) var emptyIndexes: [String] = []

  /// Nothing.
  init() {}

  /// - Parameter told: roots of tables that their rows determine, by name.
  init(told: [String: Int]) { self.told = told }

  /// Copies tables, and indexes of those that are whole, into the empty ones that were made.
  ///
  /// - Parameters:
  ///   - path: the new database.
  ///   - connection: to it; another one afterwards.
  ///   - owners: how rows of a table differ from those of others, by name.
  ///   - open: opens it.
  /// - Throws: `CoreDataError` where a file cannot be read or written, or it was cancelled;
  ///   `SQLiteError`.
  mutating func copy(
    from source: SalvageSource, to path: String, _ connection: inout Connection,
    owners: [String: RowOwner], open: () throws -> Connection, isCancelled: @escaping () -> Bool,
    progress: @escaping (Double) -> Void
  ) throws {
    let stated = Dictionary(source.objects.map { ($0.object.name, $0) }) { first, _ in first }
    func root(of name: String, _ type: String) -> Int? {
      stated[name].flatMap { $0.object.type == type && $0.root > 1 ? $0.root : nil }
    }
    let places = try connection.rows(
      "SELECT type, name, tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0")
    connection.close()
    var copy = try TreeCopy(
      source.image, source.trees, to: path, isCancelled: isCancelled, progress: progress)
    for row in places where row.count == 4 && row[0].text == "table" {
      guard let name = row[1].text, let place = row[3].integer,
        let root = root(of: name, "table") ?? told[name]
      else { continue }
      if stated[name]?.object.isWithoutRowID == true {
        let isWhole = try copy.copyIndex(root: root, to: Int(place))
        if !isWhole { throw CoreDataError(.unreadable, "\(name) cannot be copied page for page") }
        continue
      }
      let owner = owners[name]
      tables[name] = try copy.copyTable(root: root, to: Int(place)) { count, number in
        owner?.isOwn(count, number) ?? true
      }
    }
    try copy.finish()
    isPageCopied = copy.isCopied
    connection = try open()
    let indexes =
      source.isSchemaWhole
      ? [:] : try TreeNames.indexes(of: source, besides: isPageCopied, in: connection)
    connection.close()
    copy = try TreeCopy(
      source.image, source.trees, to: path, besides: isPageCopied, isCancelled: isCancelled,
      progress: progress)
    for row in places where row.count == 4 && row[0].text == "index" {
      guard let name = row[1].text, let table = row[2].text, let place = row[3].integer else {
        continue
      }
      guard tables[table]?.isWhole == true, let root = root(of: name, "index") ?? indexes[name],
        try copy.copyIndex(root: root, to: Int(place))
      else {
        emptyIndexes.append(name)
        continue
      }
    }
    try copy.finish()
    connection = try open()
  }
}
