/// One cell of a grid: a character with its marks, or the right half of the wide one before it.
package struct Cell: Sendable, Hashable {
  /// Empty in a continuation.
  package var text: String
  /// Its look.
  package var style: Style

  /// A character in a look.
  package init(_ text: String = " ", _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  /// The right half of a wide character.
  package static func continuation(_ style: Style) -> Cell { Cell("", style) }

  /// Whether the character before it takes this cell too.
  package var isContinuation: Bool { text.isEmpty }
}
