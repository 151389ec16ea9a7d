/// When the next frame may come, so that answers that stream in are drawn so many times a second.
///
/// Frames for keys, and the first, are drawn at once and do not keep the answers to them waiting.
struct FramePacing {
  private let interval: Duration
  /// When the last frame was drawn for answers.
  private var streamed: ContinuousClock.Instant?

  init(rate: Int) {
    interval = .seconds(1) / rate
  }

  /// A frame was drawn for answers, or put off for a terminal that takes none now.
  mutating func drew(at moment: ContinuousClock.Instant) { streamed = moment }

  /// Milliseconds until the next may be drawn, none where it may be now.
  func wait(at moment: ContinuousClock.Instant) -> Int {
    guard let streamed else { return 0 }
    let left = interval - (moment - streamed)
    return left > .zero ? max(1, Int(left / .milliseconds(1))) : 0
  }
}
