import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  /// - Parameter note: cells that a note takes at the right of the title.
  func title(of pane: Pane, _ state: State, width: Int, note: Int) -> String {
    switch pane {
    case .entities:
      let filter = tree.filter
      let name = state.remains.isShown ? "Deleted and older" : "Entities"
      return filter.isEmpty ? name : "\(name) ─ /\(filter)"
    case .rows: return rowsTitle(state, width: note == 0 ? width : width - note - 3)
    case .inspector:
      guard let object = inspector.object else { return "" }
      let filter = inspector.filter
      let source = table?.sources[object].map { " ─ " + $0.words } ?? ""
      let end = source + (filter.isEmpty ? "" : " ─ /" + filter)
      let room = width - TextWidth.of(end, upTo: width)
      return Trail.text(steps(to: object), width: room) + end
    }
  }

  /// The way to what is shown, the relationship that the rows are of at its end.
  private func steps(to object: ObjectID? = nil) -> [String] {
    guard trail.isEmpty, let related = table?.related else { return trail.steps(to: object) }
    return [related.object, related.relationship] + (object.map { [$0.description] } ?? [])
  }

  /// `Recipe  48,211 ─ where title contains "soup" ─ 112`, with the way before it that led there.
  private func rowsTitle(_ state: State, width: Int) -> String {
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
    let words = FilterCheck.words(in: filter, table.properties)
    start += words == nil ? " ─ where " : " ─ "
    let room = width - TextWidth.of(start) - end.count
    let told = words.map { "any text contains “\($0)”" } ?? filter
    return start + Sanitize.text(told, limit: max(6, room)) + end
  }

  func note(of pane: Pane, _ state: State, _ layout: BrowseLayout, _ theme: Theme) -> [Span] {
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
