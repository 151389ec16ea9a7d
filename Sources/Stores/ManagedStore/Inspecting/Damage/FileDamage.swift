import Files
import ManagedModel
import SQLite
import Salvage

/// What is wrong with a store's file, and what of its rows that costs.
public struct FileDamage: Sendable, Equatable {
  /// Rows of a table that cannot be read.
  public struct Hole: Sendable, Equatable {
    /// Name of the table.
    public var table: String
    /// The first key that may be lost.
    public var first: Int64
    /// The last one; `nil` where the table could not be read to its end.
    public var last: Int64?
    /// How many rows there were, where an index still shows: by Z_ENT, or under `nil` where it does
    /// not show that.
    public var counts: [Int64?: Int]?
  }

  /// Most faults that are asked for.
  static let mostProblems = 100

  /// What SQLite finds, in its words; not all of them where there are many.
  public var problems: [String] = []
  /// What could not be read.
  public var holes: [Hole] = []
  /// What of the rows is not as it should be though SQLite reads them.
  package var rows = RowDamage()
  /// Why the store does not open as it is, and was read page by page; `nil` for one that does.
  package var failure: CoreDataError?
  /// Where pages are lost of which nothing shows whose they were: how many objects each entity may have
  /// lost at most, by the one at the top of its hierarchy, where the counter of its keys is there.
  package var openKeys: [String: Int]?
  /// What its pages reported then, as sentences.
  var found: [String] = []

  /// Faults of data in a sound file: nothing that reading would have to go round.
  private static let harmless = [
    "NULL value in ", "CHECK constraint failed in ", "NUMERIC value in ", "TEXT value in ",
    "non-unique entry in index ",
  ]

  /// The first faults in few words.
  package var told: [String] {
    problems.isEmpty ? ["some of it cannot be read"] : Array(problems.prefix(5))
  }

  /// How many faults there are, as words.
  package var problemCount: String {
    problems.count < Self.mostProblems ? "\(problems.count)" : "\(problems.count) or more"
  }

  /// Whether pages or indexes are damaged.
  package var concernsFile: Bool {
    !holes.isEmpty || failure != nil || !rows.isEmpty
      || problems.contains { line in !Self.harmless.contains { line.hasPrefix($0) } }
  }
}

extension FileDamage {
  /// What a person should know of it, as sentences.
  ///
  /// - Parameter tables: entities by their tables.
  func sentences(_ tables: [EntityTable]) -> [String] {
    var result = found
    if let failure {
      result.insert(
        "The store does not open as it is (\(failure.message)): what follows was found page by page.",
        at: 0)
    }
    result += holes.prefix(100).map { $0.sentence(tables) }
    if holes.count > 100 { result.append("… and \(holes.count - 100) more places.") }
    result += rows.sentences(tables)
    // Where rows are lost, that is what is to be said.
    if holes.isEmpty, failure == nil, rows.isEmpty, let first = problems.first {
      let count = problems.count == 1 ? "a fault" : "\(problemCount) faults"
      result.append(
        "SQLite finds \(count) in the file: \(first)\(concernsFile ? ". No row of the tables' own pages is lost by it." : ".")"
      )
    }
    return result
  }
}

extension FileDamage {
  /// What of the rows is damaged, as sentences.
  package func rowSentences(_ tables: [EntityTable]) -> [String] {
    rows.sentences(tables)
  }
}

extension FileDamage.Hole {
  /// Objects that are lost, by entity where that is known; `nil` where not even their number is.
  func sentence(_ tables: [EntityTable]) -> String {
    let own = tables.filter { $0.table == table }
    guard let root = own.first(where: \.isWholeTable) ?? own.first else {
      let total = counts?.values.reduce(0, +)
      return
        "\(total.map { "\($0) rows" } ?? "Rows") of the table \(table) are lost: their page cannot be read."
    }
    let keys = last.map { $0 == first ? "p\(first)" : "p\(first)–p\($0)" } ?? "from p\(first) on"
    guard let counts else {
      return
        "Objects of \(root.entity)\(root.numbers.count > 1 ? " or its subentities" : "") are lost, at most \(last.map { "\($0 - first + 1)" } ?? "all") (\(keys)): their page cannot be read."
    }
    let parts = counts.sorted { ($0.key ?? -1) < ($1.key ?? -1) }.map { number, count in
      let entity =
        number.flatMap { number in own.first { $0.entityID == number }?.entity }
        ?? (root.numbers.count > 1 ? "\(root.entity) or its subentities" : root.entity)
      return "\(NumberText.counted(count, "object")) of \(entity)"
    }
    return
      "\(parts.joined(separator: ", ")) lost, \(keys): \(counts.values.reduce(0, +) == 1 ? "its" : "their") page cannot be read."
  }
}

/// What a look at a whole file found, and the copy that is read in its place where it is damaged.
struct Soundness {
  private(set) var damage: FileDamage?
  private(set) var mended: MendedCopy?
  private(set) var isInspected = false
  /// What the check found out by the way.
  private(set) var facts: ReadFacts?

  /// The look at a store that is being opened: a small file is checked whole, of a large one whether
  /// both ends of each table can be read.
  init(_ connection: Connection, bytes: Int) throws {
    do {
      if bytes <= Store.checkedSize {
        try self.init(checking: connection)
      } else {
        self.init()
        let names = try connection.rows(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        ).compactMap { $0.first?.text }
        for name in names {
          // Without row ids there are no ends to ask for.
          guard let ends = try? connection.prepare("SELECT max(rowid) FROM \(quoted(name))")
          else { continue }
          _ = try ends.step()
        }
      }
    } catch let error as SQLiteError where error.isBusy {
      // Somebody writes: what cannot be checked now is checked as it is read.
      self.init()
    } catch let error as SQLiteError where error.isDamage {
      try self.init(mending: connection)
    }
  }

  private init() {}

  /// Checks the whole file.
  init(
    checking connection: Connection, asking questions: [String: ReadFacts.Question] = [:]
  ) throws {
    let problems = try IntegrityCheck.problems(connection, asking: questions, &facts)
    isInspected = true
    guard !problems.isEmpty else { return }
    let found = FileDamage(problems: problems)
    damage = found
    if found.concernsFile { try copy(connection) }
  }

  /// Takes what can be read of a file that is known to be damaged.
  init(mending connection: Connection) throws {
    let problems = try IntegrityCheck.problems(connection)
    isInspected = true
    damage = FileDamage(problems: problems)
    try copy(connection)
  }

  /// Takes what can be read of a store that does not open, page by page.
  ///
  /// - Throws: `failure` where nothing can be.
  init(salvaging files: StoreFiles, model: Model?, after failure: CoreDataError) throws {
    guard FileSystem.isFile(files.path),
      let source = try? SalvageSource(
        path: files.path, log: .ownIfFitting, takesRenamedJournal: false),
      let copy = try? MendedCopy(salvaging: source, model: model)
    else { throw failure }
    isInspected = true
    mended = copy
    var found = FileDamage(problems: [failure.message])
    found.holes = copy.holes
    found.openKeys = copy.openKeys
    found.failure = failure
    found.found = source.notes
    damage = found
  }

  /// Makes the copy: by SQLite, or by the pages themselves where SQLite reads what is not there.
  private mutating func copy(_ connection: Connection) throws {
    let source = try? SalvageSource(
      path: connection.path, log: connection.isImmutable ? .none : .ownIfFitting,
      takesRenamedJournal: false)
    let rows = try RowDamage(source, connection)
    damage?.rows = rows
    if rows.isReadWrong, let source,
      let copy = try? MendedCopy(salvaging: source, model: nil)
    {
      damage?.holes = copy.holes
      mended = copy
      return
    }
    let copy = try MendedCopy(of: connection)
    damage?.holes = copy.holes
    mended = copy
  }
}

/// What of the rows of a damaged file is not as it should be, and is read by SQLite without a word.
///
/// Pages are looked at by themselves: whose they are, in which order their keys stand, whether a row ends where
/// it says. Indexes are asked for keys that no page of their table has.
package struct RowDamage: Sendable, Equatable {
  /// Rows of which a part stands on pages that are another's, or that are gone: their keys, by table.
  package var cut: [String: [Int64]] = [:]
  /// How many rows were found on pages that no tree references, by table.
  package var adopted: [String: Int] = [:]
  /// Places on pages that should be rows, and are not.
  package var unreadable = 0
  /// Rows that stand where another table's should.
  package var misplaced = 0
  /// Pages that stand where their tree has other keys.
  package var outOfPlace = 0
  /// Keys that an index holds and that no page of its table has, by table.
  package var missing: [String: [Int64]] = [:]
  /// Keys of rows of which an index has other values, by table: one of the two is older, or damaged.
  package var doubtful: [String: [Int64]] = [:]

  /// How many rows are on pages whose cells, freed blocks and fragments do not fill them, by table.
  package var unbalanced: [String: Int] = [:]

  private static let mostListed = 10_000

  /// Whether SQLite reads other rows than the pages have.
  var isReadWrong: Bool {
    !cut.isEmpty || !adopted.isEmpty || unreadable > 0 || misplaced > 0 || outOfPlace > 0
  }
  /// Whether nothing was found.
  package var isEmpty: Bool { !isReadWrong && missing.isEmpty && unbalanced.isEmpty }

  /// Nothing.
  init() {}

  /// Looks at a file that SQLite found damaged.
  ///
  /// - Parameter source: its pages; `nil` where they cannot be read by themselves.
  /// - Throws: ``SQLiteError`` where it was interrupted.
  init(_ source: SalvageSource?, _ connection: Connection) throws {
    if let source { try? look(at: source) }
    try askIndexes(connection)
  }

  private mutating func look(at source: SalvageSource) throws {
    let names = Dictionary(
      source.objects.filter { $0.object.type == "table" && $0.root > 1 }.map {
        ($0.root, $0.object.name)
      }
    ) { first, _ in first }
    let columns = try source.columnCounts()
    var scan = RowScan(source.image, source.trees)
    var (cut, adopted, misplaced) = ([String: [Int64]](), [String: Int](), 0)
    try scan.rows(where: SalvageSource.holdsRows) { row, record in
      let name = names[row.root] ?? ""
      if let count = columns[name], record.count > count {
        misplaced += 1
        return
      }
      if row.certainty == .guessed { adopted[name, default: 0] += 1 }
      if !record.isWhole, cut[name, default: []].count < Self.mostListed {
        cut[name, default: []].append(row.key)
      }
    }
    (self.cut, self.adopted, self.misplaced) = (cut, adopted, misplaced)
    unreadable = scan.unreadable
    for (root, count) in scan.unbalanced { unbalanced[names[root] ?? "", default: 0] += count }
    outOfPlace = source.trees.outOfPlace.count
  }

  private mutating func askIndexes(_ connection: Connection) throws {
    let rows =
      (try? connection.rows(
        """
        SELECT m.name, l.name FROM sqlite_master m JOIN pragma_index_list(m.name) l \
        WHERE m.type = 'table' AND m.rootpage > 0 AND l.partial = 0
        """)) ?? []
    for row in rows where row.count == 2 {
      guard let table = row[0].text, let index = row[1].text else { continue }
      func add(_ sql: String, to list: inout [String: [Int64]]) throws {
        let keys = try connection.rows("\(sql) LIMIT \(Self.mostListed)").compactMap {
          $0.first?.integer
        }
        guard !keys.isEmpty else { return }
        list[table] = Set(list[table] ?? []).union(keys).sorted()
      }
      do {
        let columns = try connection.rows("PRAGMA index_info(\(quoted(index)))").map {
          $0.last?.text
        }
        let own = columns.compactMap { $0.map(quoted) }
        let values = own.enumerated().map { ", \($1) v\($0)" }.joined()
        let entries =
          "(SELECT rowid k\(values) FROM \(quoted(table)) INDEXED BY \(quoted(index)) WHERE ifnull(rowid, 1) IS NOT NULL)"
        try add(
          "SELECT k FROM \(entries) WHERE k NOT IN (SELECT rowid FROM \(quoted(table)) NOT INDEXED)",
          to: &missing)
        // One over an expression is not compared.
        guard !own.isEmpty, own.count == columns.count else { continue }
        let differs = own.enumerated().map { "t.\($1) IS NOT v\($0)" }.joined(separator: " OR ")
        try add(
          "SELECT k FROM \(entries) JOIN \(quoted(table)) t NOT INDEXED ON t.rowid = k WHERE \(differs)",
          to: &doubtful)
      } catch let error as SQLiteError {
        if error.isInterrupted { throw error }
        // An index that cannot be read proves nothing.
      }
    }
  }
}

extension RowDamage {
  /// What a person should know of it, as sentences.
  ///
  /// - Parameter tables: entities by their tables.
  func sentences(_ tables: [EntityTable]) -> [String] {
    func what(_ count: Int, _ table: String) -> String {
      let own = tables.filter { $0.table == table }
      guard let root = own.first(where: \.isWholeTable) ?? own.first else {
        return
          "\(NumberText.counted(count, "row")) of \(table.isEmpty ? "an unknown table" : "the table \(table)")"
      }
      return
        "\(NumberText.counted(count, "object")) of \(root.entity)\(root.numbers.count > 1 ? " or its subentities" : "")"
    }
    func keys(_ keys: [Int64]) -> String {
      keys.prefix(5).map { "p\($0)" }.joined(separator: ", ") + (keys.count > 5 ? " …" : "")
    }
    func more(_ keys: [Int64]) -> String { keys.count < Self.mostListed ? "" : " or more" }
    var result = cut.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") damaged: a part is on pages that belong to others, or that are missing (\(keys(own)))."
    }
    result += missing.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") in an index and on no page of the table (\(keys(own)))."
    }
    result += adopted.sorted { $0.key < $1.key }.map { table, count in
      "\(what(count, table)) \(count == 1 ? "is" : "are") on pages that no b-tree of the table references."
    }
    result += unbalanced.sorted { $0.key < $1.key }.map { table, count in
      "\(what(count, table)) \(count == 1 ? "is" : "are") on pages whose free space is wrong: a page may be of two times, and values of its rows with it."
    }
    if unreadable > 0 {
      result.append(
        "\(NumberText.counted(unreadable, "place on a page holds", plural: "places on pages hold")) no row that can be read."
      )
    }
    if outOfPlace > 0 {
      result.append(
        "\(NumberText.counted(outOfPlace, "page")) \(outOfPlace == 1 ? "is" : "are") where the table has other keys: what should be there is lost."
      )
    }
    if misplaced > 0 {
      result.append(
        "\(NumberText.counted(misplaced, "row is", plural: "rows are")) where another table's should be."
      )
    }
    return result
  }
}
