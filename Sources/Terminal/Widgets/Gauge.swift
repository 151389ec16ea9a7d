/// A progress bar, exact to an eighth of a cell.
package struct Gauge: Sendable, Equatable {
  /// 0 to 1.
  package let fraction: Double

  /// A bar that is full at 1; what is no number is empty.
  package init(_ fraction: Double) {
    self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
  }

  /// Progress of so many out of so many; nothing to do counts as done.
  package init(_ done: Int, of total: Int) {
    self.init(total > 0 ? Double(done) / Double(total) : 1)
  }

  /// The filled part of a bar of `width` cells. It fills the last cell only when all is done.
  package func bar(width: Int) -> String {
    let width = max(0, width)
    let eighths = Int(fraction * Double(width * 8))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }

  /// Draws the bar over the whole width.
  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    guard !rect.isEmpty else { return }
    grid.fill(rect.row(0), style: theme[.gaugeRest])
    grid.write(bar(width: rect.width), at: rect.origin, style: theme[.gauge], within: rect.width)
  }
}
