/// The footer: the keys that do something here.
package struct HelpBar: Sendable, Equatable {
  /// A key and what it does.
  package struct Item: Sendable, Equatable {
    /// How the key is shown.
    package var key: String
    /// What it does.
    package var title: String
    /// Whether it does so now.
    package var isAvailable: Bool
    /// Whether it is to stay when there is no room for all.
    package var isEssential: Bool

    /// - isEssential: whether it stays where there is little room.
    package init(
      _ key: String, _ title: String, isAvailable: Bool = true, isEssential: Bool = false
    ) {
      self.key = key
      self.title = title
      self.isAvailable = isAvailable
      self.isEssential = isEssential
    }
  }

  /// From left to right.
  package var items: [Item]
  /// What stands at the right: "rows 1–40 of 112".
  package var note: String

  /// Items, and a note at the right edge.
  package init(_ items: [Item], note: String = "") {
    self.items = items
    self.note = note
  }

  /// Draws the items that fit, the first ones first, and “…” where some do not; what is not
  /// available is dim. An item is drawn whole or not at all, and the note gives way to the first.
  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    let line = rect.row(0)
    guard !line.isEmpty else { return }
    grid.fill(line, style: theme[.footerText])
    var x = line.x + 1
    let noteWidth = TextWidth.of(note, upTo: line.width)
    let firstWidth = items.first.map(width) ?? 0
    let isNoted = noteWidth > 0 && firstWidth + noteWidth + 4 <= line.width
    let end = isNoted ? line.right - noteWidth - 3 : line.right
    let shown = fitting(end - x)
    for position in shown {
      let item = items[position]
      let key = theme[item.isAvailable ? .footerKey : .footerDisabled]
      let title = theme[item.isAvailable ? .footerText : .footerDisabled]
      let used = grid.write(
        [Span(item.key, key), Span(" " + item.title, title)],
        at: Point(x: x, y: line.y), within: max(0, end - x))
      grid.mark(Rect(x: x, y: line.y, width: used, height: 1), as: .item(position))
      x += used + 2
    }
    if shown.count < items.count, x < end {
      grid.write("…", at: Point(x: x, y: line.y), style: theme[.footerDisabled])
    }
    if isNoted {
      grid.write(
        note, at: Point(x: line.right - noteWidth - 1, y: line.y), style: theme[.footerText])
    }
  }

  /// The places of the items to be drawn: the essential ones, and of the others the first.
  private func fitting(_ room: Int) -> [Int] {
    let widths = items.map { width($0) + 2 }
    guard widths.reduce(-2, +) > room else { return Array(items.indices) }
    // After the last one nothing has to follow.
    var room = room + 2
    var chosen: Set<Int> = []
    for isEssential in [true, false] {
      for index in items.indices where items[index].isEssential == isEssential {
        guard widths[index] <= room else {
          if isEssential { continue } else { break }
        }
        room -= widths[index]
        chosen.insert(index)
      }
    }
    return chosen.isEmpty ? Array(items.indices.prefix(1)) : chosen.sorted()
  }

  private func width(_ item: Item) -> Int {
    TextWidth.of(item.key) + 1 + TextWidth.of(item.title)
  }
}
