import Files
import ManagedModel
import ManagedStore
import SQLite

/// A note beside the store of what a run is doing, held under a lock while it runs.
///
/// It keeps two runs off one store, whoever starts them and wherever they keep their state, and lets
/// the next one finish or take back what was interrupted. Its name is the store's; it is there for as
/// long as a run is under way, or after one that was killed.
final class MigrationJournal {
  /// The kinds of run.
  enum Operation: String, Sendable { case migration, reset, rollback, output, repair }

  let path: String
  let names: StoreNames
  /// Where the run's own files have their names: this one, or this one with something appended.
  let workPath: String
  /// What an interrupted run left and this one put right, as sentences.
  private(set) var recovered: [String] = []
  /// What could not be put right or removed, as sentences: the journal stays for the next run.
  private(set) var problems: [String] = []
  /// What another program's file in the store's place left of the old store, as sentences.
  private var kept: [String] = []
  private let file: JournalFile
  private var isFinished = false

  /// Takes the store for this process and puts right what an interrupted run left.
  ///
  /// - Parameter storePath: without links.
  /// - Throws: ``CoreDataError`` when another strata is at work on the same store.
  convenience init(storePath: String, for operation: Operation = .migration) throws {
    let names = StoreNames(storePath)
    do {
      try self.init(names, JournalFile(names, storePath))
    } catch is JournalFile.Busy {
      throw CoreDataError(
        .failed, "another strata is at work on this store", path: storePath,
        hint: "Wait until it is done.")
    }
    do {
      try file.replace(with: [.run(operation), .work(FileSystem.name(of: workPath))])
      try names.sync()
      recoverOutputs()
    } catch {
      _ = file.remove()
      isFinished = true
      throw error
    }
  }

  private init(_ names: StoreNames, _ file: JournalFile) throws {
    self.names = names
    self.file = file
    path = file.path
    workPath = names.path(names.newWork())
    let recovery = Recovery(names: names, file.content)
    let result = recovery.run()
    recovered = result.done
    guard result.problems.isEmpty else {
      isFinished = true
      throw CoreDataError(
        .failed,
        "what an interrupted run left cannot be put right: \(result.problems.joined(separator: " "))",
        path: names.path(names.store), hint: "Put right what keeps it, and try again.")
    }
    PrivateFolder.removeAbandoned()
  }

  /// Removes what interrupted runs into other files of the folder left: nobody may come back to those.
  private func recoverOutputs() {
    for other in Leftovers.outputs(beside: names) {
      guard let file = try? JournalFile(other, other.path(other.store)),
        let journal = try? MigrationJournal(other, file)
      else { continue }
      recovered += journal.recovered + journal.finish()
    }
  }

  /// Puts right what an interrupted run left; where there is none, nothing is made or touched.
  ///
  /// - Returns: what was done, or why it could not be, as sentences.
  static func cleanUp(after storePath: String) -> [String] {
    PrivateFolder.removeAbandoned()
    let names = StoreNames(storePath)
    guard !Leftovers(of: names).isNone else { return [] }
    do {
      let journal = try MigrationJournal(names, JournalFile(names, storePath))
      journal.recoverOutputs()
      return journal.finish() + journal.recovered
    } catch is JournalFile.Busy {
      return []
    } catch {
      return [error.clause]
    }
  }

  /// Writes down which names are about to change; after this, they may.
  ///
  /// - Parameter discarded: what is set aside only to be removed once the store is in place.
  func note(_ handover: Handover, discarding discarded: [Handover.Move] = []) throws {
    try file.append(
      handover.aside.map(JournalRecord.aside) + handover.bring.map(JournalRecord.bring)
        + discarded.map { .remove($0.to, $0.file) })
    // Behind it: an earlier version reads no record that follows one which it does not know.
    try file.append([.go] + (handover.old.map { [.old($0)] } ?? []))
  }

  /// The new store is in place: whatever happens from here on, the next run does not take it back.
  func noteDone() { try? file.append([.done]) }

  /// Removes what was set aside and is not to be kept, as it was written down.
  func remove(_ moves: [Handover.Move]) {
    problems += Recovery.remove(moves.map { ($0.to, $0.file) }, in: names)
  }

  /// Takes a handover back after a failure.
  func undo(_ handover: Handover) {
    let undoing = handover.undo()
    problems += undoing.problems
    if !undoing.kept.isEmpty {
      let list = undoing.kept.sorted().joined(separator: ", ")
      let taken =
        undoing.isReplaced ? "the store's place" : "the place of what belongs to the store"
      kept = ["Another file took \(taken); what was there before is kept: \(list)."]
    }
    guard undoing.problems.isEmpty else { return }
    try? file.append([.undone])
  }

  /// Removes what is no longer needed now that the store is in place.
  func remove(_ list: [String]) {
    let files = list.compactMap { name in names.file(name).map { (name, $0) } }
    try? file.append(files.map { JournalRecord.remove($0.0, $0.1) })
    problems += Recovery.remove(files, in: names)
  }

  /// Removes the run's own files, then the journal.
  ///
  /// - Returns: what could not be removed, as sentences; the journal then stays, and the next run
  ///   tries again.
  @discardableResult func finish() -> [String] {
    guard !isFinished else { return problems }
    isFinished = true
    // What could not be put back needs the run's own files to be told from what is done.
    let left = problems.isEmpty ? Recovery.removeWork(FileSystem.name(of: workPath), in: names) : []
    problems += left.map { "\($0) could not be removed; the next run tries again." }
    if !problems.isEmpty {
      file.letGo()
    } else if !file.remove() {
      problems.append("\(names.journal) could not be removed; the next run tries again.")
    }
    for problem in problems { LeftBehind.add("In \(names.folder): \(problem)") }
    return problems
  }

  /// An error of the run, with what it put right before, and what is left of it.
  func completed(_ error: any Error, at path: String) -> any Error {
    if let error = error as? SQLiteError {
      return CoreDataError(sqlite: error, path: path, kind: .failed)
    }
    let told = recovered + kept + problems
    guard !told.isEmpty, var error = error as? CoreDataError else { return error }
    error.advice =
      error.advice?.and(told)
      ?? told.first.map { Advice(stringLiteral: $0).and(Array(told.dropFirst())) }
    return error
  }

  deinit { finish() }

  /// What the copy of a backup is called until it is whole.
  static let copySuffix = ".backup"
  /// What the folder of external data is called until it is whole.
  static let externalSuffix = ".external"

  /// Removes a temporary file with what SQLite puts beside it.
  static func removeTemporary(_ path: String) {
    StoreSuffix.removeAll(of: path)
    FileSystem.removeTree(path + externalSuffix)
  }
}
