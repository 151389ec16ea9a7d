import ManagedStore
import Terminal

/// The pane that shows one object, and the way that led to it.
package struct Inspector: Sendable, Equatable {
  /// An object that was left through a relationship, with the line to come back to.
  struct Step: Sendable, Equatable {
    var object: ObjectID
    var relationship: String
    var line: Int
  }

  /// What is to be shown; `inspection` follows when it has been read.
  package private(set) var object: ObjectID?
  package private(set) var inspection: Inspection?
  private(set) var trail: [Step] = []
  package var list = List()
  /// Lines that are open; all are folded at first.
  var unfolded: Set<String> = []
  /// Pictures of the object that were asked for, by attribute.
  var pictures: [String: Picture] = [:]
  /// Pixels that a picture may take; `nil` where the terminal has too few colours.
  var pictureLimit: Size?
  /// The line to select when the object has come: that of the step back.
  private var returning: Int?

  init() {}

  /// The lines that no fold hides.
  var shown: [Inspection.Line] {
    var open = Int.max
    var shown: [Inspection.Line] = []
    for line in inspection?.lines ?? [] where line.depth <= open {
      shown.append(line)
      open = line.isExpandable && !unfolded.contains(line.id) ? line.depth : .max
      if line.isPicture, pictureLimit != nil, open == .max {
        shown += pictureLines(line.id)
        open = line.depth
      }
    }
    return shown
  }

  var selectedLine: Inspection.Line? {
    let shown = shown
    return shown.indices.contains(list.selected) ? shown[list.selected] : nil
  }

  /// Shows an object without a history: the table's selected row.
  mutating func show(_ object: ObjectID?) {
    guard object != self.object || !trail.isEmpty else { return }
    self.object = object
    pictures = [:]
    trail = []
    inspection = nil
    returning = nil
    list.setCount(0)
  }

  mutating func follow(_ target: ObjectID, from line: Inspection.Line) {
    guard let object else { return }
    let name = line.id.split(separator: "/").first.map(String.init) ?? ""
    trail.append(Step(object: object, relationship: name, line: list.selected))
    self.object = target
    pictures = [:]
    inspection = nil
    list.setCount(0)
  }

  /// Goes one step back; `false` at the start of the way.
  mutating func back() -> Bool {
    guard let step = trail.popLast() else { return false }
    object = step.object
    pictures = [:]
    inspection = nil
    returning = step.line
    list.setCount(0)
    return true
  }

  mutating func take(_ inspection: Inspection?) {
    self.inspection = inspection
    list.setCount(shown.count)
    list.select(returning ?? 0)
    returning = nil
  }

  mutating func toggle() {
    guard let line = selectedLine, line.isExpandable else { return }
    setFolded(unfolded.contains(line.id))
  }

  mutating func setFolded(_ isFolded: Bool) {
    guard let line = selectedLine else { return }
    if line.isExpandable, isFolded == unfolded.contains(line.id) {
      if isFolded { unfolded.remove(line.id) } else { unfolded.insert(line.id) }
      list.setCount(shown.count)
    } else if isFolded, line.depth > 0,
      let parent = shown[..<list.selected].lastIndex(where: { $0.depth < line.depth })
    {
      list.select(parent)
    }
  }

  /// `Recipe/p12 › author › Person/p3`, cut from the left when there is too little room.
  func title(width: Int) -> String {
    guard let object else { return "" }
    let parts = trail.flatMap { [$0.object.description, $0.relationship] } + [object.description]
    var first = 0
    var title = parts.joined(separator: " › ")
    while TextWidth.of(title) > width, first < parts.count - 1 {
      first += 1
      title = "… › " + parts[first...].joined(separator: " › ")
    }
    return title
  }

  func draw(in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool) {
    guard !rect.isEmpty else { return }
    guard inspection != nil else {
      if object != nil {
        grid.write("  …", at: rect.origin, style: theme[.dim], within: rect.width)
      }
      return
    }
    let shown = shown
    guard !shown.isEmpty else {
      grid.write("  no properties", at: rect.origin, style: theme[.dim], within: rect.width)
      return
    }
    let names = shown.filter { $0.depth == 0 }
    let third = max(6, rect.width / 3)
    let labelWidth = names.reduce(4) { max($0, min(third, TextWidth.of($1.label, upTo: third))) }
    let typeWidth =
      rect.width < 60 ? 0 : names.reduce(4) { max($0, min(20, TextWidth.of($1.type, upTo: 20))) }
    list.draw(in: &grid, rect, theme: theme, isFocused: isFocused) { row in
      guard shown.indices.contains(row) else { return [] }
      let line = shown[row]
      if let spans = pictureSpans(line) { return spans }
      let isSelected = isFocused && row == list.selected
      func span(_ text: String, _ role: Theme.Role) -> Span {
        Span(text, isSelected ? .plain : theme[role])
      }
      let fold = line.isExpandable ? (unfolded.contains(line.id) ? "▾ " : "▸ ") : ""
      guard line.depth == 0 else {
        let indent = String(repeating: "  ", count: line.depth)
        let label = line.label.isEmpty ? "" : line.label + "  "
        return [
          Span(indent), span(fold.isEmpty ? "  " : fold, .dim), span(label, .attribute),
          span(line.value.text, line.value.role),
        ]
      }
      var spans = [span(Self.padded(line.label, to: labelWidth) + "  ", .attribute)]
      if typeWidth > 0 { spans.append(span(Self.padded(line.type, to: typeWidth) + "  ", .dim)) }
      if !fold.isEmpty { spans.append(span(fold, .dim)) }
      spans.append(span(line.value.text, line.value.role))
      return spans
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    let text = Sanitize.text(text, limit: width)
    return text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
  }
}
