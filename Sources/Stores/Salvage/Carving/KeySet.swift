/// Keys of rows, as ranges: those of a table stand mostly beside each other.
package struct KeySet: Sendable {
  /// The keys, each range once and in order when ``sort()`` was called.
  package private(set) var ranges: [ClosedRange<Int64>] = []
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
  package func missing(after lower: Int64, before upper: Int64, most: Int) -> [Int64]? {
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

/// Determines keys of rows whose first bytes were overwritten, by the rows around them.
///
/// Where rows were only ever added to a page they stand in it from the end down, with rising keys. Between
/// two that are there the rows that were deleted have the keys between theirs: if as many are missing as
/// were found, or what is left of the keys says so, each is known. It is inferred, and said to be.
struct KeyInference {
  private let keys: KeySet
  private let bounds: TreeHole?
  /// More missing keys than this show nothing.
  private static let most = 4096

  /// - Parameters:
  ///   - keys: those of the table's rows.
  ///   - bounds: the keys that the page may hold by the pages above it; `nil` where none are known.
  init(_ keys: KeySet, within bounds: TreeHole? = nil) {
    self.keys = keys
    self.bounds = bounds
  }

  /// The last key before those that a page whose least key this is may have lost.
  private func before(_ lowest: Int64) -> Int64 {
    max(keys.greatest(below: lowest) ?? 0, bounds?.above ?? 0)
  }

  /// The first key behind those that a page whose greatest key this is may have lost.
  private func behind(_ highest: Int64) -> Int64 {
    let last = bounds?.upTo ?? .max
    return min(keys.least(above: highest) ?? .max, last < .max ? last + 1 : .max)
  }

  /// The keys of rows of one page, in the order of `rows`; `nil` where one cannot be determined.
  ///
  /// - Parameters:
  ///   - rows: those that were found, from low to high in the page.
  ///   - room: the page that they are in.
  func keys(of rows: [CarvedRow], in room: DeadRoom) -> [Int64?] {
    let result = determine(rows, in: room) { $0.ending != .overwritten }
    guard rows.contains(where: { $0.ending == .overwritten }) else { return result }
    // Those that are there in part count where the others alone leave keys open.
    return zip(result, determine(rows, in: room) { _ in true }).map { sound, all in
      sound == nil || all == nil || sound == all ? sound ?? all : nil
    }
  }

  private func determine(
    _ rows: [CarvedRow], in room: DeadRoom, where isCounted: (CarvedRow) -> Bool
  ) -> [Int64?] {
    var result = [Int64?](repeating: nil, count: rows.count)
    guard let highest = room.cells.first?.key, let lowest = room.cells.last?.key, room.isInOrder
    else { return result }
    // A row that stands in no order is found behind the last cell as one is that was added last.
    let hasEnds = isAsWritten(room)
    // Rows that have the same neighbours, by where these are.
    var groups: [Int: [Int]] = [:]
    for (index, row) in rows.enumerated() where row.hint != nil && isCounted(row) {
      let next = room.cells.firstIndex { $0.range.lowerBound >= row.range.upperBound }
      groups[next ?? room.cells.count, default: []].append(index)
    }
    for (next, members) in groups where hasEnds || (1..<room.cells.count).contains(next) {
      // Higher in the page are lesser keys.
      let lower =
        next < room.cells.count ? room.cells[next].key : before(lowest)
      let upper = next > 0 ? room.cells[next - 1].key : behind(highest)
      guard let missing = keys.missing(after: lower, before: upper, most: Self.most) else {
        continue
      }
      let ordered = Array(members.reversed())
      let options = ordered.map { index in
        missing.indices.filter { rows[index].hint?.fits(missing[$0]) == true }
      }
      for (place, option) in zip(ordered, OrderedChoice.only(options, of: missing.count)) {
        if let option { result[place] = missing[option] }
      }
    }
    return result
  }
}

extension KeyInference {
  /// Whether there is room between two cells wherever keys between theirs are missing: else a row was not added in the
  /// order of keys, or SQLite moved the cells since rows were deleted.
  private func isAsWritten(_ room: DeadRoom) -> Bool {
    // The higher cell has the lesser key.
    zip(room.cells, room.cells.dropFirst()).allSatisfy { lower, upper in
      lower.range.upperBound < upper.range.lowerBound
        || keys.missing(after: upper.key, before: lower.key, most: 0) != nil
    }
  }

  /// Whether a row of a page whose key is not known can be one that was deleted: whether keys around those
  /// of the page are missing that it could have had.
  func canBeDeleted(_ hint: CarvedRow.KeyHint, from room: DeadRoom) -> Bool {
    guard let missing = missing(around: room, most: Self.most) else { return true }
    return missing.contains { hint.fits($0) }
  }

  /// The keys that rows of a page can have had if they were deleted; nothing where these are too many to show anything,
  /// or where rows that were moved to other pages may have left their bytes.
  ///
  /// - Parameter rows: those whose keys are not known.
  func possibleKeys(of rows: [CarvedRow], in room: DeadRoom) -> [[Int64]?] {
    guard room.isInOrder, isAsWritten(room),
      let missing = missing(around: room, most: Self.mostPossible)
    else {
      return rows.map { _ in nil }
    }
    return rows.map { row in row.hint.map { hint in missing.filter { hint.fits($0) } } }
  }

  private static let mostPossible = 64

  /// The keys around those of a page that no row has; `nil` where the page has no cells, or they are too many.
  private func missing(around room: DeadRoom, most: Int) -> [Int64]? {
    let keys = room.cells.map(\.key)
    guard let least = keys.min(), let greatest = keys.max() else { return nil }
    return self.keys.missing(
      after: before(least), before: behind(greatest), most: most)
  }
}

/// Places for things that stand in an order.
package enum OrderedChoice {
  /// The only place that each in a row can take, where places must rise and be of its options; nothing
  /// where there are none that all can take.
  package static func only(_ options: [[Int]], of count: Int) -> [Int?] {
    // The least that each can take from the front, the greatest from the back.
    var least: [Int] = []
    for choice in options {
      guard let place = choice.filter({ $0 > least.last ?? -1 }).min() else { return [] }
      least.append(place)
    }
    var greatest: [Int] = []
    for choice in options.reversed() {
      guard let place = choice.filter({ $0 < greatest.last ?? count }).max() else { return [] }
      greatest.append(place)
    }
    return zip(least, greatest.reversed()).map { $0 == $1 ? $0 : nil }
  }
}
