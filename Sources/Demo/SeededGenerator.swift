/// SplitMix64: the same numbers on every run, so that a demo store is the same everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick(_ words: [String]) -> String {
    words.isEmpty ? "" : words[below(words.count)]
  }

  mutating func uuid() -> [UInt8] {
    var bytes = (0..<2).flatMap { _ -> [UInt8] in
      let word = next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
    }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }
}
