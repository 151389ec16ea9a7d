import Files
import ManagedModel
import ManagedStore

/// A note beside the store of what a run is doing, held under a lock while it runs.
///
/// It keeps two runs off one store, no matter who starts them and where they keep their state, and lets
/// the next one finish or undo what was interrupted. Its name is the store's; it is there for as
/// long as a run is under way, or after one that was killed.
final class MigrationJournal {
  /// The kinds of run.
  enum Operation: String, Sendable { case migration, reset, rollback, output, repair, edit }

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
        .failed, "another strata process is working on this store", path: storePath,
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
        "an interrupted run cannot be recovered: \(result.problems.joined(separator: " "))",
        path: names.path(names.store), hint: "Fix the cause, and try again.")
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

  /// Finishes or undoes an interrupted run; without one nothing is made or touched.
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
    // What could not be restored needs the run's own files to be distinguished from what is done.
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
  func completed(_ error: any Error, at path: String) -> CoreDataError {
    var error = CoreDataError(error, at: path)
    let told = recovered + kept + problems
    guard !told.isEmpty else { return error }
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

/// What a run writes down before it does it, so that the next one can finish it or take it back.
///
/// On the disk a record is its fields, each ended by a zero byte, which no name can hold. A record
/// that was cut off by a crash is none: what it speaks of was not begun.
enum JournalRecord: Equatable {
  /// What kind of run it is.
  case run(MigrationJournal.Operation)
  /// The run's temporary files have names that begin so.
  case work(String)
  /// A file or folder of the old store gets a name beside it.
  case aside(Handover.Move)
  /// What was made gets its name; the last one is the store.
  case bring(Handover.Move)
  /// Which file was in the store's place before.
  case old(FileIdentity)
  /// From here on names change.
  case go
  /// All of it was undone.
  case undone
  case done
  /// No longer needed now that the store is in place.
  case remove(String, FileIdentity)
  /// That what stands before it was written by the run whose word it was made with.
  case seal(String)

  private static let version = "strata-run-1"

  private var fields: [String] {
    func list(_ key: String, _ move: Handover.Move) -> [String] {
      [key, move.from, move.to, String(move.file.device), String(move.file.inode)]
    }
    return switch self {
    case .run(let operation): [Self.version, operation.rawValue]
    case .work(let name): ["work", name]
    case .aside(let move): list("aside", move)
    case .bring(let move): list("bring", move)
    case .old(let file): ["old", String(file.device), String(file.inode)]
    case .go: ["go"]
    case .undone: ["undone"]
    case .done: ["done"]
    case .remove(let name, let file):
      ["remove", name, String(file.device), String(file.inode)]
    case .seal(let value): ["seal", value]
    }
  }

  static func encode(_ records: [JournalRecord]) -> [UInt8] {
    records.flatMap { $0.fields.flatMap { Array($0.utf8) + [0] } }
  }

  /// The records that are whole; empty for what is no journal of this version.
  static func decode(_ bytes: [UInt8]) -> [JournalRecord] {
    guard let end = bytes.lastIndex(of: 0) else { return [] }
    var fields = bytes[..<end].split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }[...]
    var records: [JournalRecord] = []
    while let key = fields.popFirst() {
      func take(_ count: Int) -> [String]? {
        guard fields.count >= count else { return nil }
        defer { fields = fields.dropFirst(count) }
        return Array(fields.prefix(count))
      }
      func identity(_ device: String, _ inode: String) -> FileIdentity? {
        guard let device = UInt64(device), let inode = UInt64(inode) else { return nil }
        return FileIdentity(device: device, inode: inode)
      }
      func move() -> Handover.Move? {
        guard let list = take(4), let file = identity(list[2], list[3]) else { return nil }
        return Handover.Move(from: list[0], to: list[1], file: file)
      }
      let record: JournalRecord? =
        switch key {
        case version:
          take(1).flatMap { MigrationJournal.Operation(rawValue: $0[0]) }.map(Self.run)
        case "work": take(1).map { .work($0[0]) }
        case "aside": move().map(Self.aside)
        case "bring": move().map(Self.bring)
        case "old": take(2).flatMap { identity($0[0], $0[1]) }.map(Self.old)
        case "go": .go
        case "seal": take(1).map { .seal($0[0]) }
        case "undone": .undone
        case "done": .done
        case "remove":
          take(3).flatMap { list in identity(list[1], list[2]).map { .remove(list[0], $0) } }
        default: nil
        }
      guard let record else { break }
      records.append(record)
    }
    guard case .run = records.first else { return [] }
    return records
  }
}

extension JournalRecord {
  /// The records that a word seals, up to its last seal; `nil` where it seals none.
  static func sealed(_ bytes: [UInt8], by word: RunWord) -> [JournalRecord]? {
    let mark = Array("\0seal\0".utf8)
    var start = bytes.count - mark.count
    // A crash leaves a part of one record behind the last seal, and nothing else does.
    var tries = 8
    while start >= 0, tries > 0 {
      defer { start -= 1 }
      guard bytes[start] == 0, bytes[start...].starts(with: mark) else { continue }
      tries -= 1
      let value = bytes[(start + mark.count)...].prefix { $0 != 0 }
      guard value.elementsEqual(word.seal(Array(bytes[...start])).utf8) else { continue }
      return decode(Array(bytes[...start]))
    }
    return nil
  }
}
