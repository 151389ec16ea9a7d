import Files
import ManagedModel
import SQLite

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
