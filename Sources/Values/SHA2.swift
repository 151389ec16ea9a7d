/// SHA-256 or SHA-512 (FIPS 180-4), which differ in the width of a word and how far words are turned.
///
/// For what OpenSSL is not worth its loading for, and where it is not installed.
struct SHA2<Word: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// How far words are turned, in the order of the standard: Σ0, Σ1, σ0, σ1, whose last is a shift.
  struct Turns: Sendable {
    var sum0: (Int, Int, Int)
    var sum1: (Int, Int, Int)
    var step0: (Int, Int, Int)
    var step1: (Int, Int, Int)
  }

  private let turns: Turns
  private let constants: [Word]
  private var state: [Word]
  /// What does not fill a block yet.
  private var rest: [UInt8] = []
  private var count = 0
  private var schedule: [Word]

  private static var blockSize: Int { 16 * MemoryLayout<Word>.size }

  fileprivate init(turns: Turns, constants: [Word], state: [Word]) {
    self.turns = turns
    self.constants = constants
    self.state = state
    schedule = Array(repeating: 0, count: constants.count)
  }

  /// Adds bytes to what the digest is of.
  mutating func update(_ bytes: [UInt8]) {
    count += bytes.count
    let block = Self.blockSize
    var start = 0
    if !rest.isEmpty {
      start = min(block - rest.count, bytes.count)
      rest += bytes[..<start]
      guard rest.count == block else { return }
      take(rest, at: 0)
      rest.removeAll(keepingCapacity: true)
    }
    while start + block <= bytes.count {
      take(bytes, at: start)
      start += block
    }
    rest += bytes[start...]
  }

  /// The digest of all that was added; nothing may be added after it.
  mutating func finish() -> [UInt8] {
    let bits = UInt64(count) * 8
    let length = 2 * MemoryLayout<Word>.size
    var end = rest + [0x80]
    while end.count % Self.blockSize != Self.blockSize - length { end.append(0) }
    end += Array(repeating: 0, count: length - 8)
    end += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    for start in stride(from: 0, to: end.count, by: Self.blockSize) { take(end, at: start) }
    return state.flatMap { word in
      (1...MemoryLayout<Word>.size).map {
        UInt8(truncatingIfNeeded: word >> Word(Word.bitWidth - 8 * $0))
      }
    }
  }

  private func turned(_ word: Word, _ bits: Int) -> Word {
    word &>> Word(truncatingIfNeeded: bits)
      | word &<< Word(truncatingIfNeeded: Word.bitWidth - bits)
  }

  private func sum(_ word: Word, _ bits: (Int, Int, Int)) -> Word {
    turned(word, bits.0) ^ turned(word, bits.1) ^ turned(word, bits.2)
  }

  private func step(_ word: Word, _ bits: (Int, Int, Int)) -> Word {
    turned(word, bits.0) ^ turned(word, bits.1) ^ word &>> Word(truncatingIfNeeded: bits.2)
  }

  private mutating func take(_ bytes: [UInt8], at start: Int) {
    let size = MemoryLayout<Word>.size
    for index in 0..<16 {
      var word: Word = 0
      for byte in 0..<size { word = word &<< 8 | Word(bytes[start + index * size + byte]) }
      schedule[index] = word
    }
    for index in 16..<constants.count {
      schedule[index] =
        step(schedule[index - 2], turns.step1) &+ schedule[index - 7]
        &+ step(schedule[index - 15], turns.step0) &+ schedule[index - 16]
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<constants.count {
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sum(e, turns.sum1) &+ choice &+ constants[index] &+ schedule[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = sum(a, turns.sum0) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }
}

typealias SHA256 = SHA2<UInt32>
typealias SHA512 = SHA2<UInt64>

extension SHA2<UInt32> {
  /// Its constants are the upper halves of the first of SHA-512.
  init() {
    self.init(
      turns: Turns(
        sum0: (2, 13, 22), sum1: (6, 11, 25), step0: (7, 18, 3), step1: (17, 19, 10)),
      constants: SHA512.roots, state: SHA512.start.map { UInt32($0 >> 32) })
  }

  static func digest(of bytes: [UInt8]) -> [UInt8] {
    var state = SHA256()
    state.update(bytes)
    return state.finish()
  }
}

extension SHA2<UInt64> {
  init() {
    self.init(
      turns: Turns(
        sum0: (28, 34, 39), sum1: (14, 18, 41), step0: (1, 8, 7), step1: (19, 61, 6)),
      constants: Self.longRoots, state: Self.start)
  }

  static func digest(of bytes: [UInt8]) -> [UInt8] {
    var state = SHA512()
    state.update(bytes)
    return state.finish()
  }
}
