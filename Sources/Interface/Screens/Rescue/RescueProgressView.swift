import ManagedModel
import Terminal

/// How far a piece of rescue work is, drawn.
struct RescueProgressView {
  let work: RescueWork
  /// The store that it is about.
  let store: String
  /// `nil` before anything was told.
  let progress: RescueProgress?
  let isCancelling: Bool

  func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    let foot =
      isCancelling
      ? Span("stopping …", theme[.warning])
      : Span(work.foot, theme[.dim])
    if case .parts(let progress)? = progress {
      MigrationProgressView(verb: work.title(store), progress: progress, foot: foot)
        .draw(in: &grid, rect, theme: theme)
      return
    }
    grid.write(
      " " + work.title(store), at: rect.origin, style: theme[.dim], within: rect.width)
    let last = rect.row(rect.height - 1)
    grid.write([Span(" "), foot], at: last.origin, within: last.width)
    guard case .single(let title, let fraction, let elapsed)? = progress else {
      grid.write(" starting …", at: rect.row(2).origin, style: theme[.dim], within: rect.width)
      return
    }
    let line = rect.row(2)
    let head = grid.write(
      [Span(" ▸ ", theme[.title]), Span(title + "  ", theme[.entity])], at: line.origin,
      within: line.width)
    var text = "\(Int(fraction * 100)) %   elapsed \(NumberText.seconds(elapsed))"
    if fraction > 0.02, fraction < 1 {
      text += "   left \(NumberText.seconds(elapsed / fraction * (1 - fraction)))"
    }
    let width = max(4, line.width - head - max(44, TextWidth.of(text) + 2))
    let bar = Rect(x: line.x + head, y: line.y, width: width, height: 1)
    Gauge(fraction).draw(in: &grid, bar, theme: theme)
    grid.write(
      text, at: Point(x: bar.right + 2, y: line.y), within: max(0, line.right - bar.right - 2))
  }
}
