import Terminal

/// A path while it is typed, which Tab completes.
struct PathPrompt: Sendable, Equatable {
  private(set) var prompt: Prompt
  private var completions: [String] = []
  /// Looks for completions, which nobody has to wait for.
  private var task: TaskID?

  init(_ text: String = "") { prompt = Prompt(text) }

  var text: String { prompt.text }

  /// Takes a key.
  mutating func handle(_ key: Key, in context: inout Context) -> [Effect] {
    edit(key) ? look(in: &context) : []
  }

  /// Takes a key where the text is no path.
  ///
  /// - Returns: whether the text is another one now.
  @discardableResult
  mutating func edit(_ key: Key) -> Bool {
    let former = text
    prompt.handle(key)
    return text != former
  }

  /// Names that the path could end with, where there are several: `Recipes.sqlite`, `Recipes.xcdatamodeld/`.
  var offers: [String] {
    guard completions.count > 1 else { return [] }
    let folder = text.lastIndex(of: "/").map { text.distance(from: text.startIndex, to: $0) + 1 }
    return completions.map { String($0.dropFirst(folder ?? 0)) }
  }

  /// Draws the line, below it a hint and then what could come next.
  func draw(
    in grid: inout Grid, _ rect: Rect, label: String, hint: String, theme: Theme
  ) {
    prompt.draw(in: &grid, rect.row(0), label: [Span(label, theme[.footerKey])], theme: theme)
    let lines = hint.isEmpty ? [] : Wrapping.lines(hint, width: rect.width)
    grid.write(lines, in: rect.droppingRows(2), style: theme[.dim])
    let list = Wrapping.lines(offers.joined(separator: "   "), width: rect.width)
    grid.write(list, in: rect.droppingRows(lines.isEmpty ? 2 : 3 + lines.count))
  }

  /// Types what all completions have in common.
  mutating func complete(in context: inout Context) -> [Effect] {
    if let longest = Self.common(completions), longest.count > text.count {
      prompt = Prompt(longest)
    }
    return look(in: &context)
  }

  private mutating func look(in context: inout Context) -> [Effect] {
    completions = []
    return context.ask(&task) { [text] in .find($0, .completions(path: text)) }
  }

  /// - Returns: whether the answer was to its own question.
  mutating func take(_ answer: Answer, to task: TaskID) -> Bool {
    guard self.task.end(task) else { return false }
    if case .completions(let paths) = answer { completions = paths }
    return true
  }

  /// What all of several texts begin with.
  static func common(_ texts: [String]) -> String? {
    guard var common = texts.first else { return nil }
    for text in texts.dropFirst() {
      common = String(zip(common, text).prefix { $0 == $1 }.map(\.0))
    }
    return common
  }
}
