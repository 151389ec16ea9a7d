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

  /// A number from 0 to below `count`; 0 where there is none.
  package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }
  /// True in that many cases of a hundred.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  /// A number from 0 to below 1.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// One of the words; empty where there is none.
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
  static func seed(_ seed: UInt64, _ names: String...) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for name in names {
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }
    return scrambled(hash ^ scrambled(seed &+ 0x9E37_79B9_7F4A_7C15))
  }
}
