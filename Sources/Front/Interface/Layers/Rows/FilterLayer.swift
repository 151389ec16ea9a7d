import ManagedStore
import Terminal

/// The line over the rows in which a filter is typed.
struct FilterLayer: CheckedLineLayer {
  private let entity: String
  var line: CheckedLine
  private(set) var check = FilterCheck.empty
  /// What to type instead if the filter takes no row.
  private var doubt: String?
  /// Filters that were used, the newest last, and where ↑ stands among them.
  private let former: [String]
  private var recalled: Int
  /// What was typed before ↑.
  private var typed = ""

  /// The pane of the rows is where the line is.
  private let browse: BrowseLayout.Wish

  init(_ browse: BrowseScreen, _ context: Context) {
    let table = browse.table
    self.browse = BrowseLayout.Wish(browse)
    entity = table?.entity ?? ""
    line = CheckedLine(Prompt(table?.filter ?? ""))
    former = browse.formerFilters[entity] ?? []
    recalled = former.count
    look(in: context)
    // Nothing is offered after a whole filter, so that the rows stay in sight.
    if !line.prompt.text.isEmpty { line.completion = Completion() }
  }

  mutating func look(in context: Context) {
    guard let store = context.store else { return }
    check = FilterCheck(line.prompt.text, entity: entity, store: store)
    line.mistake = if case .wrong(let error) = check { error } else { nil }
    doubt = check.text.flatMap {
      (try? RowFilter($0, entity: entity, layout: store.layout))?.doubt(store.layout)
    }
    line.completion = Completion(
      line.prompt.text, cursor: line.prompt.cursor, entity: entity, store: store)
  }

  func bindings(_ context: Context) -> [Binding] {
    lineBindings(
      check == .empty ? "all rows" : "filter", former: ("earlier filters", !former.isEmpty))
  }

  mutating func confirm(in context: inout Context) -> LayerOutcome {
    guard let text = check.text else { return .stay() }
    return .close(context.on(BrowseScreen.self) { $0.setFilter(text, in: &$1) })
  }

  /// Goes through the former filters, the newest first, and back to what was typed.
  mutating func recall(in context: Context) {
    if recalled == former.count { typed = line.prompt.text }
    recalled = recalled == 0 ? former.count : recalled - 1
    // The one that is in the line is passed over.
    if recalled < former.count, former[recalled] == line.prompt.text, former.count > 1 {
      recalled = recalled == 0 ? former.count : recalled - 1
    }
    line.prompt = Prompt(recalled < former.count ? former[recalled] : typed)
    look(in: context)
    line.completion = Completion()
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let pane = BrowseLayout(browse, context.known).pane(.rows)
    let frame = pane.isEmpty ? body : pane
    line.prompt.draw(
      in: &grid, frame.row(0).inset(horizontally: 1, vertically: 0),
      label: [Span(" where ", theme[.footerKey])], theme: theme)
    let below = frame.droppingRows(1).inset(horizontally: 1, vertically: 0)
    line.drawBelow(in: &grid, below, marks: below, note: note(theme), theme: theme)
  }

  /// What Enter will do.
  private func note(_ theme: Theme) -> [Span] {
    switch check {
    case .empty:
      let text =
        former.isEmpty
        ? "a predicate such as  title contains \"soup\"  or just words"
        : "↑ recalls earlier filters; empty shows all rows"
      return [Span(" " + text, theme[.dim])]
    case .predicate:
      return doubt.map { [Span(" ! " + $0, theme[.warning])] } ?? [Span(" ✓", theme[.success])]
    case .words(let words, let predicate):
      return [
        Span(" ⏎ ", theme[.footerKey]),
        Span(FilterCheck.sentence(words, of: predicate), theme[.prompt]),
      ]
    case .wrong: return []
    }
  }
}
