import Terminal

/// The last row: what the keys do here, or what was just said.
enum Footer {
  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    if let notice = state.notice {
      grid.fill(rect, style: theme[.footerText])
      let (sign, role): (String, Theme.Role) =
        switch notice.kind {
        case .plain: ("", .footerText)
        case .success: ("✓ ", .success)
        case .warning: ("! ", .warning)
        }
      grid.write(
        [Span(" " + sign, theme[role]), Span(notice.text, theme[.footerText])], at: rect.origin,
        within: rect.width)
      return
    }
    let items = bindings(state).map {
      HelpBar.Item(
        $0.label, $0.title, isAvailable: $0.isAvailable,
        isEssential: ["nextPane", "help"].contains($0.action.name))
    }
    let note =
      !state.count.isEmpty
      ? state.count.text : state.layers.isEmpty ? state[state.front].note(state) : ""
    HelpBar(items, note: note).draw(in: &grid, rect, theme: theme)
  }

  /// The bindings that the footer shows, in its order.
  static func bindings(_ state: State) -> [Binding] {
    Keymap.bindings(state).filter { $0.isInFooter && !$0.keys.isEmpty }
  }
}
