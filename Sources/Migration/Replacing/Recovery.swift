import Files
import ManagedModel
import ManagedStore

/// What is done about a run that was interrupted: finished where its result is in place already, else
/// taken back.
///
/// A journal is read as anything is that lies on a disk: only names that a run gives, of files that
/// are those it wrote of, are ever moved or removed.
struct Recovery {
  let names: StoreNames
  let records: [JournalRecord]

  /// How far a run came.
  enum State: Equatable {
    /// No run was interrupted.
    case none
    /// The store was not touched.
    case untouched
    /// Names may have changed, and go back.
    case begun
    /// The result is in place.
    case done
  }

  var state: State {
    guard !records.isEmpty else { return .none }
    guard records.contains(.go), !records.contains(.undone) else { return .untouched }
    return records.contains(.done) || handover.isCommitted ? .done : .begun
  }

  var operation: MigrationJournal.Operation? {
    guard case .run(let operation) = records.first else { return nil }
    return operation
  }

  /// The noted moves whose names are those that a run gives.
  var handover: Handover {
    var handover = Handover(names: names)
    handover.isOutput = operation == .output
    for record in records {
      switch record {
      case .aside(let move) where names.isOwn(move.from) && names.isBackup(move.to):
        handover.aside.append(move)
      case .bring(let move)
      where isWork(move.from) && (names.isOwn(move.to) || names.isBackup(move.to)):
        handover.bring.append(move)
      default: continue
      }
    }
    return handover
  }

  private func isWork(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    return parts.first.map(names.isWork) == true && !parts.contains("..") && !parts.contains("")
  }

  /// The run's own files that are there, whether the journal names them or not: only who holds the
  /// lock makes any.
  var work: [String] { names.listed.filter(names.isWork) }

  /// Own files' common names, of which each has several.
  private var workPaths: [String] {
    records.compactMap { record in
      guard case .work(let name) = record, names.isWork(name) else { return nil }
      return names.path(name)
    }
  }

  /// - Returns: what was done, and what keeps the store from being put right, as sentences.
  func run() -> (done: [String], problems: [String]) {
    let (state, work) = (state, work)
    var undoing = Handover.Undoing()
    var (removed, left): ([String], [String]) = ([], [])
    switch state {
    case .none, .untouched: break
    case .begun:
      // A backup's name that is a second one of the store itself goes.
      removed = handover.aside.map(\.to).filter { FileIdentity(of: names.path($0)) != nil }
      undoing = handover.undo()
      removed = removed.filter { FileIdentity(of: names.path($0)) == nil }
    case .done:
      let files: [(String, FileIdentity)] = records.compactMap { record in
        guard case .remove(let name, let file) = record, names.isBackup(name) else { return nil }
        return (name, file)
      }
      left = Self.remove(files, in: names)
    }
    // What is not put back may still be needed.
    guard undoing.problems.isEmpty else { return ([], undoing.problems) }
    left += Set(workPaths.flatMap(Self.removeWork) + work.filter { !remove($0) }).sorted().map {
      "\($0) could not be removed."
    }
    let gone = (work + removed).filter { FileIdentity(of: names.path($0)) == nil }
    return (sentences(state, gone, undoing.kept) + left, [])
  }

  private func remove(_ name: String) -> Bool {
    FileSystem.removeTree(names.path(name))
    return FileIdentity(of: names.path(name)) == nil
  }

  private func sentences(_ state: State, _ removed: [String], _ kept: [String]) -> [String] {
    let start = "An earlier run was interrupted: "
    let noun = operation?.noun ?? "run"
    let left = "what it left (\(removed.joined(separator: ", "))) was removed."
    switch state {
    case .none: return removed.isEmpty ? [] : [start + left]
    case .untouched: return removed.isEmpty ? [] : [start + left]
    case .begun where !kept.isEmpty:
      return [
        start + "another program has made a store in its place since, which stays. What was there "
          + "before the \(noun) is kept: \(kept.sorted().joined(separator: ", "))."
      ]
    case .begun:
      return [
        start + (removed.isEmpty ? "" : left + " ") + "The store is as it was before the \(noun)."
      ]
    case .done:
      let aside = handover.aside.map(\.to).filter { FileIdentity(of: names.path($0)) != nil }
      let others = names.listed.filter { name in
        names.isBackup(name) && !aside.contains(name)
          && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
      }
      return [
        start + "its result was in place already, and the \(noun) was finished."
          + (aside.isEmpty ? "" : " What was there before: \(aside.joined(separator: ", ")).")
          + (operation == .rollback && !others.isEmpty
            ? " The backup that it put back may still be there, of these: \(others.sorted().joined(separator: ", "))."
            : "")
      ]
    }
  }

  /// Removes files that are still those that were noted.
  ///
  /// - Returns: what could not be removed, as sentences.
  static func remove(_ files: [(String, FileIdentity)], in names: StoreNames) -> [String] {
    var problems: [String] = []
    for (name, file) in files where FileIdentity(of: names.path(name)) == file {
      FileSystem.removeTree(names.path(name))
      if FileIdentity(of: names.path(name)) != nil {
        problems.append("\(name) could not be removed; the next run tries again.")
      }
    }
    return problems
  }

  /// Removes a run's own files.
  ///
  /// - Returns: names of those that are still there.
  static func removeWork(_ path: String) -> [String] {
    let all =
      ["", ".next", MigrationJournal.copySuffix].flatMap { work in
        StoreNames.fileSuffixes.map { path + work + $0 }
      } + [path + MigrationJournal.externalSuffix]
    for path in all { FileSystem.removeTree(path) }
    return all.filter { FileIdentity(of: $0) != nil }.map { FileSystem.name(of: $0) }
  }
}

extension MigrationJournal.Operation {
  /// What a person calls it.
  var noun: String {
    switch self {
    case .migration: "migration"
    case .output: "run"
    case .repair: "repair"
    case .reset: "reset"
    case .rollback: "rollback"
    }
  }
}

/// What an interrupted run left beside a store, found by looking alone.
struct Leftovers {
  let names: StoreNames
  private let recovery: Recovery
  private let work: [String]
  private let hasJournal: Bool
  private let isReadable: Bool
  private let isBusy: Bool
  /// Outputs beside the store that were never finished.
  private let others: [StoreNames]

  init(of names: StoreNames) {
    self.names = names
    let look = JournalFile.look(names)
    hasJournal = FileIdentity(of: names.path(names.journal)) != nil
    isBusy = look?.isBusy ?? false
    isReadable = look != nil
    recovery = Recovery(names: names, records: look?.records ?? [])
    work = recovery.work
    others = Self.outputs(beside: names)
  }

  /// Whether nothing is there to be put right.
  var isNone: Bool { !hasJournal && work.isEmpty && others.isEmpty }

  /// Files in the folder into which a run wrote that was interrupted.
  static func outputs(beside names: StoreNames) -> [StoreNames] {
    names.otherStores.filter { other in
      guard let look = JournalFile.look(other), !look.isBusy else { return false }
      return look.records.first == .run(.output)
    }
  }

  /// What is there and what the next run does about it; nothing is touched.
  var sentences: [String] {
    own
      + others.map {
        "A run into \($0.store), beside the store, was interrupted; what it left is removed by the next run in this folder."
      }
  }

  private var own: [String] {
    guard hasJournal || !work.isEmpty else { return [] }
    if isBusy { return ["Another strata is at work on this store."] }
    guard isReadable || !hasJournal else {
      return [
        "\(names.journal), another user's, lies beside the store: a strata of that user is at work on it, or was interrupted."
      ]
    }
    let noun = recovery.operation?.noun ?? "run"
    let next = "The next migrate, repair, reset or rollback of it"
    switch recovery.state {
    case .none, .untouched:
      let left = work + (hasJournal ? [names.journal] : [])
      return [
        "A \(noun) of this store was interrupted before it changed anything; it left \(left.joined(separator: ", ")). \(next) removes that."
      ]
    case .begun:
      return [
        "A \(noun) of this store was interrupted while names changed hands. \(next) puts everything back first: do not open the store with its app before."
      ]
    case .done:
      return [
        "A \(noun) of this store was interrupted when its result was in place already. \(next) finishes it."
      ]
    }
  }
}
