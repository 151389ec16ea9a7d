import Files
import Interface
import ManagedStore
import Migration

/// What goes on around the store.
extension EffectPerformer {
  /// Seconds between two looks at the store's files.
  private static let interval = 2

  /// Removes copies that nobody uses any more, and reports what an interrupted run left of this
  /// store: a person decides whether anything is done about that.
  func tidyUp() {
    PrivateFolder.removeAbandoned()
    // A run of our own is no interrupted one.
    guard !isMigrating, running.withLock({ $0.rescues.isEmpty }) else { return }
    let found = StoreLeftovers(of: path)
    if !found.isEmpty { mailbox.post(.leftovers(found)) }
  }

  /// Has that done, not before the first screen is there.
  func tidy() {
    let isHeld = running.withLock { running in
      running.isTidyingDue = running.holdsTidying
      return running.holdsTidying
    }
    if !isHeld { Task { tidyUp() } }
  }

  /// The first screen is there: what was left for later may begin.
  func releaseTidying() {
    let isDue = running.withLock { running in
      defer { (running.holdsTidying, running.isTidyingDue) = (false, false) }
      return running.isTidyingDue
    }
    if isDue { Task { tidyUp() } }
  }

  /// Reports when the store's files are no longer what they were; asked of the file system only.
  func watch() {
    running.withLock { running in
      guard running.watcher == nil else { return }
      running.watcher = Task { [weak self, path] in
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(Self.interval))
          guard let self else { return }
          let known = self.running.withLock { $0.fingerprint }
          guard let known else { continue }
          let now = StoreFingerprint(of: FileSystem.canonical(path))
          guard now != known else { continue }
          let isOurs = self.running.withLock { running in
            // A cut-over of ours began between the two looks.
            guard running.fingerprint == known else { return true }
            running.fingerprint = now
            return false
          }
          guard !isOurs else { continue }
          self.mailbox.post(
            .storeChanged(!now.exists ? .gone : now.isSameFile(as: known) ? .changed : .replaced))
        }
      }
    }
  }
}
