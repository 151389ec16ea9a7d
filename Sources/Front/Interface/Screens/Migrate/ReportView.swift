import Reports
import Terminal

/// A report as a screen draws it: signs, texts, and columns of numbers where there are any.
enum ReportView {
  /// A line of it.
  struct Line: Equatable {
    var sign = " "
    var role = Theme.Role.text
    var text = ""
    var numbers: [String] = []
  }

  /// The lines, with keys for what a report names where the screen has one.
  ///
  /// - Parameter width: cells that a line may take: text alone is broken there, since a checksum is no use cut
  ///   off.
  static func lines(
    _ report: Report, keys: [String: String] = [:], width: Int = .max
  ) -> [Line] {
    report.lines.flatMap { line -> [Line] in
      let role = Theme.Role(line)
      let text = line.words(keys: keys)
      guard line.numbers.isEmpty else {
        return [
          Line(
            sign: line.mark.rawValue, role: role, text: line.indent + text, numbers: line.numbers)
        ]
      }
      return Wrapping.lines(text, width: max(1, width - 2 * line.depth)).enumerated().map {
        Line(
          sign: $0.offset == 0 ? line.mark.rawValue : " ", role: role,
          text: line.indent + $0.element
        )
      }
    }
  }

  /// Draws the lines that the list has in sight.
  static func draw(_ lines: [Line], _ list: List, in grid: inout Grid, _ rect: Rect, theme: Theme) {
    // Narrow columns still take a million.
    let width = rect.width >= 60 ? 12 : 10
    for (index, place) in list.places(count: lines.count, in: rect) {
      let line = lines[index]
      let room =
        line.numbers.isEmpty
        ? place.width - 2 : min(place.width - line.numbers.count * width - 3, 46)
      grid.write(line.sign, at: place.origin, style: theme[line.role])
      grid.write(
        line.text, at: Point(x: place.x + 2, y: place.y), style: theme[line.role],
        within: max(0, room))
      for (column, number) in line.numbers.enumerated() {
        let cell = Rect(
          x: place.x + 2 + max(0, room) + column * width, y: place.y, width: width, height: 1)
        grid.write(number, in: cell, style: theme[line.role], align: .trailing)
      }
    }
  }
}
