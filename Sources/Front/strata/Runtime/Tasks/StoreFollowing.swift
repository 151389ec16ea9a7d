import Commands
import Interface
import ManagedModel
import ManagedStore
import Synchronization
import Watching

/// Notices what other programs save to the store that is open, and finds out which objects they changed.
final class StoreFollowing: Sendable {
  /// Between two looks at the store's files.
  private static let interval = Duration.milliseconds(100)
  /// The same where a program saves so fast that the log may begin again between two looks: it is followed then, while
  /// rows are still read again after an interval.
  private static let busyInterval = Duration.milliseconds(20)
  /// Saves in an interval from which on that is so.
  private static let fewestBusy = 8
  /// How long rows wait for what changed of them to be known.
  private static let patience = Duration.milliseconds(150)
  /// Looks for which rows wait for the log's index: that of a program that was killed may never come.
  private static let mostLooks = 300
  /// How long a wait for journals may keep others from the watch.
  private static let longestWait = Duration.milliseconds(50)
  /// Objects of one save whose values are kept.
  private static let most = 1_000
  /// Bytes of a store that are copied before anybody has saved, where the copy takes room.
  private static let mostCopied = 256 << 20

  /// How far the copy is that saves are compared with.
  private enum Phase {
    /// It is to be made, not before a time: programs wrote all the time when it was tried.
    case wanted(from: ContinuousClock.Instant, wait: Duration)
    /// It is so large that it is made when something was saved: what that changed is not known.
    case postponed
    case beginning
    /// It is there. Saves meanwhile were counted by the files, and are in it or not.
    case begun
    /// What the files counted is what it listed.
    case inStep
    /// The store cannot be copied or read: saves are only counted.
    case impossible
  }

  private let source: StoreSource
  private let mailbox: Mailbox
  /// Both are `nil` while the store is being replaced by us. A look is taken with the lock held: what it closes in
  /// the middle of a cut-over would end the lock on the store.
  private let signs = Mutex<SaveSigns?>(nil)
  private let watch = Mutex<StoreWatch?>(nil)
  private let isStopped = Atomic<Bool>(true)
  private let phase = Mutex(Phase.impossible)
  private let hasSaved = Atomic<Bool>(false)
  /// Whether saves come faster than they can be listed, as far as that was said.
  private let isLate = Atomic<Bool>(false)

  init(_ source: StoreSource, _ mailbox: Mailbox) {
    (self.source, self.mailbox) = (source, mailbox)
  }

  /// The store is about to be opened: a change from now on is one that was not seen.
  func begin() {
    signs.withLock { [path = source.path] in $0 = SaveSigns(of: path) }
    let isFirst = isStopped.exchange(false, ordering: .relaxed)
    phase.withLock { phase in
      if case .impossible = phase {} else if !isFirst { return }
      phase = .wanted(from: .now, wait: .seconds(1))
    }
  }

  /// What becomes of the files now is our own work; returns when nothing of them is open here any more.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    signs.withLock { $0 = nil }
    watch.withLock { $0 = nil }
  }

  /// Looks again and again, until the task is cancelled.
  func run() async {
    // For how many looks rows have waited to be read once more.
    var late: Int?
    var isBusy = false
    while !Task.isCancelled {
      await rest(isBusy: isBusy)
      isBusy = false
      beginWatch()
      let change = signs.withLock { $0?.look() }
      if change != nil { begin(postponed: .now) }
      switch change {
      case .gone?: mailbox.post(.storeChanged(.gone))
      case .replaced?:
        mailbox.post(.storeChanged(.replaced))
        await look(counted: 0)
        late = 0
      case .saved(let count)?:
        isBusy = await look(counted: count) >= Self.fewestBusy
        late = 0
      case nil:
        if !isCaughtUp { await catchUp() }
        guard let looks = late else { continue }
        // The log's frames are there before its index is, through which the rows are read.
        if looks < Self.mostLooks, signs.withLock({ $0?.isIndexBehind() }) == true {
          late = looks + 1
        } else {
          mailbox.post(.storeChanged(.saved(0)))
          late = nil
        }
      }
    }
  }

  /// Waits until the next look. The journals of a large store are looked for meanwhile, a log is followed.
  private func rest(isBusy: Bool) async {
    let end = ContinuousClock.now + Self.interval
    while isBusy, !Task.isCancelled, hasWatch, watch.withLock({ $0?.needsWaiting }) == false,
      ContinuousClock.now + Self.busyInterval < end
    {
      try? await Task.sleep(for: Self.busyInterval)
      await catchUp()
    }
    if hasWatch, watch.withLock({ $0?.needsWaiting }) == true {
      try? await EffectPerformer.onQueue("strata.following") { waitForJournals(until: end) }
    }
    try? await Task.sleep(until: end)
  }

  /// Others get the watch between two waits.
  private func waitForJournals(until end: ContinuousClock.Instant) {
    while !isStopped.load(ordering: .relaxed), !Task.isCancelled,
      let left = Optional(end - .now), left > .zero
    {
      let wait = Int(min(left, Self.longestWait) / .milliseconds(1)) + 1
      let isNeeded = watch.withLock { watch in
        watch?.wait(milliseconds: wait)
        return watch?.needsWaiting == true
      }
      guard isNeeded else { return }
    }
  }

  // MARK: The copy

  /// Somebody saved: a copy that was put off is made now.
  private func begin(postponed now: ContinuousClock.Instant) {
    hasSaved.store(true, ordering: .relaxed)
    phase.withLock { if case .postponed = $0 { $0 = .wanted(from: now, wait: .seconds(1)) } }
  }

  /// Keeps what the store holds now, to compare with what is saved; the files are looked at meanwhile.
  private func beginWatch() {
    let wait: Duration? = phase.withLock { phase in
      guard case .wanted(let start, let wait) = phase, start <= .now else { return nil }
      phase = .beginning
      return wait
    }
    guard let wait else { return }
    Task {
      try await EffectPerformer.onQueue("strata.following") { makeWatch(next: wait) }
    }
  }

  /// - Parameter wait: how long to wait where it cannot be made because programs write all the time.
  private func makeWatch(next wait: Duration) {
    watch.withLock { watch in
      guard !isStopped.load(ordering: .relaxed), watch == nil else { return }
      var request = WatchRequest()
      request.limit = Self.most
      request.mostCopied = hasSaved.load(ordering: .relaxed) ? nil : Self.mostCopied
      let made = Result {
        try StoreWatch(
          path: source.path, request: request, fallback: source.candidate,
          isCancelled: { [weak self] in self?.isStopped.load(ordering: .relaxed) ?? true })
      }
      guard !isStopped.load(ordering: .relaxed) else { return }
      switch made {
      case .success(let made):
        watch = made
        phase.withLock { $0 = .begun }
        mailbox.post(.watched(nil))
      case .failure(let error):
        let error = CoreDataError(error, or: .failed)
        switch error.kind {
        case .failed:
          phase.withLock { $0 = .wanted(from: .now + wait, wait: min(wait * 2, .seconds(60))) }
        case .refused:
          phase.withLock { $0 = .postponed }
          // It may have been saved to in the meantime.
          if hasSaved.load(ordering: .relaxed) { begin(postponed: .now) }
        case .usage, .unreadable, .incompatible, .cancelled:
          phase.withLock { $0 = .impossible }
        }
        mailbox.post(.watched(error))
      }
    }
  }

  private var hasWatch: Bool {
    switch phase.withLock({ $0 }) {
    case .begun, .inStep: true
    case .wanted, .postponed, .beginning, .impossible: false
    }
  }

  // MARK: Looking

  /// Whether every save that the files show is listed.
  private var isCaughtUp: Bool {
    switch phase.withLock({ $0 }) {
    case .begun: false
    case .inStep: !isBehind
    case .wanted, .postponed, .beginning, .impossible: true
    }
  }

  /// Whether the last look found that the files have changed, and could not read what of them.
  private var isBehind: Bool { watch.withLock { $0?.isBehind ?? false } }

  /// Whether what was saved is counted by the files: what the watch finds is not counted again then.
  private var isCountedByFiles: Bool {
    if case .begun = phase.withLock({ $0 }) { true } else { false }
  }

  /// Lists saves that are not listed yet, until there are no more of them.
  private func catchUp() async {
    // A save that could not be read yet was counted: it must not count once more when it is.
    guard await list(after: nil) == 0, !isBehind else { return }
    phase.withLock { if case .begun = $0 { $0 = .inStep } }
  }

  /// Has the rows read again, once it is known what changed of them, or that takes long.
  ///
  /// - Parameter count: how many saves there were as far as the files show, where nothing else says it.
  /// - Returns: how many saves were found.
  @discardableResult
  private func look(counted count: Int?) async -> Int {
    guard hasWatch else {
      mailbox.post(.storeChanged(.saved(count)))
      return 0
    }
    let isCounted = isCountedByFiles
    let early = Task { [mailbox] in
      try await Task.sleep(for: Self.patience)
      mailbox.post(.storeChanged(.saved(0)))
    }
    let saves = await list(after: isCounted ? .saved(count) : nil)
    early.cancel()
    if !isCounted { mailbox.post(.storeChanged(.saved(saves == nil ? count : 0))) }
    return saves ?? 0
  }

  /// Lists what was saved since the last look, a part at a time: the next part waits until one was taken in.
  ///
  /// - Parameter change: what is posted before the saves.
  /// - Returns: how many there were; `nil` where that cannot be found out.
  private func list(after change: StoreChange?) async -> Int? {
    let isCounted = isCountedByFiles
    return try? await EffectPerformer.onQueue("strata.following") {
      try watch.withLock { watch in
        var parts = SaveParts(
          first: change, isCancelled: { self.isStopped.load(ordering: .relaxed) }, mailbox)
        defer { parts.end() }
        try watch?.look {
          parts.add(SeenSave($0, time: LocalTime.clock(of: $0.time), isCounted: isCounted))
        }
        let isLate = watch?.isLate ?? false
        if self.isLate.exchange(isLate, ordering: .relaxed) != isLate {
          mailbox.post(.late(isLate))
        }
        return watch == nil ? nil : parts.count
      }
    }
  }
}

/// Saves of one look on their way to the loop. What waits there takes the memory of one part.
struct SaveParts {
  /// Saves and objects of a part, at least: those of one save are together.
  static let size = 1_000

  /// How many saves were added.
  private(set) var count = 0
  private var first: StoreChange?
  private var part: [SeenSave] = []
  private var weight = 0
  private let isCancelled: () -> Bool
  private let mailbox: Mailbox

  /// - Parameters:
  ///   - first: what is posted before the saves.
  ///   - isCancelled: whether the interface has stopped taking messages.
  init(first: StoreChange?, isCancelled: @escaping () -> Bool, _ mailbox: Mailbox) {
    (self.first, self.isCancelled, self.mailbox) = (first, isCancelled, mailbox)
  }

  /// Adds a save, and posts what is there where that is a part.
  mutating func add(_ save: SeenSave) {
    part.append(save)
    count += 1
    weight += save.weight
    guard weight >= Self.size else { return }
    end()
    mailbox.waitUntilTaken(unless: isCancelled)
  }

  /// Posts what is left.
  mutating func end() {
    if let first { mailbox.post(.storeChanged(first)) }
    if !part.isEmpty { mailbox.post(.saved(part)) }
    (first, part, weight) = (nil, [], 0)
  }
}
