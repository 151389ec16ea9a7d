/// Determines keys of rows whose first bytes were overwritten, by the rows around them.
///
/// Where rows were only ever added to a page they stand in it from the end down, with rising keys. Between
/// two that are there the rows that were deleted have the keys between theirs: if as many are missing as
/// were found, or what is left of the keys says so, each is known. It is inferred, and said to be.
struct KeyInference {
  private let keys: KeySet
  /// More missing keys than this show nothing.
  private static let most = 4096

  /// - Parameter keys: those of the table's rows.
  init(_ keys: KeySet) { self.keys = keys }

  /// The keys of rows of one page, in the order of `rows`; `nil` where one cannot be determined.
  ///
  /// - Parameters:
  ///   - rows: those that were found, from low to high in the page.
  ///   - room: the page that they are in.
  func keys(of rows: [CarvedRow], in room: DeadRoom) -> [Int64?] {
    var result = [Int64?](repeating: nil, count: rows.count)
    guard let highest = room.cells.first?.key, let lowest = room.cells.last?.key, room.isInOrder
    else { return result }
    // Rows that have the same neighbours, by where these are.
    var groups: [Int: [Int]] = [:]
    for (index, row) in rows.enumerated() where row.hint != nil {
      let next = room.cells.firstIndex { $0.range.lowerBound >= row.range.upperBound }
      groups[next ?? room.cells.count, default: []].append(index)
    }
    for (next, members) in groups {
      // Higher in the page are lesser keys.
      let lower =
        next < room.cells.count ? room.cells[next].key : keys.greatest(below: lowest) ?? 0
      let upper = next > 0 ? room.cells[next - 1].key : keys.least(above: highest) ?? .max
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
  /// Whether a row of a page whose key is not known can be one that was deleted: whether keys around those
  /// of the page are missing that it could have had.
  func canBeDeleted(_ hint: CarvedRow.KeyHint, from room: DeadRoom) -> Bool {
    let keys = room.cells.map(\.key)
    guard let least = keys.min(), let greatest = keys.max() else { return true }
    guard
      let missing = self.keys.missing(
        after: self.keys.greatest(below: least) ?? 0,
        before: self.keys.least(above: greatest) ?? .max, most: Self.most)
    else { return true }
    return missing.contains { hint.fits($0) }
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
