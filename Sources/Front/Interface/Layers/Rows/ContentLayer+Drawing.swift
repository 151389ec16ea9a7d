import ManagedModel
import ManagedStore
import Terminal

extension ContentLayer {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("\(object) \(property)", note: note(in: room(context)), size: body.size)
      .draw(in: &grid, body, theme: theme)
    guard !inside.isEmpty else { return }
    guard let part, form != nil else {
      let text = error.map { "✗ \($0.description)" } ?? "…"
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    let room = room(context)
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: min(inside.height, room.height))
    if !contains(top), part.total > 0 {
      grid.write("…", at: inside.origin, style: theme[.dim])
    } else if form == .hex {
      drawBytes(part, in: &grid, rows, room, theme)
    } else {
      drawText(part, in: &grid, rows, room, theme)
    }
    if let prompt {
      let line = Rect(x: body.x, y: body.bottom, width: body.width, height: 1)
      prompt.draw(in: &grid, line, label: [Span(" /", theme[.footerKey])], theme: theme)
    }
  }

  private func note(in room: Size) -> String {
    guard let part else { return "" }
    // Of what is in sight as a whole there is no place to show.
    let isWhole =
      top == 0 && form != .hex && part.bytes.count >= part.total
      && TextLayout(part, width: room.width).lines(from: 0, count: room.height + 1).count
        <= room.height
    let percent = isWhole ? "" : "  \(part.total > 0 ? top * 100 / part.total : 100) %"
    let find = findTask == nil ? "" : "searching …  "
    if form == .decoded, let decoded {
      let problem = decoded.problem.map { "! \($0)  " } ?? ""
      return "\(find)\(problem)\(decoded.heading) \(NumberText.bytes(stored?.total ?? 0))\(percent)"
    }
    let what = (isPrepared ? "* prepared, not written  " : "") + (isBroken ? "! not UTF-8  " : "")
    return "\(find)\(what)\(NumberText.bytes(part.total))\(percent)"
  }

  private func drawText(
    _ part: StoredContent, in grid: inout Grid, _ rows: Rect, _ room: Size, _ theme: Theme
  ) {
    let layout = TextLayout(part, width: room.width)
    if part.total == 0 { grid.write("empty", at: rows.origin, style: theme[.dim]) }
    for (index, line) in layout.lines(from: top, count: rows.height).enumerated() {
      let place = rows.row(index)
      let isMatch = match.map { $0 >= line.start && $0 < line.end } == true
      grid.write(
        line.text, at: place.origin, style: isMatch ? theme[.match] : .plain, within: rows.width)
      // The match is shown by a sign as well as by its look.
      if isMatch { grid.write("›", at: Point(x: rows.x - 1, y: place.y), style: theme[.match]) }
    }
  }

  private func drawBytes(
    _ part: StoredContent, in grid: inout Grid, _ rows: Rect, _ room: Size, _ theme: Theme
  ) {
    let columns = HexLayout.columns(width: room.width)
    let first = top / columns * columns
    for index in 0..<rows.height {
      let offset = first + index * columns
      let start = offset - part.offset
      guard start >= 0, start < part.bytes.count else { break }
      let bytes = part.bytes[start..<min(part.bytes.count, start + columns)]
      let isMatch = match.map { $0 >= offset && $0 < offset + columns } == true
      grid.write(
        HexLayout.line(bytes, at: offset, columns: columns), at: rows.row(index).origin,
        style: theme[isMatch ? .match : .data], within: rows.width)
    }
  }
}
