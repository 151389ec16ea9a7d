import Dispatch
import Files
import Interface
import Synchronization
import TestSupport
import Testing

@testable import Commands
@testable import strata

@Suite("The first frames")
struct FirstFramesTests {
  @Test("answers that stream in are drawn so many times a second, and the first at once")
  func pacing() {
    var pacing = FramePacing(rate: 30)
    let start = ContinuousClock.now
    #expect(pacing.wait(at: start) == 0)
    pacing.drew(at: start)
    #expect(pacing.wait(at: start) == 33)
    #expect(pacing.wait(at: start + .milliseconds(20)) == 13)
    // Never none before it may be drawn: that would be a loop that waits for nothing.
    #expect(pacing.wait(at: start + .microseconds(33_300)) == 1)
    #expect(pacing.wait(at: start + .milliseconds(34)) == 0)
  }

  @Test("nothing is tidied up before the first screen is there")
  func tidying() async throws {
    let folder = try TemporaryFolder()
    let store = try DemoCommand.write(to: folder.path("demo"), objects: 100).store
    let opened = DispatchSemaphore(value: 0)
    let performer = EffectPerformer(
      source: StoreSource(path: store, model: nil), mailbox: Mailbox { opened.signal() })
    defer { performer.close() }
    // What it begins stands before the other tests that wait for a thread, not behind them.
    await Task(priority: .high) {
      var state = State(storePath: store)
      for effect in update(&state, .start) { performer.perform(effect) }
    }.value
    #expect(await Thread.wait(for: opened))
    #expect(performer.running.withLock { $0.isTidyingDue })
    performer.releaseTidying()
    #expect(performer.running.withLock { !$0.isTidyingDue && !$0.holdsTidying })
  }

  #if os(Linux)
    @Test("who helps a migration that gives way to the keys gives way, too")
    func helping() async {
      @Sendable func number() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
      let numbers = Mutex<[Int32]>([])
      for quality in [DispatchQoS.utility, .default] {
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "test", qos: quality).async { @Sendable in
          Processors.begin {
            numbers.withLock { $0.append(number()) }
            done.signal()
          }
        }
        #expect(await Thread.wait(for: done))
      }
      let found = numbers.withLock { $0 }
      #expect(found.count == 2 && found[0] > found[1], "\(found)")
    }
  #endif
}
