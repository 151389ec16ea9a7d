import Files
import SQLite
import Salvage
import Synchronization

/// A check of a whole file, shared by two threads: of its structure by SQLite itself, of each table
/// whether its indexes agree with it.
///
/// The structure is one task, each table with its indexes another. A thread of its own begins with them,
/// where a processor has nothing else to do; who waits for the answer helps, or does it all. Where a table
/// does not agree with its indexes, and where that cannot be told by reading, SQLite is asked: what is told
/// is in its words.
package final class IntegrityCheck: Sendable {
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
  ///   - processors: tell whether a thread of its own would help.
  package init(
    of path: String, tables: [String], isWhole: Bool = true,
    asking questions: [String: ReadFacts.Question] = [:],
    comparing comparison: SourceComparison? = nil,
    on processors: Processors = .shared
  ) {
    self.path = path
    self.isWhole = isWhole
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

  /// Helps with what is left, then answers what is wrong, as SQLite tells it; empty for a sound file.
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

  /// Whether a table's indexes agree with it, as far as that can be told by reading; what its rows tell by
  /// the way is kept where they do.
  private func isAgreed(
    _ name: String, _ images: Images, _ connection: Connection, isStopped: @escaping () -> Bool
  ) throws -> Bool {
    guard let own = images.own, let table = try IndexedTable(name, in: connection) else {
      return false
    }
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

  /// Whether a table's indexes agree with it, as far as that can be told by reading.
  package static func agrees(
    _ name: String, of path: String, on connection: Connection
  ) throws -> Bool {
    guard let image = try? DatabaseImage(readBySQLiteAt: path),
      let table = try IndexedTable(name, in: connection)
    else { return false }
    var agreement = IndexAgreement(table, in: image) { connection.shouldStop }
    var facts: RowFacts?
    var rows: RowComparison?
    return try agreement.isGiven(gathering: &facts, comparing: &rows)
  }
}
