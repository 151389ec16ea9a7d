import Terminal

extension Theme {
  /// A text in the look of its role; on a selected row in that of the row.
  func span(_ isSelected: Bool, _ text: String, _ role: Role) -> Span {
    Span(text, isSelected ? .plain : self[role])
  }
}
