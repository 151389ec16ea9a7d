import Files
import ManagedModel
import ManagedStore
import Synchronization

/// Checks of a large store's objects, shared by two threads: one of its own looks at the store through
/// another handle, who asks for the findings helps with those that are left.
///
/// What it could not find out is not reported here: whoever asks checks by itself then.
final class ChecksAhead: Sendable {
  private let tasks: SharedTasks
  private let found = Mutex<[Int: [Finding]]>([:])

  /// Smaller stores are looked at before another handle is open.
  private static let leastBytes = 16 << 20

  /// Begins with the checks of a store that nobody writes to, and that is whole.
  ///
  /// - Returns: `nil` for any other, and for a small one.
  init?(of store: Store, _ place: StorePlace, count: Int) {
    guard store.connection.isImmutable, store.damage == nil, store.modelSource != .raw,
      FileSystem.status(store.files.path)?.size ?? 0 > Self.leastBytes
    else { return nil }
    tasks = SharedTasks(count: count)
    let (path, files, entities) = (store.path, store.files, store.entityTables.map(\.entity))
    let model = store.modelSource == .store ? nil : store.wholeModel
    tasks.begin { [self] in
      guard let twin = try? Store(path: path, files: files, model: model, isLenient: true),
        twin.connection.isImmutable, twin.entityTables.map(\.entity) == entities
      else { return }
      twin.trustAsInspected()
      twin.connection.onProgress { self.tasks.isStopped }
      work(on: twin, place)
    }
  }

  /// Helps until nothing is left; the findings of each check that was carried out.
  func findings(helpedBy store: Store, _ place: StorePlace) -> [Int: [Finding]] {
    work(on: store, place)
    tasks.wait { if store.connection.shouldStop { tasks.stop() } }
    return found.withLock(\.self)
  }

  private func work(on store: Store, _ place: StorePlace) {
    let checks = DataLayer(place: place, store: store).checks
    guard checks.count == tasks.count else { return }
    while let next = tasks.take() {
      guard let findings = try? store.translating(checks[next]) else {
        if store.connection.shouldStop { return }
        continue
      }
      // What was read of a damaged file is not what the other reads.
      guard store.damage == nil else { return }
      found.withLock { $0[next] = findings }
    }
  }
}
