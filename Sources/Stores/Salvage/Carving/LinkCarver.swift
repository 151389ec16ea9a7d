/// Finds links of a join table in room of its pages that is no longer in use: rows of two keys, with up to two
/// positions.
///
/// So little distinguishes such a row from other bytes that each has to fit its place: it begins where a block of free room
/// does, or where the row before it ends, or has all of its own beginning.
package struct LinkCarver {
  /// A join table: how many columns it has, and the greatest key of each of the two sides.
  package struct Shape: Sendable {
    let columns: Int
    let greatest: [Int64]

    /// The shape of a table with so many columns, of which the first two hold keys up to these.
    package init(columns: Int, greatest: [Int64]) {
      self.columns = columns
      self.greatest = greatest
    }
  }

  let shape: Shape
  let usable: Int

  private var columns: Int { shape.columns }

  /// A link: its columns.
  typealias Link = [Int64?]

  /// The links in a range that is not in use.
  ///
  /// - Parameter keyLengths: how many bytes the keys of its rows may take.
  func links(in range: Range<Int>, of bytes: [UInt8], keyLengths: Set<Int>) -> [Link] {
    let range = range.clamped(to: 0..<min(bytes.count, usable))
    // Up to three bytes between two cells become a part of the block when both are freed.
    for slack in [0, 3] {
      var budget = Self.mostTried
      let links = chain(
        from: range.lowerBound, range, bytes, slack: slack, keyLengths, &budget)
      if let links { return links }
    }
    var found: [Link] = []
    var place = range.lowerBound
    while place + 4 <= range.upperBound {
      if let (link, end) = whole(at: place, range, bytes) {
        found.append(link)
        place = end
      } else {
        place += 1
      }
    }
    return found
  }

  /// A page that was made to have many ways to be read is given up.
  private static let mostTried = 20_000

  /// Rows, one behind another, that fill a range to its end; `nil` where it is not filled so, or in several ways.
  ///
  /// Each was a block of its own before it was joined to that before it, or was joined at once and is whole.
  ///
  /// - Parameter slack: how many bytes may be left at the end.
  private func chain(
    from start: Int, _ range: Range<Int>, _ bytes: [UInt8], slack: Int, _ keyLengths: Set<Int>,
    _ budget: inout Int
  ) -> [Link]? {
    if range.upperBound - start <= slack { return [] }
    budget -= 1
    guard budget > 0 else { return nil }
    if let (link, end) = whole(at: start, range, bytes),
      let rest = chain(from: end, range, bytes, slack: slack, keyLengths, &budget)
    {
      return [link] + rest
    }
    let candidates = headless(start..<range.upperBound, bytes, keyLengths)
    var found: [Link]?
    for end in Set(candidates.map(\.end)).sorted() {
      guard let rest = chain(from: end, range, bytes, slack: slack, keyLengths, &budget) else {
        continue
      }
      guard found == nil else { return nil }
      // Where the overwritten bytes leave two links open, neither is taken.
      let own = candidates.filter { $0.end == end }.map(\.link)
      found = (own.allSatisfy { $0 == own[0] } ? [own[0]] : []) + rest
    }
    return found
  }

  /// A row with all of its bytes.
  private func whole(
    at place: Int, _ range: Range<Int>, _ bytes: [UInt8]
  ) -> (link: Link, end: Int)? {
    guard let (size, key) = Varint.read(bytes, place), size < 64, key <= range.upperBound,
      let (_, header) = Varint.read(bytes, key), header < range.upperBound,
      Int(bytes[header]) == columns + 1, header + columns + 1 <= range.upperBound
    else { return nil }
    let types = Array(bytes[(header + 1)..<(header + 1 + columns)])
    return link(types, at: header + 1 + columns, range, bytes).flatMap { link, end in
      end - header == Int(size) ? (link, end) : nil
    }
  }

  /// The rows that may stand at the beginning of a block, by how long their key was.
  private func headless(
    _ range: Range<Int>, _ bytes: [UInt8], _ keyLengths: Set<Int>
  ) -> [(link: Link, end: Int)] {
    let start = range.lowerBound
    guard range.count >= 6 else { return [] }
    let block = BigEndian.half(bytes, start + 2)
    var found: [(link: Link, end: Int)] = []
    // Overwritten are the size, the key and, where that is short, the header and the first type.
    for keyLength in 1...5 where keyLengths.contains(keyLength) {
      let header = start + 1 + keyLength
      let first = header + 1
      guard first + columns <= range.upperBound else { break }
      guard header < start + 4 || Int(bytes[header]) == columns + 1 else { continue }
      let known = Array(bytes[max(first, start + 4)..<(first + columns)])
      let starts: [[UInt8]] =
        first < start + 4 ? (1...9).filter { $0 != 7 && $0 != 8 }.map { [$0] } : [[]]
      for lead in starts where lead.count + known.count == columns {
        if let (link, end) = link(lead + known, at: first + columns, range, bytes),
          end - start <= block, block <= range.count
        {
          found.append((link, end))
        }
      }
    }
    return found
  }

  /// The values of types, where the first two can be keys.
  private func link(
    _ types: [UInt8], at place: Int, _ range: Range<Int>, _ bytes: [UInt8]
  ) -> (link: Link, end: Int)? {
    var values: Link = []
    var end = place
    for (column, type) in types.enumerated() {
      guard type <= 9, type != 7, type > 0 || column >= 2,
        let size = Record.size(of: UInt64(type)), end + size <= range.upperBound
      else { return nil }
      guard type > 0 else {
        values.append(nil)
        continue
      }
      var bits: UInt64 = type >= 8 ? UInt64(type) - 8 : 0
      if size > 0, bytes[end] & 0x80 != 0 { bits = .max }
      for byte in bytes[end..<end + size] { bits = bits << 8 | UInt64(byte) }
      let value = Int64(bitPattern: bits)
      // Of a key that fits fewer bytes SQLite writes no more.
      guard
        column >= 2
          || value > 0 && value <= shape.greatest[column] && Self.shortest(value) == size
      else { return nil }
      values.append(value)
      end += size
    }
    return (values, end)
  }

  private static func shortest(_ key: Int64) -> Int {
    switch key {
    case 0...1: 0
    case ...0x7F: 1
    case ...0x7FFF: 2
    case ...0x7F_FFFF: 3
    case ...0x7FFF_FFFF: 4
    case ...0x7FFF_FFFF_FFFF: 6
    default: 8
    }
  }
}
