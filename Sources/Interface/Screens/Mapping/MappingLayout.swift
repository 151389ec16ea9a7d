import Terminal

/// Where the parts of Mapping lie.
struct MappingLayout {
  let summary: Rect
  let mappings: Rect
  let properties: Rect
  let problems: Rect
  /// The sentence that says what to do next.
  let next: Rect

  init(_ mapping: MappingScreen, _ state: State) {
    let all = state.body
    summary = all.row(0)
    next = all.row(max(0, all.height - 1))
    let body = Rect(x: all.x, y: all.y + 1, width: all.width, height: max(0, all.height - 2))
    let isFocused = mapping.activePane == .losses
    let problemCount = mapping.problemList.count
    // A refusal has the screen for itself; one problem takes several lines, and the pane grows with
    // them up to half of it.
    let command = Wrapping.code(mapping.command(state), width: max(8, body.width - 8))
    let calm = min(4 + command.count, max(3, body.height / 3))
    let wanted =
      problemCount == 0 ? calm : min(4 + 2 * problemCount, body.height / (isFocused ? 2 : 3))
    let problemHeight =
      mapping.plan == nil
      ? body.height
      : body.height < 13
        ? (isFocused ? body.height : 0) : problemCount == 0 ? calm : max(5, wanted)
    let isAlone = problemHeight == body.height
    let upper = Rect(
      x: body.x, y: body.y, width: body.width,
      height: isAlone ? 0 : body.height - max(0, problemHeight - 1))
    problems = Rect(
      x: body.x, y: body.bottom - problemHeight, width: body.width, height: problemHeight)
    let isNarrow = body.width < 80
    let leftWidth = isNarrow ? body.width : body.width * 45 / 100
    mappings = Rect(
      x: upper.x, y: upper.y, width: leftWidth,
      height: isNarrow ? min(upper.height, max(4, upper.height / 2 + 1)) : upper.height)
    properties =
      isNarrow
      ? Rect(
        x: upper.x, y: mappings.bottom - 1, width: upper.width,
        height: upper.height - mappings.height + 1)
      : Rect(
        x: mappings.right - 1, y: upper.y, width: upper.width - leftWidth + 1, height: upper.height)
  }
}
