import Terminal

extension DiffScreen {
  func note(_ context: Context) -> String {
    if !searched.isEmpty {
      let matches = self.matches
      let place = matches.firstIndex(of: list.selected).map { "\($0 + 1) of " } ?? ""
      return "match \(place)\(matches.count) for “\(searched)”"
    }
    let changed = lines.indices.filter { lines[$0].isChanged }
    guard !changed.isEmpty else { return "" }
    let place = changed.firstIndex(of: list.selected).map { "\($0 + 1) of " } ?? ""
    return "change \(place)\(changed.count)"
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let from = context.versions.element(from)?.name,
      let to = context.versions.element(to)?.name
    else {
      context.planned.drawWithoutVersions(context, with: theme, in: &grid, rect)
      return
    }
    let layout = DiffLayout(self, context)
    drawSummary((from, to), with: theme, in: &grid, rect.row(0))
    grid.box(layout.left, style: theme[.border])
    grid.box(layout.right, style: theme[.border])
    grid.title([Span(from, theme[.title])], on: layout.left)
    grid.title([Span(to, theme[.title])], on: layout.right)
    let isUpper = focus == .lines
    if layout.left.height > 1 {
      drawLines(with: theme, in: &grid, layout, isFocused: !context.isCovered && isUpper)
    }
    guard layout.meaning.height > 2 else { return }
    let inside = meaningInside(layout)
    let all = meaningLines(context, width: inside.width)
    let offset = max(0, min(meaningOffset, all.count - inside.height))
    let left = all.count - offset - inside.height
    let more = left <= 0 ? "" : isUpper ? "Tab: \(left) more" : "\(left) more ↓"
    grid.box(
      layout.meaning, style: theme[isUpper ? .border : .borderFocused],
      title: [Span("what it means", theme[isUpper ? .dim : .title])],
      note: [Span(more, theme[.dim])])
    grid.write(Array(all.dropFirst(offset)), in: inside, theme: theme)
  }

  /// Where the sentences are written.
  func meaningInside(_ layout: DiffLayout) -> Rect {
    layout.meaning.inset(by: 1).inset(horizontally: 1, vertically: 0)
  }

  /// The sentences as lines of a width.
  func meaningLines(_ context: Context, width: Int) -> [TextLine] {
    DiffMeaning(self, context).sentences.flatMap { Wrapping.lines($0.text, $0.role, width: width) }
  }

  private func drawSummary(
    _ names: (String, String), with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    let title = [
      Span(" "), Span(names.0, theme[.entity]), Span("  ⟷  ", theme[.dim]),
      Span(names.1, theme[.entity]),
    ]
    let used = grid.write(title, at: line.origin, within: line.width)
    var notes: [[Span]]
    if let difference = comparison?.difference {
      let counts = [
        "\(difference.changed.count) changed", "\(difference.added.count) added",
        "\(difference.removed.count) removed",
      ].joined(separator: ", ")
      let hashes = Span(difference.hashesAreEqual ? "✓ same hashes  " : "", theme[.success])
      let changes = Span("only changes [\(showsOnlyChanges ? "x" : " ")] ")
      let entities = [hashes, Span("entities: \(counts)   "), changes]
      // Where there is no room for all, what was found comes first.
      let found = findings.counts(with: theme).map { $0 + [Span("   ")] }
      notes = found.map { $0 + entities } + found.map { $0 + [changes] } + found + [entities]
    } else {
      notes = [[Span("comparing … ", theme[.dim])]]
    }
    for note in notes {
      let width = note.width(upTo: line.width)
      guard used + width + 2 <= line.width else { continue }
      grid.write(note, at: Point(x: line.right - width, y: line.y))
      break
    }
  }

  private func drawLines(
    with theme: Theme, in grid: inout Grid, _ layout: DiffLayout, isFocused: Bool
  ) {
    let (left, right) = (layout.left.inset(by: 1), layout.right.inset(by: 1))
    guard !lines.isEmpty else {
      let differs = allLines.contains(where: \.isChanged)
      let text = isComparing ? "…" : differs ? "no version hash changes" : "nothing differs"
      grid.write(text, in: left.row(1), style: theme[.dim], align: .center)
      return
    }
    var list = self.list
    list.setHeight(max(1, left.height))
    for (position, index) in list.visible.enumerated() {
      let line = lines[index]
      let isSelected = index == list.selected
      for (side, place, isLeft) in [
        (line.left, left.row(position), true), (line.right, right.row(position), false),
      ] {
        if isSelected {
          grid.fill(place, style: theme[isFocused ? .selection : .selectionUnfocused])
        }
        draw(
          side, of: line, isLeft: isLeft, plain: isSelected && isFocused, with: theme,
          in: &grid, place)
      }
      if isSelected {
        grid.write("▌", at: left.row(position).origin, style: theme[.borderFocused])
      }
    }
  }

  private func draw(
    _ side: DiffLine.Side?, of line: DiffLine, isLeft: Bool, plain: Bool,
    with theme: Theme, in grid: inout Grid, _ place: Rect
  ) {
    guard let side else { return }
    let (isSigned, role): (Bool, Theme.Role) =
      switch line.sign {
      case .same: (false, .text)
      case .added: (!isLeft, .added)
      case .removed: (isLeft, .removed)
      case .changed: (true, .changed)
      }
    let style = isSigned && !plain ? theme[role] : .plain
    let signX = place.x + 1
    if isSigned { grid.write(line.sign.rawValue, at: Point(x: signX, y: place.y), style: style) }
    let indent = line.property == nil ? 3 : 5
    let nameWidth = line.property == nil ? 0 : max(8, min(22, place.width / 3))
    let x = place.x + indent
    let room = place.width - indent
    let match = searchMatch
    func found(_ text: String, _ style: Style) -> [Span] {
      match.highlight(text, style, match: theme[.match])
    }
    if line.property == nil {
      let isFolded = folded.contains(line.entity) && searched.isEmpty
      let hidden = isFolded ? [Span("  …", theme[.dim])] : []
      let dim: Style = plain ? .plain : theme[.dim]
      let head = [Span(isFolded ? "▸ " : "▾ ", dim)] + found(side.name, style.adding(.bold))
      grid.write(
        head + [Span("  ")] + found(side.text, dim) + hidden,
        at: Point(x: x, y: place.y), within: room)
    } else if !line.kept.isEmpty {
      grid.write(
        [Span("\(side.name): \(side.text)", plain ? .plain : theme[.dim])],
        at: Point(x: x, y: place.y), within: room)
    } else {
      grid.write(found(side.name, style), at: Point(x: x, y: place.y), within: nameWidth)
      grid.write(
        found(side.text, plain ? .plain : isSigned ? style : theme[.dim]),
        at: Point(x: x + nameWidth + 1, y: place.y), within: room - nameWidth - 1)
    }
  }
}

/// Where the parts of Diff lie.
struct DiffLayout {
  /// Both sides with their borders, and what the selected line means.
  let left: Rect
  let right: Rect
  let meaning: Rect

  init(_ diff: DiffScreen, _ context: Context) {
    let body = context.body
    let isFocused = diff.focus == .meaning
    // A small screen shows one or the other.
    let meaningHeight =
      body.height < 12
      ? (isFocused ? body.height - 1 : 0)
      : isFocused ? body.height / 2 : min(8, body.height / 3)
    // Below the summary, and down to the edge that both share with what is below.
    let sides = Rect(
      x: body.x, y: body.y + 1, width: body.width, height: body.height - max(1, meaningHeight))
    let half = sides.width / 2
    left = Rect(x: sides.x, y: sides.y, width: half + 1, height: sides.height)
    right = Rect(x: sides.x + half, y: sides.y, width: sides.width - half, height: sides.height)
    meaning = Rect(x: body.x, y: sides.bottom - 1, width: body.width, height: meaningHeight)
  }

  /// The rows of the list.
  var list: Rect { left.inset(by: 1) }
}
