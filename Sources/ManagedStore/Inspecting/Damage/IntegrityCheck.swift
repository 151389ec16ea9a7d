import Dispatch
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
    var tasks: [Task]
    var problems: [String] = []
    var facts = ReadFacts()
    var error: SQLiteError?
  }

  private let path: String
  private let isWhole: Bool
  private let questions: [String: ReadFacts.Question]
  private let state: Mutex<State>
  private let isStopped = Atomic<Bool>(false)
  /// Whether there is a thread of its own, which signals when it is done.
  private let helped = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  /// Begins to check a file that nobody writes to.
  ///
  /// - Parameters:
  ///   - tables: names of its tables, in the order in which they are checked.
  ///   - isWhole: whether what no table has is checked, too: which pages are free, and that each is used.
  ///   - questions: what is to be found out by the way, by table.
  ///   - processors: tell whether a thread of its own would help.
  package init(
    of path: String, tables: [String], isWhole: Bool = true,
    asking questions: [String: ReadFacts.Question] = [:], on processors: Processors = .shared
  ) {
    self.path = path
    self.isWhole = isWhole
    self.questions = questions
    state = Mutex(State(tasks: (isWhole ? [.structure] : []) + tables.map(Task.table)))
    let isBegun = processors.help { [self] in
      workAlone()
      done.signal()
    }
    helped.store(isBegun, ordering: .relaxed)
  }

  private func workAlone() {
    do {
      let connection = try Connection(path: path, mode: .immutable)
      // A tree is read once, from its first page to its last.
      try connection.execute("PRAGMA cache_size = -2000")
      connection.onProgress { self.isStopped.load(ordering: .relaxed) }
      work(on: connection)
    } catch let error as SQLiteError {
      state.withLock { $0.error = error }
    } catch {
      state.withLock { $0.problems.append("\(error)") }
    }
  }

  /// Whether it has a thread of its own.
  package var isHelped: Bool { helped.load(ordering: .relaxed) }

  /// Ends the check early; its answer is of no interest any more.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Helps with what is left, then answers what is wrong, as SQLite tells it; empty for a sound file.
  package func problems(helpedBy connection: Connection) throws -> [String] {
    work(on: connection)
    if isHelped { done.wait() }
    return try state.withLock { state in
      if let error = state.error { throw error }
      return state.problems
    }
  }

  /// What was found out by the way, once ``problems(helpedBy:)`` has answered that nothing is wrong.
  package var facts: ReadFacts { state.withLock { $0.facts } }

  /// Takes one task after the other until there are none.
  private func work(on connection: Connection) {
    let image = try? DatabaseImage(readBySQLiteAt: path)
    while !isStopped.load(ordering: .relaxed) {
      let task = state.withLock { $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }
      guard let task else { return }
      do {
        let lines = try lines(of: task, image, connection)
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

  private func lines(
    of task: Task, _ image: DatabaseImage?, _ connection: Connection
  ) throws -> [String] {
    func ask(_ pragma: String) throws -> [String] {
      try connection.rows("PRAGMA main.\(pragma)").compactMap { $0.first?.text }
    }
    switch task {
    case .structure: return try ask("quick_check(5)")
    case .table(let name):
      var table: ReadFacts.Table?
      let agrees = try Self.agrees(
        name, in: image, on: connection, answering: questions[name], &table
      ) {
        self.isStopped.load(ordering: .relaxed)
      }
      if agrees, let table { state.withLock { $0.facts.add(table, of: name) } }
      guard agrees else { return try ask("integrity_check(\(quoted(name)))") }
      return isWhole ? ["ok"] : try ask("quick_check(\(quoted(name)))")
    }
  }

  /// Whether a table's indexes agree with it, as far as that can be told by reading.
  package static func agrees(
    _ table: String, of path: String, on connection: Connection
  ) throws -> Bool {
    var none: ReadFacts.Table?
    return try agrees(
      table, in: DatabaseImage(readBySQLiteAt: path), on: connection, answering: nil, &none
    ) { false }
  }

  private static func agrees(
    _ name: String, in image: DatabaseImage?, on connection: Connection,
    answering question: ReadFacts.Question?, _ answer: inout ReadFacts.Table?,
    isStopped: @escaping () -> Bool
  ) throws -> Bool {
    guard let image, let table = try IndexedTable(name, in: connection) else { return false }
    var agreement = IndexAgreement(image) { isStopped() || connection.shouldStop }
    answer = question.flatMap { ReadFacts.Table(table, asked: $0) }
    var facts = answer?.facts
    defer { if let facts { answer?.facts = facts } }
    return try agreement.isGiven(for: table, gathering: &facts)
  }
}
