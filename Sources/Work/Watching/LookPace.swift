/// When a store that is saved to without a log is read again.
///
/// Pages of its main file are compared then. Beside a program that saves as fast as it can this may find no moment in
/// which nothing is written, and the program loses time for each journal that is noticed. As long as saves come that
/// fast, reading is followed by a pause in which they are only counted. Where fewer come there is no pause: saves that
/// pile up take long to follow, and those made meanwhile are shown late.
struct LookPace {
  /// Saves in a tenth of a second from which on a program is likely to save as fast as it can.
  static let fewestSaves = 256
  /// For how long saves are counted at least to know how fast they come.
  static let shortestCount = Duration.milliseconds(50)
  /// How many times as long as reading a pause is.
  static let pauseForReading = 20
  /// The longest pause where all that was saved was found.
  static let longestPause = Duration.milliseconds(200)

  /// Until when nothing is read; `nil` where it is.
  private var end: ContinuousClock.Instant?
  /// The change counter at the beginning of the count.
  private var first: (counter: UInt32, time: ContinuousClock.Instant)?
  /// How many are saved in a tenth of a second.
  private var speed = 0.0
  private var isFast: Bool { speed >= Double(Self.fewestSaves) }

  /// Whether nothing is to be read or noticed.
  var isPausing: Bool { end != nil }

  /// Whether it is time to read.
  ///
  /// - Parameter counter: the change counter now.
  mutating func isDue(at counter: UInt32, _ now: ContinuousClock.Instant) -> Bool {
    count(counter, now)
    if let end, now >= end || !isFast { self.end = nil }
    return end == nil
  }

  /// Takes in how long reading took, and whether it found all that was saved.
  mutating func read(
    for time: Duration, isWhole: Bool, at counter: UInt32, _ now: ContinuousClock.Instant
  ) {
    count(counter, now)
    guard isFast else { return }
    let pause = time * Self.pauseForReading
    end = now + (isWhole ? min(pause, Self.longestPause) : pause)
  }

  private mutating func count(_ counter: UInt32, _ now: ContinuousClock.Instant) {
    guard let first else { return self.first = (counter, now) }
    let time = now - first.time
    guard time >= Self.shortestCount else { return }
    speed = Double(counter &- first.counter) / (time / .milliseconds(100))
    self.first = (counter, now)
  }
}
