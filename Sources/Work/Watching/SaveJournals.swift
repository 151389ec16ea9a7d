import Dispatch
import Files
import Salvage
import Synchronization

/// The rollback journals of saves without a log, opened while they are there: they name the pages that a save wrote,
/// so that a large file need not be read whole.
///
/// A journal that is held open can still be read after SQLite has removed it. One that SQLite keeps for the next save
/// (journal modes PERSIST and TRUNCATE) does not count, since it may be of another save by then.
final class SaveJournals: Sendable {
  private let path: String
  private let chain = Mutex(Chain())

  /// - Parameter path: where the journal is while a program saves.
  init(path: String) { self.path = path }

  /// Opens a journal that is there, and finds out what became of the one before.
  func look(_ main: OpenFile) { chain.withLock { $0.look(path, main) } }

  /// Forgets saves before a value of the change counter.
  func discard(before counter: UInt32) { chain.withLock { $0.discard(before: counter) } }

  /// Whether every save since a value of the change counter was seen, as far as one may be under way now.
  func areKnown(from old: UInt32, to new: UInt32) -> Bool {
    chain.withLock { $0.areKnown(from: old, to: new) }
  }

  /// The pages that may have changed while the change counter went from one value to another.
  ///
  /// - Parameter pageCount: pages of the database now.
  /// - Returns: `nil` where the journal of a save between them was not seen.
  func pages(from old: UInt32, to new: UInt32, pageSize: Int, pageCount: Int) -> Set<Int>? {
    chain.withLock { $0.pages(from: old, to: new, pageSize: pageSize, pageCount: pageCount) }
  }

  /// Looks for journals in a thread of its own for as long as the work takes: between two rows that are read, or while
  /// an object is printed, more than one may come and go.
  func noticed<Result>(_ main: OpenFile, during work: () throws -> Result) rethrows -> Result {
    let isDone = Flag()
    let end = DispatchSemaphore(value: 0)
    Processors.begin { [self] in
      let events = FolderEvents(FileSystem.parent(of: path) ?? ".")
      while !isDone.value.load(ordering: .relaxed) {
        look(main)
        events.wait()
      }
      end.signal()
    }
    defer {
      isDone.value.store(true, ordering: .relaxed)
      // The thread has no file open any more then.
      end.wait()
    }
    return try work()
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }
}

/// The journals that were seen, as far as each goes on from the one before.
private struct Chain {
  /// What the journal of a save named that raised the change counter by one.
  private struct Save {
    /// The change counter before it.
    let counter: UInt32
    let pageSize: Int
    /// Pages of the database before it.
    let initialPages: Int
    let pages: [Int]
  }

  /// The journal that is there, or was when it was looked for last.
  private var current: (file: OpenFile, identity: FileIdentity)?
  /// Saves, each of which goes on from the one before.
  private var saves: [Save] = []
  /// Pages that these name.
  private var pageCount = 0

  /// How many saves are kept, and how many pages of them, at most.
  private static let (most, mostPages) = (4096, 1 << 18)
  /// Bytes of a journal that is read.
  private static let mostBytes = 64 << 20

  mutating func look(_ path: String, _ main: OpenFile) {
    settle(main)
    guard let identity = FileIdentity(of: path), identity != current?.identity else { return }
    // What became of the one before is not known: the chain of saves is broken.
    if current != nil { forget(saves.count) }
    current = nil
    guard let file = try? OpenFile(path), file.identity == identity else {
      return forget(saves.count)
    }
    current = (file, identity)
  }

  /// Reads the last journal once it was removed.
  private mutating func settle(_ main: OpenFile) {
    guard let file = current?.file, let removed = file.removalTime else { return }
    current = nil
    guard let save = try? Self.save(file, removed, main) else { return forget(saves.count) }
    if let last = saves.last, last.counter &+ 1 != save.counter { forget(saves.count) }
    saves.append(save)
    pageCount += save.pages.count
    while saves.count > Self.most || pageCount > Self.mostPages {
      forget(max(1, saves.count / 2))
    }
  }

  /// What a journal that was removed names; `nil` where its save may not be the last that was written.
  ///
  /// Its save is in the main file where the change counter is the next one, and where nothing was written behind the
  /// removal of the journal: a save that was rolled back, and another that nobody saw, would do that.
  private static func save(_ file: OpenFile, _ removed: Double, _ main: OpenFile) throws -> Save? {
    let journalFile = try file.reopened()
    guard journalFile.size <= mostBytes else { return nil }
    let journal = try RollbackJournal(journalFile, main: main)
    guard journal.state == .hot, journal.end == .whole, let place = journal.places[1] else {
      return nil
    }
    let before = try journal.read(at: place, count: FileHeader.size)
    // Not in WAL mode, before nor after: what a log brings no journal names.
    guard before.count == FileHeader.size, before[18] == 1 else { return nil }
    let counter = FileHeader(before).changeCounter
    func isLast() throws -> Bool {
      let now = try main.read(at: 0, count: FileHeader.size)
      guard now.count == FileHeader.size, now[18] == 1,
        FileHeader(now).changeCounter == counter &+ 1,
        let written = FileSystem.modification(main.path)
      else { return false }
      return written <= removed
    }
    guard try isLast(), let free = try usedLeaves(journal, main), try isLast() else { return nil }
    // A save that is under way may have written to the pages that list free ones, before it wrote the counter.
    if FileHeader(before).freelist != 0, FileIdentity(of: file.path) != nil { return nil }
    return Save(
      counter: counter, pageSize: journal.pageSize, initialPages: journal.initialPages,
      pages: Array(free.union(journal.places.keys)))
  }

  mutating func discard(before counter: UInt32) {
    forget(saves.count { Int32(bitPattern: counter &- $0.counter) > 0 })
  }

  /// Forgets the oldest saves.
  private mutating func forget(_ count: Int) {
    pageCount -= saves.prefix(count).reduce(0) { $0 + $1.pages.count }
    saves.removeFirst(min(count, saves.count))
  }

  func areKnown(from old: UInt32, to new: UInt32) -> Bool {
    if let first = saves.first, Int32(bitPattern: first.counter &- old) > 0 { return false }
    // How many saves were seen since, and how many there were.
    let known = saves.last.map { Int32(bitPattern: $0.counter &+ 1 &- old) } ?? 0
    let count = Int32(bitPattern: new &- old)
    return count <= max(known, 0) + (current == nil ? 0 : 1)
  }

  func pages(from old: UInt32, to new: UInt32, pageSize: Int, pageCount: Int) -> Set<Int>? {
    let count = Int(new &- old)
    guard count > 0, count <= Self.most else { return nil }
    let saves = saves.filter { $0.counter &- old < UInt32(count) }
    guard saves.count == count, saves.allSatisfy({ $0.pageSize == pageSize }) else { return nil }
    var named: Set<Int> = []
    var fewest = pageCount
    for save in saves {
      named.formUnion(save.pages)
      fewest = min(fewest, save.initialPages)
    }
    if fewest < pageCount { named.formUnion(fewest + 1...pageCount) }
    return named
  }

  /// Free pages that a save may have taken: SQLite does not save what they held, but the pages that list them.
  ///
  /// - Parameter main: the main file as the save left it.
  /// - Returns: `nil` where the list of free pages is not sound.
  private static func usedLeaves(_ journal: RollbackJournal, _ main: OpenFile) throws -> Set<Int>? {
    let size = journal.pageSize
    func before(_ page: Int) throws -> [UInt8] {
      if let place = journal.places[page] { return try journal.read(at: place, count: size) }
      return try main.read(at: (page - 1) * size, count: size)
    }
    var leaves: Set<Int> = []
    var trunk = Int(BigEndian.word(try before(1), 32))
    var left = journal.initialPages
    while trunk != 0 {
      guard trunk <= journal.initialPages, left > 0 else { return nil }
      left -= 1
      let bytes = try before(trunk)
      guard bytes.count == size else { return nil }
      if journal.places[trunk] != nil {
        let count = min(Int(BigEndian.word(bytes, 4)), (size - 8) / 4)
        for index in 0..<count { leaves.insert(Int(BigEndian.word(bytes, 8 + 4 * index))) }
      }
      trunk = Int(BigEndian.word(bytes, 0))
    }
    return leaves
  }
}
