import ManagedModel
import Terminal

/// Something long to be read: paragraphs, or code line by line.
struct DetailsLayer: SearchableLayer {
  struct Paragraph: Sendable, Equatable {
    var text: String
    var role: Theme.Role
    /// Code keeps its spaces.
    var isCode = false

    init(_ text: String, _ role: Theme.Role = .text, isCode: Bool = false) {
      (self.text, self.role, self.isCode) = (text, role, isCode)
    }
  }

  var title: String
  var paragraphs: [Paragraph]
  /// Rows that it is about, for going there.
  var rows: ConcernedRows?
  var list = List()
  var filter = ""

  init(_ title: String, _ paragraphs: [Paragraph]) {
    (self.title, self.paragraphs) = (title, paragraphs)
  }

  /// All of it as plain text.
  var text: String { paragraphs.map(\.text).joined(separator: "\n") + "\n" }

  private static func width(in body: Rect) -> Int { max(1, min(110, body.width - 6)) }

  private func lines(width: Int) -> [TextLine] {
    let match = TextMatch(filter)
    let all = paragraphs.flatMap { paragraph -> [TextLine] in
      guard paragraph.isCode else {
        return Wrapping.lines(paragraph.text, paragraph.role, width: width)
      }
      return paragraph.text.split(separator: "\n", omittingEmptySubsequences: false)
        .flatMap { Wrapping.code(String($0), width: width) }.map { ($0, paragraph.role) }
    }
    return all.filter { match.matches($0.text) }
  }

  func bindings(_ context: Context) -> [Binding] {
    (rows.map { [Binding([.enter], $0.title, opens)] } ?? []) + [
      searchBinding, copyBinding, movement,
      closing([.escape, "q"] + (rows == nil ? [.enter] : [])),
    ]
  }

  func count(_ context: Context) -> Int { lines(width: Self.width(in: context.body)).count }

  func copied(_ context: Context) -> (text: String, title: String) { (text, title) }

  private var opens: Action {
    does("open") { layer, context in layer.rows.map { .close($0.show(in: &context)) } ?? .stay() }
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = Self.width(in: rect)
    let lines = lines(width: width)
    let inside = Popup(title, width, max(1, lines.count)).draw(in: &grid, rect, theme: theme)
    let places = list.places(count: lines.count, in: inside)
    for (index, place) in places {
      grid.write(
        lines[index].text, at: place.origin, style: theme[lines[index].role], within: place.width)
    }
    if let last = places.last, last.line + 1 < lines.count {
      let more = " \(lines.count - last.line - 1) more ↓ "
      grid.write(
        more, at: Point(x: max(inside.x, inside.right - more.count), y: inside.bottom),
        style: theme[.dim], within: inside.width)
    }
  }
}

/// Something to be read: what went wrong and what to try.
struct MessageLayer: SearchableLayer {
  var title: String
  var paragraphs: [String]
  var isError: Bool
  var list = List()
  var filter = "" {
    didSet { list = List(count: list.count, height: list.height) }
  }

  init(title: String, paragraphs: [String], isError: Bool = true) {
    (self.title, self.paragraphs, self.isError) = (title, paragraphs, isError)
  }

  /// A failure, worded for a person.
  init(_ error: CoreDataError) {
    let place = [error.entity == nil ? "" : error.place, error.path ?? ""].filter { !$0.isEmpty }
    var paragraphs = [error.message]
    if !place.isEmpty { paragraphs.append(place.joined(separator: "  ")) }
    if let hint = error.typedHint { paragraphs.append("› " + hint) }
    self.init(title: error.code.map { "✗ error \($0)" } ?? "✗ error", paragraphs: paragraphs)
  }

  /// All of it as plain text.
  var text: String { paragraphs.joined(separator: "\n") + "\n" }

  private func lines(width: Int) -> [String] {
    var lines: [String] = []
    let match = TextMatch(filter)
    for paragraph in paragraphs where match.matches(paragraph) {
      if !lines.isEmpty { lines.append("") }
      lines += Wrapping.lines(paragraph, width: width)
    }
    return lines
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      movement, searchBinding, copyBinding, closing([.escape, "q", .enter, "?"]),
    ]
  }

  func count(_ context: Context) -> Int { lines(width: min(70, context.size.width - 4)).count }

  func copied(_ context: Context) -> (text: String, title: String) { (text, "message") }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(70, rect.width - 4))
    let lines = lines(width: width)
    let inside = Popup(title, width, lines.count).draw(in: &grid, rect, theme: theme)
    for (index, place) in list.places(count: lines.count, in: inside) {
      let style = isError && index == 0 ? theme[.error] : .plain
      grid.write(lines[index], at: place.origin, style: style, within: place.width)
    }
  }
}
