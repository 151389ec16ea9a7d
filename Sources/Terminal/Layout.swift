/// Splits a rectangle into columns or rows.
///
/// The parts lie side by side from the start, never overlap, never leave the rectangle and are
/// never negative. When there is too little room the fixed parts are served first, in order, then
/// the fractions, then the flexible ones.
///
///     let parts = Layout.rows(screen, [.fixed(1), .flexible(), .fixed(1)])
///     let (header, body, footer) = (parts[0], parts[1], parts[2])
package enum Layout {
  /// How much of the room a part takes.
  package enum Part: Sendable, Equatable {
    /// So many cells.
    case fixed(Int)
    /// A share of the whole rectangle, 0 to 1.
    case fraction(Double)
    /// At least so many cells, and an equal share of what nobody else takes.
    case flexible(min: Int = 0)
  }

  /// The parts beside each other.
  package static func columns(_ rect: Rect, _ parts: [Part], gap: Int = 0) -> [Rect] {
    split(rect.width, parts, gap: gap).map {
      Rect(x: rect.x + $0.start, y: rect.y, width: $0.length, height: rect.height)
    }
  }

  /// The parts below each other.
  package static func rows(_ rect: Rect, _ parts: [Part], gap: Int = 0) -> [Rect] {
    split(rect.height, parts, gap: gap).map {
      Rect(x: rect.x, y: rect.y + $0.start, width: rect.width, height: $0.length)
    }
  }

  private static func split(
    _ length: Int, _ parts: [Part], gap: Int
  ) -> [(start: Int, length: Int)] {
    let gap = max(0, gap)
    var free = max(0, length - gap * max(0, parts.count - 1))
    let whole = free
    var lengths = [Int](repeating: 0, count: parts.count)
    func take(_ wanted: Int, for index: Int) {
      let taken = min(max(0, wanted), free)
      lengths[index] += taken
      free -= taken
    }
    for case (let index, .fixed(let cells)) in parts.enumerated() { take(cells, for: index) }
    for case (let index, .fraction(let share)) in parts.enumerated() {
      take(Int((Double(whole) * min(max(share, 0), 1)).rounded()), for: index)
    }
    var flexible: [Int] = []
    for case (let index, .flexible(let least)) in parts.enumerated() {
      take(least, for: index)
      flexible.append(index)
    }
    for (position, index) in flexible.enumerated() {
      take(free / (flexible.count - position), for: index)
    }
    var start = 0
    return lengths.map { cells in
      let part = (start: min(start, max(0, length)), length: cells)
      start += cells + gap
      return part
    }
  }
}
