import Dispatch
import Files
import ManagedModel
import ManagedStore
import Synchronization
import TestSupport
import Testing

@testable import Commands
@testable import Interface
@testable import strata

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Readers while the store changes hands")
struct ReaderHoldTests {
  @Test("an export stops where it is for the cut-over, and is whole afterwards")
  func export() async throws {
    let folder = try TemporaryFolder()
    let store = try DemoCommand.write(to: folder.path("demo"), objects: 20_000).store
    let session = StoreSession("test", source: StoreSource(path: store, model: nil))
    let total = try await session.ask { try $0.count(of: "Amount", filter: nil) }
    let pause = await session.pause
    // Held by the export itself, and not because nobody waited any longer.
    let hold = ReaderHold([session], patience: .seconds(3600))
    let (begun, held) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isAsked = Mutex(false)
    let path = folder.path("amounts.csv")
    let request = ExportRequest(query: RowQuery(entity: "Amount"), format: .csv, path: path)
    let export = Task {
      // A fast machine would be done before it tells anything.
      try await session.export(request, telling: .zero) { @Sendable _, _ in
        let isFirst = isAsked.withLock { isAsked in
          defer { isAsked = true }
          return !isAsked
        }
        guard isFirst else { return }
        begun.signal()
        Thread.start {
          hold.begin()
          held.signal()
        }
        // The hold is asked for before the next page is.
        Patience.wait { pause.isAsked }
      }
    }
    // Other tests keep the threads of tasks, this one's too, for as long as they wait themselves.
    let isBegun = await Thread.wait(for: begun, seconds: 10 * Patience.seconds)
    try #require(isBegun)
    let isHeld = await Thread.wait(for: held)
    #expect(isHeld && isAsked.withLock { $0 })
    // Held: while another reader exports all of it, the file is not there under its name.
    let other = StoreSession("other", source: StoreSource(path: store, model: nil))
    let whole = ExportRequest(
      query: RowQuery(entity: "Amount"), format: .csv, path: folder.path("whole.csv"))
    let exported = try await other.export(whole) { @Sendable _, _ in }
    #expect(exported?.rows == total)
    #expect(FileSystem.status(path) == nil)
    hold.end()
    #expect(try await export.value?.rows == total)
    #expect(FileSystem.status(path) != nil)
  }

  @Test("a reader at rest is held too, and answers afterwards")
  func rest() async throws {
    let folder = try TemporaryFolder()
    let store = try DemoCommand.write(to: folder.path("demo"), objects: 60).store
    let session = StoreSession("test", source: StoreSource(path: store, model: nil))
    let hold = ReaderHold([session])
    hold.begin()
    let isAnswered = Mutex(false)
    let count = Task {
      let count = try await session.ask { try $0.count(of: "Recipe", filter: nil) }
      isAnswered.withLock { $0 = true }
      return count
    }
    // Held: another reader is answered meanwhile.
    let other = StoreSession("other", source: StoreSource(path: store, model: nil))
    let counted = try await other.ask { try $0.count(of: "Recipe", filter: nil) }
    #expect(counted > 0)
    #expect(isAnswered.withLock { !$0 })
    hold.end()
    #expect(try await count.value > 0)
  }

  @Test("copying a store for a rehearsal stops when its task is cancelled")
  func copying() async throws {
    let folder = try TemporaryFolder()
    let store = try DemoCommand.write(to: folder.path("demo"), objects: 60).store
    let copying = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await EffectPerformer.onQueue("test") {
        try Rehearsal.copy(store, to: folder.path("."))
      }
    }
    await #expect(throws: CancellationError.self) { try await copying.value }
  }
}

/// Threads apart from those that tasks run on.
enum Thread {
  static func start(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "test.thread").async { @Sendable in body() }
  }

  static func wait(
    for semaphore: DispatchSemaphore, seconds: Double = Patience.seconds
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      start {
        continuation.resume(
          returning: semaphore.wait(timeout: .now() + seconds) == .success)
      }
    }
  }
}
