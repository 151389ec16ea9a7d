/// Keys of rows, as ranges: those of a table stand mostly beside each other.
package struct KeySet: Sendable {
  private var ranges: [ClosedRange<Int64>] = []
  private var isSorted = true

  /// One without keys.
  package init() {}

  /// Adds a key.
  package mutating func insert(_ key: Int64) {
    if let last = ranges.last {
      if last.contains(key) { return }
      if key > last.upperBound, key - 1 == last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...key
        return
      }
      if key <= last.upperBound { isSorted = false }
    }
    ranges.append(key...key)
  }

  /// Adds all keys of a range.
  package mutating func insert(_ keys: ClosedRange<Int64>) {
    ranges.append(keys)
    isSorted = false
  }

  /// Puts the ranges in order; to be called once all keys are in.
  package mutating func sort() {
    guard !isSorted else { return }
    isSorted = true
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var merged: [ClosedRange<Int64>] = []
    for range in ranges {
      if let last = merged.last,
        range.lowerBound <= last.upperBound
          || range.lowerBound - 1 == last.upperBound
      {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    ranges = merged
  }

  /// The first keys, in order.
  package func keys(most: Int) -> [Int64] {
    var result: [Int64] = []
    for range in ranges {
      for key in range {
        guard result.count < most else { return result }
        result.append(key)
      }
    }
    return result
  }

  /// Whether it has no key.
  package var isEmpty: Bool { ranges.isEmpty }

  /// How many keys there are.
  package var count: Int64 {
    ranges.reduce(0) { sum, range in
      let size = range.upperBound.subtractingReportingOverflow(range.lowerBound)
      return sum.addingReportingOverflow(size.overflow ? .max : size.partialValue).partialValue &+ 1
    }
  }

  /// The greatest key; `nil` without any.
  package var greatest: Int64? { ranges.last?.upperBound }

  /// The greatest key below another; `nil` without one.
  func greatest(below key: Int64) -> Int64? {
    guard key > .min, let place = place(atOrBelow: key - 1) else { return nil }
    return min(ranges[place].upperBound, key - 1)
  }

  /// The least key above another; `nil` without one.
  func least(above key: Int64) -> Int64? {
    guard key < .max else { return nil }
    if contains(key + 1) { return key + 1 }
    let next = (place(atOrBelow: key + 1) ?? -1) + 1
    return next < ranges.count ? ranges[next].lowerBound : nil
  }

  /// Whether a key is in it.
  package func contains(_ key: Int64) -> Bool {
    guard let place = place(atOrBelow: key) else { return false }
    return ranges[place].contains(key)
  }

  /// The keys between two that are not in it, both left out; `nil` where they are more than `most`.
  func missing(after lower: Int64, before upper: Int64, most: Int) -> [Int64]? {
    guard lower < upper else { return [] }
    var result: [Int64] = []
    var key = lower + 1
    var next = place(atOrBelow: key) ?? 0
    while key < upper {
      while next < ranges.count, ranges[next].upperBound < key { next += 1 }
      if next < ranges.count, ranges[next].contains(key) {
        guard ranges[next].upperBound < .max else { break }
        key = ranges[next].upperBound + 1
        continue
      }
      guard result.count < most else { return nil }
      result.append(key)
      key += 1
    }
    return result
  }

  /// The last range that begins at a key or below it.
  private func place(atOrBelow key: Int64) -> Int? {
    let behind = ranges.partitioningIndex { $0.lowerBound > key }
    return behind > 0 ? behind - 1 : nil
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first place from which on every element is of a kind; the end where none is.
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
