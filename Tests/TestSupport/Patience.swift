#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Waiting for what another program or thread does: as long as a busy machine may need, and no
/// longer than it takes.
public enum Patience {
  /// After so long it will not come any more.
  public static let seconds = 180.0

  /// Asks again and again until it is so, or until the patience ends.
  ///
  /// - Returns: whether it came to be so.
  @discardableResult
  public static func wait(until isDone: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try !isDone() {
      if ContinuousClock.now > end { return false }
      usleep(20_000)
    }
    return true
  }
}
