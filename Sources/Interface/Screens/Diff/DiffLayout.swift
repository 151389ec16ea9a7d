import Terminal

/// Where the parts of Diff lie.
struct DiffLayout {
  /// Both sides with their borders, and what the selected line means.
  let left: Rect
  let right: Rect
  let meaning: Rect

  init(_ diff: DiffScreen, _ state: State) {
    let body = state.body
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
