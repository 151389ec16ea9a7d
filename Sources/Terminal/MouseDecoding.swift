/// Reports of the mouse as xterm sends them, and the double clicks among them.
package struct MouseDecoding: Sendable {
  private static let doubleClick = Duration.milliseconds(400)

  /// Where and when the button was last pressed.
  private var last: (x: Int, y: Int, time: ContinuousClock.Instant)?
  private var isHeld = false

  /// A mouse of which nothing has come yet.
  package init() {}

  /// What follows `ESC [ <`: button, column and row, and M for a press or m for a release.
  package mutating func key(report: String, at time: ContinuousClock.Instant) -> Key? {
    guard let final = report.last, final == "M" || final == "m" else { return nil }
    let numbers = report.dropLast().split(separator: ";").compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    return key(
      button: numbers[0], isRelease: final == "m", x: numbers[1] - 1, y: numbers[2] - 1, at: time)
  }

  /// What follows `ESC [ M` in terminals of old: three characters from a space on.
  package mutating func key(old report: [Unicode.Scalar], at time: ContinuousClock.Instant) -> Key?
  {
    guard report.count == 3, report.allSatisfy({ $0.value >= 32 }) else { return nil }
    let numbers = report.map { Int($0.value) - 32 }
    // A release does not say of which button.
    return key(
      button: numbers[0] & ~3 | (numbers[0] & 3 == 3 ? 0 : numbers[0] & 3),
      isRelease: numbers[0] & 3 == 3, x: numbers[1] - 1, y: numbers[2] - 1, at: time)
  }

  private mutating func key(
    button: Int, isRelease: Bool, x: Int, y: Int, at time: ContinuousClock.Instant
  ) -> Key? {
    guard x >= 0, y >= 0 else { return nil }
    // Bits 2 to 4 are Shift, Alt and Control.
    switch (button & 0b11, isWheel: button & 64 != 0, isMotion: button & 32 != 0) {
    case (0, true, _): return .mouse(.scrollUp, x: x, y: y)
    case (1, true, _): return .mouse(.scrollDown, x: x, y: y)
    case (0, false, true): return isHeld ? .mouse(.drag, x: x, y: y) : nil
    case (0, false, false) where isRelease:
      isHeld = false
      return .mouse(.release, x: x, y: y)
    case (0, false, false):
      isHeld = true
      if let former = last, former.x == x, former.y == y, time - former.time < Self.doubleClick {
        // A third one begins again.
        last = nil
        return .mouse(.doubleClick, x: x, y: y)
      }
      last = (x, y, time)
      return .mouse(.press, x: x, y: y)
    default: return nil
    }
  }
}
