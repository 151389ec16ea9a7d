import Files
import SQLite
import Salvage
import Synchronization

/// A check of a whole file, shared by two threads: of its structure by SQLite itself, of each table
/// whether its indexes agree with it.
///
/// The structure is one task, each table with its indexes another. A thread of its own begins with them,
/// where a processor has nothing else to do; who waits for the answer helps, or does it all. Where a table
/// does not agree with its indexes, and where that cannot be determined by reading, SQLite is asked: what is reported
/// is in its words.
package final class IntegrityCheck: Sendable {
  /// What finds out whether the indexes of a table agree with it.
  package enum Judge: Sendable {
    /// Each tree is read once, and what rows and entries come to is compared.
    case reading
    /// SQLite's own check, which looks each row up in each index; nothing is found out by the way.
    case sqlite
  }

  /// The switch: what checks files, unless it is said.
  package static let judge = Judge.reading

  private enum Task {
    case structure
    case table(String)
  }

  private struct State {
    var problems: [String] = []
    var facts = ReadFacts()
    var answers: [String: SourceComparison.Answer] = [:]
    var error: SQLiteError?
  }

  private let path: String
  private let isWhole: Bool
  private let judge: Judge
  private let questions: [String: ReadFacts.Question]
  private let comparison: SourceComparison?
  private let tasks: [Task]
  private let state = Mutex(State())
  private let rowsCompared = Atomic<Int>(0)
  private let shared: SharedTasks

  /// Begins to check a file that nobody writes to.
  ///
  /// - Parameters:
  ///   - tables: names of its tables, in the order in which they are checked.
  ///   - isWhole: whether what no table has is checked, too: which pages are free, and that each is used.
  ///   - questions: what is to be found out by the way, by table.
  ///   - comparison: what of it is compared with the file that it came from.
  ///   - judge: what says whether indexes agree with their tables.
  ///   - processors: say whether a thread of its own would help.
  package init(
    of path: String, tables: [String], isWhole: Bool = true,
    asking questions: [String: ReadFacts.Question] = [:],
    comparing comparison: SourceComparison? = nil, by judge: Judge = IntegrityCheck.judge,
    on processors: Processors = .shared
  ) {
    self.path = path
    self.isWhole = isWhole
    self.judge = judge
    self.questions = questions
    self.comparison = comparison
    tasks = (isWhole ? [.structure] : []) + tables.map(Task.table)
    shared = SharedTasks(count: tasks.count)
    shared.begin(on: processors) { [self] in workAlone() }
  }

  private func workAlone() {
    do {
      let connection = try Connection(path: path, mode: .immutable)
      // A tree is read once, from its first page to its last.
      try connection.execute("PRAGMA cache_size = -2000")
      connection.onProgress { self.shared.isStopped }
      work(on: connection) {}
    } catch let error as SQLiteError {
      state.withLock { $0.error = error }
    } catch {
      state.withLock { $0.problems.append("\(error)") }
    }
  }

  /// Whether it has a thread of its own.
  package var isHelped: Bool { shared.isHelped }

  /// Ends the check early; its answer is of no interest any more.
  package func stop() { shared.stop() }

  /// Helps with what is left, then answers what is wrong, as SQLite shows it; empty for a sound file.
  ///
  /// - Parameter meanwhile: called now and then, with how many rows were compared.
  package func problems(
    helpedBy connection: Connection, meanwhile: (_ rows: Int) -> Void = { _ in }
  ) throws -> [String] {
    func tell() { meanwhile(rowsCompared.load(ordering: .relaxed)) }
    work(on: connection, meanwhile: tell)
    shared.wait(meanwhile: tell)
    tell()
    return try state.withLock { state in
      if let error = state.error { throw error }
      return state.problems
    }
  }

  /// What was found out by the way, once ``problems(helpedBy:)`` has answered that nothing is wrong.
  package var facts: ReadFacts { state.withLock { $0.facts } }

  /// What was found to be as it must, by table, under the same condition; of the others nothing is known.
  package var answers: [String: SourceComparison.Answer] { state.withLock { $0.answers } }

  /// Takes one task after the other until there are none.
  private func work(on connection: Connection, meanwhile: () -> Void) {
    let images = Images(self)
    while let next = shared.take() {
      do {
        let lines = try lines(of: tasks[next], images, connection, meanwhile)
        if lines != ["ok"] { state.withLock { $0.problems += lines } }
      } catch let error as SQLiteError {
        // The first counts: it stops the other thread, whose statement then ends as interrupted.
        state.withLock { $0.error = $0.error ?? error }
        stop()
      } catch {
        state.withLock { $0.problems.append("\(error)") }
      }
    }
  }

  /// The files as one thread reads them.
  private struct Images {
    let own: DatabaseImage?
    let source: DatabaseImage?

    init(_ check: IntegrityCheck) {
      own = try? DatabaseImage(readBySQLiteAt: check.path)
      source = check.comparison.flatMap { try? DatabaseImage(readBySQLiteAt: $0.path) }
    }
  }

  private func lines(
    of task: Task, _ images: Images, _ connection: Connection, _ meanwhile: () -> Void
  ) throws -> [String] {
    func ask(_ pragma: String) throws -> [String] {
      try connection.rows("PRAGMA main.\(pragma)").compactMap { $0.first?.text }
    }
    switch task {
    case .structure: return try ask("quick_check(5)")
    case .table(let name):
      let agrees = try withoutActuallyEscaping(meanwhile) { meanwhile in
        try isAgreed(name, images, connection) {
          meanwhile()
          return self.shared.isStopped || connection.shouldStop
        }
      }
      guard agrees else { return try ask("integrity_check(\(quoted(name)))") }
      return isWhole ? ["ok"] : try ask("quick_check(\(quoted(name)))")
    }
  }

  /// Whether a table's indexes agree with it, as far as that can be determined by reading; what its rows show by
  /// the way is kept where they do.
  private func isAgreed(
    _ name: String, _ images: Images, _ connection: Connection, isStopped: @escaping () -> Bool
  ) throws -> Bool {
    guard judge == .reading, let own = images.own,
      let table = try IndexedTable(name, in: connection)
    else { return false }
    var answer: SourceComparison.Answer?
    var rows: RowComparison?
    if let asked = comparison?.tables[name], let source = images.source {
      var pages = TreeComparison(source, own, isCancelled: isStopped)
      if try pages.isSame(asked.roots.source, asked.roots.result) {
        answer = .pages
      } else if let question = asked.rows {
        rows = try RowComparison(
          question, from: source, counting: { self.rowsCompared.add($0, ordering: .relaxed) },
          isCancelled: isStopped)
      }
    }
    var told = questions[name].flatMap { ReadFacts.Table(table, asked: $0) }
    var facts = told?.facts
    var agreement = IndexAgreement(table, in: own, isCancelled: isStopped)
    guard try agreement.isGiven(gathering: &facts, comparing: &rows) else {
      return false
    }
    if let facts { told?.facts = facts }
    if let counts = try rows?.finish() { answer = .rows(counts) }
    state.withLock { [told, answer] state in
      if let told { state.facts.add(told, of: name) }
      if let answer { state.answers[name] = answer }
    }
    return true
  }
}

/// A check of a whole file in one call: pages, free pages, and every index against its table.
extension IntegrityCheck {
  /// What is wrong, in SQLite's words; empty for a sound file.
  ///
  /// - Throws: ``SQLiteError`` only where it was interrupted, or the file is busy.
  package static func problems(_ connection: Connection) throws -> [String] {
    var facts: ReadFacts?
    return try problems(connection, asking: [:], &facts)
  }

  /// The same, with what is found out by the way of a file that is sound and long enough.
  static func problems(
    _ connection: Connection, asking questions: [String: ReadFacts.Question],
    _ facts: inout ReadFacts?
  ) throws -> [String] {
    if try isSoundFile(connection, asking: questions, &facts) { return [] }
    let (found, error) = try lines("integrity_check", connection)
    guard let error else { return found }
    if error.isInterrupted || error.isBusy { throw error }
    if error.isDamage {
      // An index that it came to, and of which it reports pages only; besides, the maps of pages.
      if let indexes = try unreadable(connection) {
        return found.filter { $0.contains("ptrmap") || $0.contains("freelist") } + indexes
      }
      return found.isEmpty ? [error.message] : found
    }
    // An index over a function that only Core Data has: the pages can be checked all the same.
    let (quick, failure) = try lines("quick_check", connection)
    guard let failure else { return quick }
    guard failure.isDamage else { throw failure }
    return quick.isEmpty ? [failure.message] : quick
  }

  /// Whether a file is whole that is long enough for two threads, and that nobody else writes to; false
  /// also where that is to be asked in one piece.
  private static func isSoundFile(
    _ connection: Connection, asking questions: [String: ReadFacts.Question],
    _ facts: inout ReadFacts?
  ) throws -> Bool {
    guard judge == .reading, connection.isImmutable,
      FileSystem.status(connection.path)?.size ?? 0 > 1 << 22,
      let names = try? connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    else { return false }
    let check = IntegrityCheck(
      of: connection.path, tables: names.compactMap { $0.first?.text }, asking: questions)
    defer { check.stop() }
    do {
      guard try check.problems(helpedBy: connection).isEmpty else { return false }
      facts = check.facts
      return true
    } catch let error as SQLiteError {
      if error.isInterrupted { throw error }
      return false
    }
  }

  /// What SQLite's own check reports about a database that others may write to; empty for a sound one.
  ///
  /// - Parameter most: how much it reports at most.
  package static func problems(askingSQLite connection: Connection, most: Int) throws -> [String] {
    let lines = try connection.rows("PRAGMA main.integrity_check(\(most))").compactMap {
      $0.first?.text
    }
    return lines == ["ok"] ? [] : lines.isEmpty ? ["no answer"] : lines
  }

  /// The indexes that cannot be read to their end, where that is what is wrong.
  private static func unreadable(_ connection: Connection) throws -> [String]? {
    let found = try unreadableIndexes(connection)
    return found.isEmpty
      ? nil : found.map { "the index \($0.name) of \($0.table) cannot be read" }
  }

  /// The indexes that cannot be read to their end, with their tables.
  package static func unreadableIndexes(
    _ connection: Connection
  ) throws -> [(name: String, table: String)] {
    let indexes =
      (try? connection.rows("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")) ?? []
    return try indexes.compactMap { row -> (name: String, table: String)? in
      guard row.count == 2, let name = row[0].text, let table = row[1].text else { return nil }
      do {
        // A mere count takes whatever index is the smallest.
        _ = try connection.value(
          """
          SELECT count(*) FROM \(quoted(table)) INDEXED BY \(quoted(name))
          WHERE ifnull(rowid, 1) IS NOT NULL
          """)
        return nil
      } catch let error as SQLiteError {
        if error.isInterrupted || error.isBusy { throw error }
        // One that only some queries may use is no fault.
        return error.isDamage ? (name, table) : nil
      }
    }
  }

  /// What a check reports, and what ended it before its end.
  private static func lines(
    _ pragma: String, _ connection: Connection
  ) throws -> (lines: [String], end: SQLiteError?) {
    var texts: [String] = []
    var end: SQLiteError?
    do {
      let statement = try connection.prepare("PRAGMA main.\(pragma)(\(FileDamage.mostProblems))")
      while try statement.step() { texts.append(statement.text(at: 0)) }
    } catch let error as SQLiteError {
      end = error
    }
    // A line of its own names the database first.
    let lines = texts.flatMap { $0.split(separator: "\n").map(String.init) }
    return (lines.filter { $0 != "ok" && !$0.hasPrefix("*** in database") }, end)
  }
}

extension SQLiteError {
  /// Whether the file is damaged where it was read.
  package var isDamage: Bool { isCorrupt || isNotADatabase }
}

/// What of a database is compared with the one that it came from, while it is checked.
package struct SourceComparison: Sendable {
  /// How a table is compared.
  package struct Table: Sendable {
    /// The first pages of its tree, in the source and here.
    package var roots: (source: Int, result: Int)
    /// What its rows must be; `nil` where that is not reported row by row.
    package var rows: RowComparison.Question?

    package init(roots: (source: Int, result: Int), rows: RowComparison.Question?) {
      self.roots = roots
      self.rows = rows
    }
  }

  /// What was found of a table.
  package enum Answer: Sendable, Equatable {
    /// All pages of its rows are the source's, byte for byte.
    case pages
    /// All rows are what was asked for, stored alike; how many of each kind there are.
    case rows([Int])
  }

  /// Where the source is, all of it in its main file.
  package var path: String
  package var tables: [String: Table]

  package init(path: String, tables: [String: Table]) {
    self.path = path
    self.tables = tables
  }
}
