import Terminal
import Testing

@Suite("Grid")
struct GridTests {
  @Test(
    "a text that does not fit ends in an ellipsis, wide characters too",
    arguments: [
      ("soup", 4, "soup"), ("soups", 4, "sou…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"),
      ("日本語", 4, "日…"), ("日本", 3, "日…"), ("日本", 1, "…"), ("日", 1, "…"), ("a", 1, "a"),
      ("ab日", 3, "ab…"), ("ab日", 4, "ab日"), ("ab", 0, ""), ("e\u{301}x", 1, "…"),
    ])
  func clipping(text: String, width: Int, shown: String) {
    var inside = Grid(width: 10, height: 1)
    let used = inside.write(text, at: Point(x: 0, y: 0), within: width)
    #expect(inside.row(0) == shown)
    #expect(used == TextWidth.of(shown))
    var edge = Grid(width: width, height: 1)
    edge.write(text, at: Point(x: 0, y: 0))
    #expect(edge.row(0) == shown)
  }

  @Test("overwriting half of a wide character leaves a space for the other half")
  func halves() {
    var left = Grid(width: 4, height: 1)
    left.write("日本", at: Point(x: 0, y: 0))
    left.write("x", at: Point(x: 0, y: 0))
    #expect(left.row(0) == "x 本")
    var right = Grid(width: 4, height: 1)
    right.write("日本", at: Point(x: 0, y: 0))
    right.write("語", at: Point(x: 1, y: 0))
    #expect(right.row(0) == " 語")
    #expect(right[2, 0]?.isContinuation == true)
    var filled = Grid(width: 4, height: 1)
    filled.write("日本", at: Point(x: 0, y: 0))
    filled.fill(Rect(x: 1, y: 0, width: 2, height: 1), "#")
    #expect(filled.row(0) == " ##")
  }

  @Test("a style leaves what it does not say to what is below")
  func styles() {
    let base = Style(.ansi(7), on: .ansi(0))
    var grid = Grid(width: 4, height: 1, base: base)
    grid.fill(grid.bounds, style: Style(.default, on: .ansi(4), .bold))
    grid.write("x", at: Point(x: 0, y: 0), style: Style(.ansi(3)))
    #expect(grid[0, 0]?.style == Style(.ansi(3), on: .ansi(4), .bold))
    #expect(grid[1, 0]?.style == Style(.ansi(7), on: .ansi(4), .bold))
  }

  @Test("boxes share their edges and carry titles")
  func boxes() {
    var grid = Grid(width: 24, height: 5)
    grid.box(Rect(width: 12, height: 5), title: [Span("Entities")])
    let inside = grid.box(
      Rect(x: 11, y: 0, width: 13, height: 5), title: [Span("Row")], note: [Span("12")])
    grid.hline(x: 11, y: 2, length: 13)
    grid.title([Span("p1")], on: Rect(x: 11, y: 2, width: 13, height: 3))
    #expect(inside == Rect(x: 12, y: 1, width: 11, height: 3))
    #expect(
      grid.description == """
        ┌ Entities ┬ Row ── 12 ┐
        │          │           │
        │          ├ p1 ───────┤
        │          │           │
        └──────────┴───────────┘
        """)
  }

  @Test("spans are cut as one line")
  func spans() {
    var grid = Grid(width: 5, height: 1)
    grid.write([Span("abc"), Span("de")], at: Point(x: 0, y: 0))
    #expect(grid.row(0) == "abcde")
    grid.fill(grid.bounds)
    grid.write([Span("abcde"), Span("f")], at: Point(x: 0, y: 0))
    #expect(grid.row(0) == "abcd…")
    grid.fill(grid.bounds)
    grid.write("ab", in: grid.bounds, align: .trailing)
    #expect(grid.row(0) == "   ab")
  }

  @Test("drawing anything in a grid of any size does not trap", arguments: 0...12)
  func anySize(width: Int) throws {
    for height in 0...6 {
      var grid = Grid(width: width, height: height)
      for rect in [grid.bounds, Rect(x: -3, y: -2, width: 40, height: 20)] {
        draw(everythingIn: rect, of: &grid, theme: .mono)
      }
      #expect(grid.cells.count == width * height)
      for (index, cell) in grid.cells.enumerated() where cell.isContinuation {
        #expect(index % width > 0)
        #expect(TextWidth.of(grid.cells[index - 1].text) == 2)
      }
    }
  }

  private func draw(everythingIn rect: Rect, of grid: inout Grid, theme: Theme) {
    grid.box(rect, title: [Span("日本語")], note: [Span("1")])
    grid.title([Span("x")], note: [Span("2")], on: rect.droppingRows(1))
    grid.write("日本語", at: Point(x: -1, y: 0))
    grid.write("日本語", at: Point(x: 0, y: -1))
    grid.write([Span("日"), Span("本")], at: Point(x: -1, y: 0))
    grid.write("日本語", in: rect, align: .center)
    grid.fill(rect, "日")
    List().draw(["日"], in: &grid, rect, theme: theme) { item, _ in [Span(item)] }
    grid.hline(x: -2, y: 0, length: 100)
    grid.vline(x: 0, y: -2, length: 100)
    List(count: 100, selected: 50).draw(in: &grid, rect, theme: theme) { [Span("日\($0)")] }
    List().draw(in: &grid, rect, theme: theme) { _ in [] }
    Gauge(0.5).draw(in: &grid, rect, theme: theme)
    Prompt("日本語").draw(in: &grid, rect, label: [Span("/")], theme: theme)
    HelpBar([.init("⏎", "open")], note: "12").draw(in: &grid, rect, theme: theme)
    Popup("Keys", size: Size(width: 10, height: 3)).draw(in: &grid, rect, theme: theme)
  }

  /// The places of the cells that a screen is sent.
  private func changes(_ new: Grid, since old: Grid?, in part: Size? = nil) -> [String] {
    var places: [String] = []
    new.forEachChange(since: old, in: part ?? new.size) { x, y, cell, isWide in
      places.append("\(x),\(y) \(cell.text)\(isWide ? " wide" : "")")
    }
    return places
  }

  @Test("a screen is sent the cells that differ, and a wide character once")
  func changes() {
    var old = Grid(width: 4, height: 2)
    old.write("ab日", at: Point(x: 0, y: 0))
    var new = old
    #expect(changes(new, since: old) == [])
    new.write("x", at: Point(x: 1, y: 0))
    new.write("本", at: Point(x: 1, y: 1), style: Style(.ansi(1)))
    #expect(changes(new, since: old) == ["1,0 x", "1,1 本 wide"])
    #expect(changes(new, since: old, in: Size(width: 1, height: 2)) == [])
    // What lies across the edge of the terminal is no whole character.
    #expect(changes(new, since: old, in: Size(width: 2, height: 2)) == ["1,0 x", "1,1 本"])
    let all = changes(new, since: nil)
    #expect(all == ["0,0 a", "1,0 x", "2,0 日 wide", "0,1  ", "1,1 本 wide", "3,1  "])
    // A former grid of another size has nothing in common with it.
    #expect(changes(new, since: Grid(width: 3, height: 2)) == all)
  }
}
