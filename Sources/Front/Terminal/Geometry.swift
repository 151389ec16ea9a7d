/// A place on the screen, in cells from the top left.
package struct Point: Sendable, Hashable {
  /// The column, from 0.
  package var x: Int
  /// The row, from 0.
  package var y: Int

  /// A place on the screen.
  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// Columns and rows, never negative.
package struct Size: Sendable, Hashable {
  /// Columns.
  package let width: Int
  /// Rows.
  package let height: Int

  /// A size; what is below 0 is 0.
  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }
}

/// A part of the screen, in cells; its width and height are never negative.
///
/// Cutting off more than there is leaves an empty rectangle, in which drawing does nothing, so a
/// screen need not ask how small the terminal is before each line.
package struct Rect: Sendable, Hashable {
  /// Its first column.
  package let x: Int
  /// Its first row.
  package let y: Int
  /// Columns.
  package let width: Int
  /// Rows.
  package let height: Int

  /// A rectangle; what is below 0 of its size is 0.
  package init(x: Int = 0, y: Int = 0, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = max(0, width)
    self.height = max(0, height)
  }

  /// Its first cell.
  package var origin: Point { Point(x: x, y: y) }
  /// Its columns and rows.
  package var size: Size { Size(width: width, height: height) }
  /// The first column and the first row beyond the rectangle.
  package var right: Int { x + width }
  /// The row below its last one.
  package var bottom: Int { y + height }
  /// Whether it has no cell.
  package var isEmpty: Bool { width == 0 || height == 0 }

  /// Whether the cell is in it.
  package func contains(_ point: Point) -> Bool {
    point.x >= x && point.x < right && point.y >= y && point.y < bottom
  }

  /// What is left inside a margin.
  package func inset(by margin: Int) -> Rect {
    inset(horizontally: margin, vertically: margin)
  }

  /// The same without so many columns and rows on each side.
  package func inset(horizontally columns: Int, vertically rows: Int) -> Rect {
    Rect(
      x: x + min(columns, width), y: y + min(rows, height),
      width: width - 2 * columns, height: height - 2 * rows)
  }

  /// What is in both.
  package func intersection(_ other: Rect) -> Rect {
    let left = max(x, other.x)
    let top = max(y, other.y)
    return Rect(
      x: left, y: top,
      width: min(right, other.right) - left, height: min(bottom, other.bottom) - top)
  }

  /// One row of the rectangle, counted from its top; empty when it has no such row.
  package func row(_ index: Int) -> Rect {
    guard index >= 0, index < height else { return Rect(x: x, y: y, width: 0, height: 0) }
    return Rect(x: x, y: y + index, width: width, height: 1)
  }

  /// The rectangle without its first `count` rows.
  package func droppingRows(_ count: Int) -> Rect {
    let cut = min(max(0, count), height)
    return Rect(x: x, y: y + cut, width: width, height: height - cut)
  }

  /// A rectangle of this size in the middle, cut down to what fits.
  package func centered(_ size: Size) -> Rect {
    let width = min(size.width, self.width)
    let height = min(size.height, self.height)
    return Rect(
      x: x + (self.width - width) / 2, y: y + (self.height - height) / 2,
      width: width, height: height)
  }
}

/// A part of the screen that the mouse does something with.
package struct Spot: Sendable, Equatable {
  /// What a click there is for.
  package enum Target: Sendable, Equatable {
    /// A popup with its frame; what was drawn before it is under it.
    case popup
    /// An item of the footer, by its place in the list that was to be shown.
    case item(Int)
    /// The visible lines of a list, the first one at the top.
    case lines(List, isFocused: Bool)
    /// The title of a table's column.
    case column(Int)
  }

  /// The cells that it takes.
  package let rect: Rect
  /// What a click on them is for.
  package let target: Target
}
