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
