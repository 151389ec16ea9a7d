import ManagedModel
import ManagedStore
import Terminal

/// A search through all entities: a line of text, and under it what was found.
struct SearchEverywhereLayer: TellingLayer, ChoosingLayer {
  /// Hits that are kept; there is no end to what a store can hold.
  static let most = 5_000

  var prompt = Prompt()
  /// Whether data is looked into as well.
  private var isDeep = false
  /// What the hits are for.
  private var searched: String?
  /// Values that were not searched as a whole, and the first of them.
  private var unreadCount = 0
  private var firstUnread = ""
  private var hits: [StoreSearchProgress.Hit] = []
  private var progress: StoreSearchProgress?
  private var cut: [String] = []
  var task: TaskID?
  var error: CoreDataError?
  var list = List()

  private var isSearched: Bool { searched == prompt.text && !prompt.text.isEmpty }

  func bindings(_ context: Context) -> [Binding] {
    let command = context.known.rowCommand(
      context.known.command(
        "search", prompt.text.isEmpty ? "TEXT" : ShellText.quoted(prompt.text))
        + (isDeep ? " --deep" : "")
    )
    let reason: String? =
      prompt.text.isEmpty
      ? "type what to look for" : isSearched && hits.isEmpty ? "nothing was found" : nil
    return [
      Binding(
        [.enter], isSearched ? "go there" : "search", chooses, unless: reason, command: command),
      Binding(
        [.tab], isDeep ? "not into data" : "look into data, too",
        asks("searchDeep") { $0.turnDeep(in: &$1) }),
      moving([.up, .down, .pageUp, .pageDown, .control("n"), .control("p")], label: "↑↓") {
        $0.list.handle($1, height: $0.room($2))
        return []
      },
      closing([.escape]),
    ]
  }

  func room(_ context: Context) -> Int? { context.body.height - 5 }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard isSearched else { return .stay(search(in: &context)) }
    guard let hit = hits.element(list.selected) else { return .stay() }
    return .close(
      (cancel(in: &context) ?? [])
        + context.on(BrowseScreen.self) { $0.goTo(object: hit.object, in: &$1) })
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    prompt.handle(key)
    return []
  }

  /// Looks into data from now on, or no longer; what was searched for is searched for again.
  private mutating func turnDeep(in context: inout Context) -> [Effect] {
    isDeep.toggle()
    return isSearched ? search(in: &context) : []
  }

  private mutating func search(in context: inout Context) -> [Effect] {
    let text = prompt.text
    (unreadCount, firstUnread) = (0, "")
    searched = text
    (hits, cut, progress, error) = ([], [], nil, nil)
    list = List()
    let isDeep = isDeep
    return context.ask(&task) { .ask($0, .search(text, isDeep: isDeep)) }
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .searching(let progress) = answer else { return [] }
    hits += progress.hits
    if progress.isCut, cut.last != progress.entity { cut.append(progress.entity) }
    if progress.isEntityDone, progress.unreadValues > 0 {
      if unreadCount == 0 { firstUnread = progress.firstUnread }
      unreadCount += progress.unreadValues
    }
    self.progress = progress
    list.setCount(hits.count)
    if progress.done == progress.total { self.task = nil }
    guard hits.count >= Self.most else { return [] }
    return cancel(in: &context) ?? []
  }

  let stopped = "stopped"

  private var summary: String {
    guard searched != nil else {
      return "text, a number, a UUID or a part of one, Entity/p12, a URI: Enter searches"
        + (isDeep ? ", data too" : "")
    }
    let found = NumberText.counted(hits.count, "hit")
    if task != nil {
      return "\(found), searching \(progress?.entity ?? "")"
        + (progress.map { " (\($0.done) of \($0.total))" } ?? "") + " …  ^C stops"
    }
    if let error { return "\(found); \(error.description)" }
    if unreadCount > 0 {
      return
        "\(found); ! \(NumberText.counted(unreadCount, "value")) not searched as a whole: \(firstUnread)"
    }
    let deeper = isDeep || !hits.isEmpty ? "" : "; Tab looks into data, too"
    return found + (cut.isEmpty ? deeper : "; more in \(cut.joined(separator: ", "))")
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("Search all entities", size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 2 else { return }
    prompt.draw(in: &grid, inside.row(0), label: [Span("* ", theme[.footerKey])], theme: theme)
    grid.write(summary, at: inside.row(1).origin, style: theme[.dim], within: inside.width)
    let width = hits.prefix(200).reduce(8) {
      max($0, min(28, TextWidth.of("\($1.object)", upTo: 28)))
    }
    list.draw(hits, in: &grid, inside.droppingRows(2), theme: theme) { hit, isSelected in
      [
        theme.span(isSelected, "\(hit.object)".fitted(to: width) + "  ", .relationship),
        theme.span(isSelected, hit.property.isEmpty ? "" : hit.property + "  ", .attribute),
      ] + Self.marked(hit.excerpt, searched ?? "", theme, isSelected: isSelected)
    }
  }

  /// The excerpt with what was searched for marked, where it stands in it letter for letter.
  private static func marked(
    _ text: String, _ searched: String, _ theme: Theme, isSelected: Bool
  ) -> [Span] {
    let style = isSelected ? Style.plain : theme[.string]
    let lower = text.lowercased()
    let needle = searched.lowercased()
    guard lower.count == text.count, let place = lower.firstOffset(of: needle) else {
      return [Span(text, style)]
    }
    return [
      Span(String(text.prefix(place)), style),
      Span(String(text.dropFirst(place).prefix(needle.count)), theme[.match]),
      Span(String(text.dropFirst(place + needle.count)), style),
    ]
  }
}

extension String {
  /// How many characters come before another text.
  fileprivate func firstOffset(of needle: String) -> Int? {
    guard let first = needle.first else { return nil }
    var index = startIndex
    while let found = self[index...].firstIndex(of: first) {
      if self[found...].hasPrefix(needle) { return distance(from: startIndex, to: found) }
      index = self.index(after: found)
    }
    return nil
  }
}
