/// A piece of a line in one style.
package struct Span: Sendable, Hashable {
  /// What is written.
  package var text: String
  /// Its look.
  package var style: Style

  /// A text in a look.
  package init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }
}

extension [Span] {
  /// The width of the line in cells, looking no further than `limit`.
  package func width(upTo limit: Int = .max) -> Int {
    var width = 0
    for span in self {
      width += TextWidth.of(span.text, upTo: limit - width)
      if width > limit { break }
    }
    return width
  }
}

/// Where a text lies in a field wider than itself.
package enum Alignment: Sendable, Hashable {
  case leading, center, trailing

  func indent(of width: Int, in field: Int) -> Int {
    let free = max(0, field - width)
    switch self {
    case .leading: return 0
    case .center: return free / 2
    case .trailing: return free
    }
  }
}
