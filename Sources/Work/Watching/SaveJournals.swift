import Files
import Salvage

/// The rollback journals of saves without a log, opened while they are there: they name the pages that a save wrote,
/// so that a large file need not be read whole.
///
/// A journal that is held open can still be read after SQLite has removed it. One that SQLite keeps for the next save
/// (journal modes PERSIST and TRUNCATE) does not count, since it may be of another save by then.
final class SaveJournals {
  private struct Caught {
    let file: OpenFile
    let identity: FileIdentity
    /// Its pages, once its save is known to be the one that raised the change counter.
    var journal: RollbackJournal?
    /// The change counter before its save.
    var counter: UInt32 = 0
  }

  private let path: String
  private var caught: [Caught] = []

  private static let most = 64
  /// Bytes of a journal that is held: until then its room on the disk is not free.
  private static let mostBytes = 64 << 20

  /// - Parameter path: where the journal is while a program saves.
  init(path: String) { self.path = path }

  /// Opens a journal that is there, and finds out what became of the one before.
  func look(_ main: OpenFile) {
    settle(main)
    guard let identity = FileIdentity(of: path), identity != caught.last?.identity else { return }
    // What became of the one before is not known: the chain of saves is broken.
    if let last = caught.last, last.journal == nil { caught = [] }
    guard let file = try? OpenFile(path), file.identity == identity else { return caught = [] }
    if caught.count >= Self.most { caught.removeFirst() }
    caught.append(Caught(file: file, identity: identity))
  }

  /// Reads the last journal once it was removed.
  ///
  /// Its save is in the main file where the change counter is the next one, and where nothing was written behind the
  /// removal of the journal: a save that was rolled back, and another that nobody saw, would do that.
  private func settle(_ main: OpenFile) {
    guard let last = caught.last, last.journal == nil, let removed = last.file.removalTime else {
      return
    }
    guard let file = try? last.file.reopened(), file.size <= Self.mostBytes,
      let journal = try? RollbackJournal(file, main: main), journal.state == .hot,
      journal.end == .whole, let place = journal.places[1],
      let before = try? journal.read(at: place, count: FileHeader.size),
      let now = try? main.read(at: 0, count: FileHeader.size),
      // Not in WAL mode, before nor after: what a log brings no journal names.
      before.dropFirst(18).first == 1, now.dropFirst(18).first == 1,
      FileHeader(now).changeCounter == FileHeader(before).changeCounter &+ 1,
      let written = FileSystem.modification(main.path), written <= removed
    else { return caught = [] }
    caught[caught.count - 1].journal = journal
    caught[caught.count - 1].counter = FileHeader(before).changeCounter
  }

  /// Forgets journals of saves before a value of the change counter.
  func discard(before counter: UInt32) {
    caught.removeAll {
      $0.journal != nil && Int32(bitPattern: counter &- $0.counter) > 0
    }
  }

  /// The pages that may have changed while the change counter went from one value to another.
  ///
  /// - Parameters:
  ///   - main: the main file, to which no program is writing.
  ///   - pageCount: pages of the database now.
  /// - Returns: `nil` where the journal of a save between them was not seen.
  /// - Throws: ``CoreDataError`` where a file cannot be read.
  func pages(
    from old: UInt32, to new: UInt32, _ main: OpenFile, pageSize: Int, pageCount: Int
  ) throws -> Set<Int>? {
    let count = Int(new &- old)
    guard count > 0, count <= Self.most else { return nil }
    let saves = caught.filter { $0.counter &- old < UInt32(count) && $0.journal != nil }
    let journals = saves.compactMap(\.journal)
    guard saves.map(\.counter) == (0..<UInt32(count)).map({ old &+ $0 }),
      journals.allSatisfy({ $0.pageSize == pageSize })
    else { return nil }
    var named: Set<Int> = []
    var fewest = pageCount
    for place in journals.indices {
      guard let free = try Self.usedLeaves(journals[place...], main, pageSize) else { return nil }
      named.formUnion(journals[place].places.keys)
      named.formUnion(free)
      fewest = min(fewest, journals[place].initialPages)
    }
    if fewest < pageCount { named.formUnion(fewest + 1...pageCount) }
    return named
  }

  /// Free pages that the first of some saves may have taken: SQLite does not save what they held, but the pages
  /// that list them.
  ///
  /// - Returns: `nil` where the list of free pages is not sound.
  private static func usedLeaves(
    _ journals: ArraySlice<RollbackJournal>, _ main: OpenFile, _ pageSize: Int
  ) throws -> Set<Int>? {
    guard let first = journals.first else { return [] }
    func before(_ page: Int) throws -> [UInt8] {
      for journal in journals {
        if let place = journal.places[page] {
          return try journal.read(at: place, count: pageSize)
        }
      }
      return try main.read(at: (page - 1) * pageSize, count: pageSize)
    }
    var leaves: Set<Int> = []
    var trunk = Int(BigEndian.word(try before(1), 32))
    var left = first.initialPages
    while trunk != 0 {
      guard trunk <= first.initialPages, left > 0 else { return nil }
      left -= 1
      let bytes = try before(trunk)
      guard bytes.count == pageSize else { return nil }
      if first.places[trunk] != nil {
        let count = min(Int(BigEndian.word(bytes, 4)), (pageSize - 8) / 4)
        for index in 0..<count { leaves.insert(Int(BigEndian.word(bytes, 8 + 4 * index))) }
      }
      trunk = Int(BigEndian.word(bytes, 0))
    }
    return leaves
  }
}
