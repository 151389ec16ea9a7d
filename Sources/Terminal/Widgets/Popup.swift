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
