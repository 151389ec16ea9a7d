import Files
import ManagedModel
import ManagedStore

/// The names that change hands in one cut-over: all of them, or none.
///
/// Each move is a link or a rename within one folder, of a file that is known by its identity and
/// not by its name alone. Whatever was done can so be undone, by the run itself or by the next
/// one after a crash, and doing that twice does no harm.
struct Handover: Equatable {
  struct Move: Equatable {
    var from: String
    var to: String
    var file: FileIdentity
  }

  let names: StoreNames
  /// What the old store leaves: its main file first, its logs, its support folder last.
  var aside: [Move] = []
  /// What was made takes its place: the store's main file last. That rename is the moment at which
  /// the store is the new one.
  var bring: [Move] = []
  /// Which file was in the store's place before; `nil` where none was, or an older journal does not say.
  var old: FileIdentity?
  /// Whether nothing was there before: what is in the store's place by now needs nothing of it.
  var isOutput = false

  static func == (one: Handover, other: Handover) -> Bool {
    one.aside == other.aside && one.bring == other.bring
  }

  private func path(_ name: String) -> String { names.path(name) }
  private func file(_ name: String) -> FileIdentity? { names.file(name) }

  /// The old store's main file, where it gets another name.
  private var main: Move? { aside.first { FileSystem.isSame($0.from, names.store) } }
  private var logs: [Move] { aside.filter { $0 != main && $0 != support } }
  private var support: Move? {
    let name = StoreSuffix.supportFolder(of: names.store)
    return aside.first { FileSystem.isSame($0.from, name) }
  }

  /// Whether the store is the new one.
  var isCommitted: Bool {
    guard let last = bring.last else { return false }
    if let present = file(last.to), present == last.file { return true }
    // The result has left its own name and something is in the store's place: the program whose
    // store it is has replaced it since, as by a migration of its own.
    return file(last.from) == nil && file(last.to) != nil
  }

  /// Notes where a file of the store is to go; does nothing if there is no such file.
  mutating func setAside(_ name: String, as other: String) {
    guard let file = file(name) else { return }
    aside.append(Move(from: name, to: other, file: file))
  }

  /// Gives the old store's files their second names; the store is as it was.
  ///
  /// - Parameter link: false where the file system has no second names: the file then moves later.
  func linkFiles(_ link: (StoreNames, String, String) -> Bool) throws {
    for move in aside where move != support {
      guard link(names, move.from, move.to) || file(move.to) == nil else {
        throw taken(move.to)
      }
      guard file(move.from) == move.file, file(move.to).map({ $0 == move.file }) ?? true else {
        throw StoreFingerprint.changed(path(names.store))
      }
    }
  }

  /// The support folder goes as one, and what was made for its place comes as one.
  func moveSupport() throws {
    if let support { try names.rename(support.from, to: support.to) }
    var places: Set<String> = []
    for move in bring.dropLast() {
      try names.rename(move.from, to: move.to)
      // The store's own folder is brought to the disk with all names in it.
      if let place = FileSystem.parent(of: move.to), place != "." { places.insert(place) }
    }
    for place in places.sorted() { try names.sync(place) }
  }

  /// Takes the old names away where logs lie beside the store: no new file may come to lie beside
  /// them, since SQLite would apply them to it, and no program may find the store without them.
  ///
  /// - Returns: whether the store's place is empty now.
  func leave() throws -> Bool {
    for move in (main.map { [$0] } ?? []) + logs {
      // Without logs the rename that comes replaces the main file, which then is never missing.
      if logs.isEmpty, file(move.to) == move.file { return false }
      if file(move.to) == move.file {
        try names.remove(move.from)
      } else {
        try names.rename(move.from, to: move.to)
      }
    }
    return file(names.store) == nil
  }

  /// The one rename.
  func commit() throws {
    guard let last = bring.last else { return }
    for suffix in StoreSuffix.companions {
      // One of a save that was finished is applied to nothing.
      let isFinished =
        suffix == "-journal" && !StoreFiles(path: path(names.store)).hasUnfinishedChange
      guard file(names.store + suffix) == nil || size(names.store + suffix) == 0 || isFinished
      else {
        throw CoreDataError(
          .failed, code: .persistentStoreOpen, "a \(suffix) appeared beside the store meanwhile",
          path: path(names.store), hint: "Close every program that uses the store and try again.")
      }
    }
    do {
      try names.rename(last.from, to: last.to, replacing: file(last.to) != nil)
    } catch {
      // A file system over a network may report as failed what it did.
      guard file(last.to) == last.file else { throw error }
    }
  }

  private func size(_ name: String) -> Int { FileSystem.status(path(name))?.size ?? 0 }

  private func taken(_ name: String) -> CoreDataError {
    CoreDataError(
      .failed, "a file of the backup's name appeared meanwhile", path: path(name),
      hint: "The store is unchanged. Try again.")
  }

  /// What taking back left.
  struct Undoing {
    /// Names that what was set aside keeps, since its own name is another file's by now.
    var kept: [String] = []
    /// Whether the store's place is another file's.
    var isReplaced = false
    /// What could not be undone, as sentences.
    var problems: [String] = []
    /// Names that what a run made has now, where it is not certain that a run made it.
    var unproved: [String] = []
  }

  /// Whether what is in the store's place is neither the old store nor the new one: a program made
  /// one of its own after a crash.
  ///
  /// Where the file system has no second names, and where no backup is kept, the old store is not set
  /// aside: it stays in its place until the one rename.
  private var isForeign: Bool {
    guard let present = file(names.store), let old = old ?? main?.file else { return false }
    return present != old && present != bring.last?.file
  }

  /// Puts everything back that has moved; what has not is left alone.
  ///
  /// - Parameter isTrusted: whether the moves are known to be a run's. What it made then goes back to the run's
  ///   own names, which are removed afterwards; else it keeps its name, or makes room under another.
  func undo(isTrusted: Bool = true) -> Undoing {
    var result = Undoing()
    guard !isCommitted else { return result }
    func attempt(_ name: String, _ body: () throws -> Void) {
      do {
        try body()
      } catch {
        result.problems.append("\(name) could not be restored: \(error.clause).")
      }
    }
    let isForeign = isForeign && !isOutput
    result.isReplaced = isForeign
    for move in bring.dropLast().reversed() where file(move.to) == move.file {
      guard !isForeign else { continue }
      guard isTrusted else {
        var name = move.to
        if FileSystem.isSame(move.to, StoreSuffix.supportFolder(of: names.store)) {
          name = names.orphaned
          attempt(move.to) { try names.rename(move.to, to: name) }
        }
        result.unproved.append(name)
        continue
      }
      attempt(move.to) { try names.rename(move.to, to: move.from) }
    }
    // The logs before the main file: no program finds the store without them.
    for move in ([support].compactMap { $0 } + logs.reversed() + [main].compactMap { $0 })
    where file(move.to) == move.file {
      let isFolder = move == support
      if isForeign {
        result.kept.append(move.to)
        if !isFolder, file(move.from) == move.file {
          attempt(move.from) { try names.remove(move.from) }
        }
        continue
      }
      switch file(move.from) {
      case nil:
        attempt(move.from) { try names.rename(move.to, to: move.from) }
      case move.file: attempt(move.to) { try names.remove(move.to) }
      default:
        guard isFolder else {
          result.kept.append(move.to)
          continue
        }
        // A program recreated the folder after a crash: its files stay, the others come back.
        attempt(move.from) { try SupportTree.merge(move.to, into: move.from, in: names) }
        if file(move.to) != nil { result.kept.append(move.to) }
      }
    }
    try? names.sync()
    return result
  }
}
