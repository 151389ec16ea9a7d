import Dispatch
import Files
import Synchronization
import TestSupport
import Testing

@Suite("Threads beside jobs")
struct ProcessorsTests {
  private final class Box: Sendable {
    let begun = Atomic<Int>(0)
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
  }

  @Test("as many threads help as processors have nothing to do, and give their place back")
  func budget() throws {
    let (processors, box) = (Processors(count: 3), Box())
    func help() -> Bool {
      processors.help {
        box.gate.wait()
        box.done.signal()
      }
    }
    #expect(help() && help())
    #expect(!help())
    box.gate.signal()
    box.done.wait()
    // Its place is given back a moment after it has told of its end.
    #expect(Patience.wait { help() })
    #expect(!help())
    for _ in 0..<2 { box.gate.signal() }
  }

  @Test("jobs take the processors, the caller's among them, until they are done")
  func jobs() throws {
    let (processors, box) = (Processors(count: 2), Box())
    processors.run(jobs: 2) {
      box.gate.wait()
      box.done.signal()
    }
    #expect(!processors.help {})
    for _ in 0..<2 { box.gate.signal() }
    for _ in 0..<2 { box.done.wait() }
    let isBegun = Patience.wait { processors.help { box.gate.wait() } }
    #expect(isBegun)
    // The caller's place is its own again.
    #expect(!processors.help {})
    box.gate.signal()
  }

  /// A pool of as many threads as there are processors let each of two jobs wait a second for the
  /// thread that was to help it, and for the other job.
  @Test("jobs that wait for each other all begin at once, whatever the number of processors")
  func waiting() {
    let box = Box()
    let count = 3 * Processors.shared.count + 9
    // Nothing but time tells whether a thread came at once or, as the pool's do, a second after the last.
    let start = ContinuousClock.now
    Processors(count: 2).run(jobs: count) {
      if box.begun.add(1, ordering: .relaxed).newValue == count { box.done.signal() }
      box.gate.wait()
    }
    box.done.wait()
    #expect(ContinuousClock.now - start < .seconds(count / 2))
    for _ in 0..<count { box.gate.signal() }
  }

  private final class Taken: Sendable {
    let tasks = SharedTasks(count: 1_000)
    let numbers = Mutex<[Int]>([])

    func work() {
      while let task = tasks.take() { numbers.withLock { $0.append(task) } }
    }
  }

  @Test("each shared task is taken once, with a helping thread and without", arguments: [1, 3])
  func shared(processors count: Int) {
    let taken = Taken()
    taken.tasks.begin(on: Processors(count: count)) { taken.work() }
    #expect(taken.tasks.isHelped == (count > 1))
    taken.work()
    taken.tasks.wait()
    #expect(taken.numbers.withLock(\.self).sorted() == Array(0..<1_000))
  }

  @Test("no task is taken after a stop")
  func stopped() {
    let taken = Taken()
    #expect(taken.tasks.take() == 0)
    taken.tasks.stop()
    #expect(taken.tasks.take() == nil)
  }
}
