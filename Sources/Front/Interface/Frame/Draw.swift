import ManagedModel
import Terminal

/// Draws everything; the grid is empty and as large as the terminal.
package func draw(_ state: State, with theme: Theme, in grid: inout Grid) {
  let screen = grid.bounds
  guard screen.width >= State.smallest.width, screen.height >= State.smallest.height else {
    let need = "strata needs \(State.smallest.width)×\(State.smallest.height)"
    let have = "this is \(screen.width)×\(screen.height)"
    for (index, line) in [need, have, "q quits"].enumerated() {
      let row = screen.row(max(0, (screen.height - 3) / 2) + index)
      grid.write(line, in: row, align: .center)
    }
    return
  }
  let context = state.context
  Header.draw(state, with: theme, in: &grid, screen.row(0))
  let body = Rect(y: 1, width: screen.width, height: screen.height - 2)
  if state.store == nil, state.picker == nil, state.refusal == nil, state.models.isEmpty {
    let text =
      state.openTask == nil ? "The store could not be opened." : "opening \(state.storePath) …"
    grid.write(text, in: body.row(body.height / 2), style: theme[.dim], align: .center)
  } else {
    state[state.front].draw(context, with: theme, in: &grid, body)
  }
  // Before the layers: one that is a line of text takes the footer's place.
  Footer.draw(state, with: theme, in: &grid, screen.row(screen.height - 1))
  for (depth, layer) in state.layers.enumerated() {
    // The terminal's cursor belongs to the uppermost layer alone.
    if depth == state.layers.count - 1 { grid.cursor = nil }
    layer.content.draw(context, with: theme, in: &grid, body)
  }
}

/// The first row: which store, which model, and the screens.
enum Header {
  /// Where each screen's name lies, from the right.
  private static func places(
    in state: State, width: Int
  ) -> [(screen: Screen, text: String, x: Int)] {
    let texts = Screen.allCases.map { screen in
      width >= 80 || screen == state.screen
        ? "\(screen.rawValue) \(screen.title)" : "\(screen.rawValue)"
    }
    var x = max(0, width - texts.reduce(0) { $0 + $1.count + 2 })
    return zip(Screen.allCases, texts).map { screen, text in
      defer { x += text.count + 2 }
      return (screen, text, x)
    }
  }

  static func tab(at x: Int, in state: State) -> Screen? {
    places(in: state, width: state.size.width).last { $0.x - 1 <= x }?.screen
  }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    grid.fill(rect, style: theme[.header])
    guard state.picker == nil else {
      let title = [Span("strata", theme[.title]), Span("  which store?", theme[.header])]
      grid.write(title, at: Point(x: 1, y: rect.y), within: rect.width - 1)
      return
    }
    let places = places(in: state, width: rect.width)
    let room = (places.first?.x ?? rect.width) - 3
    let spans = fitting(parts(state, theme), width: room).joined(separator: [Span("  ")])
    grid.write(Array(spans), at: Point(x: 1, y: rect.y), within: max(0, room))
    for place in places {
      let isActive = place.screen == state.screen
      // Without colours the header is reversed as a whole; a mark shows which screen it is.
      let style = isActive ? theme[.headerActive] : theme[.header]
      if isActive { grid.write("▸", at: Point(x: place.x - 1, y: rect.y), style: style) }
      grid.write(place.text, at: Point(x: place.x, y: rect.y), style: style)
    }
  }

  /// Those that have room, what matters most before the rest, in the order that they are in.
  private static func fitting(_ parts: [Part], width: Int) -> [[Span]] {
    var taken: [Int: [Span]] = [:]
    var used = 0
    for index in parts.indices.sorted(by: { parts[$0].rank < parts[$1].rank }) {
      let gap = taken.isEmpty ? 0 : 2
      let spans = parts[index].forms.first { used + gap + $0.width() <= width }
      // Something is always there, be it cut.
      guard let spans = spans ?? (taken.isEmpty ? parts[index].forms.last : nil) else { continue }
      taken[index] = spans
      used += gap + spans.width()
    }
    return parts.indices.compactMap { taken[$0] }
  }

  private struct Part {
    var rank: Int
    /// The longest first.
    var forms: [[Span]]

    init(_ rank: Int, forms: [[Span]]) {
      (self.rank, self.forms) = (rank, forms)
    }

    init(_ rank: Int, _ forms: [Span]...) { self.init(rank, forms: forms) }
  }

  /// What is going on.
  private static func badge(_ state: State, _ theme: Theme) -> Part? {
    state.screens.badge.map {
      Part(-1, [Span($0, theme[.success].adding(.bold))])
    }
  }

  /// What other programs did to the store, and whether that is in sight already.
  private static func news(_ known: Known, _ theme: Theme) -> [Part] {
    guard let change = known.news.change ?? (known.news.isLate ? .saved(nil) : nil) else {
      return []
    }
    guard change.isSave, known.refreshMode != .ask else {
      return [Part(-1, [Span("! \(change.word): ^R", theme[.warning])])]
    }
    let words = known.news.words
    // The store's name has room beside it.
    let forms = [words + " since \(known.news.since)", words].dropFirst(
      known.size.width < 110 ? 1 : 0)
    return [Part(-1, forms: forms.map { [Span("● " + $0, theme[.changed])] })]
  }

  private static func parts(_ state: State, _ theme: Theme) -> [Part] {
    guard let store = state.store else {
      guard state.refusal != nil else {
        let name = state.models.isEmpty ? state.storePath : state.models.joined(separator: "  ⟷  ")
        return [Part(0, [Span(name, theme[.title])])]
      }
      let name = state.storePath.split(separator: "/").last.map(String.init) ?? state.storePath
      return [
        Part(0, [Span(name, theme[.title])]), badge(state, theme),
        Part(0, [Span("✗ does not open", theme[.error])], [Span("✗ damaged", theme[.error])]),
      ]
      .compactMap { $0 }
    }
    let faults = state.rescue.condition?.findings.count { $0.severity == .error } ?? 0
    let match =
      store.modelMatches
      ? Span(faults == 0 ? "✓ exact" : "exact", theme[faults == 0 ? .success : .dim])
      : state.copy?.whole?.isModelMade == true
        ? Span("· model made of the objects", theme[.dim])
        : Span(store.isRaw ? "! no model: shown raw" : "✗ other model", theme[.error])
    var parts = [
      Part(0, [Span(store.fileName, theme[.title])]),
      Part(5, [Span(store.hashPrefix, theme[.dim])]),
    ]
    if let name = state.storeModelName {
      parts.append(Part(2, [Span("model “\(name)”")], [Span("“\(name)”")]))
    } else if state.isReadingVersions {
      parts.append(Part(2, [Span("model …")], [Span("…")]))
    } else if state.copy?.whole?.isModelMade != true {
      // Without its name it says nothing that “exact” does not.
      parts.append(Part(6, [Span("model")]))
    }
    parts.append(Part(1, [match]))
    if let badge = badge(state, theme) { parts.append(badge) }
    if !state.known.prepared.isEmpty {
      parts.append(Part(-1, [Span("* " + state.known.prepared.words, theme[.changed])]))
    }
    parts += news(state.known, theme)
    if let gap = store.gap {
      // What it is comes before the colon, unless that is only where it is.
      let head = String(gap.prefix { $0 != ":" })
      let forms = [gap, head.contains(" ") ? head : "see 5", "see 5"]
      parts.append(Part(0, forms: forms.map { [Span("✗ " + $0, theme[.error])] }))
    } else if faults > 0 {
      let text = "✗ \(NumberText.counted(faults, "error")): 5"
      parts.append(Part(0, [Span(text, theme[.error])]))
    }
    if store.walFrames > 0 {
      parts.append(Part(4, [Span("wal \(NumberText.counted(store.walFrames, "frame"))")]))
    }
    if !store.warnings.isEmpty {
      let text = "! " + NumberText.counted(store.warnings.count, "warning")
      let key = Keymap.everywhere(state).first { $0.action.name == "warnings" }?.keys.first
      let forms = (key.map { [text + ": " + $0.name] } ?? []) + [text]
      parts.append(Part(3, forms: forms.map { [Span($0, theme[.warning])] }))
    }
    return parts
  }
}

/// The last row: what the keys do here, or what was just said. A long sentence takes rows of what is above it.
enum Footer {
  /// An eighth of the screen: on a small one every row above has something that is needed.
  private static func mostRows(of height: Int) -> Int { min(4, max(1, height / 8)) }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    if let notice = state.notice {
      let (sign, role): (String, Theme.Role) =
        switch notice.kind {
        case .plain: ("", .footerText)
        case .success: ("✓ ", .success)
        case .warning: ("! ", .warning)
        }
      let head = " " + sign
      let all = Wrapping.lines(notice.text, width: max(1, rect.width - head.count - 2))
      let most = Self.mostRows(of: rect.y + 1)
      var lines = Array(all.prefix(most))
      if all.count > most { lines[most - 1] += "…" }
      for (index, line) in lines.enumerated() {
        let row = Rect(y: rect.y - lines.count + 1 + index, width: rect.width, height: 1)
        grid.fill(row, style: theme[.footerText])
        let mark = index == 0 ? head : String(repeating: " ", count: head.count)
        grid.write(
          [Span(mark, theme[role]), Span(line, theme[.footerText])], at: row.origin,
          within: row.width)
      }
      return
    }
    let items = bindings(state).map {
      HelpBar.Item(
        $0.label, $0.shortTitle ?? $0.title, isAvailable: $0.isAvailable,
        isEssential: essential.contains($0.action.name))
    }
    let note =
      !state.count.isEmpty
      ? state.count.text : state.layers.isEmpty ? state[state.front].note(state.context) : ""
    HelpBar(items, note: note).draw(in: &grid, rect, theme: theme)
  }

  /// Those that stay where there is little room.
  private static let essential: Set = [
    "nextPane", "changes", "writeEdits", "edit", "viewValue", "writeValue", "help",
  ]

  /// The bindings that the footer shows, in its order.
  static func bindings(_ state: State) -> [Binding] {
    Keymap.bindings(state).filter { $0.isInFooter && !$0.keys.isEmpty }
  }
}

/// Where a person has put the lines between panes; `nil` where they lie as they come.
struct Dividers: Codable, Sendable, Equatable {
  /// Columns of Browse's tree.
  var tree: Int?
  /// Rows of Browse's inspector.
  var inspector: Int?

  /// Each pane keeps what it needs to be of use, however large the terminal is now.
  func treeWidth(in frame: Rect) -> Int? {
    tree.map { min(max(14, $0), max(14, frame.width - 30)) }
  }

  func inspectorHeight(in frame: Rect) -> Int? {
    inspector.map { min(max(3, $0), max(3, frame.height - 4)) }
  }
}

/// A line between two panes that the mouse can move.
enum Divider: Sendable, Equatable {
  case tree, inspector

  /// The one at a place of the screen.
  static func at(_ point: Point, in state: State) -> Divider? {
    guard state.front == .browse, state.layers.isEmpty else { return nil }
    let layout = BrowseLayout(state.browse, state.known)
    let (tree, rows, inspector) = (
      layout.pane(.entities), layout.pane(.rows), layout.pane(.inspector)
    )
    // Where both meet, the line over the whole height is meant.
    if !tree.isEmpty, rows.width > 0, point.x == rows.x, layout.frame.contains(point) {
      return .tree
    }
    if !rows.isEmpty, !inspector.isEmpty, point.y == inspector.y, inspector.contains(point) {
      return .inspector
    }
    return nil
  }
}

extension State {
  /// Puts the line that is held under the pointer.
  mutating func drag(to point: Point) {
    let frame = known.body
    switch dragged {
    case .tree?:
      known.dividers.tree = point.x - frame.x + 1
      known.dividers.tree = known.dividers.treeWidth(in: frame)
    case .inspector?:
      known.dividers.inspector = frame.bottom - point.y
      known.dividers.inspector = known.dividers.inspectorHeight(in: frame)
    case nil: return
    }
    on(BrowseScreen.self) {
      $0.fit($1)
      return []
    }
  }
}
