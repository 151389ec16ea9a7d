import Terminal
import Testing

@Suite("Widgets")
struct WidgetTests {
  private let theme = Theme.mono

  @Test("the selected row of a list stays in sight")
  func list() {
    var list = List(count: 100, height: 10)
    list.move(by: 12)
    #expect(list.visible == 3..<13)
    list.page(by: 1)
    #expect(list.selected == 21)
    #expect(list.visible.contains(21))
    list.end()
    #expect(list.visible == 90..<100)
    list.setHeight(4)
    #expect(list.visible == 96..<100)
    list.setCount(3)
    #expect((list.selected, list.visible) == (2, 0..<3))
    list.move(by: .min)
    #expect(list.selected == 0)
    list.move(by: .max)
    #expect(list.selected == 2)
    list.setCount(0)
    #expect(list.isEmpty && list.visible.isEmpty && list.selected == 0)
  }

  @Test("the wheel scrolls and takes the selection along only when it must")
  func scrolling() {
    var list = List(count: 100, selected: 5, height: 10)
    list.scroll(by: 3)
    #expect((list.offset, list.selected) == (3, 5))
    list.scroll(by: 10)
    #expect((list.offset, list.selected) == (13, 13))
    #expect(list.row(at: Point(x: 0, y: 4), in: Rect(y: 2, width: 5, height: 10)) == 15)
    #expect(list.row(at: Point(x: 0, y: 1), in: Rect(y: 2, width: 5, height: 10)) == nil)
  }

  @Test(
    "the keys that move are the same in every list",
    arguments: [
      (Key.up, ListMove.lines(-1)), (.character("j"), .lines(1)), (.control("n"), .lines(1)),
      (.pageUp, .pages(-1)), (.space, .pages(1)), (.control("u"), .halfPages(-1)),
      (.character("g"), .start), (.end, .end), (.mouse(.scrollDown, x: 1, y: 1), .scroll(3)),
    ])
  func moves(key: Key, move: ListMove) {
    #expect(ListMove(key) == move)
  }

  @Test("a list moves by what a key says, in as many rows and as much room as there are")
  func handling() {
    var list = List()
    list.handle(.end, count: 30, height: 10)
    #expect((list.selected, list.visible) == (29, 20..<30))
    list.handle(.control("u"), height: 6)
    #expect(list.selected == 26)
    let isHandled = list.handle(.enter)
    #expect(!isHandled && list.selected == 26)
  }

  @Test("text scrolls by arrows, and knows where its lines are seen")
  func text() {
    var list = List()
    list.scrollPage(.down, count: 9, height: 4)
    #expect((list.offset, list.visible) == (1, 1..<5))
    let places = list.places(count: 8, in: Rect(x: 2, y: 5, width: 9, height: 2))
    #expect(places.map(\.line) == [1, 2])
    #expect(places.map(\.place.y) == [5, 6])
  }

  @Test(
    "a gauge counts eighths of a cell",
    arguments: [
      (0.0, ""), (0.03, ""), (0.032, "▏"), (0.5, "██"), (0.99, "███▉"), (1.0, "████"),
      (-1.0, ""), (9.0, "████"), (Double.nan, ""),
    ])
  func gauge(fraction: Double, bar: String) {
    #expect(Gauge(fraction).bar(width: 4) == bar)
  }

  @Test("a prompt edits as a shell does")
  func prompt() {
    var prompt = Prompt("title contains soup")
    for key: Key in [.control("w"), .paste("\"Crème\nbrûlée\""), .control("a"), .delete] {
      let isHandled = prompt.handle(key)
      #expect(isHandled)
    }
    #expect(prompt.text == "itle contains \"Crème brûlée\"")
    #expect(prompt.cursor == 0)
    for key: Key in [.character("T"), .end, .left, .backspace, .control("k")] {
      let isHandled = prompt.handle(key)
      #expect(isHandled)
    }
    #expect(prompt.text == "Title contains \"Crème brûlé")
    prompt.handle(.control("u"))
    #expect(prompt.text == "")
    for key: Key in [.backspace, .delete, .left, .right, .control("w")] {
      let isHandled = prompt.handle(key)
      #expect(isHandled)
    }
    for key: Key in [.enter, .escape] {
      let isHandled = prompt.handle(key)
      #expect(!isHandled)
    }
  }

  @Test("a mark typed after a letter joins it")
  func marks() {
    var prompt = Prompt("e")
    prompt.insert("\u{301}")
    #expect(prompt.cursor == 1)
    prompt.handle(.backspace)
    #expect(prompt.text == "")
  }

  @Test("a proposed text goes with the first letter, and stays with an arrow")
  func selected() {
    func text(_ keys: Key...) -> String {
      var prompt = Prompt("old", isSelected: true)
      for key in keys { prompt.handle(key) }
      return prompt.text
    }
    #expect(text("n", "o") == "no")
    #expect(text(.paste("new")) == "new")
    #expect(text(.backspace) == "")
    #expect(text(.left, "n") == "olnd")
    #expect(text(.enter, "n") == "n")
    #expect(!Prompt("", isSelected: true).isSelected)
    var grid = Grid(width: 6, height: 1)
    Prompt("ab", isSelected: true).draw(in: &grid, grid.bounds, theme: theme)
    #expect(grid[0, 0]?.style != grid[3, 0]?.style)
  }

  @Test("a prompt scrolls to its cursor")
  func promptScrolls() {
    var grid = Grid(width: 10, height: 1)
    Prompt("日本語abcdef").draw(in: &grid, grid.bounds, label: [Span("/")], theme: theme)
    #expect(grid.row(0) == "/語abcdef")
    #expect(grid.cursor == Point(x: 9, y: 0))
  }

  @Test("a help bar draws whole items and its note")
  func helpBar() {
    let bar = HelpBar(
      [.init("⏎", "open"), .init("/", "filter"), .init("s", "sort")], note: "rows 1–2 of 2")
    var wide = Grid(width: 50, height: 1)
    bar.draw(in: &wide, wide.bounds, theme: theme)
    #expect(wide.row(0) == " ⏎ open  / filter  s sort           rows 1–2 of 2")
    var narrow = Grid(width: 20, height: 1)
    bar.draw(in: &narrow, narrow.bounds, theme: theme)
    #expect(narrow.row(0) == " ⏎ open  / filter  …")
  }

  @Test("a popup lies in the middle over what was there")
  func popup() {
    var grid = Grid(width: 16, height: 5)
    grid.fill(grid.bounds, "·")
    let inside = Popup("Keys", size: Size(width: 8, height: 1))
      .draw(in: &grid, grid.bounds, theme: theme)
    grid.write("? help me now", in: inside)
    #expect(
      grid.description == """
        ················
        ··┌ Keys ────┐··
        ··│ ? help … │··
        ··└──────────┘··
        ················
        """)
  }
}
