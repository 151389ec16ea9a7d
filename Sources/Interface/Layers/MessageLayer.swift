import ManagedModel
import Terminal

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
