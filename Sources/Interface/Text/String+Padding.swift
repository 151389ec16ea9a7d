import Terminal

extension String {
  /// With spaces after it up to a width in cells, so many of them at least.
  func padded(to width: Int, least: Int = 1) -> String {
    self + String(repeating: " ", count: max(least, width - TextWidth.of(self)))
  }

  /// Cut to a width in cells, or with spaces after it up to that.
  func fitted(to width: Int) -> String {
    Sanitize.text(self, limit: width).padded(to: width, least: 0)
  }

  /// With spaces before it up to a width in cells.
  func trailing(in width: Int, least: Int = 0) -> String {
    String(repeating: " ", count: max(least, width - TextWidth.of(self))) + self
  }

  /// With its first letter as a sentence begins.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Array {
  /// The element there, if there is one.
  func element(_ index: Int?) -> Element? {
    index.flatMap { indices.contains($0) ? self[$0] : nil }
  }
}

extension Theme {
  /// A text in the look of its role; on a selected row in that of the row.
  func span(_ isSelected: Bool, _ text: String, _ role: Role) -> Span {
    Span(text, isSelected ? .plain : self[role])
  }
}
