import Comparison
import Files
import ManagedStore
import SQLite

/// Follows what other programs save in a store.
///
///     let watch = try StoreWatch(path: "Recipes.sqlite")
///     while true {
///       watch.wait(milliseconds: 100)
///       for save in try watch.look() { print(save.counts, save.changes) }
///       for notice in watch.notices { print(notice.sentence) }
///     }
///
/// Nothing is written to the store or its folder, and no lock is held. A private copy keeps what the store held at
/// the last look. One caller at a time.
public final class StoreWatch {
  /// The path as it was given.
  public let path: String
  /// What else the last ``look()`` noticed, in order; what lasts is noticed once.
  public private(set) var notices: [WatchNotice] = []

  /// Whether the last look left something for the next: programs wrote all that time, or files could not be read.
  package private(set) var isBehind = false
  /// Whether that has lasted for so long that it should be said.
  package private(set) var isLate = false

  private let request: WatchRequest
  private let source: Baseline.Source
  private var files: WatchedFiles { source.files }
  private var baseline: Baseline
  private var presence: WatchedFiles.Presence
  /// What the files were when they were last read.
  private var state: StoreState
  /// What was wrong with the files at the last look.
  private var failure: (error: CoreDataError, state: StoreState?, time: ContinuousClock.Instant)?
  /// Commits to the -wal up to ``state``, by its index, and those that were followed since.
  private var commits: UInt32?
  private var consumed = 0
  private var logNumber = 0
  private let signal: ChangeSignal
  var pace = LookPace()
  /// Since when looks leave something, where what they leave can be read.
  private var behindSince: ContinuousClock.Instant?

  /// Begins with the store as it is now.
  ///
  /// - Parameters:
  ///   - path: the store; a link is followed once, now.
  ///   - model: reads the store with this model instead of the one in it.
  ///   - fallback: finds a model for a store without one, as for ``Store``.
  ///   - isCancelled: asked now and then in long work.
  /// - Throws: ``CoreDataError`` where the store cannot be read or copied, of kind refused where it is larger than the
  ///   request allows to copy, and of kind usage for an entity or a predicate that does not fit the store.
  public init(
    path: String, request: WatchRequest = WatchRequest(), model: Model? = nil,
    fallback: @escaping (StoreMetadata) -> Model? = { _ in nil },
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    (self.path, self.request) = (path, request)
    let files = WatchedFiles(StoreFiles(path: FileSystem.canonical(path)))
    let source = Baseline.Source(
      files: files, model: model, fallback: fallback, mostCopied: request.mostCopied ?? .max,
      isCancelled: isCancelled)
    self.source = source
    presence = files.presence
    // Before the first look at the files: what happens from then on wakes.
    signal = ChangeSignal(path: files.names.path)
    do {
      try files.refresh()
      baseline = try files.noticingJournals {
        try Baseline(of: source, patience: Baseline.Patience.first)
      }
    } catch let error as CoreDataError {
      throw error.at(path: path, insteadOf: files.names.path)
    }
    (state, commits, logNumber) = (baseline.state, baseline.commits, files.logNumber)
    try Self.check(request, baseline.store)
    let first = baseline
    try files.noticingJournals { try first.begin(request, isCancelled: isCancelled) }
  }

  private static func check(_ request: WatchRequest, _ store: Store) throws {
    for entity in request.entities { _ = try store.columns(of: entity) }
    guard let predicate = request.predicate else { return }
    for entity in request.entities { _ = try RowFilter(predicate, entity: entity, store: store) }
  }

  /// The store as it was at the last look: a private copy, which may be read until the next one.
  package var store: Store { baseline.store }

  // MARK: Looking

  /// What was saved since the last look, oldest first; empty where nothing was.
  ///
  /// Each save that is still in the -wal is one for itself; others come together, and where a program without a -wal
  /// saves very fast they are left to a later look; where that goes on for two seconds, ``notices`` says so once. A
  /// store that cannot be read now, or is gone, is no error, either: ``notices`` says so once, and later looks find it
  /// when it is back.
  ///
  /// - Throws: ``CoreDataError`` when cancelled, and of kind usage where the request does not fit a store that came
  ///   in place of the first.
  public func look() throws -> [ObservedSave] {
    var saves: [ObservedSave] = []
    try look { saves.append($0) }
    return saves
  }

  /// The same, each save as soon as it is found: a log with thousands of them takes the memory of one.
  ///
  /// - Parameters:
  ///   - passing: takes objects beyond the first thousand of a save, before the save itself, which only counts them.
  ///     Where a look ends without their save, they are found again. `nil`: each save keeps as many as the request's
  ///     limit.
  ///   - report: takes a save; notices that belong before it are in ``notices`` by then.
  /// - Throws: what a closure throws, and what ``look()`` does.
  public func look(
    passing: ((ObjectChange) throws -> Void)? = nil,
    _ report: @escaping (ObservedSave) throws -> Void
  ) throws {
    notices = []
    isBehind = false
    defer { noteDelay(.now) }
    guard isPresent() else { return }
    let outlet = SaveOutlet(limit: request.limit, passing: passing, report: report)
    var read: StoreState?
    do {
      try files.refresh()
      let now = try StoreState(files)
      guard isDue(now) else {
        isBehind = true
        return
      }
      guard try now != state || hasMore(), !isFailing(now) else { return }
      read = now
      baseline.lookAgain()
      let start = ContinuousClock.now
      var isRead = false
      defer { rest(after: .now - start, isWhole: isRead && !isBehind) }
      try files.noticingJournals {
        if files.main?.identity != baseline.identity {
          try compareAll(.replaced, outlet)
        } else {
          try follow(now, outlet)
        }
      }
      isRead = true
      failure = nil
    } catch let failure as SaveOutlet.Failure {
      throw failure.error
    } catch {
      let found =
        (error as? SQLiteError).map { CoreDataError(sqlite: $0, path: path) }
        ?? error as? CoreDataError
      guard let found, found.kind != .cancelled, found.kind != .usage else { throw found ?? error }
      isBehind = true
      if failure?.error != found { notices.append(.unreadable(found)) }
      failure = (found, read, .now)
    }
  }

  /// Says once that saves come faster than they can be read.
  private func noteDelay(_ now: ContinuousClock.Instant) {
    guard isBehind, failure == nil else { return (behindSince, isLate) = (nil, false) }
    let since = behindSince ?? now
    behindSince = since
    guard !isLate, now - since >= Self.unsaidDelay else { return }
    isLate = true
    notices.append(.behind)
  }

  /// How long looks may leave something without a word.
  static let unsaidDelay = Duration.seconds(2)

  /// Whether a store has the name, with what is to be said of it.
  private func isPresent() -> Bool {
    let now = files.presence
    defer { presence = now }
    switch (presence, now) {
    case (.missing, .missing), (.link, .link): return false
    case (_, .missing):
      notices.append(.gone)
      return false
    case (_, .link):
      notices.append(.link)
      return false
    case (.missing, .file), (.link, .file):
      notices.append(.back)
    case (.file(let former), .file(let owner)):
      if former != owner { notices.append(.owner(from: former, to: owner)) }
    }
    return true
  }

  /// Whether files that could not be read are still what they were: they are read again after a while only.
  private func isFailing(_ now: StoreState) -> Bool {
    guard let failure, failure.state == now else { return false }
    return ContinuousClock.now - failure.time < .seconds(1)
  }

  /// Whether the log goes on: times and sizes of files do not show every frame.
  private func hasMore() throws -> Bool {
    guard let tail = baseline.tail, let log = files.log else { return false }
    return try tail.hasMore(log)
  }

  /// Follows the log as far as it goes on from what is known, and compares pages where it does not.
  private func follow(_ now: StoreState, _ outlet: SaveOutlet) throws {
    if files.logNumber != logNumber { (commits, logNumber) = (nil, files.logNumber) }
    var isKnown: Bool
    if let former = baseline.tail, let log = files.log {
      isKnown = try !former.isRestarted(log)
      guard try consume(log, outlet) else { return }
      if !isKnown, try former.isIntact(log), let next = try files.logTail(), next.follows(former) {
        baseline.tail = next
        isKnown = true
        guard try consume(log, outlet) else { return }
      }
    } else {
      isKnown = now.hasSameMain(as: state)
      if isKnown, let log = files.log, let next = try files.logTail() {
        baseline.tail = next
        guard try consume(log, outlet) else { return }
      } else if baseline.tail != nil, files.log == nil {
        isKnown = false
      }
    }
    if !isKnown, let log = files.log, let commits, let now = files.logCommits {
      // Where as many transactions stand in the new log as were committed, none was lost with the former.
      let known = commits &+ UInt32(clamping: consumed)
      let next = try files.logTail()
      if try next?.count(log) ?? 0 == Int(now &- known) {
        baseline.tail = next
        isKnown = true
        guard try consume(log, outlet) else { return }
      }
    }
    guard isKnown else { return try compare(outlet) }
    state = now
    commits =
      files.commits(upTo: baseline.tail) ?? commits.map { $0 &+ UInt32(clamping: consumed) }
    consumed = 0
  }

  /// Follows the log to its end.
  ///
  /// - Returns: false where all objects were compared instead.
  private func consume(_ log: OpenFile, _ outlet: SaveOutlet) throws -> Bool {
    while let transaction = try baseline.tail?.next(log) {
      if source.isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
      guard !transaction.isLarge,
        case .saved(let save) = try baseline.follow(
          transaction.pages, pageCount: transaction.pageCount, outlet)
      else {
        try compareAll(.unfollowed, outlet)
        return false
      }
      consumed += 1
      try outlet.add(save)
    }
    return true
  }

  /// How many saves there were up to a state that were not followed; `nil` where nothing counts them.
  private func missed(_ now: StoreState, _ commits: UInt32?) -> Int? {
    var count: Int?
    if let commits, let known = self.commits, files.logNumber == logNumber {
      count = Int(commits &- known) - consumed
    } else if now.header.isEmpty, baseline.tail == nil {
      count = Int(now.changeCounter &- state.changeCounter)
    }
    return count.flatMap { (1..<1_000_000).contains($0) ? $0 : nil }
  }

  /// Compares the pages of the store with those of the copy.
  private func compare(_ outlet: SaveOutlet) throws {
    let start = ContinuousClock.now
    for attempt in 0..<Self.mostAttempts {
      if attempt > 0 {
        guard ContinuousClock.now - start < Self.mostTime else { break }
        files.pause()
      }
      guard let difference = try PageDifference(files, baseline, since: state) else { continue }
      let count = missed(difference.state, difference.commits)
      guard !difference.isLarge,
        case .saved(var save) = try baseline.follow(
          difference.pages, pageCount: difference.pageCount, outlet)
      else { return try compareAll(.unfollowed, outlet) }
      save.saves = count
      baseline.tail = difference.tail
      state = difference.state
      (commits, consumed, logNumber) = (difference.commits, 0, files.logNumber)
      files.journals.discard(before: state.changeCounter)
      return try outlet.add(save)
    }
    // It is written to all the time: the next look tries again.
    isBehind = true
  }

  private static let (mostAttempts, mostTime) = (20, Duration.milliseconds(50))

  /// Compares all objects with the store as it is now, which becomes the baseline.
  private func compareAll(_ reason: WatchNotice.Reason, _ outlet: SaveOutlet) throws {
    let present = try Baseline(of: source, patience: Baseline.Patience.later)
    var comparing = ComparisonRequest()
    comparing.entities = request.entities
    comparing.predicate = request.predicate
    comparing.limit = request.limit
    comparing.ignoresBookkeeping = true
    let count = reason == .replaced ? nil : missed(present.state, present.commits)
    var save = ObservedSave(time: CoreDataDate.now, saves: count)
    save.isWhole = true
    do {
      let comparison = try StoreComparison(
        baseline.store, present.store, comparing, isCancelled: source.isCancelled)
      let summary = try comparison.run { try outlet.add($0, to: &save) }
      save.counts = summary.entities.filter { $0.count > 0 }
    }
    if reason != .replaced, try baseline.schemaCookie() != present.schemaCookie() {
      notices.append(.compared(.rebuilt))
    } else {
      notices.append(.compared(reason))
    }
    if baseline.store.metadata.uuid == present.store.metadata.uuid {
      save.add(try present.transactions(after: baseline.lastTransaction))
    }
    try present.begin(request, isCancelled: source.isCancelled)
    (baseline, state) = (present, present.state)
    (commits, consumed, logNumber) = (present.commits, 0, files.logNumber)
    try outlet.add(save)
  }

  // MARK: Waiting

  /// Whether it is time to read what was saved without a log.
  private func isDue(_ now: StoreState) -> Bool {
    files.log != nil || pace.isDue(at: now.changeCounter, .now) || now == state
  }

  /// Begins a pause where saves without a log come so fast that one is needed.
  ///
  /// Not where journals have named what was saved: they do as long as each of them is noticed.
  private func rest(after time: Duration, isWhole: Bool) {
    guard files.log == nil, !isWhole || !files.usesJournals,
      let counter = try? StoreState(files).changeCounter
    else { return }
    pace.read(for: time, isWhole: isWhole, at: counter, .now)
    if pace.isPausing { signal.pause() }
  }

  /// Whether saves are followed by their journals, which are there for a moment only: somebody should ``wait(milliseconds:)``
  /// all the time between two looks.
  package var needsWaiting: Bool { files.usesJournals && !pace.isPausing }

  /// Waits until something may have been saved, at most that long.
  ///
  /// Not every change wakes it: look at least every 100 milliseconds.
  public func wait(milliseconds: Int) {
    guard !pace.isPausing else { return ChangeSignal.sleep(milliseconds: milliseconds) }
    signal.wait(
      milliseconds: milliseconds, noticing: files.usesJournals ? files.lookForJournal : nil)
  }
}
