import Dispatch
import ManagedModel
import ManagedStore
import Synchronization

/// The rows of a store in the order in which they are written, made on a thread of their own while
/// those before them are written.
///
/// A few batches go round between the two: what is made ahead takes little memory, and is freed where
/// it was made. Which of the two is faster changes nothing, as each row is worked out of its place.
final class RowSupply: Sendable {
  /// Rows that follow each other, of one entity.
  struct Batch: Sendable {
    fileprivate(set) var count = 0
    private(set) var rows: [RowForm.Row] = []

    /// Makes as many of an entity's rows as one batch holds, from a place on.
    fileprivate mutating func fill(_ maker: ObjectMaker, from first: Int) {
      let room = min(RowSupply.mostRows, maker.part.keys.count - first)
      var bytes = 0
      count = 0
      while count < room, bytes < RowSupply.mostBytes {
        if count == rows.count { rows.append(RowForm.Row()) }
        maker.make(first + count, in: &rows[count])
        bytes += rows[count].bytes
        count += 1
      }
    }
  }

  private struct Ring {
    var empty = [Batch](repeating: Batch(), count: 3)
    var full: [Batch] = []
    var isStopped = false
  }

  private let makers: [ObjectMaker]
  private let ring = Mutex(Ring())
  private let emptied = DispatchSemaphore(value: 0)
  private let filled = DispatchSemaphore(value: 0)

  fileprivate static let mostRows = 256
  /// Texts and bytes from which on a batch is full.
  fileprivate static let mostBytes = 1 << 20

  init(_ makers: [ObjectMaker]) { self.makers = makers }

  /// Begins to make them; to be called once.
  func start() {
    DispatchQueue(label: "strata.seeding").async { @Sendable [self] in
      for maker in makers {
        var first = 0
        while first < maker.part.keys.count {
          guard var batch = empty() else { return }
          batch.fill(maker, from: first)
          first += batch.count
          ring.withLock { $0.full.append(batch) }
          filled.signal()
        }
      }
    }
  }

  /// Puts the rows that come next in the place of those that are written, which are refilled; waits
  /// for them. Asked for once more than there are, it would wait for ever.
  func advance(_ batch: inout Batch) {
    filled.wait()
    ring.withLock { ring in
      var next = ring.full.removeFirst()
      swap(&batch, &next)
      ring.empty.append(next)
    }
    emptied.signal()
  }

  /// Nothing more is asked for.
  func stop() {
    ring.withLock { $0.isStopped = true }
    emptied.signal()
  }

  private func empty() -> Batch? {
    while true {
      let (batch, isStopped) = ring.withLock { ring in
        (ring.isStopped ? nil : ring.empty.popLast(), ring.isStopped)
      }
      if batch != nil || isStopped { return batch }
      emptied.wait()
    }
  }
}

extension RowForm.Row {
  /// What its texts and bytes take.
  fileprivate var bytes: Int {
    attributes.reduce(0) { bytes, value in
      switch value {
      case .string(let text), .uri(let text), .decimal(let text): bytes + text.utf8.count
      case .bytes(let content): bytes + content.count
      default: bytes
      }
    }
  }
}
