/// SplitMix64: the same numbers on every run, so that a made store is the same everywhere.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers of a seed.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.scrambled(state)
  }

  /// A number from 0 to below `count`; 0 if `count` is 0.
  package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }
  /// True in that many cases of a hundred.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  /// A number from 0 to below 1.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// One of the words; empty if there are none.
  package mutating func pick(_ words: [String]) -> String {
    words.isEmpty ? "" : words[below(words.count)]
  }

  /// A UUID of version 4.
  package mutating func uuid() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    var word = next()
    for index in 0..<16 {
      if index == 8 { word = next() }
      bytes[index] = UInt8(truncatingIfNeeded: word >> UInt64((index & 7) * 8))
    }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }

  /// The 64 bits that stand for a number.
  static func scrambled(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A seed made of another and a name: Swift's own hashes differ from run to run.
  package static func seed(_ seed: UInt64, _ names: String...) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for name in names {
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }
    return scrambled(hash ^ scrambled(seed &+ 0x9E37_79B9_7F4A_7C15))
  }
}

/// The numbers from 0 to below a count in another order, each once, without a list of them.
///
/// A Feistel network over the next power of four, walked until it leads back among the numbers.
package struct Shuffle: Sendable {
  package let count: Int
  private let half: UInt64
  private let mask: UInt64
  private let seed: UInt64

  package init(_ count: Int, seed: UInt64) {
    self.count = max(0, count)
    var half: UInt64 = 1
    while half < 31, UInt64(1) << (2 * half) < UInt64(max(1, count)) { half += 1 }
    self.half = half
    mask = UInt64(1) << half - 1
    self.seed = seed
  }

  /// Where a number goes.
  package func place(of number: Int) -> Int { walked(number) { forwards($0) } }

  /// What goes there.
  package func number(at place: Int) -> Int { walked(place) { backwards($0) } }

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
