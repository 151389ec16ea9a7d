import ManagedStore

/// The rows around the selected one, out of however many there are.
///
/// Pages come by cursor and are joined here; what is far from the selection is let go, so that
/// memory stays the same after a million rows. The rows' place in the whole is known as long as
/// it was counted from an end.
package struct RowWindow: Sendable, Equatable {
  package static let page = 200
  package static let capacity = 1_000

  package private(set) var rows: [RowPage.Row] = []
  /// Whether the first and the last row there are are among `rows`.
  package private(set) var hasStart = false
  package private(set) var hasEnd = false
  /// How many rows come before `rows`; `nil` when nobody has counted.
  package private(set) var ordinal: Int?
  /// Index in `rows`.
  package private(set) var selected = 0
  /// Index in `rows` of the first visible one.
  package private(set) var offset = 0
  package private(set) var height = 1
  /// Rows that the selection has still to move when more have come.
  private var pending = 0

  package init() {}

  package var selectedRow: RowPage.Row? { rows.indices.contains(selected) ? rows[selected] : nil }
  package var visible: Range<Int> { offset..<min(rows.count, offset + height) }

  /// The visible rows with a screenful before and after them.
  var near: Range<Int> {
    (max(0, offset - height)..<(offset + 2 * height)).clamped(to: rows.indices)
  }

  package mutating func setHeight(_ height: Int) {
    self.height = max(1, height)
    settle()
  }

  /// Joins a page that was asked for at an anchor with a limit of ``page``.
  ///
  /// - Parameter total: how many rows there are in all, where that is known.
  package mutating func take(_ page: [RowPage.Row], at anchor: RowQuery.Anchor, total: Int?) {
    let isLast = page.count < Self.page
    switch anchor {
    case .start:
      self = RowWindow(rows: page, height: height)
      (hasStart, hasEnd, ordinal) = (true, isLast, 0)
    case .end:
      self = RowWindow(rows: page, height: height)
      (hasStart, hasEnd) = (isLast, true)
      selected = max(0, page.count - 1)
      setTotal(total)
    case .after:
      rows += page
      hasEnd = isLast
      let surplus = min(rows.count - Self.capacity, offset - height)
      if surplus > 0 {
        rows.removeFirst(surplus)
        hasStart = false
        ordinal = ordinal.map { $0 + surplus }
        selected -= surplus
        offset -= surplus
      }
    case .before:
      rows.insert(contentsOf: page, at: 0)
      hasStart = isLast
      ordinal = isLast ? 0 : ordinal.map { max(0, $0 - page.count) }
      selected += page.count
      offset += page.count
      let surplus = min(rows.count - Self.capacity, rows.count - offset - 2 * height)
      if surplus > 0 {
        rows.removeLast(surplus)
        hasEnd = false
      }
    }
    let rest = pending
    pending = 0
    settle()
    if rest != 0 { move(by: rest) }
  }

  /// Shows the rows around one that was looked for, that one in the middle.
  package mutating func take(_ placed: PlacedRows) {
    self = RowWindow(rows: placed.rows, height: height)
    (hasStart, hasEnd) = (placed.hasStart, placed.hasEnd)
    ordinal = hasStart ? 0 : placed.ordinal
    selected = placed.selected
    offset = selected - height / 2
    settle()
  }

  /// Tells how many rows come before one, which was counted while the window may have moved on.
  package mutating func setOrdinal(_ count: Int, ofKey key: Int64) {
    guard ordinal == nil, let index = rows.firstIndex(where: { $0.id.key == key }) else { return }
    ordinal = max(0, count - index)
  }

  /// The same with only the rows near the visible ones, for coming back to.
  func trimmed() -> RowWindow {
    var copy = self
    let first = max(0, offset - Self.page / 2)
    let last = min(rows.count, offset + height + Self.page / 2)
    guard first < last else { return copy }
    copy.rows = Array(rows[first..<last])
    copy.hasStart = hasStart && first == 0
    copy.hasEnd = hasEnd && last == rows.count
    copy.ordinal = ordinal.map { $0 + first }
    copy.selected -= first
    copy.offset -= first
    copy.pending = 0
    return copy
  }

  /// Tells how many rows there are, which places a window that was counted from no end.
  package mutating func setTotal(_ total: Int?) {
    guard let total else { return }
    if hasStart {
      ordinal = 0
    } else if hasEnd, ordinal == nil {
      ordinal = max(0, total - rows.count)
    }
  }

  /// The page to be asked for next so that the selection can go on both ways.
  package var wanted: RowQuery.Anchor? {
    let margin = max(2 * height, 50)
    if !hasEnd, let last = rows.last, rows.count - selected < margin { return .after(last.cursor) }
    if !hasStart, let first = rows.first, selected < margin { return .before(first.cursor) }
    return nil
  }

  package mutating func move(by count: Int) {
    let target = selected + max(-(1 << 40), min(1 << 40, count))
    let limit = 4 * height
    if target >= rows.count, !hasEnd {
      pending = min(limit, pending + target - max(0, rows.count - 1))
    } else if target < 0, !hasStart {
      pending = max(-limit, pending + target)
    }
    selected = target
    settle()
  }

  package mutating func page(by pages: Int) {
    let rows = max(1, height - 1) * pages
    offset += rows
    move(by: rows)
  }

  package mutating func scroll(by rows: Int) {
    offset = max(0, min(offset + rows, self.rows.count - height))
    selected = max(offset, min(selected, offset + height - 1))
    settle()
  }

  package mutating func select(_ row: Int) {
    selected = row
    settle()
  }

  /// Selects the first or the last row there is; `false` when that one has to be asked for.
  package mutating func jump(toEnd: Bool) -> Bool {
    pending = 0
    guard toEnd ? hasEnd : hasStart else { return false }
    select(toEnd ? rows.count - 1 : 0)
    return true
  }

  private init(rows: [RowPage.Row], height: Int) {
    self.rows = rows
    self.height = height
  }

  private mutating func settle() {
    selected = max(0, min(selected, rows.count - 1))
    offset = max(0, min(offset, rows.count - height))
    if selected < offset { offset = selected }
    if selected >= offset + height { offset = selected - height + 1 }
  }
}
