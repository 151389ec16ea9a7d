import Terminal

/// A question with yes and no, as a popup.
struct ConfirmLayer: WaitingLayer {
  let confirmation: Confirmation
  var task: TaskID?
  private var footprint: Footprint?
  private var list = List()

  init(_ confirmation: Confirmation) { self.confirmation = confirmation }

  /// Looks up what has to be known before the question can be answered.
  mutating func begin(in context: inout Context) -> [Effect] {
    guard let request = confirmation.request else { return [] }
    return context.ask(&task) { .find($0, .footprint(request)) }
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    if case .footprint(let found) = answer { footprint = found }
    return []
  }

  /// Why it cannot be answered with yes yet.
  private var reasonNotToConfirm: String? {
    guard confirmation.request != nil, footprint == nil else { return nil }
    return task == nil ? "the folder was not checked" : "the folder is still being checked"
  }

  /// The keys that answer, for the view that shows the question.
  func answers(_ yes: Action, _ no: Action) -> [Binding] {
    [
      Binding(["y"], confirmation.yes, yes, unless: reasonNotToConfirm),
      Binding([.escape, "n", "q"], label: "n", confirmation.no, no),
    ]
  }

  func bindings(_ context: Context) -> [Binding] {
    let yes = does("confirm") { .close($1.run($0.confirmation.intent)) }
    return answers(yes, Self.close) + [
      // Enter alone would confirm by accident; it says which keys answer.
      Binding(
        [.enter], "confirm", yes,
        unless: "y: \(confirmation.yes); n: \(confirmation.no)", footer: false),
      scrolling {
        let (size, height) = $0.size(in: $2.body)
        $0.list.scrollPage(
          $1, count: $0.rows(width: size.width, height: height).count, height: height)
      },
    ]
  }

  func closed(in context: inout Context) -> [Effect] {
    if confirmation.intent == .recover {
      context.notice = Notice(
        "nothing was changed; the next migrate, repair, reset or rollback recovers first", .warning)
    }
    var copy = self
    return copy.cancel(in: &context) ?? []
  }
}

/// How it looks: paragraphs that scroll where they must, and the two answers below them.
extension ConfirmLayer {
  /// A row of the text: what it is about, and its words.
  typealias Row = (label: String, text: String, role: Theme.Role)

  /// An empty row and the answers.
  private static let footHeight = 2
  private static let most = 70

  /// The text in lines of so many cells.
  ///
  /// - Parameter height: where there is no room for all, the facts come first, close together.
  func rows(width: Int, height: Int) -> [Row] {
    let lines = confirmation.lines(footprint)
    let rows = rows(of: lines, width: width, isLoose: true)
    guard rows.count > height else { return rows }
    return self.rows(
      of: lines.filter { !$0.label.isEmpty } + lines.filter(\.label.isEmpty), width: width,
      isLoose: false)
  }

  private func rows(of lines: [Confirmation.Line], width: Int, isLoose: Bool) -> [Row] {
    let widest = lines.map(\.label.count).max() ?? 0
    let margin = widest == 0 ? 0 : widest + 2
    var rows: [Row] = []
    for (index, line) in lines.enumerated() {
      // Facts stand close together; sentences are apart.
      if isLoose, index > 0, line.label.isEmpty || lines[index - 1].label.isEmpty {
        rows.append(("", "", .text))
      }
      let isFact = !line.label.isEmpty
      let text = Sanitize.text(line.text, limit: 4000)
      let parts = Wrapping.lines(text, width: isFact ? max(1, width - margin) : width)
      for (number, part) in parts.enumerated() {
        let label = isFact ? (number == 0 ? line.label : "").padded(to: margin, least: 0) : ""
        rows.append((label, part, line.role))
      }
    }
    return rows
  }

  /// The size of the popup's inside, and how many rows of it are text.
  private func size(in rect: Rect) -> (size: Size, text: Int) {
    let width = max(1, min(Self.most, rect.width - 4))
    let room = max(0, rect.height - 2 - Self.footHeight)
    let count = min(rows(width: width, height: room).count, room)
    return (Size(width: width, height: count + Self.footHeight), count)
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let (size, height) = size(in: rect)
    let inside = Popup(confirmation.title, size: size).draw(in: &grid, rect, theme: theme)
    let text = Rect(x: inside.x, y: inside.y, width: inside.width, height: height)
    drawText(list, with: theme, in: &grid, text)
    drawAnswers(with: theme, in: &grid, inside.row(max(0, inside.height - 1)))
  }

  /// Draws the text; what has no room is shown by a mark on the right.
  func drawText(_ list: List, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let rows = rows(width: rect.width, height: rect.height)
    for (index, place) in list.places(count: rows.count, in: rect) {
      let (label, text, role) = rows[index]
      grid.write(
        [Span(label, theme[.dim]), Span(text, theme[role])], at: place.origin, within: place.width)
    }
    guard rows.count > rect.height else { return }
    let fitted = list.fitted(to: rect.height, count: rows.count)
    // Beside the text, in the popup's own margin.
    let edge = Rect(x: rect.x, y: rect.y, width: rect.width + 1, height: rect.height)
    grid.scrollMark(edge, first: fitted.offset, of: rows.count, style: theme[.border])
  }

  /// Draws the two keys with what each does.
  func drawAnswers(with theme: Theme, in grid: inout Grid, _ row: Rect) {
    let isReady = reasonNotToConfirm == nil
    grid.write(
      [
        Span("y ", theme[isReady ? .footerKey : .dim]),
        Span(confirmation.yes, isReady ? theme[.text].adding(.bold) : theme[.dim]),
        Span("    n ", theme[.footerKey]), Span(confirmation.no),
      ], at: row.origin, within: row.width)
  }
}
