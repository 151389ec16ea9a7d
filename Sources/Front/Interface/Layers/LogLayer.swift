import Terminal

/// What happened when, the newest last.
struct LogLayer: LayerContent {
  var list: List

  init(_ context: Context) {
    list = List(count: Self.lines(context).count, selected: .max, height: Self.height(context))
  }

  private static func height(_ context: Context) -> Int { max(1, context.body.height - 2) }
  private static func width(_ context: Context) -> Int { max(1, min(96, context.size.width - 4)) }

  private struct Line {
    var time: String
    var sign: String
    var role: Theme.Role
    var text: String
  }

  private static let margin = 12

  private static func lines(_ context: Context) -> [Line] {
    let width = max(1, width(context) - margin)
    return context.log.entries.flatMap { entry -> [Line] in
      let (sign, role): (String, Theme.Role) =
        switch entry.kind {
        case .plain: ("·", .text)
        case .success: ("✓", .success)
        case .warning: ("!", .warning)
        case .error: ("✗", .error)
        }
      return Wrapping.lines(Sanitize.text(entry.text, limit: 2000), width: width).enumerated().map {
        Line(
          time: $0.offset == 0 ? entry.time : "", sign: $0.offset == 0 ? sign : "", role: role,
          text: $0.element)
      }
    }
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      scrolling { $0.list.scrollPage($1, count: Self.lines($2).count, height: Self.height($2)) },
      Binding(
        ["y"], "copy",
        asks("copy") { _, context in
          let text = context.log.entries.map { "\($0.time)  \($0.text)\n" }.joined()
          return CopyLayer.send(text, "log", in: &context)
        }, unless: context.log.entries.isEmpty ? "nothing has happened yet" : nil),
      closing([.escape, "q", "!", .enter]),
    ]
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let lines = Self.lines(context)
    let inside = Popup("Log", Self.width(context), max(1, lines.count)).draw(
      in: &grid, rect, theme: theme)
    guard !lines.isEmpty else {
      grid.write(
        "nothing has happened yet", at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    var list = list.fitted(to: list.height, count: lines.count)
    // What comes in while the end is in sight moves it on.
    if self.list.selected >= self.list.count - 1 { list.end() }
    for (index, place) in list.places(count: lines.count, in: inside) {
      let line = lines[index]
      grid.write(line.time, at: place.origin, style: theme[.dim], within: Self.margin - 3)
      grid.write(
        [Span(line.sign, theme[line.role])],
        at: Point(x: place.x + Self.margin - 3, y: place.y), within: 2)
      grid.write(
        line.text, at: Point(x: place.x + Self.margin - 1, y: place.y), style: theme[line.role],
        within: max(0, place.width - Self.margin + 1))
    }
  }
}
