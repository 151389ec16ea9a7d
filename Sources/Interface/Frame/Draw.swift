import Terminal

/// Draws everything; the grid is empty and as large as the terminal.
package func draw(_ state: State, with theme: Theme, in grid: inout Grid) {
  let screen = grid.bounds
  guard screen.width >= State.smallest.width, screen.height >= State.smallest.height else {
    let need = "strata needs \(State.smallest.width)×\(State.smallest.height)"
    let have = "this is \(screen.width)×\(screen.height)"
    for (index, line) in [need, have, "q quits"].enumerated() {
      let row = screen.row(max(0, (screen.height - 3) / 2) + index)
      grid.write(line, in: row, align: .center)
    }
    return
  }
  Header.draw(state, with: theme, in: &grid, screen.row(0))
  let body = Rect(y: 1, width: screen.width, height: screen.height - 2)
  if state.store == nil, state.picker == nil, state.refusal == nil {
    let text =
      state.openTask == nil ? "The store could not be opened." : "opening \(state.storePath) …"
    grid.write(text, in: body.row(body.height / 2), style: theme[.dim], align: .center)
  } else {
    state[state.front].draw(state, with: theme, in: &grid, body)
  }
  // Before the layers: one that is a line of text takes the footer's place.
  Footer.draw(state, with: theme, in: &grid, screen.row(screen.height - 1))
  for (depth, layer) in state.layers.enumerated() {
    // The terminal's cursor belongs to the uppermost layer alone.
    if depth == state.layers.count - 1 { grid.cursor = nil }
    layer.content.draw(state, with: theme, in: &grid, body)
  }
}
