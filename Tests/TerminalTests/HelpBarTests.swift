import Terminal
import Testing

@Suite("The footer's keys")
struct HelpBarTests {
  private let items = [
    HelpBar.Item("⏎", "open"), HelpBar.Item("s", "sort"),
    HelpBar.Item("Tab", "next pane", isEssential: true), HelpBar.Item("e", "export"),
    HelpBar.Item("?", "keys", isEssential: true),
  ]

  private func line(width: Int, note: String = "") -> String {
    var grid = Grid(width: width, height: 1)
    HelpBar(items, note: note).draw(in: &grid, grid.bounds, theme: .mono)
    return grid.row(0)
  }

  @Test("all of them where there is room")
  func wide() {
    #expect(line(width: 60) == " ⏎ open  s sort  Tab next pane  e export  ? keys")
  }

  @Test("the essential ones stay, and a mark says that there are more")
  func narrow() {
    #expect(line(width: 41) == " ⏎ open  s sort  Tab next pane  ? keys  …")
    #expect(line(width: 26) == " Tab next pane  ? keys  …")
  }

  @Test("each can be clicked where it stands")
  func spots() {
    var grid = Grid(width: 60, height: 1)
    HelpBar(items).draw(in: &grid, grid.bounds, theme: .mono)
    #expect(grid.spots.map(\.target) == (0..<5).map { .item($0) })
    #expect(grid.spots.first?.rect == Rect(x: 1, y: 0, width: 6, height: 1))
  }

  @Test("nothing traps at any width")
  func smallest() {
    for width in 0...12 { _ = line(width: width, note: "row 1 of 9") }
  }
}
