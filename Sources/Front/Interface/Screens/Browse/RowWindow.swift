import ManagedStore
import Terminal

/// The rows around the selected one, out of however many there are.
///
/// Pages come by cursor and are joined here; what is far from the selection is let go, so that
/// memory stays the same after a million rows. The rows' place in the whole is known as long as
/// it was counted from an end.
struct RowWindow: Sendable, Equatable {
  static let page = 200
  static let capacity = 1_000

  private(set) var rows: [RowPage.Row] = []
  /// Whether the first and the last row there are are among `rows`.
  private(set) var hasStart = false
  private(set) var hasEnd = false
  /// How many rows come before `rows`; `nil` when nobody has counted.
  private(set) var ordinal: Int?
  /// Which of `rows` are visible, and which is selected.
  private var list = List()
  /// Rows that were not there any more when the window was read again, oldest first: what became of them may be known
  /// only later.
  private var vanished: [Vanished] = []
  /// Rows that the selection has still to move when more have come.
  private var pending = 0

  private struct Vanished: Sendable, Equatable {
    var row: RowPage.Row
    /// Its neighbours when it was last there.
    var before: ObjectID?
    var after: ObjectID?
    /// The row that was selected in its place, where it was selected itself.
    var heir: ObjectID?
  }

  init() {}

  var selectedRow: RowPage.Row? { rows.element(selected) }
  var visible: Range<Int> { list.visible }
  var selected: Int { list.selected }
  var offset: Int { list.offset }
  var height: Int { list.height }

  /// The visible rows with a screenful before and after them.
  var near: Range<Int> {
    (max(0, offset - height)..<(offset + 2 * height)).clamped(to: rows.indices)
  }

  mutating func setHeight(_ height: Int) { list.setHeight(height) }

  /// Joins a page that was asked for at an anchor with a limit of ``page``.
  ///
  /// - Parameter total: how many rows there are in all, where that is known.
  mutating func take(_ page: [RowPage.Row], at anchor: RowQuery.Anchor, total: Int?) {
    let isLast = page.count < Self.page
    switch anchor {
    case .start:
      self = RowWindow(rows: page, height: height)
      (hasStart, hasEnd, ordinal) = (true, isLast, 0)
    case .end:
      self = RowWindow(rows: page, height: height)
      (hasStart, hasEnd) = (isLast, true)
      list.end()
      setTotal(total)
    case .after:
      rows += page
      hasEnd = isLast
      let surplus = min(rows.count - Self.capacity, offset - height)
      if surplus > 0 {
        rows.removeFirst(surplus)
        hasStart = false
        ordinal = ordinal.map { $0 + surplus }
        list.shift(by: -surplus)
      }
    case .before:
      rows.insert(contentsOf: page, at: 0)
      hasStart = isLast
      ordinal = isLast ? 0 : ordinal.map { max(0, $0 - page.count) }
      list.shift(by: page.count)
      let surplus = min(rows.count - Self.capacity, rows.count - offset - 2 * height)
      if surplus > 0 {
        rows.removeLast(surplus)
        hasEnd = false
      }
    }
    let rest = pending
    pending = 0
    list.setCount(rows.count)
    if rest != 0 { move(by: rest) }
  }

  /// Shows the rows around one that was looked for, that one in the middle.
  mutating func take(_ placed: PlacedRows) {
    self = RowWindow(rows: placed.rows, height: height)
    (hasStart, hasEnd) = (placed.hasStart, placed.hasEnd)
    ordinal = hasStart ? 0 : placed.ordinal
    list.select(placed.selected)
    list.center()
  }

  /// Prepares for the same rows to be read again.
  ///
  /// - Returns: where they begin: without the first one, where others come before it.
  mutating func beginAgain() -> RowQuery.Anchor {
    guard !hasStart, let first = rows.first, rows.count > 1 else { return .start }
    rows.removeFirst()
    ordinal = ordinal.map { $0 + 1 }
    list.shift(by: -1)
    list.setCount(rows.count)
    return .after(first.cursor)
  }

  /// Takes the same rows as they are now: the selected object stays selected, on the line that it is on.
  ///
  /// - Parameter isDeleted: whether a row that is not among them any more is still to be shown.
  mutating func takeAgain(
    _ page: [RowPage.Row], isLast: Bool, keeping isDeleted: (ObjectID) -> Bool
  ) {
    let line = selected - offset
    let present = Set(page.map(\.id))
    // The rows behind each that is still there, and before all of them.
    var deleted: [ObjectID?: [RowPage.Row]] = [:]
    var last: ObjectID?
    for row in rows {
      if present.contains(row.id) {
        last = row.id
      } else if isDeleted(row.id) {
        deleted[last, default: []].append(row)
      }
    }
    let new = (deleted[ObjectID?.none] ?? []) + page.flatMap { [$0] + (deleted[$0.id] ?? []) }
    let places = Dictionary(new.indices.map { (new[$0].id, $0) }) { first, _ in first }
    // Where the selected one is gone, the next that is there, else the one before.
    let nearest = rows[min(selected, rows.count)...] + rows[..<min(selected, rows.count)].reversed()
    let place = nearest.lazy.compactMap { places[$0.id] }.first
    let former = (rows: rows, selected: selectedRow?.id)
    rows = new
    hasEnd = isLast
    list = List(count: line + 1, selected: line, height: height)
    list.shift(by: (place ?? 0) - line)
    list.setCount(new.count)
    notePassing(of: former.rows, places, selected: former.selected)
  }

  /// Keeps rows that are gone for no known reason, until it is known whether they were deleted.
  private mutating func notePassing(
    of former: [RowPage.Row], _ places: [ObjectID: Int], selected: ObjectID?
  ) {
    vanished.removeAll { places[$0.row.id] != nil }
    if let selected, places[selected] == nil {
      for index in vanished.indices where vanished[index].heir == selected {
        vanished[index].heir = selectedRow?.id
      }
    }
    for (index, row) in former.enumerated() where places[row.id] == nil {
      vanished.append(
        Vanished(
          row: row, before: former.element(index - 1)?.id, after: former.element(index + 1)?.id,
          heir: row.id == selected ? selectedRow?.id : nil))
    }
    vanished.removeFirst(max(0, vanished.count - Self.capacity))
  }

  /// Shows rows again that were found to be gone before it was known that they were deleted: where they were, and
  /// selected if they were.
  ///
  /// - Returns: whether there are any.
  mutating func returnDeleted(_ isDeleted: (ObjectID) -> Bool) -> Bool {
    let places = Dictionary(vanished.map { ($0.row.id, $0) }) { _, last in last }
    // A row whose neighbour is gone, too, stands beside that one's.
    func present(_ id: ObjectID?, _ step: (Vanished) -> ObjectID?) -> Int? {
      var (next, steps) = (id, 0)
      while let id = next, steps <= vanished.count {
        if let index = rows.firstIndex(where: { $0.id == id }) { return index }
        next = places[id].flatMap(step)
        steps += 1
      }
      return nil
    }
    var returned: Set<ObjectID> = []
    for gone in vanished where isDeleted(gone.row.id) {
      guard !rows.contains(where: { $0.id == gone.row.id }) else { continue }
      let index =
        present(gone.before) { $0.before }.map { $0 + 1 } ?? present(gone.after) { $0.after }
        ?? (rows.isEmpty ? 0 : nil)
      guard let index else { continue }
      let isHeir = gone.heir != nil && gone.heir == selectedRow?.id
      let isAbove = !rows.isEmpty && index <= selected
      rows.insert(gone.row, at: index)
      returned.insert(gone.row.id)
      let isScrolled = offset > 0
      if isAbove, isScrolled { list.shift(by: 1) }
      list.setCount(rows.count)
      if isAbove, !isScrolled { list.select(selected + 1) }
      guard isHeir else { continue }
      // It stands where it stood: on the line of the row that came in its place.
      list.shift(by: index - selected)
      list.setCount(rows.count)
    }
    vanished.removeAll { returned.contains($0.row.id) }
    return !returned.isEmpty
  }

  /// Reports how many rows come before one, which was counted while the window may have moved on.
  mutating func setOrdinal(_ count: Int, ofKey key: Int64) {
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
    copy.list.shift(by: -first)
    copy.list.setCount(copy.rows.count)
    copy.pending = 0
    return copy
  }

  /// Reports how many rows there are, which places a window that was counted from no end.
  mutating func setTotal(_ total: Int?) {
    guard let total else { return }
    if hasStart {
      ordinal = 0
    } else if hasEnd, ordinal == nil {
      ordinal = max(0, total - rows.count)
    }
  }

  /// The page to be asked for next so that the selection can go on both ways.
  var wanted: RowQuery.Anchor? {
    let margin = max(2 * height, 50)
    if !hasEnd, let last = rows.last, rows.count - selected < margin { return .after(last.cursor) }
    if !hasStart, let first = rows.first, selected < margin { return .before(first.cursor) }
    return nil
  }

  mutating func move(by count: Int) {
    let count = max(-(1 << 40), min(1 << 40, count))
    want(selected + count)
    list.move(by: count)
  }

  /// Moves as a list does; `false` where the first or the last row has to be asked for.
  mutating func move(_ move: ListMove) -> Bool {
    switch move {
    case .lines(let count): want(selected + count)
    case .pages(let count): want(selected + count * max(1, height - 1))
    case .halfPages(let count): want(selected + count * max(1, height / 2))
    case .scroll: break
    case .start: return jump(toEnd: false)
    case .end: return jump(toEnd: true)
    }
    list.move(move)
    return true
  }

  /// Notes what of a move has to wait for rows that have not come yet.
  private mutating func want(_ target: Int) {
    if target >= rows.count, !hasEnd {
      pending = min(4 * height, pending + target - max(0, rows.count - 1))
    } else if target < 0, !hasStart {
      pending = max(-4 * height, pending + target)
    }
  }

  mutating func select(_ row: Int) { list.select(row) }

  /// Selects the first or the last row there is; `false` when that one has to be asked for.
  mutating func jump(toEnd: Bool) -> Bool {
    pending = 0
    guard toEnd ? hasEnd : hasStart else { return false }
    select(toEnd ? rows.count - 1 : 0)
    return true
  }

  private init(rows: [RowPage.Row], height: Int) {
    self.rows = rows
    list = List(count: rows.count, height: height)
  }
}
