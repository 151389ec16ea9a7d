/// The footer: the keys that do something here.
package struct HelpBar: Sendable, Equatable {
  package struct Item: Sendable, Equatable {
    package var key: String
    package var title: String
    package var isAvailable: Bool

    package init(_ key: String, _ title: String, isAvailable: Bool = true) {
      self.key = key
      self.title = title
      self.isAvailable = isAvailable
    }
  }

  package var items: [Item]
  /// What stands at the right: "rows 1–40 of 112".
  package var note: String

  package init(_ items: [Item], note: String = "") {
    self.items = items
    self.note = note
  }

  /// Draws the items that fit, the first ones first; what is not available is dim. An item is
  /// drawn whole or not at all, and the note gives way to the first item.
  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    let line = rect.row(0)
    guard !line.isEmpty else { return }
    grid.fill(line, style: theme[.footerText])
    var x = line.x + 1
    let noteWidth = TextWidth.of(note, upTo: line.width)
    let firstWidth = items.first.map(width) ?? 0
    let isNoted = noteWidth > 0 && firstWidth + noteWidth + 4 <= line.width
    let end = isNoted ? line.right - noteWidth - 3 : line.right
    for (position, item) in items.enumerated() {
      guard position == 0 || x + width(item) <= end else { break }
      let key = theme[item.isAvailable ? .footerKey : .footerDisabled]
      let title = theme[item.isAvailable ? .footerText : .footerDisabled]
      x += grid.write(
        [Span(item.key, key), Span(" " + item.title, title)],
        at: Point(x: x, y: line.y), within: max(0, end - x))
      x += 2
    }
    if isNoted {
      grid.write(
        note, at: Point(x: line.right - noteWidth - 1, y: line.y), style: theme[.footerText])
    }
  }

  private func width(_ item: Item) -> Int {
    TextWidth.of(item.key) + 1 + TextWidth.of(item.title)
  }
}
