import ManagedModel
import Terminal

/// A line of text that is checked while it is typed: what is wrong stands under its word, and below
/// that what could come next.
struct CheckedLine: Sendable, Equatable {
  private static let mostOffers = 8

  var prompt: Prompt
  /// What is wrong with the text.
  var mistake: CoreDataError?
  var completion = Completion() {
    didSet { chosen = nil }
  }
  /// The candidate that Enter takes; `nil` when Enter takes the line.
  private(set) var chosen: Int?

  var isOffering: Bool { !completion.candidates.isEmpty }

  init(_ prompt: Prompt) { self.prompt = prompt }

  /// Edits; says whether that changed anything that is checked.
  mutating func type(_ key: Key) -> Bool {
    let before = (prompt.text, prompt.cursor)
    prompt.handle(key)
    return (prompt.text, prompt.cursor) != before
  }

  mutating func choose(_ step: Int) {
    let next = (chosen ?? -1) + step
    chosen = next < 0 ? nil : min(completion.candidates.count - 1, next)
  }

  mutating func chooseNone() { chosen = nil }

  /// Inserts the chosen candidate, or the first one. Returns `false` if there are no candidates.
  mutating func take() -> Bool {
    guard let text = completion.candidates.element(chosen ?? 0)?.text else { return false }
    let characters = Array(prompt.text)
    let range = completion.range.clamped(to: 0..<characters.count)
    // A space that is there already is not doubled.
    var rest = characters[range.upperBound...]
    if text.last == " ", rest.first == " " { rest.removeFirst() }
    // “.@count” belongs to the word before the space.
    var head = characters[..<range.lowerBound]
    if text.hasPrefix("."), head.last == " " { head.removeLast() }
    prompt = Prompt(String(head) + text + String(rest))
    prompt.moveCursor(to: head.count + text.count)
    return true
  }
}

/// A popup around such a line.
protocol CheckedLineLayer: LayerContent {
  var line: CheckedLine { get set }
  /// Checks the text, and looks for what could come next.
  mutating func look(in context: Context)
  /// Takes the line, which has no mistake.
  mutating func confirm(in context: inout Context) -> LayerOutcome
  /// Puts an earlier text into the line.
  mutating func recall(in context: Context)
}

extension CheckedLineLayer {
  mutating func recall(in context: Context) {}

  /// The keys of the line.
  ///
  /// - Parameters:
  ///   - reason: why Enter does not take the line, besides a mistake.
  ///   - former: what ↑ brings back, and whether there is any; `nil` where it brings back nothing.
  func lineBindings(
    _ enter: String, unless reason: String? = nil, former: (title: String, isThere: Bool)? = nil
  ) -> [Binding] {
    let isChosen = line.chosen != nil
    return [
      Binding(
        [.enter], isChosen ? "take" : enter,
        does("confirm") { layer, context in
          guard layer.line.chosen != nil else { return layer.confirm(in: &context) }
          layer.take(in: context)
          return .stay()
        }, unless: isChosen ? nil : reason ?? line.mistake?.told),
      Binding(
        [.escape], isChosen ? "close the list" : "cancel",
        does("cancel") { layer, _ in
          guard layer.line.chosen != nil else { return .close() }
          layer.line.chooseNone()
          return .stay()
        }),
      Binding(
        [.tab], "complete",
        asks("choose") { layer, context in
          layer.take(in: context)
          return []
        }, unless: line.isOffering ? nil : "there is nothing to complete",
        footer: line.isOffering),
      Binding(
        [.down], "next suggestion", changes(Action.movement) { $0.line.choose(1) },
        unless: line.isOffering ? nil : "no suggestions", footer: line.isOffering),
      Binding(
        [.up], isChosen ? "previous suggestion" : former?.title ?? "previous suggestion",
        asks(Action.movement) { layer, context in
          if layer.line.chosen != nil {
            layer.line.choose(-1)
          } else {
            layer.recall(in: context)
          }
          return []
        },
        unless: isChosen || former?.isThere == true ? nil : "no \(former?.title ?? "suggestions")",
        footer: isChosen || former?.isThere == true),
    ]
  }

  private mutating func take(in context: Context) {
    if line.take() { look(in: context) }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    if line.type(key) { look(in: context) }
    return []
  }
}

extension CheckedLine {
  /// Rows of a popup below the line: the mark, and a long mistake.
  private static let marks = 4

  /// Draws a popup of a text and the line below it.
  ///
  /// - Parameters:
  ///   - head: what stands above the text.
  ///   - note: what stands below the line while there is no mistake.
  ///   - warning: stands there instead, in as many rows as it needs.
  func draw(
    _ title: String, head: [Span] = [], _ text: String, label: String, note: [Span],
    warning: String? = nil, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(72, rect.width - 4))
    let lines = Wrapping.lines(text, width: width)
    let above = head.isEmpty ? 0 : 1
    let inside = Popup(title, width, lines.count + 2 + 2 * above + Self.marks)
      .draw(in: &grid, rect, theme: theme)
    grid.write(head, at: inside.origin, within: inside.width)
    grid.write(lines, in: inside.droppingRows(above), style: theme[.dim])
    let row = min(lines.count + 1 + above, max(0, inside.height - 1))
    prompt.draw(in: &grid, inside.row(row), label: [Span(label, theme[.footerKey])], theme: theme)
    let marks = inside.droppingRows(row + 1)
    // The offers may lie over the frame and what is below it.
    let below = Rect(
      x: marks.x, y: marks.y, width: marks.width, height: max(0, rect.bottom - marks.y))
    drawBelow(
      in: &grid, below, marks: marks, note: warning == nil ? note : [], theme: theme)
    guard let warning, mistake == nil else { return }
    grid.write(
      Wrapping.lines("! " + warning, width: max(1, marks.width)), in: marks, style: theme[.warning])
  }

  /// Draws what is below the line, whose cursor was just drawn.
  ///
  /// - Parameters:
  ///   - marks: where the mistake is marked.
  ///   - rect: that and the room for the offers.
  ///   - note: what stands there while there is no mistake.
  func drawBelow(
    in grid: inout Grid, _ rect: Rect, marks: Rect, note: [Span], theme: Theme
  ) {
    guard !rect.isEmpty, let cursor = grid.cursor else { return }
    let start = cursor.x - TextWidth.of(String(prompt.text.prefix(prompt.cursor)))
    var used = 1
    grid.fill(marks.row(0), style: theme[.prompt])
    if let mistake {
      used = draw(mistake, in: &grid, marks, textStart: start, theme: theme)
    } else {
      grid.write(note, at: marks.origin, within: marks.width)
    }
    drawOffers(
      in: &grid, rect.droppingRows(marks.y - rect.y + used), cursor: cursor, theme: theme)
  }

  /// What is wrong, under its word. Says how many rows it took.
  private func draw(
    _ error: CoreDataError, in grid: inout Grid, _ rect: Rect, textStart: Int, theme: Theme
  ) -> Int {
    let line = rect.row(0)
    let mark = error.mark ?? TextMark(prompt.text, 0..<0)
    // What is only not there yet is no mistake.
    let isUnfinished =
      mark.range.upperBound >= prompt.text.trimmed.utf8.count
      && (mark.range.isEmpty || isOffering)
    let style = theme[isUnfinished ? .dim : .error]
    let width = max(1, TextWidth.of(mark.marked, upTo: line.width))
    let first = max(line.x + 1, min(textStart + TextWidth.of(mark.before), line.right - 2))
    grid.write(
      String(repeating: isUnfinished ? "…" : "^", count: width),
      at: Point(x: first, y: line.y), style: style, within: line.right - first)
    // What there is stands in the offers already.
    let isListed = isUnfinished && isOffering && error.hint?.hasPrefix("It has:") == true
    let text = isListed ? error.reason ?? error.message : error.told
    let after = first + width + 1
    if after + TextWidth.of(text, upTo: line.width) <= line.right {
      grid.write(text, at: Point(x: after, y: line.y), style: style)
      return 1
    }
    // Too long to stand beside the mark: below it.
    let lines = Wrapping.lines(Sanitize.text(text), width: max(1, rect.width - 2))
      .prefix(min(3, rect.height - 1))
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
  var told: String {
    (reason ?? message) + (hint.map { ". " + $0 } ?? "")
  }
}
