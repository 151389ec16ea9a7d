/// Keys of rows, a bit for each: for keys in no order, of which there may be millions.
package struct KeyBits: Sendable, Equatable {
  /// Most stretches of 65,536 keys, which take 4 MB: more than any table has whose keys were counted up.
  private static let most = 512
  private static let wordsInStretch = 1024

  private var words: [UInt64] = []
  /// Which stretch of `words` holds the keys that begin alike.
  private var stretches: [Int64: Int] = [:]
  private var last = Int64.min
  private var lastStretch = 0
  /// Whether keys were left out, since they lie too far from each other.
  package private(set) var isCutShort = false

  /// One without keys.
  package init() {}

  /// Adds a key.
  @inline(__always)
  package mutating func insert(_ key: Int64) {
    let high = key >> 16
    if high != last, !find(high) { return }
    words[lastStretch + Int(key & 0xFFFF) >> 6] |= 1 << UInt64(key & 63)
  }

  private mutating func find(_ high: Int64) -> Bool {
    if let known = stretches[high] {
      lastStretch = known
    } else {
      guard stretches.count < Self.most else {
        isCutShort = true
        return false
      }
      lastStretch = words.count
      stretches[high] = lastStretch
      words += [UInt64](repeating: 0, count: Self.wordsInStretch)
    }
    last = high
    return true
  }

  /// Whether each of its keys is in one of others; `nil` where that is not known.
  package func isSubset(of others: [KeyBits]) -> Bool? {
    guard !isCutShort, !others.contains(where: \.isCutShort) else { return nil }
    for (high, stretch) in stretches {
      let there = others.compactMap { other in other.stretches[high].map { (other, $0) } }
      for word in 0..<Self.wordsInStretch {
        let all = there.reduce(UInt64(0)) { $0 | $1.0.words[$1.1 + word] }
        if words[stretch + word] & ~all != 0 { return false }
      }
    }
    return true
  }
}
