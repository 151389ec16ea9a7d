/// The one bit of a frame that is wrong, found by its checksum.
///
/// Both words of the checksum are sums: a bit that was turned at some place changes them by an amount
/// that only this place and this bit give. Of the 33,000 bits that a frame of 4 KB has, the one that
/// makes both words right is it; a fault of several bits fits none. Of the highest bits in a word several
/// have the same effect.
struct BitError: Equatable {
  /// Where in the frame, its header counted.
  let offset: Int
  /// The bit in that byte.
  let bit: UInt8

  /// Every bit that would explain what a checksum is off by.
  static func all(_ frame: [UInt8], off difference: LogChecksum, bigEndian: Bool) -> [BitError] {
    let size = LogHeader.frameHeaderSize
    // Words enter in pairs, a += w0 + b and b += w1 + a: what one more in either of a pair makes of
    // the sums at its end, and from there on at the frame's.
    var effects: [(first: UInt32, second: UInt32)] = [(1, 1), (0, 1)]
    let pairs = [0] + Array(stride(from: size, to: frame.count - 7, by: 8))
    var found: [BitError] = []
    for pair in pairs.reversed() {
      for (word, effect) in effects.enumerated() {
        for shift in 0..<32 {
          let byte = pair + word * 4 + (bigEndian ? 3 - shift / 8 : shift / 8)
          let bit = UInt8(1) << UInt8(shift % 8)
          // Turned, the bit that is set takes away what it gave.
          let change = frame[byte] & bit != 0 ? 0 &- (UInt32(1) << shift) : UInt32(1) << shift
          if effect.first &* change == difference.first,
            effect.second &* change == difference.second
          {
            found.append(BitError(offset: byte, bit: bit))
          }
        }
      }
      effects = effects.map {
        ($0.first &+ $0.second, $0.first &+ $0.second &+ $0.second)
      }
    }
    return found
  }
}
