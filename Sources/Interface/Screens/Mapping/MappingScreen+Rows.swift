import ManagedModel
import Migration
import Terminal

/// The list of entity mappings, of the plan or of what is known of it so far.
extension MappingScreen {
  func drawMappings(
    with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard rect.height > 1 else { return }
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    mappings.draw(entries, in: &grid, inside, theme: theme, isFocused: isFocused) {
      spans($0, count: $0.step.rows[$0.mapping.name] ?? 0, $1, width: inside.width, theme)
    }
  }

  /// What the plan goes by, with what is counted already.
  func drawWithoutPlan(with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let outline, rect.height > 3 else {
      grid.write(
        "making a plan: inferring the mapping, counting what would be lost, checking the rows …",
        in: rect.row(rect.height / 2), style: theme[.dim], align: .center)
      return
    }
    let inside = grid.box(rect, style: theme[.border])
    let rows = inside.height - 2
    let entries = Self.entries(of: outline.steps)
    let isCut = entries.count > rows
    for (row, entry) in entries.prefix(isCut ? rows - 1 : rows).enumerated() {
      let count = entry.step.rows[entry.mapping.name]
      let spans = spans(entry, count: count, false, width: inside.width, theme)
      grid.write(spans, at: inside.row(row).origin, within: inside.width)
    }
    if isCut {
      grid.write(
        "… and \(entries.count - rows + 1) more", at: inside.row(rows - 1).origin,
        style: theme[.dim], within: inside.width)
    }
    grid.write(
      "counting what would be lost, checking the rows …",
      in: inside.row(inside.height - 1), style: theme[.dim], align: .center)
    grid.title([Span("Entity mappings", theme[.title])], on: rect)
  }

  /// - Parameter count: the objects that it takes, where they are counted.
  private func spans(
    _ entry: Entry, count: Int?, _ isSelected: Bool, width: Int, _ theme: Theme
  ) -> [Span] {
    let item = entry.mapping
    let (sign, role): (String, Theme.Role) =
      switch item.kind {
      case .add: ("+", .added)
      case .remove: ("−", .removed)
      case .copy: (" ", .dim)
      case .transform, .custom: ("~", .changed)
      }
    let names: String =
      switch (item.source, item.destination) {
      case (let source?, let destination?):
        source == destination ? source : "\(source) → \(destination)"
      case (let source?, nil): source
      case (nil, let destination?): destination
      case (nil, nil): item.name
      }
    let count = count.map { NumberText.grouped($0) } ?? "counting …"
    let step = (plan?.steps ?? outline?.steps ?? []).count > 1 ? "\(entry.number)." : ""
    let room = max(1, width - 15 - step.count - count.count - 1)
    let isEdited = !edits(of: item).isEmpty
    let name = Sanitize.text(isEdited ? names + " ✎" : names, limit: room)
    return [
      theme.span(isSelected, step, .dim),
      theme.span(isSelected, "\(sign) " + item.kind.name.padded(to: 10, least: 0), role),
      Span(name.padded(to: room + 1)), theme.span(isSelected, count, .dim),
    ]
  }
}
