import ManagedModel
import ManagedStore
import Terminal

/// The line over the rows in which a filter is typed, with what could come next and what is wrong.
struct FilterLayer: LayerContent {
  private let entity: String
  var prompt: Prompt
  private(set) var check = FilterCheck.empty
  private var completion = FilterCompletion()
  /// The candidate that Enter takes; `nil` when Enter filters.
  private var chosen: Int?
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
    prompt = Prompt(table?.filter ?? "")
    former = browse.formerFilters[entity] ?? []
    recalled = former.count
    look(in: context)
    // Nothing is offered after a whole filter, so that the rows stay in sight.
    if !prompt.text.isEmpty { completion = FilterCompletion() }
  }

  private mutating func look(in context: Context) {
    chosen = nil
    guard let store = context.store else { return }
    check = FilterCheck(prompt.text, entity: entity, store: store)
    completion = FilterCompletion(prompt.text, cursor: prompt.cursor, entity: entity, store: store)
  }

  func bindings(_ context: Context) -> [Binding] {
    var wrong: String?
    if chosen == nil, case .wrong(let error) = check { wrong = error.told }
    let isOffering = !completion.candidates.isEmpty
    return [
      Binding(
        [.enter], chosen != nil ? "take" : check == .empty ? "all rows" : "filter",
        does("confirm") { $0.filter(in: &$1) },
        unless: wrong),
      Binding(
        [.escape], chosen == nil ? "cancel" : "close the list",
        does("cancel") { layer, _ in layer.giveUp() }),
      Binding(
        [.tab], "complete", asks("choose") { $0.complete(in: $1) },
        unless: isOffering ? nil : "there is nothing to complete"),
      Binding(
        [.down], "next offer",
        changes(Action.movement) {
          $0.chosen = min($0.completion.candidates.count - 1, ($0.chosen ?? -1) + 1)
        },
        unless: isOffering ? nil : "no suggestions"),
      Binding(
        [.up], chosen == nil ? "earlier filters" : "previous suggestion",
        asks(Action.movement) { $0.goBack(in: $1) },
        unless: chosen == nil && former.isEmpty ? "there are none" : nil),
    ]
  }

  private mutating func filter(in context: inout Context) -> LayerOutcome {
    if chosen != nil {
      take(in: context)
      return .stay()
    }
    guard let text = check.text else { return .stay() }
    return .close(context.on(BrowseScreen.self) { $0.setFilter(text, in: &$1) })
  }

  private mutating func complete(in context: Context) -> [Effect] {
    if chosen == nil { chosen = 0 }
    take(in: context)
    return []
  }

  private mutating func goBack(in context: Context) -> [Effect] {
    if let candidate = chosen {
      chosen = candidate == 0 ? nil : candidate - 1
    } else {
      recall(in: context)
    }
    return []
  }

  private mutating func giveUp() -> LayerOutcome {
    guard chosen != nil else { return .close() }
    chosen = nil
    return .stay()
  }

  /// Goes through the former filters, the newest first, and back to what was typed.
  private mutating func recall(in context: Context) {
    if recalled == former.count { typed = prompt.text }
    recalled = recalled == 0 ? former.count : recalled - 1
    // The one that is in the line is passed over.
    if recalled < former.count, former[recalled] == prompt.text, former.count > 1 {
      recalled = recalled == 0 ? former.count : recalled - 1
    }
    prompt = Prompt(recalled < former.count ? former[recalled] : typed)
    look(in: context)
    completion = FilterCompletion()
  }

  private mutating func take(in context: Context) {
    guard let chosen, completion.candidates.indices.contains(chosen) else { return }
    let characters = Array(prompt.text)
    let range = completion.range.clamped(to: 0..<characters.count)
    let text = completion.candidates[chosen].text
    // A space that is there already is not doubled.
    var rest = characters[range.upperBound...]
    if text.last == " ", rest.first == " " { rest.removeFirst() }
    // “.@count” belongs to the word before the space.
    var head = characters[..<range.lowerBound]
    if text.hasPrefix("."), head.last == " " { head.removeLast() }
    prompt = Prompt(String(head) + text + String(rest))
    prompt.moveCursor(to: head.count + text.count)
    look(in: context)
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    let before = (prompt.text, prompt.cursor)
    prompt.handle(key)
    if (prompt.text, prompt.cursor) != before { look(in: context) }
    return []
  }
}

extension FilterLayer {
  private static let mostOffers = 8

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let pane = BrowseLayout(browse, context.known).pane(.rows)
    let frame = pane.isEmpty ? body : pane
    let line = frame.row(0).inset(horizontally: 1, vertically: 0)
    prompt.draw(in: &grid, line, label: [Span(" where ", theme[.footerKey])], theme: theme)
    let below = frame.droppingRows(1).inset(horizontally: 1, vertically: 0)
    guard !below.isEmpty, let cursor = grid.cursor else { return }
    let start = cursor.x - TextWidth.of(String(prompt.text.prefix(prompt.cursor)))
    let used = drawMark(in: &grid, below, textStart: start, theme: theme)
    drawOffers(in: &grid, below.droppingRows(used), cursor: cursor, theme: theme)
  }

  /// What is wrong, under its word; else what Enter will do. Says how many rows it took.
  private func drawMark(in grid: inout Grid, _ rect: Rect, textStart: Int, theme: Theme) -> Int {
    let line = rect.row(0)
    grid.fill(line, style: theme[.prompt])
    switch check {
    case .empty:
      let text =
        former.isEmpty
        ? "a predicate such as  title contains \"soup\"  or just words"
        : "↑ recalls earlier filters; empty shows all rows"
      grid.write(" " + text, at: line.origin, style: theme[.dim], within: line.width)
      return 1
    case .predicate:
      grid.write(" ✓", at: line.origin, style: theme[.success], within: line.width)
      return 1
    case .words(let words, _):
      grid.write(
        [Span(" ⏎ ", theme[.footerKey]), Span("any text contains “\(words)”", theme[.prompt])],
        at: line.origin, within: line.width)
      return 1
    case .wrong(let error):
      return drawMistake(error, in: &grid, rect, textStart: textStart, theme: theme)
    }
  }

  private func drawMistake(
    _ error: CoreDataError, in grid: inout Grid, _ rect: Rect, textStart: Int, theme: Theme
  ) -> Int {
    let line = rect.row(0)
    let mark = error.mark ?? TextMark(prompt.text, 0..<0)
    // What is only not there yet is no mistake.
    let isUnfinished =
      mark.range.upperBound >= prompt.text.trimmed.utf8.count
      && (mark.range.isEmpty || !completion.candidates.isEmpty)
    let style = theme[isUnfinished ? .dim : .error]
    let width = max(1, TextWidth.of(mark.marked, upTo: line.width))
    let first = max(line.x + 1, min(textStart + TextWidth.of(mark.before), line.right - 2))
    grid.write(
      String(repeating: isUnfinished ? "…" : "^", count: width),
      at: Point(x: first, y: line.y), style: style, within: line.right - first)
    let text = error.told
    let after = first + width + 1
    if after + TextWidth.of(text, upTo: line.width) <= line.right {
      grid.write(text, at: Point(x: after, y: line.y), style: style)
      return 1
    }
    // Too long to stand beside the mark: below it.
    let lines = Wrapping.lines(Sanitize.text(text), width: max(1, rect.width - 2)).prefix(3)
    for (index, part) in lines.enumerated() {
      let row = rect.row(index + 1)
      grid.fill(row, style: theme[.prompt])
      if !row.isEmpty {
        grid.write(part, at: Point(x: row.x + 1, y: row.y), style: style, within: row.width - 1)
      }
    }
    return 1 + lines.count
  }

  private func drawOffers(in grid: inout Grid, _ rect: Rect, cursor: Point, theme: Theme) {
    let all = completion.candidates
    // Before anything is typed the rows stay in sight.
    guard !all.isEmpty, !rect.isEmpty, chosen != nil || !prompt.text.isEmpty else { return }
    let height = min(all.count, Self.mostOffers, rect.height)
    let first = max(0, min((chosen ?? 0) - height / 2, all.count - height))
    let shown = all[first..<(first + height)]
    let names = shown.reduce(1) { max($0, TextWidth.of($1.text, upTo: 40)) }
    let details = shown.reduce(0) { max($0, TextWidth.of($1.detail, upTo: 60)) }
    let width = min(rect.width, names + details + 7)
    let word = completion.range.upperBound - completion.range.lowerBound
    let x = max(rect.x, min(cursor.x - word - 3, rect.right - width))
    for (position, candidate) in shown.enumerated() {
      let frame = Rect(x: x, y: rect.y + position, width: width, height: 1)
      grid.fill(frame, style: theme[.popup])
      grid.write("│", at: frame.origin, style: theme[.borderFocused])
      grid.write("│", at: Point(x: frame.right - 1, y: frame.y), style: theme[.borderFocused])
      let line = frame.inset(horizontally: 1, vertically: 0)
      let isChosen = first + position == chosen
      if isChosen { grid.fill(line, style: theme[.selection]) }
      grid.write(
        (isChosen ? "▌ " : "  ") + candidate.text, at: line.origin,
        style: isChosen ? .plain : theme[.attribute], within: min(names + 2, line.width))
      let rest = line.width - names - 4
      if rest > 2 {
        grid.write(
          candidate.detail, at: Point(x: line.x + names + 4, y: line.y),
          style: isChosen ? .plain : theme[.dim], within: rest)
      }
    }
    if first + height < all.count {
      grid.write("…", at: Point(x: x + width - 2, y: rect.y + height - 1), style: theme[.dim])
    }
  }
}

extension CoreDataError {
  /// What is wrong in a few words, without the text that it is marked in.
  fileprivate var told: String {
    (reason ?? message) + (hint.map { ". " + $0 } ?? "")
  }
}
