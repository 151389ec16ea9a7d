import Interface
import ManagedModel
import ManagedStore
import Synchronization
import Watching

/// Notices what other programs save to the store that is open, and finds out which objects they changed.
final class StoreFollowing: Sendable {
  /// Between two looks at the store's files.
  private static let interval = Duration.milliseconds(100)
  /// How long rows wait for what changed of them to be known.
  private static let patience = Duration.milliseconds(150)
  /// Objects of one save whose values are kept.
  private static let most = 1_000

  private let source: StoreSource
  private let mailbox: Mailbox
  /// Both are `nil` while the store is being replaced by us. A look is taken with the lock held: what it closes in
  /// the middle of a cut-over would end the lock on the store.
  private let signs = Mutex<SaveSigns?>(nil)
  private let watch = Mutex<StoreWatch?>(nil)
  private let isStopped = Atomic<Bool>(true)
  private let needsWatch = Atomic<Bool>(false)

  init(_ source: StoreSource, _ mailbox: Mailbox) {
    (self.source, self.mailbox) = (source, mailbox)
  }

  /// The store is about to be opened: a change from now on is one that was not seen.
  func begin() {
    signs.withLock { [path = source.path] in $0 = SaveSigns(of: path) }
    if isStopped.exchange(false, ordering: .relaxed) {
      needsWatch.store(true, ordering: .relaxed)
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
    var isLate = false
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.interval)
      if needsWatch.exchange(false, ordering: .relaxed) { await beginWatch() }
      switch signs.withLock({ $0?.look() }) {
      case .gone?: mailbox.post(.storeChanged(.gone))
      case .replaced?:
        mailbox.post(.storeChanged(.replaced))
        await look(counted: 0)
        isLate = true
      case .saved(let count)?:
        await look(counted: count)
        isLate = true
      case nil:
        // The log's frames are there before its index is, through which the rows are read.
        if isLate { mailbox.post(.storeChanged(.saved(0))) }
        isLate = false
      }
    }
  }

  /// Keeps what the store holds now, to compare with what is saved.
  private func beginWatch() async {
    try? await EffectPerformer.onQueue("strata.following") {
      try watch.withLock { watch in
        guard !isStopped.load(ordering: .relaxed) else { return }
        var request = WatchRequest()
        request.limit = Self.most
        watch = try StoreWatch(
          path: source.path, request: request, fallback: source.candidate,
          isCancelled: { [weak self] in self?.isStopped.load(ordering: .relaxed) ?? true })
      }
    }
  }

  /// Has the rows read again, once it is known what changed of them, or that takes long.
  ///
  /// - Parameter count: how many saves there were as far as the files show, where nothing else says it.
  private func look(counted count: Int?) async {
    let early = Task { [mailbox] in
      try await Task.sleep(for: Self.patience)
      mailbox.post(.storeChanged(.saved(0)))
    }
    let saves = try? await EffectPerformer.onQueue("strata.following") {
      try watch.withLock { watch in
        try watch?.look().map { SeenSave($0, time: LocalTime.clock(of: $0.time)) }
      }
    }
    early.cancel()
    if let saves, !saves.isEmpty { mailbox.post(.saved(saves)) }
    mailbox.post(.storeChanged(.saved(saves == nil ? count : 0)))
  }
}
