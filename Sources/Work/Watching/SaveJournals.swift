import Files
import Salvage
import Synchronization

/// The rollback journals of saves without a log, opened while they are there: they name the pages that a save wrote,
/// so that a large file need not be read whole.
///
/// A journal that is held open can still be read after SQLite has removed it. One that SQLite keeps for the next save
/// (journal modes PERSIST and TRUNCATE) does not count, since it may be of another save by then.
final class SaveJournals: Sendable {
  /// A save whose journal was seen.
  private struct Save {
    /// The change counter before it.
    let counter: UInt32
    /// Bytes of a page.
    let pageSize: Int
    /// The pages that it may have written, of those that there were.
    let pages: Set<Int>
    /// Pages that the database had before.
    let initialPages: Int
  }

  private struct State {
    /// Saves without one missing between them, oldest first.
    var saves: [Save] = []
    /// The journal that was opened last. It is held until another is opened: the file system gives the number of a file
    /// that nobody holds to the next.
    var last: (file: OpenFile, identity: FileIdentity, isSettled: Bool)?

    mutating func add(_ save: Save) {
      if saves.count >= SaveJournals.most { saves.removeFirst(saves.count / 2) }
      saves.append(save)
    }
  }

  private let path: String
  private let state = Mutex(State())

  private static let most = 2048
  /// Bytes of a journal that is read: larger saves change so much that the file is read whole.
  private static let mostBytes = 16 << 20

  /// - Parameter path: where the journal is while a program saves.
  init(path: String) { self.path = path }

  /// Opens a journal that is there, and finds out what became of the one before.
  func look(_ main: OpenFile) {
    state.withLock { state in
      settle(&state, main)
      guard let identity = FileIdentity(of: path), identity != state.last?.identity else { return }
      // What became of the one before is not known: the chain of saves is broken.
      if state.last?.isSettled == false { state.saves = [] }
      guard let file = try? OpenFile(path), file.identity == identity else {
        (state.saves, state.last) = ([], nil)
        return
      }
      state.last = (file, identity, false)
    }
  }

  /// Reads the last journal once it was removed.
  private func settle(_ state: inout State, _ main: OpenFile) {
    guard let last = state.last, !last.isSettled, let removed = last.file.removalTime else {
      return
    }
    state.last?.isSettled = true
    guard let save = try? Self.save(of: last.file, main, removed) else { return state.saves = [] }
    state.add(save)
  }

  /// What a journal that was removed says of its save.
  ///
  /// The save is in the main file where the change counter is the next one, where a page differs from what it was, and
  /// where nothing was written behind the removal of the journal: a save that was rolled back, and another that nobody
  /// saw, would do that.
  ///
  /// - Returns: `nil` where the save is not known to be in the main file, or its journal to be whole.
  private static func save(
    of file: OpenFile, _ main: OpenFile, _ removed: Double
  ) throws -> Save? {
    let file = try file.reopened()
    guard file.size <= mostBytes else { return nil }
    let journal = try RollbackJournal(file, main: main)
    guard journal.state == .hot, journal.end == .whole, let place = journal.places[1] else {
      return nil
    }
    let before = try journal.read(at: place, count: FileHeader.size)
    let counter = FileHeader(before).changeCounter
    func isNext() throws -> Bool {
      let now = try main.read(at: 0, count: FileHeader.size)
      // Not in WAL mode, before nor after: what a log brings no journal names.
      return before.dropFirst(18).first == 1 && now.dropFirst(18).first == 1
        && FileHeader(now).changeCounter == counter &+ 1
    }
    guard try isNext(), let written = FileSystem.modification(main.path), written <= removed,
      try hasChanges(journal, main),
      let leaves = try usedLeaves(journal, main, before), try isNext()
    else { return nil }
    return Save(
      counter: counter, pageSize: journal.pageSize, pages: leaves.union(journal.places.keys),
      initialPages: journal.initialPages)
  }

  /// Whether a page other than the first is not what it was; where there is none, whether the first is enough.
  private static func hasChanges(_ journal: RollbackJournal, _ main: OpenFile) throws -> Bool {
    let size = journal.pageSize
    let others = journal.places.filter { $0.key != 1 }
    return try others.isEmpty
      || others.contains { page, place in
        try journal.read(at: place, count: size) != main.read(at: (page - 1) * size, count: size)
      }
  }

  /// Forgets journals of saves before a value of the change counter.
  func discard(before counter: UInt32) {
    state.withLock { $0.saves.removeAll { Int32(bitPattern: counter &- $0.counter) > 0 } }
  }

  /// The pages that may have changed while the change counter went from one value to another.
  ///
  /// - Parameter pageCount: pages of the database now.
  /// - Returns: `nil` where the journal of a save between them was not seen.
  func pages(from old: UInt32, to new: UInt32, pageSize: Int, pageCount: Int) -> Set<Int>? {
    let count = Int(new &- old)
    guard count > 0, count <= Self.most else { return nil }
    let saves = state.withLock { $0.saves.filter { $0.counter &- old < UInt32(count) } }
    guard saves.map(\.counter) == (0..<UInt32(count)).map({ old &+ $0 }),
      saves.allSatisfy({ $0.pageSize == pageSize })
    else { return nil }
    var named = saves.reduce(into: Set<Int>()) { $0.formUnion($1.pages) }
    let fewest = saves.map(\.initialPages).min() ?? pageCount
    if fewest < pageCount { named.formUnion(fewest + 1...pageCount) }
    return named
  }

  /// Free pages that a save may have taken: SQLite does not save what they held, but the pages that list them.
  ///
  /// - Parameter head: the first page's beginning before it.
  /// - Returns: `nil` where the list of free pages is not sound.
  private static func usedLeaves(
    _ journal: RollbackJournal, _ main: OpenFile, _ head: [UInt8]
  ) throws -> Set<Int>? {
    let size = journal.pageSize
    var leaves: Set<Int> = []
    var trunk = Int(BigEndian.word(head, 32))
    var left = journal.initialPages
    while trunk != 0 {
      guard trunk <= journal.initialPages, left > 0 else { return nil }
      left -= 1
      let place = journal.places[trunk]
      let bytes =
        try place.map { try journal.read(at: $0, count: size) }
        ?? main.read(at: (trunk - 1) * size, count: size)
      guard bytes.count == size else { return nil }
      if place != nil {
        let count = min(Int(BigEndian.word(bytes, 4)), (size - 8) / 4)
        for index in 0..<count { leaves.insert(Int(BigEndian.word(bytes, 8 + 4 * index))) }
      }
      trunk = Int(BigEndian.word(bytes, 0))
    }
    return leaves
  }
}

/// Looks for the journals of saves on a thread of its own, as long as it is kept: they are there for a moment only.
final class JournalLookout {
  /// The main file that is read by the thread, and let go before the thread ends: to close it would end locks that
  /// this process may hold on it.
  private final class Place: Sendable {
    let main: Mutex<OpenFile?>

    init(_ main: OpenFile) { self.main = Mutex(main) }
  }

  /// The main file.
  let main: OpenFile
  private let looking: EarlyResult<Void>

  /// Milliseconds after which the thread sees that it is to end.
  private static let longestWait = 50

  init(_ journals: SaveJournals, _ main: OpenFile) {
    self.main = main
    looking = EarlyResult { [place = Place(main)] isStopped in
      if let path = place.main.withLock({ $0?.path }) {
        let signal = ChangeSignal(path: path)
        while !isStopped() {
          signal.wait(milliseconds: Self.longestWait) {
            place.main.withLock { if let main = $0 { journals.look(main) } }
          }
        }
      }
      place.main.withLock { $0 = nil }
    }
  }

  deinit {
    looking.stop()
    try? looking.wait()
  }
}
