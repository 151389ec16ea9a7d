import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  func note(_ context: Context) -> String {
    guard let window = table?.window, !window.rows.isEmpty else { return "" }
    let ofTotal = " of " + (total.map(NumberText.grouped) ?? "…")
    guard let ordinal = window.ordinal else { return "row …\(ofTotal)" }
    return "row \(NumberText.grouped(ordinal + window.selected + 1))\(ofTotal)"
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let layout = BrowseLayout(self, context.known)
    // The focused pane's border comes last, over the edges it shares.
    let panes = Pane.allCases.filter { $0 != focus } + [focus]
    for pane in panes {
      let frame = layout.pane(pane)
      guard !frame.isEmpty else { continue }
      grid.box(frame, style: theme[pane == focus ? .borderFocused : .border])
    }
    for pane in panes {
      // After all borders, since a shared edge would run over the title in it.
      let frame = layout.pane(pane)
      guard !frame.isEmpty else { continue }
      let note = self.note(of: pane, context, layout, theme)
      let style = theme[pane == focus ? .title : .dim]
      let title = self.title(of: pane, context, width: frame.width - 6, note: note.width())
      grid.title([Span(title, style)], note: note, on: frame)
    }
    for pane in panes where !layout.pane(pane).isEmpty {
      let inside = layout.content(of: pane)
      let isFocused = pane == focus && !context.isCovered
      switch pane {
      case .entities: drawTree(with: theme, in: &grid, inside, isFocused: isFocused)
      case .rows: drawRows(context, with: theme, in: &grid, inside, isFocused: isFocused)
      case .inspector:
        inspector.draw(
          in: &grid, inside, change: change(in: context), prepared: context.shownPrepared,
          theme: theme, isFocused: isFocused)
      }
    }
  }

  private func drawTree(with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool) {
    tree.draw(in: &grid, rect, counts: counts, own: ownCounts, theme: theme, isFocused: isFocused)
    guard tree.shown.isEmpty else { return }
    let lines =
      tree.filter.isEmpty
      ? ["no entities"] : ["no entity has that name", "Esc shows all of them"]
    drawLines(lines, in: &grid, rect, style: theme[.dim])
  }

  private func drawRows(
    _ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard let table else {
      drawLines(nothing(in: context), in: &grid, rect, style: theme[.dim])
      return
    }
    let hasErrorLine = errorRows > 0 && rect.height > 2
    let body = Rect(
      x: rect.x, y: rect.y, width: rect.width, height: rect.height - (hasErrorLine ? 1 : 0))
    table.draw(
      in: &grid, body, total: total, marks: context.marks,
      prepared: context.shownPrepared, theme: theme, isFocused: isFocused)
    guard table.window.rows.isEmpty else {
      if let rowsError, hasErrorLine {
        let line = rect.row(rect.height - 1)
        grid.fill(line, style: theme[.error])
        grid.write(
          " ✗ " + rowsError.description, at: line.origin, style: theme[.error], within: line.width)
      }
      return
    }
    let lines =
      rowsError.map { ["✗ " + $0.description, $0.typedHint].compactMap { $0 } }
      ?? (rowsTask != nil && !isReadingAgain ? ["…"] : empty(table, context))
    drawLines(
      lines, in: &grid, rect.droppingRows(1), style: theme[rowsError == nil ? .dim : .error])
  }

  /// Why a table has no rows, and what to do about it.
  private func empty(_ table: RowTable, _ context: Context) -> [String] {
    if table.filter != nil {
      let doubt = context.store.flatMap { table.rowFilter?.doubt($0.layout) }
      return ["0 rows: no object matches the filter", doubt, "/ changes it; Esc shows all rows"]
        .compactMap { $0 }
    }
    if let related = table.related {
      return ["\(related.object) has no \(related.relationship)", "⌫ goes back"]
    }
    if context.store?.missing.contains(table.entity) == true {
      return [
        "! the store has no table for \(table.entity)",
        "the model has the entity, but the store has no rows of it: I shows more",
      ]
    }
    if let other = counts.filter({ $0.value > 0 }).keys.sorted().first {
      return ["no objects", "Tab chooses another entity, such as \(other)"]
    }
    let isWhole = counts.count == context.store?.model.entities.count
    return isWhole ? ["no objects", "the whole store is empty"] : ["no objects"]
  }

  private func nothing(in context: Context) -> [String] {
    guard let store = context.store else { return [] }
    if store.model.entities.isEmpty {
      return store.isRaw
        ? ["the file has no tables that could be shown", "strata info shows what it has"]
        : ["the model has no entities", "2 compares it with other versions"]
    }
    return ["no entity is chosen", "Tab goes to the entities, Esc shows all of them"]
  }

  private func drawLines(_ lines: [String], in grid: inout Grid, _ rect: Rect, style: Style) {
    let width = max(1, rect.width - 2)
    let wrapped = lines.flatMap { Wrapping.lines(Sanitize.text($0), width: width) }
    let top = max(0, min(1, rect.height - wrapped.count))
    for (index, line) in wrapped.enumerated() {
      grid.write(line, in: rect.row(top + index), style: style, align: .center)
    }
  }

  /// - Parameter note: cells that a note takes at the right of the title.
  func title(of pane: Pane, _ context: Context, width: Int, note: Int) -> String {
    switch pane {
    case .entities:
      let filter = tree.filter
      let name = context.remains.isShown ? "Deleted and older" : "Entities"
      return filter.isEmpty ? name : "\(name) ─ /\(filter)"
    case .rows: return rowsTitle(width: note == 0 ? width : width - note - 3)
    case .inspector:
      guard let object = inspector.object else { return "" }
      let filter = inspector.filter
      let source =
        preparedWords(of: object, context) ?? change(in: context).map { " ─ \($0.sign) \($0.word)" }
        ?? table?.sources[object].map { " ─ " + $0.words } ?? ""
      let end = source + (filter.isEmpty ? "" : " ─ /" + filter)
      let room = width - TextWidth.of(end, upTo: width)
      return Trail.text(steps(to: object), width: room) + end
    }
  }

  /// What is prepared for the object in the inspector.
  private func preparedWords(of object: ObjectID, _ context: Context) -> String? {
    let prepared = context.shownPrepared
    if let fate = prepared.fates[object] { return " ─ \(fate.sign) \(fate.words)" }
    return prepared.changed[object].map {
      " ─ * \(NumberText.counted($0.count, "change")) prepared"
    }
  }

  /// The way to what is shown, the relationship that the rows are of at its end.
  private func steps(to object: ObjectID? = nil) -> [String] {
    guard trail.isEmpty, let related = table?.related else { return trail.steps(to: object) }
    return [related.object, related.relationship] + (object.map { [$0.description] } ?? [])
  }

  /// `Recipe  48,211 ─ where title contains "soup" ─ 112`, with the way before it that led there.
  private func rowsTitle(width: Int) -> String {
    guard let table else { return "" }
    let isReading = rowsTask != nil && settled?.view != table.view
    let matches = isReading ? "…" : total.map(NumberText.grouped) ?? "…"
    let steps = self.steps()
    let count = counts[table.entity].map(NumberText.grouped) ?? "…"
    guard let filter = table.filter else {
      if table.related != nil {
        return Trail.text(steps, width: width - matches.count - 2) + "  " + matches
      }
      let counted = isReading ? "…" : count
      return Trail.text(steps + [table.entity], width: width - counted.count - 2) + "  " + counted
    }
    let end = " ─ " + matches
    var start =
      table.related == nil
      ? "\(table.entity)  \(count)" : Trail.text(steps, width: max(16, width / 2))
    if TextWidth.of(start) > width / 2 { start = table.entity }
    let words = FilterCheck.words(in: filter, table.ownProperties)
    start += words == nil ? " ─ where " : " ─ "
    let room = width - TextWidth.of(start) - end.count
    let told = words.map { FilterCheck.sentence($0, of: filter) } ?? filter
    return start + Sanitize.text(told, limit: max(6, room)) + end
  }

  func note(of pane: Pane, _ context: Context, _ layout: BrowseLayout, _ theme: Theme) -> [Span] {
    guard pane == .rows, let table else { return [] }
    var words: [String] = []
    if let property = table.sort.property {
      words.append("by \(property) \(table.sort.isDescending ? "descending" : "ascending")")
    } else if table.sort.isDescending {
      words.append("by key descending")
    } else if table.rowFilter?.isOrdered == true {
      words.append("in order")
    }
    if layout.pane(.entities).isEmpty { words.append("Tab entities") }
    return words.isEmpty ? [] : [Span(words.joined(separator: " ─ "), theme[.dim])]
  }
}

/// Where the panes of Browse lie; empty for one that is folded away.
struct BrowseLayout {
  /// Below this the entities are folded away.
  private static let wide = 80

  let frame: Rect
  /// The panes with their borders.
  private let panes: [Rect]

  /// What of Browse says where its panes lie.
  struct Wish: Sendable, Equatable {
    var focus: BrowseScreen.Pane
    var treeWidth: Int

    init(_ browse: BrowseScreen) { (focus, treeWidth) = (browse.focus, browse.tree.width) }
  }

  init(_ browse: BrowseScreen, _ known: Known) { self.init(Wish(browse), known) }

  init(_ browse: Wish, _ known: Known) {
    frame = known.body
    let isNarrow = frame.width < Self.wide
    // One that is folded away comes back while it has the keys.
    let isTreeAlone = isNarrow && browse.focus == .entities
    let treeWidth =
      isTreeAlone
      ? frame.width
      : isNarrow
        ? 0
        : known.dividers.treeWidth(in: frame)
          ?? max(18, min(frame.width / 3, 34, browse.treeWidth + 14))
    let rest = Rect(
      x: frame.x + max(0, treeWidth - 1), y: frame.y,
      width: isTreeAlone ? 0 : frame.width - max(0, treeWidth - 1), height: frame.height)
    let share = browse.focus == .inspector ? 0.62 : 0.36
    let inspectorHeight =
      frame.height < 12
      ? (browse.focus == .inspector ? frame.height : 0)
      : known.dividers.inspectorHeight(in: frame) ?? Int(Double(frame.height) * share)
    let isInspectorAlone = inspectorHeight == frame.height
    let rowsHeight = isInspectorAlone ? 0 : frame.height - max(0, inspectorHeight - 1)
    panes = [
      Rect(x: frame.x, y: frame.y, width: treeWidth, height: frame.height),
      Rect(x: rest.x, y: rest.y, width: rest.width, height: rowsHeight),
      Rect(x: rest.x, y: rest.bottom - inspectorHeight, width: rest.width, height: inspectorHeight),
    ]
  }

  func pane(_ pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue] }

  /// The inside of a pane's border.
  func content(of pane: BrowseScreen.Pane) -> Rect { panes[pane.rawValue].inset(by: 1) }

  func pane(at point: Point) -> BrowseScreen.Pane? {
    BrowseScreen.Pane.allCases.first { panes[$0.rawValue].contains(point) }
  }
}
