import ManagedModel
import Terminal

/// The themes there are; everything is drawn in the selected one at once.
struct ThemesLayer: WaitingLayer {
  /// Most lines that show what is wrong with a theme's file.
  private static let problemLines = 4

  private var choices: [ThemeChoice] = []
  private var list = List()
  private let former: String
  var task: TaskID?
  /// Whether the terminal shows colours at all.
  private var hasColors = true

  init(former: String) { self.former = former }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding(
        [.enter], "keep", does("confirm") { layer, _ in layer.keep() },
        unless: choices.isEmpty ? "they are being read" : nil),
      Binding(["T"], "next", asks("nextTheme") { $0.next(in: &$1) }, footer: false),
      moving {
        $0.list.handle($1, height: $0.height(in: $2.body))
        return $0.preview(in: &$2)
      },
      closing([.escape, "q"], "cancel"),
    ]
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .themes(let choices, let hasColors) = answer else { return [] }
    (self.choices, self.hasColors) = (choices, hasColors)
    list = List(
      count: choices.count, selected: choices.firstIndex { $0.name == former } ?? 0,
      height: choices.count)
    return []
  }

  private func keep() -> LayerOutcome {
    guard let choice = selected, !choice.isUnreadable else { return .stay() }
    return .close(choice.name == former ? [] : [.keepTheme(choice.name)])
  }

  private mutating func next(in context: inout Context) -> [Effect] {
    list.select(list.selected + 1 < list.count ? list.selected + 1 : 0)
    return preview(in: &context)
  }

  private func preview(in context: inout Context) -> [Effect] {
    if let choice = selected, !choice.isUnreadable { context.preview(theme: choice.name) }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] { [] }

  func closed(in context: inout Context) -> [Effect] {
    context.preview(theme: former)
    return []
  }

  private var selected: ThemeChoice? { choices.element(list.selected) }

  /// What is to be said about the selected theme.
  private func remarks(width: Int) -> [String] {
    if case .unreadable(let problem)? = selected?.kind {
      return Array(Wrapping.lines("✗ " + problem, width: width).prefix(Self.problemLines))
    }
    return hasColors
      ? [] : Wrapping.lines("! no colours here: NO_COLOR, or the terminal", width: width)
  }

  private func height(in body: Rect) -> Int {
    // The frame takes two lines; a little of the screen is to be seen beside it.
    max(1, min(choices.count, body.height - 2 - Self.problemLines))
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let width = 44
    let remarks = remarks(width: min(width, body.width - 4))
    let rows = height(in: body)
    let inside = Popup("Theme", width, rows + remarks.count).draw(in: &grid, body, theme: theme)
    let names = choices.map { TextWidth.of($0.name, upTo: 20) }.max() ?? 0
    let room = Rect(
      x: inside.x, y: inside.y, width: inside.width,
      height: max(0, min(rows, inside.height - remarks.count)))
    if choices.isEmpty {
      grid.write("reading them …", in: room, style: theme[.dim])
    }
    list.draw(choices, in: &grid, room, theme: theme) { choice, _ in
      let role: Theme.Role = choice.isUnreadable ? .error : .dim
      var spans = [
        Span(choice.name.padded(to: names, least: 0)), Span("  " + choice.word, theme[role]),
      ]
      if choice.isOwn { spans.append(Span("  yours", theme[.dim])) }
      if choice.name == former { spans.append(Span("  current", theme[.dim])) }
      return spans
    }
    grid.write(remarks, in: inside.droppingRows(room.height), style: theme[.warning])
  }
}

extension ThemeChoice {
  fileprivate var isUnreadable: Bool {
    if case .unreadable = kind { true } else { false }
  }

  fileprivate var word: String {
    switch kind {
    case .dark: "dark"
    case .light: "light"
    case .plain: "the terminal's"
    case .unreadable: "✗ unreadable"
    }
  }
}

/// A theme that can be chosen, before it is.
package struct ThemeChoice: Sendable, Equatable {
  /// What a theme suits.
  package enum Kind: Sendable, Equatable {
    case dark, light
    /// The terminal's own background.
    case plain
    /// What is wrong with its file, and where.
    case unreadable(String)
  }

  let name: String
  let kind: Kind
  /// Whether it is a file of the person's, and none that came with the program.
  let isOwn: Bool

  /// - Parameter isOwn: whether it is a file of the person's, and none that came with the program.
  package init(name: String, kind: Kind, isOwn: Bool) {
    (self.name, self.kind, self.isOwn) = (name, kind, isOwn)
  }
}
