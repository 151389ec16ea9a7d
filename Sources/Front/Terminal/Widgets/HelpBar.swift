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

/// A box in the middle of the screen, over everything else.
package struct Popup: Sendable, Equatable {
  /// What its frame says.
  package var title: String
  /// What the popup would like for its inside; it takes what there is.
  package var size: Size
  /// What stands at the right of its title.
  package var note: String

  /// A popup around an inside of that size.
  package init(_ title: String, note: String = "", size: Size) {
    (self.title, self.note, self.size) = (title, note, size)
  }

  /// Draws the frame on an emptied background and returns the inside.
  ///
  /// The inside has a column of space on either side.
  @discardableResult
  package func draw(in grid: inout Grid, _ screen: Rect, theme: Theme) -> Rect {
    let frame = screen.centered(Size(width: size.width + 4, height: size.height + 2))
    grid.fill(frame, style: theme[.popup])
    grid.mark(frame, as: .popup)
    let inside = grid.box(
      frame, style: theme[.borderFocused], title: [Span(title, theme[.title])],
      note: [Span(note, theme[.dim])])
    return inside.inset(horizontally: 1, vertically: 0)
  }
}

/// A progress bar, exact to an eighth of a cell.
package struct Gauge: Sendable, Equatable {
  /// 0 to 1.
  package let fraction: Double

  /// A bar that is full at 1; what is no number is empty.
  package init(_ fraction: Double) {
    self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
  }

  /// Progress of so many out of so many; nothing to do counts as done.
  package init(_ done: Int, of total: Int) {
    self.init(total > 0 ? Double(done) / Double(total) : 1)
  }

  /// The filled part of a bar of `width` cells. It fills the last cell only when all is done.
  package func bar(width: Int) -> String {
    let width = max(0, width)
    let eighths = Int(fraction * Double(width * 8))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }

  /// Draws the bar over the whole width.
  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    guard !rect.isEmpty else { return }
    grid.fill(rect.row(0), style: theme[.gaugeRest])
    grid.write(bar(width: rect.width), at: rect.origin, style: theme[.gauge], within: rect.width)
  }
}
