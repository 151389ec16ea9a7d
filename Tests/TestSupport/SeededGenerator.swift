/// Random numbers that are the same for the same seed (SplitMix64), so that a failure can be
/// repeated.
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// The bytes with a few of them changed, removed, repeated or cut off.
  public mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...4, using: &self) where !result.isEmpty {
      let index = Int.random(in: 0..<result.count, using: &self)
      switch Int.random(in: 0..<6, using: &self) {
      case 0: result[index] = UInt8.random(in: 0...255, using: &self)
      case 1: result[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 2: result[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &self) ?? 0
      case 3: result.remove(at: index)
      case 4: result.insert(contentsOf: result[index..<min(index + 8, result.count)], at: index)
      default: result.removeSubrange(index..<min(index + 8, result.count))
      }
    }
    return result
  }
}
