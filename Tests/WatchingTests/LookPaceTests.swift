import Files
import ManagedStore
import TestSupport
import Testing

@testable import Watching

@Suite("Reading beside a program that saves without a log")
struct LookPaceTests {
  private let start = ContinuousClock.now

  private func time(_ milliseconds: Int) -> ContinuousClock.Instant {
    start + .milliseconds(milliseconds)
  }

  @Test("a program that saves now and then is followed at once, however long reading takes")
  func slow() {
    var pace = LookPace()
    // Ten saves a second.
    for look in 0..<50 {
      let isDue = pace.isDue(at: UInt32(look), time(look * 100))
      #expect(isDue)
      pace.read(
        for: .milliseconds(90), isWhole: look % 2 == 0, at: UInt32(look), time(look * 100 + 90))
      #expect(!pace.isPausing)
    }
  }

  @Test("beside one that saves all the time reading takes a twentieth of the time")
  func fast() {
    var pace = LookPace()
    var (counter, now, reads, read) = (UInt32(0), 0, 0, 0)
    while now < 60_000 {
      if pace.isDue(at: counter, time(now)) {
        reads += 1
        read += 130
        now += 130
        counter &+= 130 * 9
        pace.read(for: .milliseconds(130), isWhole: false, at: counter, time(now))
      }
      now += 100
      counter &+= 900
    }
    #expect(reads > 15 && read * LookPace.pauseForReading <= 60_000, "\(reads) reads, \(read) ms")
  }

  @Test("beside a thousand saves a second, a read that fails is tried again at once")
  func between() {
    var pace = LookPace()
    for look in 0..<50 {
      let isDue = pace.isDue(at: UInt32(look * 150), time(look * 150))
      #expect(isDue)
      pace.read(
        for: .milliseconds(60), isWhole: false, at: UInt32(look * 150 + 60), time(look * 150 + 60))
      #expect(!pace.isPausing)
    }
  }

  @Test("where reading finds all, a pause is so short that its saves are shown in time")
  func whole() {
    var pace = LookPace()
    _ = pace.isDue(at: 0, time(0))
    pace.read(for: .milliseconds(90), isWhole: true, at: 900, time(90))
    #expect(pace.isPausing)
    let looks = [(2000, 200), (3000, 300)].map { pace.isDue(at: $0.0, time($0.1)) }
    #expect(looks == [false, true] && !pace.isPausing)
  }

  @Test("the pause ends when the program does", arguments: [0, 3] as [UInt32])
  func ends(saves: UInt32) {
    var pace = LookPace()
    _ = pace.isDue(at: .max - 5, time(0))
    // The counter begins again behind its greatest number.
    pace.read(for: .milliseconds(200), isWhole: false, at: 2000, time(200))
    #expect(pace.isPausing)
    let looks = [(2900, 300), (3200, 400), (3200 + saves, 500)].map {
      pace.isDue(at: $0.0, time($0.1))
    }
    #expect(looks == [false, false, true] && !pace.isPausing)
  }

  @Test("in a pause no journal is noticed and nothing is read; what was saved comes after it")
  func paused() throws {
    let library = try Library(mode: "DELETE")
    try library.save("UPDATE ZBOOK SET ZCOVER = randomblob(200000)")
    let watch = try library.watch()
    #expect(watch.needsWaiting)
    // One that no time ends that a test takes.
    let later = ContinuousClock.now + .seconds(3600)
    var pace = LookPace()
    _ = pace.isDue(at: 0, later - .seconds(1))
    pace.read(for: .seconds(1), isWhole: false, at: 100_000, later)
    watch.pace = pace
    #expect(pace.isPausing && !watch.needsWaiting)
    #expect(!watch.isLate)
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    #expect(try watch.look().isEmpty)
    #expect(watch.isBehind && !watch.isLate && watch.notices.isEmpty)
    // That it takes long is said once.
    ChangeSignal.sleep(milliseconds: Int(StoreWatch.unsaidDelay / .milliseconds(1)) + 50)
    var notices: [[WatchNotice]] = []
    for _ in 0..<2 {
      #expect(try watch.look().isEmpty)
      notices.append(watch.notices)
    }
    #expect(notices == [[.behind], []] && watch.isLate)
    watch.pace = LookPace()
    #expect(try watch.look().map(\.count) == [1])
    #expect(!watch.isBehind && !watch.isLate && watch.needsWaiting)
  }
}
