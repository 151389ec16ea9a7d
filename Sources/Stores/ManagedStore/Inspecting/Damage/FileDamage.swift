import Files
import ManagedModel
import SQLite
import StoreTables

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

  /// Whether rows cannot be read, or others are read than there were.
  var costsRows: Bool { !holes.isEmpty || failure != nil || !rows.isEmpty }

  /// Whether pages or indexes are damaged.
  package var concernsFile: Bool {
    costsRows
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
    result += rows.sentences(tables) + rows.straySentences(tables)
    // Where rows are lost, that is what is to be said.
    if !costsRows, rows.strays.isEmpty, let first = problems.first {
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
      let most = last.map { "At most \(NumberText.counted($0 - first + 1, "object"))" }
      return
        "\(most ?? "An unknown number of objects") of \(root.entity)\(root.numbers.count > 1 ? " or its subentities" : "") are lost (\(keys)): their page cannot be read."
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
        for name in try connection.tableNames() {
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
