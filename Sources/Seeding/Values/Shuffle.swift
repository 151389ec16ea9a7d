/// The numbers from 0 to below a count in another order, each once, without a list of them.
///
/// A Feistel network over the next power of four, walked until it leads back among the numbers.
struct Shuffle: Sendable {
  let count: Int
  private let half: UInt64
  private let mask: UInt64
  private let seed: UInt64

  init(_ count: Int, seed: UInt64) {
    self.count = max(0, count)
    var half: UInt64 = 1
    while half < 31, UInt64(1) << (2 * half) < UInt64(max(1, count)) { half += 1 }
    self.half = half
    mask = UInt64(1) << half - 1
    self.seed = seed
  }

  /// Where a number goes.
  func place(of number: Int) -> Int { walked(number) { forwards($0) } }

  /// What goes there.
  func number(at place: Int) -> Int { walked(place) { backwards($0) } }

  private func walked(_ number: Int, _ step: (UInt64) -> UInt64) -> Int {
    guard count > 1, number >= 0, number < count else { return 0 }
    var current = UInt64(number)
    repeat { current = step(current) } while current >= UInt64(count)
    return Int(current)
  }

  private func forwards(_ number: UInt64) -> UInt64 {
    var (left, right) = (number >> half, number & mask)
    for round in 0..<4 as Range<UInt64> { (left, right) = (right, left ^ mixed(right, round)) }
    return left << half | right
  }

  private func backwards(_ number: UInt64) -> UInt64 {
    var (left, right) = (number >> half, number & mask)
    for round in (0..<4 as Range<UInt64>).reversed() {
      (left, right) = (right ^ mixed(left, round), left)
    }
    return left << half | right
  }

  private func mixed(_ part: UInt64, _ round: UInt64) -> UInt64 {
    SeededGenerator.scrambled(part &+ seed &+ round &* 0x9E37_79B9_7F4A_7C15) & mask
  }
}
