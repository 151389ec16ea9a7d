import Terminal

/// Where the parts of Rescue lie.
struct RescueLayout {
  let findings: Rect
  let details: Rect
  /// Empty on a small screen.
  let holdings: Rect

  init(_ state: State) {
    let body = state.body
    let entities = state.rescue.holdings?.count ?? 1
    // The frame, the titles of the columns, and the entities.
    let wanted = max(5, min(entities + 3, body.height * 2 / 5))
    let height = body.height < 15 ? 0 : wanted
    let upper = Rect(
      x: body.x, y: body.y, width: body.width, height: body.height - max(0, height - 1))
    holdings = Rect(x: body.x, y: body.bottom - height, width: body.width, height: height)
    if body.width < 76 {
      let half = max(3, min(upper.height / 2, (state.rescue.condition?.findings.count ?? 3) + 3))
      findings = Rect(x: upper.x, y: upper.y, width: upper.width, height: half)
      details = Rect(
        x: upper.x, y: findings.bottom - 1, width: upper.width, height: upper.height - half + 1)
    } else {
      let width = upper.width / 2
      findings = Rect(x: upper.x, y: upper.y, width: width, height: upper.height)
      details = Rect(
        x: findings.right - 1, y: upper.y, width: upper.width - width + 1, height: upper.height)
    }
  }

  /// Columns that a text in the details has.
  var textWidth: Int { max(1, details.width - 4) }

  func rect(of pane: RescueScreen.Pane) -> Rect {
    switch pane {
    case .findings: findings
    case .details: details
    case .holdings: holdings
    }
  }
}
