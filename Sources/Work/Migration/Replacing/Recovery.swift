import Files

/// What is done about a run that was interrupted: finished where its result is in place already, else
/// undone.
///
/// A journal is read as anything is that lies on a disk: only names that a run gives, of files that
/// are those it wrote of, are ever moved or removed, and through no link. One that is not sealed with the word
/// of a run of this user can have been made up, or be of another user or machine. It is then used for what a
/// run itself can have done and nothing more, see ``doubt``; nothing that it names is removed.
struct Recovery {
  let names: StoreNames
  let records: [JournalRecord]
  let isTrusted: Bool

  init(names: StoreNames, _ content: JournalFile.Content?) {
    self.names = names
    records = content?.records ?? []
    isTrusted = content?.isTrusted ?? false
  }

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
      case .bring(let move) where names.isBrought(from: move.from, to: move.to):
        handover.bring.append(move)
      case .old(let file): handover.old = file
      default: continue
      }
    }
    return handover
  }

  /// Why a journal that nobody vouches for is not believed; `nil` where it shows nothing that a run cannot have
  /// done: it has no more moves than there are names in the folders, and each that is undone is of a regular
  /// file whose names are all known, or of the support folder itself.
  var doubt: String? {
    guard !isTrusted else { return nil }
    let handover = handover
    let moves = handover.aside + handover.bring
    let support = StoreSuffix.supportFolder(of: names.store)
    let count = names.listed.count + ([support] + work).reduce(0) { $0 + entries(in: $1) }
    guard moves.count <= count else {
      return "it has \(moves.count) moves, and the folders hold \(count) names"
    }
    for move in moves where isUndone(move) {
      let found = [move.from, move.to].compactMap(names.entry).filter { $0.identity == move.file }
      guard let entry = found.first else { continue }
      switch entry.kind {
      case .file where entry.names <= found.count: continue
      case .folder where [move.from, move.to].contains { FileSystem.isSame($0, support) }: continue
      case .file: return "\(move.to) has more names (hard links) than a run gives it"
      default: return "\(move.to) is not a regular file"
      }
    }
    return nil
  }

  /// Whether undoing a journal that nobody vouches for would change the names of a move.
  private func isUndone(_ move: Handover.Move) -> Bool {
    names.isBackup(move.to) && names.isOwn(move.from)
      || FileSystem.isSame(move.to, StoreSuffix.supportFolder(of: names.store))
  }

  /// Names in a folder beside the store and in those below it.
  private func entries(in name: String) -> Int {
    guard let place = try? names.opened(name), let folder = try? place.folder.folder(place.name)
    else { return 0 }
    return folder.size().files + 1
  }

  /// The run's own files that are there, whether the journal names them or not: only who holds the
  /// lock makes any.
  var work: [String] { names.listed.filter(names.isWork) }

  /// Own files' common names, of which each has several.
  private var workNames: [String] {
    records.compactMap { record in
      guard case .work(let name) = record, names.isWork(name) else { return nil }
      return name
    }
  }

  /// Files that were set aside only to be removed.
  private var discarded: [(String, FileIdentity)] {
    records.compactMap { record in
      guard case .remove(let name, let file) = record, names.isBackup(name) else { return nil }
      return (name, file)
    }
  }

  /// - Returns: what was done, and what keeps the store from being put right, as sentences.
  func run() -> (done: [String], problems: [String]) {
    let (state, work) = (state, work)
    if state == .begun, let doubt {
      return (
        [],
        [
          "\(names.journal) is not sealed by a run of this user, and is not trusted: \(doubt). Find out who wrote it, and remove it to go on."
        ]
      )
    }
    var undoing = Handover.Undoing()
    var (removed, left): ([String], [String]) = ([], [])
    switch state {
    case .none, .untouched: break
    case .begun:
      // A backup's name that is a second one of the store itself goes.
      removed = handover.aside.filter {
        names.file($0.to) != nil && names.file($0.from) == $0.file
      }.map(\.to)
      undoing = handover.undo(isTrusted: isTrusted)
      left = undoing.unproved.map {
        "\($0) was created by that run according to its journal, which is not sealed by a run of this user: the file is kept."
      }
      removed = removed.filter { names.file($0) == nil }
    case .done where isTrusted: left = Self.remove(discarded, in: names)
    case .done:
      left = discarded.filter { names.file($0.0) == $0.1 }.map {
        "\($0.0) was to be removed and is kept: the journal is not sealed by a run of this user."
      }
    }
    // What is not restored may still be needed.
    guard undoing.problems.isEmpty else { return (left, undoing.problems) }
    let stuck = Set(
      workNames.flatMap { Self.removeWork($0, in: names) } + work.filter { !names.removeTree($0) }
    ).sorted().map { "\($0) could not be removed." }
    for sentence in stuck { LeftBehind.add("In \(names.folder): \(sentence)") }
    left += stuck
    let gone = (work + removed).filter { names.file($0) == nil }
    return (sentences(state, gone, undoing) + left, [])
  }

  private func sentences(
    _ state: State, _ removed: [String], _ undoing: Handover.Undoing
  ) -> [String] {
    let start = "An earlier run was interrupted: "
    let noun = operation?.noun ?? "run"
    let left = "what it left (\(removed.joined(separator: ", "))) was removed."
    switch state {
    case .none: return removed.isEmpty ? [] : [start + left]
    case .untouched: return removed.isEmpty ? [] : [start + left]
    case .begun where !undoing.kept.isEmpty:
      let taken = undoing.isReplaced ? "in the store's place" : "in the place of what belongs to it"
      return [
        start + "another program has since put a file \(taken), which stays. What was there "
          + "before the \(noun) is kept: \(undoing.kept.sorted().joined(separator: ", "))."
      ]
    case .begun:
      return [
        start + (removed.isEmpty ? "" : left + " ") + "The store is as it was before the \(noun)."
      ]
    case .done:
      let aside = handover.aside.map(\.to).filter { names.file($0) != nil }
      let others = names.listed.filter { name in
        names.isBackup(name) && !aside.contains(name)
          && !StoreSuffix.isCompanion(name)
      }
      return [
        start + "its result was in place already, and the \(noun) was finished."
          + (aside.isEmpty ? "" : " What was there before: \(aside.joined(separator: ", ")).")
          + (operation == .rollback && !others.isEmpty
            ? " The backup that it restored may still be one of these: \(others.sorted().joined(separator: ", "))."
            : "")
      ]
    }
  }

  /// Removes files that are still those that were noted.
  ///
  /// - Returns: what could not be removed, as sentences.
  static func remove(_ files: [(String, FileIdentity)], in names: StoreNames) -> [String] {
    var problems: [String] = []
    for (name, file) in files where names.file(name) == file {
      if !names.removeTree(name) {
        problems.append("\(name) could not be removed; the next run tries again.")
      }
    }
    return problems
  }

  /// Removes a run's own files.
  ///
  /// - Returns: names of those that are still there.
  static func removeWork(_ name: String, in names: StoreNames) -> [String] {
    let all =
      ["", ".next", MigrationJournal.copySuffix].flatMap { work in
        StoreSuffix.all.map { name + work + $0 }
      } + [name + MigrationJournal.externalSuffix]
    return all.filter { !names.removeTree($0) }
  }
}

extension MigrationJournal.Operation {
  /// What a person calls it.
  var noun: String {
    switch self {
    case .migration: "migration"
    case .output: "run"
    case .repair: "repair"
    case .edit: "edit"
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
    hasJournal = names.file(names.journal) != nil
    isBusy = look?.isBusy ?? false
    isReadable = look != nil
    recovery = Recovery(names: names, look?.content)
    work = recovery.work
    others = Self.outputs(beside: names)
  }

  /// Whether nothing is there to be put right.
  var isNone: Bool { !hasJournal && work.isEmpty && others.isEmpty }

  /// Whether a rollback was interrupted when the backup was in the store's place already.
  var isFinishedRollback: Bool {
    !isBusy && recovery.operation == .rollback && recovery.state == .done
  }

  /// Files in the folder into which a run wrote that was interrupted.
  static func outputs(beside names: StoreNames) -> [StoreNames] {
    names.otherStores.filter { other in
      guard let look = JournalFile.look(other), !look.isBusy else { return false }
      return look.content.records.first == .run(.output)
    }
  }

  /// What is there and what the next run does about it; nothing is touched.
  var sentences: [String] {
    own
      + others.map {
        "A run into \($0.store), beside the store, was interrupted; what it left is removed by the next run in this folder."
      }
  }

  /// What the next run does first about what is there; nothing is touched.
  var announcements: [String] {
    guard !isBusy, isReadable || !hasJournal else { return [] }
    let noun = recovery.operation?.noun ?? "run"
    var sentences: [String] = []
    switch recovery.state {
    case .none, .untouched:
      if !work.isEmpty {
        sentences.append(
          "An earlier \(noun) of \(names.store) was interrupted: removing \(work.joined(separator: ", ")) first."
        )
      }
    case .begun:
      sentences.append(
        "An earlier \(noun) of \(names.store) was interrupted during the cut-over: restoring the previous files first."
      )
    case .done:
      sentences.append(
        "An earlier \(noun) of \(names.store) was interrupted after the cut-over: finishing it first."
      )
    }
    return sentences
      + others.map {
        "A run into \($0.store), beside the store, was interrupted: removing what it left first."
      }
  }

  private var own: [String] {
    guard hasJournal || !work.isEmpty else { return [] }
    if isBusy { return ["Another strata process is working on this store."] }
    guard isReadable || !hasJournal else {
      return [
        "\(names.journal), another user's, is beside the store: a strata process of that user is working on it, or was interrupted."
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
        "A \(noun) of this store was interrupted during the cut-over. \(next) restores everything first: do not open the store with its app before that."
      ]
    case .done:
      return [
        "A \(noun) of this store was interrupted after the cut-over. \(next) finishes it."
      ]
    }
  }
}
