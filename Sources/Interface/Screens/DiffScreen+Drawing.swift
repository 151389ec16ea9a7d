import ManagedModel
import Terminal

/// Where the parts of Diff lie.
struct DiffLayout {
  /// Both sides with their borders, and what the selected line means.
  let left: Rect
  let right: Rect
  let meaning: Rect

  init(_ body: Rect) {
    let meaningHeight = body.height < 12 ? 0 : min(7, body.height / 3)
    let parts = Layout.rows(
      body, [.fixed(1), .flexible(), .fixed(max(0, meaningHeight - 1))])
    let sides = parts[1]
    let half = sides.width / 2
    left = Rect(x: sides.x, y: sides.y, width: half + 1, height: sides.height)
    right = Rect(x: sides.x + half, y: sides.y, width: sides.width - half, height: sides.height)
    meaning = Rect(
      x: body.x, y: sides.bottom - 1, width: body.width, height: meaningHeight)
  }

  /// The rows of the list.
  var list: Rect { left.inset(by: 1) }
}

extension DiffScreen {
  static func note(_ state: State) -> String {
    let diff = state.diff
    let changed = diff.lines.indices.filter { diff.lines[$0].isChanged }
    guard !changed.isEmpty else { return "" }
    let place = changed.firstIndex(of: diff.list.selected).map { "\($0 + 1) of " } ?? ""
    return "change \(place)\(changed.count)"
  }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let diff = state.diff
    guard let from = diff.from, let to = diff.to, state.versions.indices.contains(from),
      state.versions.indices.contains(to)
    else {
      MappingScreen.drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    let names = (state.versions[from].name, state.versions[to].name)
    let layout = DiffLayout(rect)
    drawSummary(diff, names, with: theme, in: &grid, rect.row(0))
    grid.box(layout.left, style: theme[.border])
    grid.box(layout.right, style: theme[.border])
    grid.title([Span(names.0, theme[.title])], on: layout.left)
    grid.title([Span(names.1, theme[.title])], on: layout.right)
    drawLines(diff, with: theme, in: &grid, layout, isFocused: state.layers.isEmpty)
    guard layout.meaning.height > 2 else { return }
    grid.box(
      layout.meaning, style: theme[.border], title: [Span("what it means", theme[.dim])])
    let inside = layout.meaning.inset(by: 1).inset(horizontally: 1, vertically: 0)
    var row = 0
    for sentence in meaning(diff) {
      for line in Wrapping.lines(sentence.text, width: inside.width) where row < inside.height {
        grid.write(
          line, at: inside.row(row).origin, style: theme[sentence.role], within: inside.width)
        row += 1
      }
    }
  }

  private static func drawSummary(
    _ diff: DiffScreen, _ names: (String, String), with theme: Theme, in grid: inout Grid,
    _ line: Rect
  ) {
    let title = [
      Span(" "), Span(names.0, theme[.entity]), Span("  ⟷  ", theme[.dim]),
      Span(names.1, theme[.entity]),
    ]
    let used = grid.write(title, at: line.origin, within: line.width)
    let note: [Span]
    if let difference = diff.comparison?.difference {
      let counts = [
        "\(difference.changed.count) changed", "\(difference.added.count) added",
        "\(difference.removed.count) removed",
      ].joined(separator: ", ")
      let fits =
        difference.hashesAreEqual
        ? Span("✓ same hashes  ", theme[.success]) : Span("")
      note = [
        fits, Span("entities: \(counts)   only changes [\(diff.showsOnlyChanges ? "x" : " ")] "),
      ]
    } else {
      note = [Span("comparing … ", theme[.dim])]
    }
    let width = note.width(upTo: line.width)
    if used + width + 2 <= line.width {
      grid.write(note, at: Point(x: line.right - width, y: line.y))
    }
  }

  private static func drawLines(
    _ diff: DiffScreen, with theme: Theme, in grid: inout Grid, _ layout: DiffLayout,
    isFocused: Bool
  ) {
    let (left, right) = (layout.left.inset(by: 1), layout.right.inset(by: 1))
    guard !diff.lines.isEmpty else {
      let text = diff.isComparing ? "…" : "nothing differs"
      grid.write(text, in: left.row(1), style: theme[.dim], align: .center)
      return
    }
    var list = diff.list
    list.setHeight(max(1, left.height))
    for (position, index) in list.visible.enumerated() {
      let line = diff.lines[index]
      let isSelected = index == list.selected
      for (side, place, isLeft) in [
        (line.left, left.row(position), true), (line.right, right.row(position), false),
      ] {
        if isSelected {
          grid.fill(place, style: theme[isFocused ? .selection : .selectionUnfocused])
        }
        draw(
          side, of: line, isLeft: isLeft, plain: isSelected && isFocused, with: theme, in: &grid,
          place)
      }
      if isSelected {
        grid.write("▌", at: left.row(position).origin, style: theme[.borderFocused])
      }
    }
  }

  private static func draw(
    _ side: DiffLine.Side?, of line: DiffLine, isLeft: Bool, plain: Bool, with theme: Theme,
    in grid: inout Grid, _ place: Rect
  ) {
    guard let side else { return }
    let isSigned =
      switch line.sign {
      case .same: false
      case .added: !isLeft
      case .removed: isLeft
      case .changed: true
      }
    let role: Theme.Role =
      switch line.sign {
      case .same: .text
      case .added: .added
      case .removed: .removed
      case .changed: .changed
      }
    let style = isSigned && !plain ? theme[role] : .plain
    let signX = place.x + 1
    if isSigned { grid.write(line.sign.rawValue, at: Point(x: signX, y: place.y), style: style) }
    let indent = line.property == nil ? 3 : 5
    let nameWidth = line.property == nil ? 0 : max(8, min(22, place.width / 3))
    let x = place.x + indent
    let room = place.width - indent
    if line.property == nil {
      grid.write(
        [
          Span(side.name + "  ", style.adding(.bold)),
          Span(side.text, plain ? .plain : theme[.dim]),
        ],
        at: Point(x: x, y: place.y), within: room)
    } else {
      grid.write(side.name, at: Point(x: x, y: place.y), style: style, within: nameWidth)
      grid.write(
        side.text, at: Point(x: x + nameWidth + 1, y: place.y),
        style: plain ? .plain : isSigned ? style : theme[.dim], within: room - nameWidth - 1)
    }
  }

  /// What the selected line is to Core Data, as sentences.
  static func meaning(_ diff: DiffScreen) -> [(text: String, role: Theme.Role)] {
    guard let comparison = diff.comparison else { return [] }
    var sentences: [(text: String, role: Theme.Role)] = []
    if let line = diff.selectedLine {
      for change in line.changes {
        sentences.append(
          (
            change.description + " — "
              + (change.movesHash
                ? "moves the hash" : "the hash stays"),
            change.movesHash ? .changed : .text
          ))
      }
      if line.changes.isEmpty {
        let what: String
        switch line.sign {
        case .added: what = "new with its entity"
        case .removed: what = "gone with its entity"
        default: what = line.hasChanges ? "only its properties differ" : "the same in both versions"
        }
        sentences.append((what, .dim))
      }
    }
    if let refusal = comparison.refusal {
      let place = [refusal.entity, refusal.property].compactMap { $0 }.joined(separator: ".")
      let isHere =
        diff.selectedLine.map { $0.entity == refusal.entity && $0.property == refusal.property }
        ?? false
      sentences.append(
        (
          "✗ " + (isHere ? "This change" : place.isEmpty ? "It" : place)
            + " cannot be inferred (\(refusal.code ?? 134190)): \(refusal.message)."
            + (refusal.hint.map { " → \($0)" } ?? ""), .error
        ))
    } else if comparison.difference.hashesAreEqual {
      sentences.append(("✓ Stores of the one open with the other as they are.", .success))
    } else {
      sentences.append(("✓ Core Data can infer the mapping between these versions.", .success))
    }
    for conflict in comparison.difference.conflicts {
      sentences.append(("! " + conflict, .warning))
    }
    for other in comparison.difference.otherChanges where diff.selectedLine?.isChanged != true {
      sentences.append((other, .dim))
    }
    return sentences
  }
}
